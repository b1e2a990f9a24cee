//! How a command ends when it can't do what was asked: a message and an exit code.

use std::{fmt, process::ExitCode};

/// What went wrong, for a person: what was found, what was expected, where, and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Exit code of a fault of the harness or of what it was given.
    pub(crate) const HARNESS: u8 = 3;
    /// Exit code of a command line that makes no sense.
    pub(crate) const USAGE: u8 = 64;

    /// The command line asks for what can't be.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self { code: Self::USAGE, message: message.to_string() }
    }

    /// The input or the machine doesn't allow it.
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// The harness can't do its work, or the program it was given doesn't keep the protocol.
    pub(crate) fn harness(message: impl fmt::Display) -> Self {
        Self { code: Self::HARNESS, message: message.to_string() }
    }

    /// Says it on stderr and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        anstream::eprintln!("turnfold: {}", self.message);
        ExitCode::from(self.code)
    }
}
