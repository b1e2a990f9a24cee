//! The two records of a log file that are no events: the header on its first line, and the commit record behind each
//! batch.

use alloc::{format, string::String};

use crate::{
    jsonl::fault::{Fault, excerpt},
    value::{Object, Value},
};

/// The header as this crate writes it.
pub(super) const HEADER: &[u8] = b"{\"turnfold\":{\"log\":1}}\n";
/// How every header begins.
pub(super) const HEADER_OPENING: &[u8] = b"{\"turnfold\":";
/// How every commit record begins, and no other line.
pub(super) const COMMIT_OPENING: &[u8] = b"{\"commit\":";

/// Reads the first line.
pub(super) fn read_header(line: &[u8]) -> Result<(), Fault> {
    let no_log = || Fault::NoLog { found: excerpt(line, 0) };
    let header: Object = serde_json::from_slice(line).map_err(|_| no_log())?;
    let Some(Value::Object(about)) = only(&header, "turnfold") else { return Err(no_log()) };
    match only(about, "log") {
        Some(Value::Unsigned(1)) => Ok(()),
        Some(Value::Unsigned(found @ 2..)) => Err(Fault::Version { found: *found }),
        _ => Err(no_log()),
    }
}

/// The value of a field that stands once.
fn only<'o>(object: &'o Object, name: &str) -> Option<&'o Value> {
    let mut values = object.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value);
    values.next().filter(|_| values.next().is_none())
}

/// Eight lower-case hexadecimal digits.
pub(super) fn read_crc32(value: &Value) -> Option<u32> {
    match value {
        Value::String(digits)
            if digits.len() == 8 && !digits.bytes().any(|b| b.is_ascii_uppercase() || b == b'+') =>
        {
            u32::from_str_radix(digits, 16).ok()
        }
        _ => None,
    }
}

pub(super) fn crc32_text(crc32: u32) -> String {
    format!("{crc32:08x}")
}

/// The end of a batch: how many lines before it are the batch, and the CRC-32 of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) events: u64,
    pub(super) crc32: u32,
}

impl Commit {
    /// Reads a line, without its newline. The error says what is wrong and at which byte of the line.
    pub(super) fn read(line: &[u8]) -> Result<Self, (String, usize)> {
        let wrong = |what: &str, at| (format!("the line is no commit record, {what}"), at);
        let record: Object = serde_json::from_slice(line).map_err(|error| {
            let (said, at) = reason(&error);
            wrong(&said, at)
        })?;
        let [(_, Value::Object(commit))] = record.0.as_slice() else {
            return Err(wrong("expected `commit` as its only field and in it an object", 0));
        };
        let events = match only(commit, "events") {
            Some(Value::Unsigned(events)) if *events > 0 => *events,
            _ => return Err(wrong("expected `events` in it once, an integer from 1 up", 0)),
        };
        let crc32 = only(commit, "crc32").and_then(read_crc32);
        let crc32 =
            crc32.ok_or_else(|| wrong("expected `crc32` in it once, 8 lower-case hexadecimal digits", 0))?;
        Ok(Self { events, crc32 })
    }

    /// The line, with its newline.
    pub(super) fn line(self) -> String {
        format!("{{\"commit\":{{\"events\":{},\"crc32\":\"{}\"}}}}\n", self.events, crc32_text(self.crc32))
    }
}

/// What a JSON error says and at which byte of its line, counted from 0.
pub(super) fn reason(error: &serde_json::Error) -> (String, usize) {
    let text = format!("{error}");
    let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
    (said.into(), error.column().saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_record_reads_as_it_is_written() {
        let commit = Commit { events: 3, crc32: 0x0a1b };
        let line = commit.line();
        assert_eq!(line, "{\"commit\":{\"events\":3,\"crc32\":\"00000a1b\"}}\n");
        assert_eq!(Commit::read(line.trim_end().as_bytes()), Ok(commit));
        assert_eq!(Commit::read(br#"{"commit":{"events":3,"crc32":"00000a1b","later":1}}"#), Ok(commit));
    }

    #[test]
    fn a_wrong_commit_record_is_no_commit_record() {
        for line in [
            r#"{"commit":{"events":0,"crc32":"00000000"}}"#,
            r#"{"commit":{"events":1,"crc32":"0000000A"}}"#,
            r#"{"commit":{"events":1,"crc32":"+0000000"}}"#,
            r#"{"commit":{"events":1,"crc32":"000000000"}}"#,
            r#"{"commit":{"events":1,"crc32":7}}"#,
            r#"{"commit":{"events":1,"events":1,"crc32":"00000000"}}"#,
            r#"{"commit":{"events":1,"crc32":"00000000"},"id":"e"}"#,
            r#"{"commit":{"events":1,"crc32":"00000000"}"#,
            r#"{"commit":1}"#,
            "{}",
            "[]",
        ] {
            assert!(Commit::read(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn a_header_tells_its_version() {
        read_header(HEADER.trim_ascii_end()).unwrap();
        read_header(br#"{"turnfold":{"later":[],"log":1},"by":"x"}"#).unwrap();
        assert!(matches!(read_header(br#"{"turnfold":{"log":2}}"#), Err(Fault::Version { found: 2 })));
        for line in [
            "",
            "{}",
            r#"{"turnfold":1}"#,
            r#"{"turnfold":{"log":"1"}}"#,
            r#"{"turnfold":{"log":0}}"#,
            r#"{"id":"e"}"#,
            "\u{feff}{}",
        ] {
            assert!(matches!(read_header(line.as_bytes()), Err(Fault::NoLog { .. })), "{line}");
        }
    }
}
