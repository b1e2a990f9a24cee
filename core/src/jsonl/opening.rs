//! Opening a view from the end of a log file: the newest boundary, what was logged from its batch on, and the lines
//! that its hints lead to.

use alloc::{format, vec::Vec};
use std::io::{Read, Seek};

use crate::{
    event::{Event, EventType},
    jsonl::{
        fault::Fault,
        hints::Hints,
        lines::{Lines, Offset},
        pages::Pages,
        record::COMMIT_OPENING,
        scan::{read_event, scan},
        tail::Tail,
    },
};

/// As much of a log as its view is made of: the events that the newest boundary names and all from its batch on.
/// `None` where only the whole log tells: without a boundary, or where a hint or a batch doesn't hold.
pub(super) fn newest_part<R: Read + Seek>(mut read: R, tail: &Tail) -> Result<Option<Vec<Event>>, Fault> {
    let Some(from) = newest_boundary_batch(&mut read, tail)? else { return Ok(None) };
    let mut newest = None;
    let mut recent = Vec::new();
    let scanned = scan(&mut read, Offset { at: from, lines: 0 }, tail.version, |event, mark| {
        if event.as_boundary().is_some() {
            newest = Some((recent.len(), mark.at)); // rule: log.newest-boundary
        }
        recent.push(event);
        Ok(())
    });
    let Some((position, boundary_at)) = newest.filter(|_| scanned.is_ok()) else { return Ok(None) };
    let Some(event) = recent.get(position) else { return Ok(None) };
    let (Some(boundary), Some(hints)) = (event.as_boundary(), Hints::read(event)) else { return Ok(None) };
    let Some(named) = hints.follow(boundary, &mut read, tail.header, boundary_at)? else { return Ok(None) };
    let older = named.into_iter().filter(|(at, _)| *at < from).map(|(_, event)| event);
    Ok(Some(older.chain(recent).collect()))
}

/// Where the batch starts that holds the last line which reads as a boundary.
fn newest_boundary_batch<R: Read + Seek>(read: &mut R, tail: &Tail) -> Result<Option<u64>, Fault> {
    let wanted = format!("\"{}\"", EventType::COMPACTION);
    let mut end = tail.version;
    loop {
        let mut pages = Pages::of(&mut *read);
        let found = pages.find_last(tail.header, end, wanted.as_bytes()).map_err(Fault::reading)?;
        let Some(found) = found else { return Ok(None) };
        let start = pages.line_start(tail.header, found.saturating_add(1)).map_err(Fault::reading)?;
        if is_boundary(&mut *read, start, tail.version)? {
            return batch_start(&mut Pages::of(read), tail.header, start).map(Some);
        }
        end = start;
    }
}

fn is_boundary<R: Read + Seek>(read: R, at: u64, version: u64) -> Result<bool, Fault> {
    match Lines::between(read, Offset { at, lines: 0 }, version)?.next() {
        Ok(line) => {
            Ok(line.is_some_and(|line| read_event(line.bytes).is_ok_and(|e| e.as_boundary().is_some())))
        }
        Err(Fault::Damaged(_) | Fault::CarriageReturn { .. }) => Ok(false),
        Err(fault) => Err(fault),
    }
}

/// Where the batch of a line starts: behind the commit record before it, or behind the header.
fn batch_start<R: Read + Seek>(pages: &mut Pages<R>, header: u64, line: u64) -> Result<u64, Fault> {
    let mut first = line;
    while first > header {
        let start = pages.line_start(header, first).map_err(Fault::reading)?;
        if pages.begin_with(start, first, COMMIT_OPENING).map_err(Fault::reading)? {
            break;
        }
        first = start;
    }
    Ok(first)
}
