//! The lines of a stretch of a log file, forwards, one in memory at a time.

use alloc::{format, vec::Vec};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take};

use crate::jsonl::{
    fault::{Damage, Fault, excerpt},
    record::COMMIT_OPENING,
};

/// The longest line, its newline included: room for an image in a message, and little enough to read a line that
/// nobody vouches for.
pub const MAX_LINE: u64 = 64 * 1024 * 1024;

/// A place between two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Offset {
    /// The byte
    pub(super) at: u64,
    /// How many lines stand before it
    pub(super) lines: u64,
}

/// A line as it stands in the file, without its newline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'l> {
    /// Where it starts
    pub(super) start: Offset,
    pub(super) bytes: &'l [u8],
}

impl Line<'_> {
    pub(super) fn is_commit(&self) -> bool {
        self.bytes.starts_with(COMMIT_OPENING)
    }

    /// What it takes in the file.
    pub(super) fn len(&self) -> u64 {
        (self.bytes.len() as u64).saturating_add(1)
    }
}

/// Reads lines up to a byte at which a line ends.
#[derive(Debug)]
pub(super) struct Lines<R> {
    read: BufReader<Take<R>>,
    line: Vec<u8>,
    reached: Offset,
    to: u64,
}

impl<R: Read + Seek> Lines<R> {
    pub(super) fn between(read: R, from: Offset, to: u64) -> Result<Self, Fault> {
        Self::buffered(read, from, to, 64 * 1024)
    }

    /// The same with a buffer of so many bytes.
    pub(super) fn buffered(mut read: R, from: Offset, to: u64, buffer: usize) -> Result<Self, Fault> {
        read.seek(SeekFrom::Start(from.at)).map_err(Fault::reading)?;
        let stretch = to.saturating_sub(from.at);
        let buffer = usize::try_from(stretch).unwrap_or(buffer).min(buffer);
        Ok(Self {
            read: BufReader::with_capacity(buffer, read.take(stretch)),
            line: Vec::new(),
            reached: from,
            to,
        })
    }

    /// The next line.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, Fault> {
        if self.reached.at >= self.to {
            return Ok(None);
        }
        let start = self.reached;
        self.line.clear();
        let read =
            self.read.by_ref().take(MAX_LINE).read_until(b'\n', &mut self.line).map_err(Fault::reading)?;
        let fault = |what| Damage {
            line: start.lines.saturating_add(1),
            at: start.at,
            what,
            near: excerpt(&self.line, 0),
            whole: start.at,
        };
        if self.line.last() != Some(&b'\n') {
            return Err(if read as u64 == MAX_LINE {
                Fault::Damaged(fault(format!(
                    "a line is longer than {MAX_LINE} bytes, expected that at most"
                )))
            } else {
                Fault::reading(io::Error::new(io::ErrorKind::UnexpectedEof, "it became shorter meanwhile"))
            });
        }
        self.line.pop();
        if self.line.last() == Some(&b'\r') {
            let line = Some(start.lines.saturating_add(1));
            return Err(Fault::CarriageReturn { line, at: start.at });
        }
        self.reached =
            Offset { at: start.at.saturating_add(read as u64), lines: start.lines.saturating_add(1) };
        Ok(Some(Line { start, bytes: &self.line }))
    }
}
