//! The strict way through a log file: whole batches, one right behind the other, each line an event and every CRC-32
//! right. It starts behind the header or a commit record and ends behind one.

use alloc::{format, string::String};
use std::io::{Read, Seek};

use crc32fast::Hasher;

use crate::{
    event::Event,
    jsonl::{
        fault::{Damage, Fault, excerpt},
        lines::{Line, Lines, Offset},
        record::{Commit, crc32_text, reason},
    },
};

/// Where the line of an event stands, and what it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) at: u64,
    /// With its newline
    pub(super) len: u64,
    /// Of its bytes, the newline included
    pub(super) crc32: u32,
}

/// What a scan went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    pub(super) end: Offset,
    pub(super) batches: u64,
    pub(super) events: u64,
}

/// Reads from one batch's start up to another one's end. Each event is given away before its batch is known to be
/// sound: an error takes all of them back.
pub(super) fn scan<R: Read + Seek>(
    read: R,
    from: Offset,
    to: u64,
    mut each: impl FnMut(Event, Mark) -> Result<(), Fault>,
) -> Result<Scanned, Fault> {
    let mut lines = Lines::between(read, from, to)?;
    let mut scanned = Scanned { end: from, ..Scanned::default() };
    let mut batch = Batch::new(from);
    while let Some(line) = lines.next().map_err(|fault| whole_up_to(fault, batch.start))? {
        if line.is_commit() {
            batch.close(&line)?;
            scanned.batches = scanned.batches.saturating_add(1);
            scanned.events = scanned.events.saturating_add(batch.events);
            scanned.end = Offset {
                at: line.start.at.saturating_add(line.len()),
                lines: line.start.lines.saturating_add(1),
            };
            batch = Batch::new(scanned.end);
        } else {
            let event = read_event(line.bytes).map_err(|(what, at)| batch.damage(&line, what, at))?;
            each(event, batch.add(&line))?;
        }
    }
    if batch.events > 0 {
        return Err(Fault::Damaged(Damage {
            line: batch.start.lines.saturating_add(1),
            at: batch.start.at,
            what: "the batch that starts here has no commit record, expected one".into(),
            near: batch.opening,
            whole: batch.start.at,
        }));
    }
    Ok(scanned)
}

fn whole_up_to(fault: Fault, start: Offset) -> Fault {
    match fault {
        Fault::Damaged(damage) => Fault::Damaged(Damage { whole: start.at, ..damage }),
        other => other,
    }
}

/// Reads the line of an event. The error says what is wrong and at which byte of the line.
pub(super) fn read_event(line: &[u8]) -> Result<Event, (String, usize)> {
    let text = core::str::from_utf8(line).map_err(|error| {
        let at = error.valid_up_to();
        (format!("byte {at} of the line is not UTF-8, expected UTF-8 throughout"), at)
    })?;
    serde_json::from_str(text).map_err(|error| {
        let (said, at) = reason(&error);
        (format!("the line is no event, {said}"), at)
    })
}

/// The lines since the last commit record.
#[derive(Debug)]
struct Batch {
    start: Offset,
    opening: String,
    events: u64,
    bytes: Hasher,
}

impl Batch {
    fn new(start: Offset) -> Self {
        Self { start, opening: String::new(), events: 0, bytes: Hasher::new() }
    }

    fn add(&mut self, line: &Line<'_>) -> Mark {
        if self.events == 0 {
            self.opening = excerpt(line.bytes, 0);
        }
        self.events = self.events.saturating_add(1);
        let mut bytes = Hasher::new();
        for hasher in [&mut bytes, &mut self.bytes] {
            hasher.update(line.bytes);
            hasher.update(b"\n");
        }
        Mark { at: line.start.at, len: line.len(), crc32: bytes.finalize() }
    }

    /// Whether a commit record is this batch's.
    fn close(&self, line: &Line<'_>) -> Result<(), Fault> {
        let commit = Commit::read(line.bytes).map_err(|(what, at)| self.damage(line, what, at))?;
        if commit.events != self.events {
            let what = format!("`events` is {}, found {} since the last commit", commit.events, self.events);
            return Err(self.damage(line, what, 0));
        }
        let found = self.bytes.clone().finalize();
        if commit.crc32 == found {
            return Ok(());
        }
        Err(Fault::Damaged(Damage {
            line: self.start.lines.saturating_add(1),
            at: self.start.at,
            what: format!(
                "the batch that ends at line {} has the crc32 `{}`, expected `{}`",
                line.start.lines.saturating_add(1),
                crc32_text(found),
                crc32_text(commit.crc32)
            ),
            near: self.opening.clone(),
            whole: self.start.at,
        }))
    }

    fn damage(&self, line: &Line<'_>, what: String, at: usize) -> Fault {
        Fault::Damaged(Damage {
            line: line.start.lines.saturating_add(1),
            at: line.start.at,
            what,
            near: excerpt(line.bytes, at),
            whole: self.start.at,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn a_stretch_ends_behind_a_commit_record() {
        let line = "{\"id\":\"e\",\"role\":\"user\"}\n";
        let commit = Commit { events: 1, crc32: crc32fast::hash(line.as_bytes()) }.line();
        let log = format!("{line}{commit}{line}");
        let whole = (line.len() + commit.len()) as u64;
        let scan = |to| scan(Cursor::new(&log), Offset::default(), to, |_, _| Ok(()));
        let scanned = scan(whole).unwrap();
        assert_eq!(scanned, Scanned { end: Offset { at: whole, lines: 2 }, batches: 1, events: 1 });
        let Err(Fault::Damaged(damage)) = scan(log.len() as u64) else { panic!() };
        assert_eq!((damage.line, damage.at, damage.whole), (3, whole, whole));
        assert!(matches!(scan(log.len() as u64 + 1), Err(Fault::System { done: "read", .. })));
    }
}
