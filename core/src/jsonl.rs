//! A log in a file: JSON lines, append-only, readable and greppable, safe to cut anywhere and to share between processes.
//!
//! The format is specified in `spec/log-format.md`, to be written and read in any language. In short: a header line,
//! then batches; a batch is the lines of its events and a commit record with their CRC-32; the version is the byte at
//! which the last whole batch ends.
//!
//! ```
//! use turnfold_core::jsonl::JsonlLog;
//! use turnfold_core::session::{Compacted, SessionLog, Stamped, Trigger, compact};
//! use turnfold_core::{Event, Role, Strategy, Window};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("session.jsonl");
//! let mut log = JsonlLog::create(&path)?;
//! for (id, role) in [("e1", Role::User), ("e2", Role::Assistant), ("e3", Role::User)] {
//!     log.append(Event::message(id, role, "…"))?;
//! }
//! let mut last_turn = Strategy::new(Window::last_turns(1)?);
//! let done = compact(&mut log, &Trigger::Always, &mut last_turn, &Stamped::new("b1", 0))?;
//! assert!(matches!(done, Compacted::Written(_)));
//!
//! let mut log = JsonlLog::open(&path)?;
//! assert_eq!(log.view()?.events().len(), 1); // the newest turn
//! assert_eq!(log.events()?.len(), 4); // nothing left the log
//! assert_eq!(log.verify()?.boundaries, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several processes
//!
//! A writer holds a lock on the file from its check of the version to the end of its write; readers take none and see
//! whole batches only. What an interrupted write left behind is no part of the log: readers pass over it, the next
//! writer cuts it off and says so ([`JsonlLog::take_notices`]).
//!
//! # What is verified
//!
//! [`events`](SessionLog::events), [`JsonlLog::verify`] and a handle's first append read the whole log and every CRC-32.
//! [`view`](SessionLog::view) reads and verifies what the view is made of: the batches from the newest boundary's on,
//! and the lines its hints lead to, by a CRC-32 of their own. Damage elsewhere is found by the others.

mod draft;
mod fault;
mod hints;
mod ledger;
mod lines;
mod lock;
mod opening;
mod options;
mod pages;
mod record;
mod scan;
mod tail;
mod verify;

use alloc::{collections::BTreeSet, string::ToString, sync::Arc, vec::Vec};
use core::fmt;
use std::{
    fs::File,
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

pub use fault::{Damage, Fault, JsonlError};
pub use lines::MAX_LINE;
pub use options::{Durability, Options};
pub use tail::TornTail;
pub use verify::Verified;

use crate::{
    event::Event,
    jsonl::{
        draft::Draft,
        ledger::Ledger,
        lines::Offset,
        lock::{Lock, Reading},
        opening::newest_part,
        record::HEADER,
        scan::scan,
        tail::Tail,
    },
    session::{Added, CorruptLog, Refused, SessionLog, Version, active_view},
    view::View,
};

/// A log file, open.
#[derive(Debug)]
pub struct JsonlLog {
    path: PathBuf,
    absolute: PathBuf,
    file: Arc<File>,
    options: Options,
    writable: bool,
    ledger: Ledger,
    notices: Vec<Notice>,
}

/// Something that a log's user should be told and need not act on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// What an interrupted write had left was cut off before an append
    TornTail {
        /// The log file
        path: PathBuf,
        /// What was cut off
        tail: TornTail,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::TornTail { path, tail: TornTail { at, bytes } } = self;
        write!(
            f,
            "log `{}` ended in {bytes} bytes of a write that did not finish, now cut off at byte {at}",
            path.display()
        )
    }
}

