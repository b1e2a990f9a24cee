//! A batch before it is written: its bytes, and a proof that each line reads back as the event it was made from.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};

use crc32fast::Hasher;

use crate::{
    event::{Content, Event, EventId},
    jsonl::{
        fault::Fault,
        hints::Hints,
        lines::MAX_LINE,
        record::{COMMIT_OPENING, Commit, HEADER},
        scan::{Mark, read_event},
    },
};

/// The bytes of a batch.
#[derive(Debug)]
pub(super) struct Draft {
    /// From the header, where there was none, to the commit record's newline
    pub(super) bytes: Vec<u8>,
    /// The lines of its events
    pub(super) marks: Vec<(EventId, Mark)>,
}

impl Draft {
    /// A batch to be written at a byte of the file; at byte 0 the header goes before it. Boundaries get their hints.
    pub(super) fn at(
        at: u64,
        batch: Vec<Event>,
        known: impl Fn(&EventId) -> Option<Mark>,
    ) -> Result<Self, Fault> {
        let mut bytes = if at == 0 { HEADER.to_vec() } else { Vec::new() };
        let mut marks = Vec::new();
        let mut new = BTreeMap::new();
        let mut crc32 = Hasher::new();
        for mut event in batch {
            if let Content::Boundary(boundary) = &event.content {
                let hints = Hints::of(boundary, |id| known(id).or_else(|| new.get(id).copied()));
                Hints::replace(hints, &mut event);
            }
            let line = line(&event)?;
            crc32.update(&line);
            let mark = Mark {
                at: at.saturating_add(bytes.len() as u64),
                len: line.len() as u64,
                crc32: crc32fast::hash(&line),
            };
            bytes.extend_from_slice(&line);
            new.insert(event.id.clone(), mark);
            marks.push((event.id, mark));
        }
        let commit = Commit { events: marks.len() as u64, crc32: crc32.finalize() };
        bytes.extend_from_slice(commit.line().as_bytes());
        Ok(Self { bytes, marks })
    }
}

/// The line of an event, newline included, once it is sure to read back as the same event.
fn line(event: &Event) -> Result<Vec<u8>, Fault> {
    let unwritable = |why: String| Fault::Unwritable { id: event.id.clone(), why };
    let mut line = serde_json::to_vec(event).map_err(|error| unwritable(error.to_string()))?;
    match read_event(&line) {
        Ok(read) if read == *event && !line.starts_with(COMMIT_OPENING) => {}
        Ok(_) => {
            return Err(unwritable(
                "JSON has no form for one of its values, such as a number that is none".into(),
            ));
        }
        Err((why, _)) => return Err(unwritable(why)),
    }
    line.push(b'\n');
    let bytes = line.len() as u64;
    if bytes > MAX_LINE {
        return Err(Fault::TooLong { id: event.id.clone(), bytes });
    }
    Ok(line)
}
