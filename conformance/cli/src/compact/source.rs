//! Where a transcript comes from: a file or standard input, as text; or a log, which is opened by its path.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

use turnfold_core::{Object, Value};

use crate::{
    compact::{dialogue::Format, value::object},
    failure::Failure,
};

/// The longest transcript that is read, in bytes. As JSON values it takes several times as much memory. A log has no
/// such limit: opening its view doesn't read all of it.
const MAX_BYTES: u64 = 1 << 30;

/// A transcript, before it is looked into.
#[derive(Debug)]
pub(crate) enum Source {
    /// A log, by its path
    Log(PathBuf),
    /// A text
    Text(String),
}

/// How a source is called in a message.
pub(crate) fn name(file: &Path) -> String {
    if is_stdin(file) { "standard input".into() } else { format!("`{}`", file.display()) }
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    ///
    /// What can't be read, is too long, or is no UTF-8; a log on standard input.
    pub(crate) fn open(file: &Path, from: Option<Format>) -> Result<Self, Failure> {
        let bytes = if is_stdin(file) {
            read(io::stdin().lock(), MAX_BYTES).map_err(|error| cant_read(file, &error))?
        } else {
            let metadata = file.metadata().map_err(|error| cant_read(file, &error))?;
            if metadata.is_dir() {
                return Err(Failure::input(format!(
                    "`{}` is a directory, expected a transcript: give one of its files",
                    file.display()
                )));
            }
            let mut open = BufReader::new(File::open(file).map_err(|error| cant_read(file, &error))?);
            let ahead = open.fill_buf().map_err(|error| cant_read(file, &error))?;
            if from.is_none_or(|from| from == Format::Jsonl) && is_log(ahead) {
                return Ok(Self::Log(file.into()));
            }
            if metadata.len() > MAX_BYTES {
                return Err(too_long(file, &metadata.len().to_string()));
            }
            read(open, MAX_BYTES).map_err(|error| cant_read(file, &error))?
        };
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_long(file, &format!("more than {MAX_BYTES}")));
        }
        if is_stdin(file) && is_log(&bytes) {
            return Err(Failure::usage(
                "standard input is a Turnfold log, which is opened by its path: give the path instead of `-`",
            ));
        }
        decoded(bytes, &name(file)).map(Self::Text)
    }
}

/// Reads at most one byte more than the limit.
fn read(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether bytes begin with a log's header.
fn is_log(ahead: &[u8]) -> bool {
    let line = ahead.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<Object>(line).is_ok_and(|header| {
        header.get("turnfold").and_then(object).is_some_and(|about| about.get("log").is_some())
    })
}

fn cant_read(file: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => ": is the path right?",
        _ => "",
    };
    Failure::input(format!("{} can't be read: {error}{hint}", name(file)))
}

fn too_long(file: &Path, found: &str) -> Failure {
    Failure::input(format!(
        "{} has {found} bytes, expected {MAX_BYTES} at most: split it, a dialogue a file",
        name(file)
    ))
}

/// Bytes as text, without a byte order mark.
fn decoded(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    const UTF16: [&[u8]; 2] = [&[0xff, 0xfe], &[0xfe, 0xff]];
    if UTF16.iter().any(|mark| bytes.starts_with(mark)) {
        return Err(Failure::input(format!("{name} is UTF-16, expected UTF-8: convert it")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(String::from).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(at).copied().unwrap_or_default();
            Err(Failure::input(format!(
                "{name} isn't UTF-8: found byte 0x{byte:02x} at offset {at}, expected UTF-8 text"
            )))
        }
    }
}

/// A text as one JSON value, or as a value a line.
#[derive(Debug)]
pub(crate) enum Document {
    /// One value
    Value(Value),
    /// A value a line, with the line's number from 1; blank lines are passed over
    Lines(Vec<(usize, Value)>),
}

impl Document {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// An empty text, or where it stops being JSON.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::input(format!("{name} is empty, expected a transcript")));
        }
        let error = match serde_json::from_str(text) {
            Ok(value) => return Ok(Self::Value(value)),
            Err(error) => error,
        };
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let more = text.trim().lines().nth(1).is_some();
        if more && matches!(serde_json::from_str(first), Ok(Value::Object(_) | Value::Array(_))) {
            return lines(text, name);
        }
        Err(not_json(name, error.line(), &error))
    }
}

