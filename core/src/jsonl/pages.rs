//! A log file read backwards, a page at a time, so that what stands at its end costs nothing of what stands before.

use alloc::{vec, vec::Vec};
use std::io::{self, Read, Seek, SeekFrom};

const PAGE: u64 = 64 * 1024;

/// One page of a file in memory.
#[derive(Debug)]
pub(super) struct Pages<R> {
    read: R,
    start: u64,
    page: Vec<u8>,
}

impl<R: Read + Seek> Pages<R> {
    pub(super) fn of(read: R) -> Self {
        Self { read, start: 0, page: Vec::new() }
    }

    /// The bytes from `at` on, `len` of them.
    pub(super) fn bytes(&mut self, at: u64, len: u64) -> io::Result<Vec<u8>> {
        if let Some(held) = self.held(at, at.saturating_add(len)) {
            return Ok(held.to_vec());
        }
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?];
        self.read.seek(SeekFrom::Start(at))?;
        self.read.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether the bytes from `at` on, of those before `end`, begin so.
    pub(super) fn begin_with(&mut self, at: u64, end: u64, opening: &[u8]) -> io::Result<bool> {
        let len = opening.len() as u64;
        if end.saturating_sub(at) < len {
            return Ok(false);
        }
        match self.held(at, at.saturating_add(len)) {
            Some(held) => Ok(held == opening),
            None => Ok(self.bytes(at, len)? == opening),
        }
    }

    /// Where the line starts that holds the byte before `end`, if that isn't before `floor`, itself a line's start.
    pub(super) fn line_start(&mut self, floor: u64, end: u64) -> io::Result<u64> {
        let mut end = end.saturating_sub(1);
        while end > floor {
            let part = self.before(floor, end)?;
            let before = (part.len() as u64).max(1);
            if let Some(newline) = part.iter().rposition(|byte| *byte == b'\n') {
                return Ok(end.saturating_sub(before).saturating_add(newline as u64).saturating_add(1));
            }
            end = end.saturating_sub(before);
        }
        Ok(floor)
    }

    /// Where the last line ends that ends before `end` or there: behind its newline.
    pub(super) fn last_line_end(&mut self, floor: u64, end: u64) -> io::Result<u64> {
        self.line_start(floor, end.saturating_add(1))
    }

    /// Where some bytes stand last between `floor` and `end`.
    pub(super) fn find_last(&mut self, floor: u64, end: u64, wanted: &[u8]) -> io::Result<Option<u64>> {
        let overlap = (wanted.len() as u64).saturating_sub(1);
        let mut end = end;
        while end.saturating_sub(floor) > overlap {
            let part = self.before(floor, end)?;
            let start = end.saturating_sub(part.len() as u64);
            if let Some(at) = part.windows(wanted.len()).rposition(|window| window == wanted) {
                return Ok(Some(start.saturating_add(at as u64)));
            }
            end = if start > floor { start.saturating_add(overlap) } else { floor };
        }
        Ok(None)
    }

    /// Some bytes that end at `end`, not less than a line's opening where there are so many.
    fn before(&mut self, floor: u64, end: u64) -> io::Result<&[u8]> {
        const ENOUGH: u64 = 64;
        let needed = end.saturating_sub(ENOUGH).max(floor);
        if self.held(needed, end).is_none() {
            let start = end.saturating_sub(PAGE);
            let page = self.bytes(start, end.saturating_sub(start))?;
            (self.start, self.page) = (start, page);
        }
        Ok(self.held(self.start.max(floor), end).unwrap_or_default())
    }

    fn held(&self, from: u64, to: u64) -> Option<&[u8]> {
        let from = usize::try_from(from.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(to.checked_sub(self.start)?).ok()?;
        self.page.get(from..to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn text() -> Vec<u8> {
        let mut text = Vec::new();
        for length in [0, 3, 70_000, 1, 65_535, 65_536, 9, 0, 0, 200_000, 2] {
            text.extend(core::iter::repeat_n(b'x', length));
            text.push(b'\n');
        }
        text
    }

    #[test]
    fn lines_are_found_across_pages() {
        let text = text();
        let mut pages = Pages::of(Cursor::new(&text));
        let mut end = text.len() as u64;
        let mut found = Vec::new();
        while end > 0 {
            let start = pages.line_start(0, end).unwrap();
            found.push(end - start - 1);
            end = start;
        }
        assert_eq!(found, [2, 200_000, 0, 0, 9, 65_536, 65_535, 1, 70_000, 3, 0]);
    }

    #[test]
    fn a_line_end_is_found_from_anywhere() {
        let text = b"ab\n\ncd\nef";
        for end in 0..=text.len() {
            let right = text[..end].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let found = Pages::of(Cursor::new(text)).last_line_end(0, end as u64).unwrap();
            assert_eq!(found, right as u64, "{end}");
        }
    }

    #[test]
    fn bytes_are_found_across_pages() {
        let page = usize::try_from(PAGE).unwrap();
        for at in (page - 20..page + 20).chain([0, 3 * page - 12]) {
            let mut text = vec![b'.'; 3 * page];
            text[at..at + 12].copy_from_slice(b"\"COMPACTION\"");
            let mut pages = Pages::of(Cursor::new(&text));
            let end = text.len() as u64;
            assert_eq!(pages.find_last(0, end, b"\"COMPACTION\"").unwrap(), Some(at as u64));
            assert_eq!(pages.find_last(at as u64 + 1, end, b"\"COMPACTION\"").unwrap(), None);
            assert_eq!(pages.find_last(0, at as u64 + 11, b"\"COMPACTION\"").unwrap(), None);
        }
    }
}