impl JsonlLog {
    /// Opens a log that exists, with the default [`Options`].
    ///
    /// # Errors
    ///
    /// No file there, no log in it, or damage at its end.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JsonlError> {
        Options::new().open(path)
    }

    /// Creates an empty log, with the default [`Options`].
    ///
    /// # Errors
    ///
    /// A file that exists, a folder that doesn't, or whatever the system refuses.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, JsonlError> {
        Options::new().create(path)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What happened since this was last asked.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        core::mem::take(&mut self.notices)
    }

    fn reading(&self) -> Reading<'_> {
        Reading { file: &self.file, wait: self.options.lock_wait }
    }

    fn error(&self, fault: Fault) -> JsonlError {
        JsonlError { path: self.path.clone(), fault }
    }

    fn tail(&self) -> Result<Tail, Fault> {
        let len = self.file.metadata().map_err(Fault::reading)?.len();
        Tail::of(self.reading(), len)
    }

    /// Reads without a lock. A writer may cut off a torn tail and write over it meanwhile, so that a fault is believed
    /// only when a second look finds the same.
    fn look<T>(&self, look: impl Fn(&Self) -> Result<T, Fault>) -> Result<T, JsonlError> {
        const LOOKS: usize = 5;
        self.check_identity().map_err(|fault| self.error(fault))?;
        let mut last = look(self);
        for _ in 1..LOOKS {
            let Err(fault) = &last else { break };
            let seen = fault.to_string();
            last = look(self);
            if last.as_ref().is_err_and(|fault| fault.to_string() == seen) {
                break;
            }
        }
        last.map_err(|fault| self.error(fault))
    }

    /// Whether the path still leads to the file that is open.
    fn check_identity(&self) -> Result<(), Fault> {
        match is_at(&self.file, &self.absolute) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Fault::Replaced),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Fault::Replaced),
            Err(error) => Err(Fault::reading(error)),
        }
    }

    /// Does something under the lock, knowing all that the log holds.
    fn locked<T>(&mut self, act: impl FnOnce(&mut Self, &Tail) -> Result<T, Fault>) -> Result<T, JsonlError> {
        self.try_locked(act).map_err(|fault| self.error(fault))
    }

    fn try_locked<T>(&mut self, act: impl FnOnce(&mut Self, &Tail) -> Result<T, Fault>) -> Result<T, Fault> {
        if !self.writable {
            return Err(Fault::ReadOnly);
        }
        let _lock = Lock::take(&self.file, self.options.lock_wait)?;
        self.check_identity()?;
        let len = self.file.metadata().map_err(Fault::reading)?.len();
        let known = self.ledger.end().at;
        let tail = if known > 0 && known == len {
            Tail { version: known, ..Tail::default() }
        } else {
            let read = Reading { file: &self.file, wait: self.options.lock_wait };
            let tail = Tail::of(read, len)?;
            let read = Reading { file: &self.file, wait: self.options.lock_wait };
            self.ledger.catch_up(read, &tail)?;
            tail
        };
        act(self, &tail)
    }

    /// Appends one batch of new ids, under the lock.
    fn write(&mut self, tail: &Tail, batch: Vec<Event>) -> Result<Version, Fault> {
        let at = tail.end();
        let draft = Draft::at(at, batch, |id| self.ledger.mark(id))?;
        self.cut_off(tail)?;
        if let Err(source) = self.write_at(at, &draft.bytes) {
            return Err(match self.file.set_len(at) {
                Ok(()) => Fault::System { done: "written", source },
                Err(_) => Fault::InDoubt(source),
            });
        }
        let before = if self.ledger.end().at == 0 { 1 } else { self.ledger.end().lines };
        let end = Offset {
            at: at.saturating_add(draft.bytes.len() as u64),
            lines: before.saturating_add(draft.marks.len() as u64).saturating_add(1),
        };
        self.ledger.append(draft.marks, end);
        Ok(Version(end.at))
    }

    fn cut_off(&mut self, tail: &Tail) -> Result<(), Fault> {
        let Some(torn) = tail.torn else { return Ok(()) };
        let refused = |source| Fault::System { done: "freed of its torn tail", source };
        self.file.set_len(torn.at).map_err(refused)?;
        self.settle().map_err(refused)?;
        self.notices.push(Notice::TornTail { path: self.path.clone(), tail: torn });
        Ok(())
    }

    /// rule: log.append-only
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(at))?;
        file.write_all(bytes)?; // rule: log.atomic
        self.settle()
    }

    fn settle(&self) -> io::Result<()> {
        match self.options.durability {
            Durability::Always => self.file.sync_data(),
            Durability::Never => Ok(()),
        }
    }
}

impl SessionLog for JsonlLog {
    type Error = JsonlError;

    fn version(&mut self) -> Result<Version, JsonlError> {
        self.look(|log| log.tail().map(|tail| Version(tail.version)))
    }

    fn events(&mut self) -> Result<Vec<Event>, JsonlError> {
        self.look(|log| {
            let tail = log.tail()?;
            let mut events = Vec::new();
            scan(log.reading(), tail.first_batch(), tail.end(), |event, _| {
                events.push(event);
                Ok(())
            })?;
            Ok(events)
        })
    }

    fn append(&mut self, event: Event) -> Result<Added, JsonlError> {
        self.locked(|log, tail| {
            if log.ledger.mark(&event.id).is_some() {
                return Ok(Added::Repeated(Version(tail.version))); // rule: log.repeat
            }
            log.write(tail, alloc::vec![event]).map(Added::Added)
        })
    }

    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, JsonlError> {
        self.locked(|log, tail| {
            let found = Version(tail.version);
            if found != expected {
                return Ok(Err(Refused::Stale { expected, found })); // rule: log.race
            }
            let mut new = BTreeSet::new();
            let repeats = |event: &&Event| log.ledger.mark(&event.id).is_some();
            if let Some(known) = batch.iter().find(|event| repeats(event) || !new.insert(&event.id)) {
                return Ok(Err(Refused::Duplicate(known.id.clone()))); // rule: log.duplicate
            }
            if batch.is_empty() {
                return Ok(Ok(found));
            }
            log.write(tail, batch).map(Ok)
        })
    }

    fn view(&mut self) -> Result<View<Event>, CorruptLog<JsonlError>> {
        let newest = self.look(|log| newest_part(log.reading(), &log.tail()?)).map_err(CorruptLog::Store)?;
        match newest.map(active_view) {
            Some(Ok(view)) => Ok(view), // rule: log.view
            Some(Err(_)) | None => {
                active_view(self.events().map_err(CorruptLog::Store)?).map_err(CorruptLog::Log)
            }
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, there) = (file.metadata()?, path.metadata()?);
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file has no identity that the standard library tells.
#[cfg(not(unix))]
fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.metadata().map(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    #[test]
    fn a_fault_is_believed_when_it_is_seen_twice() {
        let folder = tempfile::tempdir().unwrap();
        let log = JsonlLog::create(folder.path().join("log.jsonl")).unwrap();
        let looks = |faults: &[u64]| {
            let count = Cell::new(0);
            let result = log.look(|_| {
                let look = count.replace(count.get() + 1);
                faults.get(look).map_or(Ok(()), |fault| Err(Fault::Version { found: *fault }))
            });
            (result.is_ok(), count.get())
        };
        assert_eq!(looks(&[]), (true, 1));
        assert_eq!(looks(&[7]), (true, 2));
        assert_eq!(looks(&[7, 8]), (true, 3));
        assert_eq!(looks(&[7, 7]), (false, 2));
        assert_eq!(looks(&[7, 8, 8]), (false, 3));
        assert_eq!(looks(&[1, 2, 3, 4, 5, 6]), (false, 5));
    }
}
