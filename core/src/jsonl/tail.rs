//! The end of a log file: where its last whole batch ends, found from behind, and what an interrupted write left there.

use std::io::{self, Read, Seek};

use crc32fast::Hasher;

use crate::jsonl::{
    fault::{Fault, excerpt},
    lines::{Lines, MAX_LINE, Offset},
    pages::Pages,
    record::{COMMIT_OPENING, Commit, HEADER_OPENING, read_header},
    scan::scan,
};

/// Bytes behind the last whole batch: the beginning of a batch whose write was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Where they start
    pub at: u64,
    /// How many they are
    pub bytes: u64,
}

/// What stands at the end of a log file, and at its beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// Where the header ends; 0 without one
    pub(super) header: u64,
    /// The version: where the last whole batch ends; 0 without one
    pub(super) version: u64,
    pub(super) torn: Option<TornTail>,
}

impl Tail {
    /// Where the next batch goes; 0 where the header goes first.
    pub(super) fn end(&self) -> u64 {
        self.header.max(self.version)
    }

    /// Where the first batch starts.
    pub(super) fn first_batch(&self) -> Offset {
        Offset { at: self.header, lines: u64::from(self.header > 0) }
    }

    /// Looks at a file of `len` bytes.
    pub(super) fn of<R: Read + Seek>(mut read: R, len: u64) -> Result<Self, Fault> {
        let Some(header) = header_end(&mut read, len)? else {
            let torn = (len > 0).then_some(TornTail { at: 0, bytes: len });
            return Ok(Self { torn, ..Self::default() });
        };
        let mut pages = Pages::of(&mut read);
        let lines_end = pages.last_line_end(header, len).map_err(Fault::reading)?;
        let mut found = last_commit(&mut pages, header, lines_end)?;
        if let Some(Found { start, end, whole: false }) = found
            && end == len
        {
            found = last_commit(&mut pages, header, start)?;
        }
        match found {
            Some(Found { end, whole: false, .. }) => {
                let from = Self { header, ..Self::default() }.first_batch();
                let unlocated =
                    Fault::reading(io::Error::new(io::ErrorKind::InvalidData, "it changed meanwhile"));
                Err(scan(&mut read, from, end, |_, _| Ok(())).err().unwrap_or(unlocated))
            }
            Some(Found { end, whole: true, .. }) => {
                Ok(Self { header, version: end, torn: None }.torn_from(end, len))
            }
            None => Ok(Self { header, version: 0, torn: None }.torn_from(header, len)),
        }
    }

    fn torn_from(self, at: u64, len: u64) -> Self {
        let bytes = len.saturating_sub(at);
        Self { torn: (bytes > 0).then_some(TornTail { at, bytes }), ..self }
    }
}

/// Where the header ends, if the file isn't torn before that.
fn header_end<R: Read + Seek>(read: &mut R, len: u64) -> Result<Option<u64>, Fault> {
    let opening = HEADER_OPENING.len() as u64;
    let start = Pages::of(&mut *read).bytes(0, len.min(opening)).map_err(Fault::reading)?;
    if !HEADER_OPENING.starts_with(&start) {
        let start = Pages::of(read).bytes(0, len.min(80)).map_err(Fault::reading)?;
        return Err(Fault::NoLog { found: excerpt(&start, 0) });
    }
    let mut at = 0;
    loop {
        let part = len.saturating_sub(at).min(4096);
        let bytes = Pages::of(&mut *read).bytes(at, part).map_err(Fault::reading)?;
        if let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            at = at.saturating_add(newline as u64).saturating_add(1);
            break;
        }
        at = at.saturating_add(part);
        if at == len {
            return Ok(None);
        }
        if at >= MAX_LINE {
            return Err(Fault::NoLog { found: excerpt(&start, 0) });
        }
    }
    let mut lines = Lines::between(read, Offset::default(), at)?;
    if let Some(header) = lines.next()? {
        read_header(header.bytes)?;
    }
    Ok(Some(at))
}

/// A line that begins as a commit record does.
struct Found {
    start: u64,
    end: u64,
    /// Whether it is one, and the lines before it are the batch it speaks of
    whole: bool,
}

/// The last commit record between the header and `end`, a line's end.
fn last_commit<R: Read + Seek>(pages: &mut Pages<R>, header: u64, end: u64) -> Result<Option<Found>, Fault> {
    let mut end = end;
    while end > header {
        let start = pages.line_start(header, end).map_err(Fault::reading)?;
        if pages.begin_with(start, end, COMMIT_OPENING).map_err(Fault::reading)? {
            return Ok(Some(Found { start, end, whole: closes_a_batch(pages, header, start, end)? }));
        }
        end = start;
    }
    Ok(None)
}

/// Whether the line is a commit record and the lines before it are its batch.
fn closes_a_batch<R: Read + Seek>(
    pages: &mut Pages<R>,
    header: u64,
    start: u64,
    end: u64,
) -> Result<bool, Fault> {
    let len = end.saturating_sub(start);
    if len > MAX_LINE {
        return Ok(false);
    }
    let line = pages.bytes(start, len).map_err(Fault::reading)?;
    if line.ends_with(b"\r\n") {
        return Err(Fault::CarriageReturn { line: None, at: start });
    }
    let Ok(commit) = Commit::read(line.trim_ascii_end()) else { return Ok(false) };
    let mut first = start;
    for _ in 0..commit.events {
        if first <= header {
            return Ok(false);
        }
        first = pages.line_start(header, first).map_err(Fault::reading)?;
        if pages.begin_with(first, start, COMMIT_OPENING).map_err(Fault::reading)? {
            return Ok(false);
        }
    }
    Ok(pages.crc32(first, start).map_err(Fault::reading)? == commit.crc32)
}

impl<R: Read + Seek> Pages<R> {
    fn crc32(&mut self, start: u64, end: u64) -> io::Result<u32> {
        const PART: u64 = 64 * 1024;
        let mut crc32 = Hasher::new();
        let mut at = start;
        while at < end {
            let part = end.saturating_sub(at).min(PART);
            crc32.update(&self.bytes(at, part)?);
            at = at.saturating_add(part);
        }
        Ok(crc32.finalize())
    }
}
