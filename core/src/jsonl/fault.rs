//! What can be wrong with a log file, said so that a person can act on it.

use alloc::{format, string::String};
use core::{fmt, time::Duration};
use std::{io, path::PathBuf};

use crate::{event::EventId, jsonl::lines::MAX_LINE};

/// Why an operation on a log file failed. Nothing was written then, unless the fault says otherwise.
#[derive(Debug)]
pub struct JsonlError {
    /// The log file
    pub path: PathBuf,
    /// What is wrong
    pub fault: Fault,
}

impl fmt::Display for JsonlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "log `{}` {}", self.path.display(), self.fault)
    }
}

impl core::error::Error for JsonlError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.fault {
            Fault::System { source, .. } | Fault::InDoubt(source) => Some(source),
            _ => None,
        }
    }
}

/// What is wrong with a log file. Its sentence begins with a verb: the file is its subject.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// There is no such file
    Missing,
    /// The folder to create it in doesn't exist
    NoFolder,
    /// It was to be created and exists
    Exists,
    /// It is a directory, a pipe or a device
    NoFile,
    /// It doesn't begin with a header
    NoLog {
        /// How it begins
        found: String,
    },
    /// Its header names another format version
    Version {
        /// The version it names
        found: u64,
    },
    /// A line ends in CR LF
    CarriageReturn {
        /// The line's number, where known
        line: Option<u64>,
        /// The byte at which the line starts
        at: u64,
    },
    /// Committed lines aren't what was written
    Damaged(Damage),
    /// An id stands in it twice
    Repeated {
        /// The id
        id: EventId,
        /// The byte at which its first line starts
        first: u64,
        /// The byte at which its second line starts
        second: u64,
    },
    /// It holds less than this handle has seen in it
    Shrunk {
        /// The version seen
        from: u64,
        /// The version now
        to: u64,
    },
    /// The path leads to another file than the one that was opened
    Replaced,
    /// It was opened for reading only
    ReadOnly,
    /// Others held the lock for too long
    Locked {
        /// How long this writer waited
        waited: Duration,
    },
    /// An event makes a line that is too long
    TooLong {
        /// The event
        id: EventId,
        /// What its line would take
        bytes: u64,
    },
    /// An event doesn't read back as it is, or not at all
    Unwritable {
        /// The event
        id: EventId,
        /// In what way
        why: String,
    },
    /// The system refused
    System {
        /// What was to be done with it, after "can't be"
        done: &'static str,
        /// Why not
        source: io::Error,
    },
    /// A write failed and couldn't be undone: the batch may be in the log
    InDoubt(io::Error),
}

impl Fault {
    pub(super) fn reading(source: io::Error) -> Self {
        Self::System { done: "read", source }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("does not exist: check the path, or create it"),
            Self::NoFolder => {
                f.write_str("can't be created, its folder does not exist: create the folder first")
            }
            Self::Exists => f.write_str("exists already: open it, or create another"),
            Self::NoFile => f.write_str("is no regular file, expected one"),
            Self::NoLog { found } => {
                write!(
                    f,
                    "is no log: it begins with `{found}`, expected a line such as `{{\"turnfold\":{{\"log\":1}}}}`"
                )
            }
            Self::Version { found } => write!(
                f,
                "is of format version {found}, expected 1: it was written by a newer program, open it with that one"
            ),
            Self::CarriageReturn { line, at } => {
                let line = line.map(|line| format!("line {line}, ")).unwrap_or_default();
                write!(
                    f,
                    "has a line that ends in CR LF ({line}byte {at}), expected LF alone: \
                     something converted its line ends, restore it from a copy or convert them back"
                )
            }
            Self::Damaged(damage) => damage.fmt(f),
            Self::Repeated { id, first, second } => write!(
                f,
                "holds id `{id}` at byte {first} and again at byte {second}, expected every id once"
            ),
            Self::Shrunk { from, to } => write!(
                f,
                "has shrunk from version {from} to {to}: it was cut by something else than a log's writer, open it anew"
            ),
            Self::Replaced => f.write_str("is no longer the file that was opened: open it anew"),
            Self::ReadOnly => {
                f.write_str("is open for reading only: give this user write permission and open it anew")
            }
            Self::Locked { waited } => write!(
                f,
                "is locked by another writer, waited {waited:?}: try again, or find the program that holds it"
            ),
            Self::TooLong { id, bytes } => write!(
                f,
                "can't hold event `{id}`: its line takes {bytes} bytes, expected {MAX_LINE} at most"
            ),
            Self::Unwritable { id, why } => {
                write!(f, "can't hold event `{id}`, which would not be read back as it is: {why}")
            }
            Self::System { done, source } => write!(f, "can't be {done}: {source}"),
            Self::InDoubt(source) => write!(
                f,
                "could not be written, nor what was written undone, so that the batch may be in it: {source}; read it again"
            ),
        }
    }
}

/// Where committed lines aren't what was written, and in what way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line's number, from 1
    pub line: u64,
    /// The byte at which the line starts
    pub at: u64,
    /// What was found and what was expected
    pub what: String,
    /// The text around it
    pub near: String,
    /// Up to this byte the log is whole
    pub whole: u64,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, at, what, near, whole } = self;
        write!(
            f,
            "is damaged at line {line} (byte {at}): {what}, near `{near}`; \
             restore it from a copy, or cut it to {whole} bytes to keep what stands before"
        )
    }
}

/// The text around a place in a line, short enough for a message and free of control characters.
pub(super) fn excerpt(line: &[u8], around: usize) -> String {
    const REACH: usize = 30;
    let inside = |at: &usize| line.get(*at).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    let around = around.min(line.len());
    let mut from = around.saturating_sub(REACH);
    let mut to = around.saturating_add(REACH).min(line.len());
    from = (from..=around.min(from.saturating_add(3))).find(|at| !inside(at)).unwrap_or(from);
    to = (to..=line.len().min(to.saturating_add(3))).find(|at| !inside(at)).unwrap_or(to);
    let mut text = String::from(if from > 0 { "…" } else { "" });
    for chunk in line.get(from..to).unwrap_or_default().utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter.is_control() { text.extend(letter.escape_default()) } else { text.push(letter) }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text.push_str(if to < line.len() { "…" } else { "" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_printable() {
        assert_eq!(excerpt(b"", 7), "");
        assert_eq!(excerpt(b"a\tb\xff\x00", 1), r"a\tb\xff\u{0}");
        assert_eq!(excerpt(&[0x80; 99], 50).chars().count(), 2 + 4 * 60);
        let long = "ä".repeat(100);
        for around in 0..=long.len() {
            let text = excerpt(long.as_bytes(), around);
            assert!(text.chars().count() <= 34 && text.chars().all(|c| "ä…".contains(c)), "{around}: {text}");
        }
    }
}
