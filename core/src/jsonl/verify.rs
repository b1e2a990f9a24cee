//! The whole log held against its format and its rules.

use alloc::{string::String, vec::Vec};
use std::collections::HashMap;

use crate::{
    event::{Content, Event, Message},
    jsonl::{Fault, JsonlError, JsonlLog, TornTail, hints::Hints, scan::scan},
    session::{CorruptLog, Version, check_log},
    value::Value,
};

/// What a sound log holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Its version
    pub version: Version,
    /// Its batches
    pub batches: u64,
    /// Its events
    pub events: u64,
    /// Those that are boundaries
    pub boundaries: u64,
    /// Boundaries whose hints hold; the view of another one costs the whole log
    pub hinted: u64,
    /// What an interrupted write left at the end, no part of the log
    pub torn: Option<TornTail>,
}

impl JsonlLog {
    /// Reads the whole log: every line, every CRC-32, every id, every boundary and its hints. It keeps ids in memory
    /// and no text.
    ///
    /// # Errors
    ///
    /// The first damage, an id that stands twice, or a boundary that names what it can't have named.
    pub fn verify(&mut self) -> Result<Verified, CorruptLog<JsonlError>> {
        let (verified, log) = self.look(Self::verify_format).map_err(CorruptLog::Store)?;
        check_log(&log).map_err(CorruptLog::Log)?; // rule: log.corrupt
        Ok(verified)
    }

    fn verify_format(&self) -> Result<(Verified, Vec<Event>), Fault> {
        let tail = self.tail()?;
        let mut verified =
            Verified { version: Version(tail.version), torn: tail.torn, ..Verified::default() };
        let mut marks = HashMap::new();
        let mut log = Vec::new();
        let scanned = scan(self.reading(), tail.first_batch(), tail.end(), |event, mark| {
            if let Some(boundary) = event.as_boundary() {
                let hints = Hints::of(boundary, |id| marks.get(id).copied());
                let hold = hints.is_some() && hints == Hints::read(&event);
                verified.boundaries = verified.boundaries.saturating_add(1);
                verified.hinted = verified.hinted.saturating_add(u64::from(hold));
            }
            marks.insert(event.id.clone(), mark);
            log.push(outline(event));
            Ok(())
        })?;
        verified.batches = scanned.batches;
        verified.events = scanned.events;
        Ok((verified, log))
    }
}

/// An event without its texts: what a check of boundaries reads of it.
fn outline(event: Event) -> Event {
    let content = match event.content {
        Content::Message(message) => Content::Message(Message {
            role: message.role,
            text: String::new(),
            tool_calls: Vec::new(),
            tool_responses: Vec::new(),
            parts: Vec::new(),
            tokens: None,
        }),
        Content::Boundary(boundary) => Content::Boundary(boundary),
        Content::Other(name, _) => Content::Other(name, Value::Null),
    };
    Event::new(event.id, content)
}
