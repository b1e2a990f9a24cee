//! A log in memory.

use alloc::{collections::BTreeSet, vec::Vec};
use core::convert::Infallible;

use crate::{
    event::{Event, EventId},
    session::{
        log::{Added, Refused, SessionLog, Version},
        view::{Corruption, check_log},
    },
};

/// A session that lives as long as the program. Its version is the number of its events.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    events: Vec<Event>,
    ids: BTreeSet<EventId>,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// A log of events that were stored before.
    ///
    /// # Errors
    ///
    /// A repeated id, or a boundary that names what it can't have named.
    pub fn open(events: Vec<Event>) -> Result<Self, Corruption> {
        check_log(&events)?;
        Ok(Self { ids: events.iter().map(|event| event.id.clone()).collect(), events })
    }

    fn at(&self) -> Version {
        Version(self.events.len() as u64)
    }
}

impl SessionLog for MemoryLog {
    type Error = Infallible;

    fn version(&mut self) -> Result<Version, Infallible> {
        Ok(self.at())
    }

    fn events(&mut self) -> Result<Vec<Event>, Infallible> {
        Ok(self.events.clone())
    }

    fn append(&mut self, event: Event) -> Result<Added, Infallible> {
        if !self.ids.insert(event.id.clone()) {
            return Ok(Added::Repeated(self.at())); // rule: log.repeat
        }
        self.events.push(event); // rule: log.append-only
        Ok(Added::Added(self.at()))
    }

    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Infallible> {
        if self.at() != expected {
            return Ok(Err(Refused::Stale { expected, found: self.at() }));
        }
        let mut new = BTreeSet::new();
        if let Some(known) = batch.iter().find(|event| self.ids.contains(&event.id) || !new.insert(&event.id))
        {
            return Ok(Err(Refused::Duplicate(known.id.clone())));
        }
        self.ids.extend(batch.iter().map(|event| event.id.clone()));
        self.events.extend(batch); // rule: log.atomic
        Ok(Ok(self.at()))
    }
}
