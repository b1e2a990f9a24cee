//! Our own log: read as a view, compacted through a session's attempt, so that nothing is written over a newer version.

use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use turnfold_core::{
    Event, View, Window,
    jsonl::{JsonlError, JsonlLog, Options},
    session::{
        Added, Attempt, CompactError, Compacted, CorruptLog, Corruption, Refused, SessionLog, Stamped,
        Trigger, Version,
    },
};

use crate::{
    compact::{
        dialogue::{Dialogue, Shell},
        weigh::Tokenizer,
    },
    failure::Failure,
};

/// The name under which boundaries of this command are logged.
const STRATEGY: &str = "turnfold compact";

/// A log whose view weighs: events without a weight get the tokenizer's, for the pass alone. None of it is stored.
#[derive(Debug)]
struct WeighedLog<L> {
    log: L,
    tokenizer: Tokenizer,
    /// The view as it was read last
    read: Vec<Event>,
}

impl<L: SessionLog> SessionLog for WeighedLog<L> {
    type Error = L::Error;

    fn version(&mut self) -> Result<Version, L::Error> {
        self.log.version()
    }
    fn events(&mut self) -> Result<Vec<Event>, L::Error> {
        self.log.events()
    }
    fn append(&mut self, event: Event) -> Result<Added, L::Error> {
        self.log.append(event)
    }
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, L::Error> {
        self.log.append_batch(batch, expected)
    }
    fn view(&mut self) -> Result<View<Event>, CorruptLog<L::Error>> {
        self.read = self.log.view()?.into_events();
        let weighed = self.read.iter().map(|event| event.clone().weighing(self.tokenizer.weigh(event)));
        View::from_events(weighed.collect()).map_err(|invalid| CorruptLog::Log(Corruption::View(invalid)))
    }
}

/// A log under compaction: what was read, and the attempt on it.
#[derive(Debug)]
pub(crate) struct Session<L = JsonlLog> {
    log: WeighedLog<L>,
    attempt: Attempt,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Record {
    /// The boundary's id
    pub(crate) boundary: String,
    /// The log's version now
    pub(crate) version: u64,
}

impl Session {
    /// Opens a log file, for reading alone unless a boundary is to be written.
    ///
    /// # Errors
    ///
    /// What the file's reader says, or a log without a view.
    pub(crate) fn open(
        path: &Path,
        tokenizer: Tokenizer,
        window: Window,
        write: bool,
    ) -> Result<Self, Failure> {
        let options = if write { Options::new() } else { Options::new().read_only() };
        let log = options.open(path).map_err(Failure::input)?;
        Self::begin(log, tokenizer, window).map_err(|error| failed(path, &error))
    }

    /// Writes the boundary and says what happened to a torn tail.
    ///
    /// # Errors
    ///
    /// A lost race, or what the file's writer says.
    pub(crate) fn write(&mut self, path: &Path) -> Result<Option<Record>, Failure> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let record =
            self.commit(i64::try_from(now).unwrap_or(i64::MAX)).map_err(|error| failed(path, &error))?;
        for notice in self.log.log.take_notices() {
            anstream::eprintln!("turnfold: {notice}");
        }
        record.map_err(|Lost| {
            Failure::input(format!(
                "log `{}` was appended to while it was compacted, so nothing was written: run it again",
                path.display()
            ))
        })
    }
}

fn failed(path: &Path, error: &CompactError<JsonlError>) -> Failure {
    match error {
        CompactError::Store(error) => Failure::input(error),
        other => Failure::input(format!("log `{}`: {other}", path.display())),
    }
}

/// The race was lost: somebody appended meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

impl<L: SessionLog> Session<L> {
    /// Reads a log and plans.
    ///
    /// # Errors
    ///
    /// The store's, or a log without a view.
    pub(crate) fn begin(
        log: L,
        tokenizer: Tokenizer,
        window: Window,
    ) -> Result<Self, CompactError<L::Error>> {
        let mut log = WeighedLog { log, tokenizer, read: Vec::new() };
        let attempt = Attempt::begin(&mut log, &Trigger::Always, window, false)?;
        Ok(Self { log, attempt })
    }

    /// The view as it was read, its events untouched.
    pub(crate) fn dialogue(&self) -> Dialogue {
        Dialogue { number: 1, events: self.log.read.clone(), shell: Shell::List }
    }

    /// Writes the boundary, at this time and under an id that is new to the log; nothing where nothing changes.
    ///
    /// # Errors
    ///
    /// The store's.
    pub(crate) fn commit(
        &mut self,
        time_ms: i64,
    ) -> Result<Result<Option<Record>, Lost>, CompactError<L::Error>> {
        let mut id = format!("compaction-{time_ms}");
        let mut nth = 1_usize;
        loop {
            let stamp = Stamped::new(id.as_str(), time_ms);
            match self.attempt.commit(&mut self.log, None, STRATEGY, &stamp) {
                Ok(Compacted::Written(written)) => {
                    let record =
                        Record { boundary: written.boundary.to_string(), version: written.version.0 };
                    return Ok(Ok(Some(record)));
                }
                Ok(Compacted::Unchanged(_) | Compacted::NotTriggered) => return Ok(Ok(None)),
                Ok(Compacted::Raced) => return Ok(Err(Lost)),
                Err(CompactError::StampUsed(_)) => {
                    nth = nth.saturating_add(1);
                    id = format!("compaction-{time_ms}-{nth}");
                }
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use turnfold_core::{Role, session::MemoryLog};

    fn log() -> MemoryLog {
        let event = |(at, role): (usize, &Role)| Event::message(format!("e{at}"), *role, "some words");
        let roles = [Role::System, Role::User, Role::Assistant, Role::User];
        MemoryLog::open(roles.iter().enumerate().map(event).collect()).unwrap()
    }

    fn begin(log: &RefCell<MemoryLog>, window: Window) -> Session<&RefCell<MemoryLog>> {
        Session::begin(log, Tokenizer::Chars, window).unwrap()
    }

    #[test]
    fn a_boundary_is_written_once_and_under_a_new_id() {
        let log = RefCell::new(log());
        log.borrow_mut().append(Event::message("compaction-7", Role::User, "")).unwrap();
        let mut session = begin(&log, Window::token_budget(1).unwrap());
        let record = session.commit(7).unwrap().unwrap().unwrap();
        assert_eq!(record, Record { boundary: "compaction-7-2".into(), version: 6 });
        let view = log.borrow_mut().view().unwrap();
        let ids: Vec<_> = view.events().iter().map(|event| (event.id.as_str(), event.tokens())).collect();
        assert_eq!(ids, [("e0", None), ("compaction-7", None)], "no weight of ours is stored");
        assert_eq!(begin(&log, Window::last_turns(1).unwrap()).commit(8), Ok(Ok(None)));
    }

    #[test]
    fn a_lost_race_writes_nothing() {
        let log = RefCell::new(log());
        let mut session = begin(&log, Window::last_turns(1).unwrap());
        log.borrow_mut().append(Event::message("late", Role::User, "")).unwrap();
        assert_eq!(session.commit(7), Ok(Err(Lost)));
        assert_eq!(log.borrow_mut().events().unwrap().len(), 5);
    }
}
