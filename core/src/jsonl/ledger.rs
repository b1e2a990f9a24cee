//! What a writer knows of a log: its ids, and where their lines stand.

use std::{
    collections::{HashMap, hash_map::Entry},
    io::{Read, Seek},
};

use crate::{
    event::EventId,
    jsonl::{
        fault::Fault,
        lines::Offset,
        scan::{Mark, scan},
        tail::Tail,
    },
};

/// The ids of a log up to a version, without its texts.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    marks: HashMap<EventId, Mark>,
    end: Offset,
}

impl Ledger {
    pub(super) fn mark(&self, id: &EventId) -> Option<Mark> {
        self.marks.get(id).copied()
    }

    /// Reads what others appended.
    pub(super) fn catch_up<R: Read + Seek>(&mut self, read: R, tail: &Tail) -> Result<(), Fault> {
        if tail.version < self.end.at {
            return Err(Fault::Shrunk { from: self.end.at, to: tail.version });
        }
        let from = if self.end.at == 0 { tail.first_batch() } else { self.end };
        let scanned = scan(read, from, tail.version, |event, mark| self.enter(event.id, mark));
        match scanned {
            Ok(scanned) => self.end = if tail.version == 0 { Offset::default() } else { scanned.end },
            Err(fault) => {
                *self = Self::default();
                return Err(fault);
            }
        }
        Ok(())
    }

    fn enter(&mut self, id: EventId, mark: Mark) -> Result<(), Fault> {
        match self.marks.entry(id) {
            Entry::Vacant(free) => {
                free.insert(mark);
                Ok(())
            }
            Entry::Occupied(held) => {
                Err(Fault::Repeated { id: held.key().clone(), first: held.get().at, second: mark.at })
            }
        }
    }

    /// Notes what this writer appended, up to `end`.
    pub(super) fn append(&mut self, batch: impl IntoIterator<Item = (EventId, Mark)>, end: Offset) {
        self.marks.extend(batch);
        self.end = end;
    }

    /// Where the known part ends, and how many lines it has.
    pub(super) fn end(&self) -> Offset {
        self.end
    }
}
