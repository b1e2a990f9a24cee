//! A subject: the implementation under test, whatever front it stands behind.

use std::fmt;

use turnfold_core::Event;

use crate::protocol::{Answer, Call, Hello, Request, Said};

/// An implementation that can be asked.
///
/// In process, implement it for your own compaction: answer [`Request::Compact`] and, if you keep sessions, the other
/// requests; answer [`Answer::unsupported`] to the rest and leave it out of [`Hello::capabilities`].
pub trait Subject {
    /// Who it is and what it can do.
    ///
    /// # Errors
    ///
    /// It can't be reached.
    fn hello(&mut self) -> Result<Hello, Fault>;

    /// Asks it one thing. It calls the suite back for a summary and, if it can, for a log that the suite holds.
    ///
    /// # Errors
    ///
    /// It gave no answer.
    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault>;
}

impl<S: Subject + ?Sized> Subject for &mut S {
    fn hello(&mut self) -> Result<Hello, Fault> {
        (**self).hello()
    }
    fn ask(&mut self, request: &Request, suite: &mut dyn Suite) -> Result<Answer, Fault> {
        (**self).ask(request, suite)
    }
}

/// What a subject may ask the suite while it works on an answer.
pub trait Suite {
    /// Condense this. `session` is the subject's session, to which the suite may append meanwhile.
    ///
    /// # Errors
    ///
    /// The suite went away, or the session did.
    fn summarize(&mut self, call: Call, session: &mut dyn Meanwhile) -> Result<Said, Fault>;

    /// The version of the log that the suite holds.
    ///
    /// # Errors
    ///
    /// The suite holds none.
    fn read_version(&mut self) -> Result<u64, Fault> {
        Err(Fault::protocol("read the version of a log that the suite does not hold"))
    }

    /// The events of the log that the suite holds.
    ///
    /// # Errors
    ///
    /// The suite holds none.
    fn read_events(&mut self) -> Result<Vec<Event>, Fault> {
        Err(Fault::protocol("read the events of a log that the suite does not hold"))
    }

    /// Appends to the log that the suite holds, if it still is at `expected`: the new version, or `None`.
    ///
    /// # Errors
    ///
    /// The suite holds none.
    fn write(&mut self, _events: Vec<Event>, _expected: u64) -> Result<Option<u64>, Fault> {
        Err(Fault::protocol("wrote to a log that the suite does not hold"))
    }
}

/// A session that can be asked while its pass waits for a summary.
pub trait Meanwhile {
    /// Asks it to append or to show something.
    ///
    /// # Errors
    ///
    /// It gave no answer.
    fn ask(&mut self, request: &Request) -> Result<Answer, Fault>;
}

/// The session of a subject that takes no requests meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

impl Meanwhile for Closed {
    fn ask(&mut self, _: &Request) -> Result<Answer, Fault> {
        Ok(Answer::unsupported("no request is taken while a summary is awaited"))
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whose fault it is, and of what kind
    pub kind: FaultKind,
    /// What was seen
    pub message: String,
}

/// The kinds of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// It ended instead of answering
    Crash,
    /// It didn't answer in time
    Timeout,
    /// It answered against the protocol
    Protocol,
    /// It can't be started, or not again
    Start,
    /// It answered `unsupported` to what it declares
    Refused,
}

impl Fault {
    /// Against the protocol.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Protocol, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