fn lines(text: &str, name: &str) -> Result<Document, Failure> {
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at.saturating_add(1);
        let value = serde_json::from_str(line).map_err(|error| not_json(name, number, &error))?;
        lines.push((number, value));
    }
    Ok(Document::Lines(lines))
}

fn not_json(name: &str, line: usize, error: &serde_json::Error) -> Failure {
    let text = error.to_string();
    let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
    let hint = match error.is_eof() {
        _ if said.contains("recursion limit") => {
            ": it nests more than 127 deep, which this command doesn't read"
        }
        true => ": is it cut off?",
        false => ", expected JSON, or JSON lines",
    };
    Failure::input(format!(
        "{name} isn't JSON at line {line}, column {column}: {said}{hint}",
        column = error.column()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        format!("{:?}", Document::parse(text, "chat.json").unwrap_err())
    }

    #[test]
    fn a_log_is_told_by_its_header() {
        assert!(is_log(b"{\"turnfold\":{\"log\":1}}\n{\"id\""));
        assert!(is_log(b"{\"turnfold\":{\"log\":2,\"later\":[]}}"));
        for other in
            [&b""[..], b"{}", b"{\"turnfold\":1}", b"{\"turnfold\":{}}", b"[{\"turnfold\":{\"log\":1}}]"]
        {
            assert!(!is_log(other));
        }
    }

    #[test]
    fn one_value_or_one_a_line() {
        assert!(matches!(Document::parse(" [1,\n2] ", "x").unwrap(), Document::Value(_)));
        assert!(matches!(Document::parse("{\"a\":1}\n", "x").unwrap(), Document::Value(_)));
        let Document::Lines(lines) = Document::parse("\n{}\r\n\n[1]\n", "x").unwrap() else { panic!() };
        assert_eq!(lines.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn what_is_no_json_is_said_with_its_place() {
        for (text, says) in [
            (" \n", "is empty, expected a transcript"),
            ("[{\"role\":", "line 1, column 9: EOF while parsing a value: is it cut off?"),
            ("[\n{},\n", "line 3, column 0: EOF while parsing a value: is it cut off?"),
            ("{}\n{\"a\":", "line 2, column 5: EOF while parsing a value: is it cut off?"),
            ("{}\nhello", "line 2, column 1: expected value, expected JSON, or JSON lines"),
            ("hello", "line 1, column 1: expected value, expected JSON, or JSON lines"),
            ("1 2", "line 1, column 3: trailing characters"),
            (&"[".repeat(200), "line 1, column 128: recursion limit exceeded: it nests more than 127 deep"),
        ] {
            assert!(fault(text).contains(says), "{text:?}: {}", fault(text));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_said_with_their_offset() {
        let fault = |bytes: &[u8]| format!("{:?}", decoded(bytes.into(), "chat.json").unwrap_err());
        assert!(fault(b"[\"a\xff\"]").contains("found byte 0xff at offset 3, expected UTF-8"));
        assert!(fault(b"\xff\xfe[\0").contains("is UTF-16, expected UTF-8: convert it"));
        assert_eq!(decoded(b"\xef\xbb\xbf[]".into(), "x").unwrap(), "[]");
    }

    #[test]
    fn reading_stops_one_byte_over_the_limit() {
        assert_eq!(read(&b"abcdef"[..], 3).unwrap().len(), 4);
        assert_eq!(read(&b"abc"[..], 3).unwrap().len(), 3);
    }
}
