//! Boundary hints: where the lines of the events stand that a boundary names, so that a view is opened without reading
//! the log. They are an offer: a hint that doesn't hold costs time and changes nothing.

use alloc::{collections::BTreeMap, vec::Vec};
use std::io::{Read, Seek};

use crc32fast::Hasher;

use crate::{
    event::{Boundary, Event, EventId},
    jsonl::{
        fault::Fault,
        lines::{Lines, Offset},
        record::{crc32_text, read_crc32},
        scan::{Mark, read_event},
    },
    value::{Object, Value},
};

/// The field of a boundary's line.
const FIELD: &str = "hints";

/// The offsets of the lines of a boundary's events, in the order in which it names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hints {
    pinned: Vec<u64>,
    preserved: Vec<u64>,
    /// Of the bytes of all those lines, one behind the other
    crc32: u32,
}

impl Hints {
    /// The hints of a boundary, if every event that it names is known.
    pub(super) fn of(boundary: &Boundary, mark: impl Fn(&EventId) -> Option<Mark>) -> Option<Self> {
        let mut bytes = Hasher::new();
        let mut offsets = |ids: &[EventId]| {
            ids.iter()
                .map(|id| {
                    let mark = mark(id)?;
                    bytes.combine(&Hasher::new_with_initial_len(mark.crc32, mark.len));
                    Some(mark.at)
                })
                .collect::<Option<Vec<_>>>()
        };
        let (pinned, preserved) = (offsets(&boundary.pinned)?, offsets(&boundary.preserved)?);
        Some(Self { pinned, preserved, crc32: bytes.finalize() })
    }

    /// The hints that a boundary's event carries, if it carries readable ones.
    pub(super) fn read(boundary: &Event) -> Option<Self> {
        let Value::Object(hints) = boundary.extra.get(FIELD)? else { return None };
        let offsets = |name| match hints.get(name)? {
            Value::Array(offsets) => offsets
                .iter()
                .map(|offset| if let Value::Unsigned(offset) = offset { Some(*offset) } else { None })
                .collect::<Option<Vec<_>>>(),
            _ => None,
        };
        Some(Self {
            pinned: offsets("pinned")?,
            preserved: offsets("preserved")?,
            crc32: read_crc32(hints.get("crc32")?)?,
        })
    }

    /// Makes them the hints of a boundary's event, in place of any other.
    pub(super) fn replace(hints: Option<Self>, boundary: &mut Event) {
        boundary.extra.0.retain(|(name, _)| name != FIELD);
        if let Some(Self { pinned, preserved, crc32 }) = hints {
            let offsets =
                |offsets: Vec<u64>| Value::Array(offsets.into_iter().map(Value::Unsigned).collect());
            let mut object = Object::new();
            object.set("pinned", offsets(pinned));
            object.set("preserved", offsets(preserved));
            object.set("crc32", Value::String(crc32_text(crc32)));
            boundary.extra.set(FIELD, Value::Object(object));
        }
    }

    /// Reads the lines of the events that a boundary names, by offset; `None` where a hint doesn't hold: no line
    /// between the header and the boundary, another event, other bytes.
    pub(super) fn follow<R: Read + Seek>(
        &self,
        boundary: &Boundary,
        mut read: R,
        header: u64,
        boundary_at: u64,
    ) -> Result<Option<BTreeMap<u64, Event>>, Fault> {
        let counts = (self.pinned.len(), self.preserved.len());
        if counts != (boundary.pinned.len(), boundary.preserved.len()) {
            return Ok(None);
        }
        let ids = boundary.pinned.iter().chain(&boundary.preserved);
        let mut bytes = Hasher::new();
        let mut events = BTreeMap::new();
        for (&at, id) in self.pinned.iter().chain(&self.preserved).zip(ids) {
            if !(header..boundary_at).contains(&at) {
                return Ok(None);
            }
            let Some(event) = event_at(&mut read, at, boundary_at, &mut bytes)? else { return Ok(None) };
            if event.id != *id {
                return Ok(None);
            }
            events.insert(at, event);
        }
        Ok((bytes.finalize() == self.crc32).then_some(events))
    }
}

/// The event whose line stands there, whose bytes are added to `bytes`.
fn event_at<R: Read + Seek>(read: R, at: u64, end: u64, bytes: &mut Hasher) -> Result<Option<Event>, Fault> {
    const BUFFER: usize = 4096;
    let newline_before = Offset { at: at.saturating_sub(1), lines: 0 };
    let mut lines = Lines::buffered(read, newline_before, end, BUFFER)?;
    let mut next = || match lines.next() {
        Ok(line) => Ok(line.map(|line| line.bytes.to_vec())),
        Err(Fault::Damaged(_) | Fault::CarriageReturn { .. }) => Ok(None),
        Err(fault) => Err(fault),
    };
    if next()?.is_none_or(|rest| !rest.is_empty()) {
        return Ok(None);
    }
    let Some(line) = next()? else { return Ok(None) };
    bytes.update(&line);
    bytes.update(b"\n");
    Ok(read_event(&line).ok())
}
