//! The file log held against `spec/log-format.md`: round trips, every cut, every flipped byte, hints, races of handles
//! and of processes, and what bad files are told.
#![cfg(feature = "jsonl")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what helps a test fails as a test does"
)]

use std::{
    collections::BTreeSet,
    fs::{self, File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use fs4::FileExt;
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};
use turnfold_core::{
    Boundary, Content, Event, EventType, Object, Role, Strategy as Compaction, Summary, SummaryRequest,
    Value, Window,
    jsonl::{Durability, Fault, JsonlError, JsonlLog, MAX_LINE, Notice, Options, TornTail},
    session::{
        Added, Compacted, CorruptLog, MemoryLog, Refused, SessionLog, Stamped, Trigger, Version, active_view,
        compact,
    },
};

const HEADER: &str = "{\"turnfold\":{\"log\":1}}\n";

/// Logs of tests needn't outlive the machine.
fn fast() -> Options {
    Options::new().durability(Durability::Never)
}

fn folder() -> TempDir {
    tempdir().unwrap()
}

fn message(id: &str, role: Role) -> Event {
    Event::message(id, role, format!("text of {id}")).weighing(3)
}

/// The CRC-32 of the format, bit by bit from its definition.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    })
}

/// A batch as another program would write it.
fn batch(lines: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
    let commit =
        format!("{{\"commit\":{{\"events\":{},\"crc32\":\"{:08x}\"}}}}\n", lines.len(), crc32(&bytes));
    bytes.extend(commit.bytes());
    bytes
}

fn line(id: &str) -> String {
    format!("{{\"id\":\"{id}\",\"role\":\"user\",\"text\":\"text of {id}\"}}")
}

fn file(folder: &TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("log.jsonl");
    // A new file: to write an old one over makes some file systems wait for the disk.
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).unwrap();
    path
}

fn ids(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.to_string()).collect()
}

/// A log's events as another store would hold them: hints are this format's own.
fn without_hints(events: Vec<Event>) -> Vec<Event> {
    events
        .into_iter()
        .map(|mut event| {
            if event.as_boundary().is_some() {
                event.extra.0.retain(|(name, _)| name != "hints");
            }
            event
        })
        .collect()
}

#[expect(clippy::unnecessary_wraps, reason = "a summarizer can decline and fail")]
fn summarizer(request: &SummaryRequest<'_, Event>) -> Result<Option<Summary>, std::convert::Infallible> {
    Ok(Some(Summary { text: format!("{} events", request.events.len()), tokens: 2 }))
}

fn compact_to<L: SessionLog>(log: &mut L, turns: u64, boundary: &str, summarizing: bool) -> Compacted
where
    L::Error: std::fmt::Debug,
{
    let window = Compaction::new(Window::last_turns(turns).unwrap());
    let stamp = Stamped::new(boundary, 7);
    if summarizing {
        compact(log, &Trigger::Always, &mut window.summarizing(summarizer), &stamp).unwrap()
    } else {
        compact(log, &Trigger::Always, &mut window.clone(), &stamp).unwrap()
    }
}

/// A log of some thirty events with batches of several, two compactions and foreign events, and its state after each
/// batch: version and events.
struct Sample {
    bytes: Vec<u8>,
    states: Vec<(u64, Vec<Event>)>,
}

impl Sample {
    fn of(turns: usize) -> Self {
        let folder = folder();
        let path = folder.path().join("log.jsonl");
        let mut log = fast().create(&path).unwrap();
        let mut states = vec![(0, Vec::new())];
        let mut keep = |log: &mut JsonlLog| states.push((log.version().unwrap().0, log.events().unwrap()));
        log.append(message("s", Role::System)).unwrap();
        keep(&mut log);
        for turn in 0..turns {
            log.append(message(&format!("u{turn}"), Role::User)).unwrap();
            keep(&mut log);
            let click = EventType::new("UI.CLICK").unwrap();
            let answer = vec![
                message(&format!("a{turn}"), Role::Assistant),
                Event::new(format!("x{turn}"), Content::Other(click, Value::Null)),
            ];
            let version = log.version().unwrap();
            log.append_batch(answer, version).unwrap().unwrap();
            keep(&mut log);
            if turn == turns / 2 || turn + 2 == turns {
                let done = compact_to(&mut log, 2, &format!("b{turn}"), turn == turns / 2);
                assert!(matches!(done, Compacted::Written(_)));
                keep(&mut log);
            }
        }
        Self { bytes: fs::read(&path).unwrap(), states }
    }

    /// The state of the batches that end at `len` or before.
    fn at(&self, len: usize) -> &(u64, Vec<Event>) {
        self.states.iter().rev().find(|(version, _)| *version <= len as u64).unwrap()
    }
}

#[test]
fn what_is_appended_is_read_by_another_handle() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = JsonlLog::create(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), HEADER);
    assert_eq!((log.version().unwrap(), log.events().unwrap()), (Version(0), vec![]));
    let mut rich = message("e1", Role::Assistant);
    rich.time_ms = Some(-1);
    rich.metadata
        .set("note", Value::Array(vec![Value::Float(0.1), Value::Float(1e300), Value::Negative(i64::MIN)]));
    rich.extra.set("later", Value::String("\u{0}\u{2028}\r\n\\\"ü😀".into()));
    let Added::Added(first) = log.append(rich.clone()).unwrap() else { panic!() };
    assert_eq!(first.0, fs::metadata(&path).unwrap().len());
    let second =
        log.append_batch(vec![message("e2", Role::User), message("e3", Role::Tool)], first).unwrap().unwrap();
    assert_eq!(second.0, fs::metadata(&path).unwrap().len());

    let mut other = JsonlLog::open(&path).unwrap();
    assert_eq!(other.version().unwrap(), second);
    let events = vec![rich, message("e2", Role::User), message("e3", Role::Tool)];
    assert_eq!(other.events().unwrap(), events);
    assert_eq!(other.view().unwrap().events(), events);
    let verified = other.verify().unwrap();
    assert_eq!((verified.batches, verified.events, verified.boundaries, verified.torn), (2, 3, 0, None));
}

#[test]
fn a_repeated_id_adds_nothing_and_a_known_id_refuses_its_batch() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = fast().create(&path).unwrap();
    let Added::Added(version) = log.append(message("e1", Role::User)).unwrap() else { panic!() };
    let bytes = fs::read(&path).unwrap();
    // By this handle, and by one that has to read the log to know.
    for log in [&mut log, &mut fast().open(&path).unwrap()] {
        assert_eq!(log.append(message("e1", Role::Tool)).unwrap(), Added::Repeated(version));
        for repeats in [["e2", "e1"], ["e2", "e2"]] {
            let batch = repeats.map(|id| message(id, Role::User)).to_vec();
            let refused = log.append_batch(batch, version).unwrap().unwrap_err();
            assert_eq!(refused, Refused::Duplicate(repeats[1].into()));
        }
        assert_eq!(log.append_batch(vec![], version).unwrap(), Ok(version));
    }
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn the_stale_one_of_two_handles_is_refused() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let (mut one, mut two) = (fast().create(&path).unwrap(), fast().open(&path).unwrap());
    let read = one.version().unwrap();
    let Added::Added(found) = two.append(message("e1", Role::User)).unwrap() else { panic!() };
    let refused = one.append_batch(vec![message("e2", Role::User)], read).unwrap();
    assert_eq!(refused, Err(Refused::Stale { expected: read, found }));
    assert_eq!(ids(&two.events().unwrap()), ["e1"]);
    one.append_batch(vec![message("e2", Role::User)], found).unwrap().unwrap();
    assert!(matches!(two.append(message("e2", Role::User)).unwrap(), Added::Repeated(_)));
    assert_eq!(ids(&two.events().unwrap()), ["e1", "e2"]);
}

#[test]
fn a_log_cut_at_any_byte_is_a_prefix_of_whole_batches() {
    let sample = Sample::of(9);
    assert!(sample.states.last().unwrap().1.len() >= 30);
    let folder = folder();
    for cut in 0..=sample.bytes.len() {
        let path = file(&folder, &sample.bytes[..cut]);
        let (version, events) = sample.at(cut);
        let mut log = fast().open(&path).unwrap();
        assert_eq!(log.version().unwrap().0, *version, "{cut}");
        assert_eq!(log.events().unwrap(), *events, "{cut}");
        let view = active_view(events.clone()).unwrap();
        assert_eq!(log.view().unwrap().events(), view.events(), "{cut}");
        assert_eq!(fs::metadata(&path).unwrap().len(), cut as u64, "a reader changes nothing");

        let whole = if *version > 0 {
            *version
        } else if cut >= HEADER.len() {
            HEADER.len() as u64
        } else {
            0
        };
        let torn = cut as u64 - whole;
        let tail = (torn > 0).then_some(TornTail { at: whole, bytes: torn });
        assert_eq!(log.verify().unwrap().torn, tail, "{cut}");
        log.append(message("new", Role::User)).unwrap();
        let told: Vec<_> =
            tail.map(|tail| Notice::TornTail { path: path.clone(), tail }).into_iter().collect();
        assert_eq!(log.take_notices(), told, "{cut}");
        assert_eq!(log.take_notices(), []);

        let mut log = fast().open(&path).unwrap();
        let verified = log.verify().unwrap();
        assert_eq!((verified.events, verified.torn), (events.len() as u64 + 1, None), "{cut}");
        assert_eq!(verified.boundaries, verified.hinted, "{cut}");
        let mut appended = events.clone();
        appended.push(message("new", Role::User));
        assert_eq!(log.events().unwrap(), appended, "{cut}");
    }
}

#[test]
fn a_flipped_byte_is_never_read_as_another_text() {
    let sample = Sample::of(4);
    let (full, events) = sample.states.last().unwrap();
    let (shorter, fewer) = &sample.states[sample.states.len() - 2];
    let views = [events, fewer].map(|events| active_view(events.clone()).unwrap().into_events());
    let folder = folder();
    let mut told_of = BTreeSet::new();
    for at in 0..sample.bytes.len() {
        for flip in
            [0x01, 0x04, 0x20, 0x80, sample.bytes[at], sample.bytes[at] ^ b'\n', sample.bytes[at] ^ b'\r']
        {
            if flip == 0 {
                continue;
            }
            let mut bytes = sample.bytes.clone();
            bytes[at] ^= flip;
            let path = file(&folder, &bytes);
            let in_last = at as u64 >= *shorter;
            let mut log = match fast().open(&path) {
                Ok(log) => log,
                Err(error) => {
                    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
                    let told = match error.fault {
                        Fault::CarriageReturn { .. } => true,
                        // A commit record broken into two lines is nothing that an interrupted write leaves.
                        Fault::Damaged(_) => !in_last || bytes[at] == b'\n',
                        _ => at < HEADER.len(),
                    };
                    assert!(told, "{at}: {error}");
                    continue;
                }
            };
            match log.events() {
                Ok(read) => assert!(in_last && read == *fewer, "byte {at} ^ {flip:#x} went unnoticed"),
                Err(JsonlError { fault: Fault::Damaged(damage), .. }) => {
                    assert!(!in_last, "{at} {flip} {damage}");
                    let reach = damage.whole..=*full;
                    assert!(reach.contains(&(at as u64)) && damage.whole <= damage.at, "{at}: {damage}");
                    told_of.insert(
                        damage
                            .what
                            .split('`')
                            .next()
                            .unwrap()
                            .chars()
                            .filter(|c| !c.is_numeric())
                            .collect::<String>(),
                    );
                }
                Err(error) => assert!(matches!(error.fault, Fault::CarriageReturn { .. }), "{at}: {error}"),
            }
            // A view may not have to read the damage; what it shows is right.
            if let Ok(view) = log.view() {
                assert!(view.events() == views[usize::from(in_last)], "byte {at} ^ {flip:#x}");
            }
            match log.append(message("new", Role::User)) {
                Ok(_) => {
                    assert!(in_last);
                    assert_eq!(log.take_notices().len(), 1);
                    assert_eq!(log.events().unwrap().len(), fewer.len() + 1);
                }
                Err(_) => assert_eq!(fs::read(&path).unwrap(), bytes, "a damaged log is left as it is"),
            }
        }
    }
    assert!(told_of.len() >= 4, "each kind of damage occurs: {told_of:?}");
}

/// A log of a long past, a boundary whose hints are made by `hints`, and a message after it. A byte of the past is
/// damaged that the view need not read.
fn hinted(folder: &TempDir, hints: impl Fn(&[u64]) -> String) -> PathBuf {
    let mut bytes = HEADER.as_bytes().to_vec();
    let mut offsets = Vec::new();
    for turn in 0..20 {
        offsets.push(bytes.len() as u64);
        bytes.extend(batch(&[&line(&format!("u{turn}"))]));
    }
    let [one, two] = [18, 19].map(|turn| line(&format!("u{turn}")));
    let crc = |lines: String| u64::from(crc32(lines.as_bytes()));
    let names = [offsets[18], offsets[19], crc(format!("{one}\n{two}\n")), crc(format!("{one}\n{one}\n"))];
    bytes.extend(batch(&[&format!(
        "{{\"id\":\"b\",\"type\":\"COMPACTION\",\"payload\":{{\"pinned\":[],\"preserved\":[\"u18\",\"u19\"]}}{}}}",
        hints(&names)
    )]));
    // What only looks like a boundary doesn't hide the one before it.
    bytes.extend(batch(&[&line("u20"), r#"{"id":"x","type":"NOTE","payload":"COMPACTION"}"#]));
    bytes[200] ^= 1;
    file(folder, &bytes)
}

#[test]
fn right_hints_open_a_view_without_the_past() {
    let folder = folder();
    let path = hinted(&folder, |names| {
        let [one, two, crc, _] = names else { panic!() };
        format!(
            ",\"hints\":{{\"pinned\":[],\"preserved\":[{one},{two}],\"crc32\":\"{crc:08x}\",\"later\":1}}"
        )
    });
    let mut log = fast().open(&path).unwrap();
    assert_eq!(ids(log.view().unwrap().events()), ["u18", "u19", "u20"]);
    assert!(matches!(log.events().unwrap_err().fault, Fault::Damaged(_)));
}

#[test]
fn wrong_and_missing_hints_cost_a_full_scan() {
    type Make = fn(u64, u64, u64, u64) -> String;
    let wrong: [Make; 12] = [
        |_, _, _, _| String::new(),
        |one, two, crc, _| format!("{{\"pinned\":[],\"preserved\":[{two},{one}],\"crc32\":\"{crc:08x}\"}}"),
        |one, two, crc, _| {
            format!("{{\"pinned\":[],\"preserved\":[{one},{two}],\"crc32\":\"{:08x}\"}}", crc ^ 1)
        },
        |one, _, crc, _| format!("{{\"pinned\":[],\"preserved\":[{one}],\"crc32\":\"{crc:08x}\"}}"),
        |one, two, crc, _| format!("{{\"pinned\":[{one}],\"preserved\":[{two}],\"crc32\":\"{crc:08x}\"}}"),
        |one, two, crc, _| {
            format!("{{\"pinned\":[],\"preserved\":[{one},{}],\"crc32\":\"{crc:08x}\"}}", two + 1)
        },
        |one, _, crc, _| format!("{{\"pinned\":[],\"preserved\":[{one},99999999],\"crc32\":\"{crc:08x}\"}}"),
        |one, _, crc, _| {
            format!("{{\"pinned\":[],\"preserved\":[{one},{}],\"crc32\":\"{crc:08x}\"}}", u64::MAX)
        },
        |_, two, crc, _| format!("{{\"pinned\":[],\"preserved\":[0,{two}],\"crc32\":\"{crc:08x}\"}}"),
        |one, two, _, _| format!("{{\"pinned\":[],\"preserved\":[{one},{two}]}}"),
        |one, _, _, twice| format!("{{\"pinned\":[],\"preserved\":[{one},{one}],\"crc32\":\"{twice:08x}\"}}"),
        |_, _, _, _| "7".into(),
    ];
    let folder = folder();
    for make in wrong {
        let field = |names: &[u64]| {
            let hints = make(names[0], names[1], names[2], names[3]);
            if hints.is_empty() { hints } else { format!(",\"hints\":{hints}") }
        };
        let path = hinted(&folder, field);
        let error = fast().open(&path).unwrap().view().unwrap_err();
        assert!(matches!(error, CorruptLog::Store(JsonlError { fault: Fault::Damaged(_), .. })), "{error}");
        let mut bytes = fs::read(&path).unwrap();
        bytes[200] ^= 1;
        fs::write(&path, bytes).unwrap();
        let mut log = fast().open(&path).unwrap();
        assert_eq!(ids(log.view().unwrap().events()), ["u18", "u19", "u20"]);
        let verified = log.verify().unwrap();
        assert_eq!((verified.boundaries, verified.hinted), (1, 0));
    }
}

#[test]
fn a_boundary_gets_its_own_hints_whatever_it_brings() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = fast().create(&path).unwrap();
    log.append(message("u0", Role::User)).unwrap();
    log.append(message("u1", Role::User)).unwrap();
    let bringing_hints = |id: &str, boundary: Boundary| {
        let mut boundary = Event::new(id, Content::Boundary(boundary));
        boundary.extra.0.push(("hints".into(), Value::Null));
        boundary.extra.0.push(("hints".into(), true.into()));
        boundary
    };
    let hints_of = |log: &mut JsonlLog, id: &str| {
        let events = log.events().unwrap();
        let boundary = events.iter().find(|event| event.id.as_str() == id).unwrap();
        boundary.extra.0.iter().filter(|(name, _)| name == "hints").count()
    };
    let boundary = Boundary { preserved: vec!["u2".into(), "u1".into()], ..Boundary::default() };
    let batch = vec![message("u2", Role::User), bringing_hints("b", boundary), message("u3", Role::User)];
    let version = log.version().unwrap();
    log.append_batch(batch, version).unwrap().unwrap();
    assert_eq!(log.verify().unwrap().hinted, 1);
    assert_eq!(hints_of(&mut log, "b"), 1);

    // They lead to an event of the same batch as well: nothing else has to be read.
    let mut bytes = fs::read(&path).unwrap();
    bytes[HEADER.len() + 8] ^= 1;
    let damaged = folder.path().join("damaged.jsonl");
    fs::write(&damaged, &bytes).unwrap();
    let mut other = fast().open(&damaged).unwrap();
    assert_eq!(ids(other.view().unwrap().events()), ["u2", "u1", "u3"]);
    assert!(other.events().is_err());

    // What a boundary can't have named is stored as told, without hints, and is a corrupt log to a reader.
    let unknown = Boundary { pinned: vec!["nobody".into()], ..Boundary::default() };
    log.append(bringing_hints("b2", unknown)).unwrap();
    assert_eq!(hints_of(&mut log, "b2"), 0);
    for error in [log.view().unwrap_err().to_string(), log.verify().unwrap_err().to_string()] {
        assert!(error.contains("`b2` names `nobody`, which is unknown"), "{error}");
    }
}

#[test]
fn a_text_that_looks_like_a_boundary_is_none() {
    let folder = folder();
    let mut bytes = HEADER.as_bytes().to_vec();
    bytes.extend(batch(&[&line("u1")]));
    bytes.extend(batch(&[
        r#"{"id":"b","type":"COMP\u0041CTION","payload":{"pinned":[],"preserved":["u1"]}}"#,
    ]));
    bytes.extend(batch(&[r#"{"id":"x","type":"NOTE","payload":"COMPACTION"}"#, &line("u2")]));
    let mut log = fast().open(file(&folder, &bytes)).unwrap();
    let whole = active_view(log.events().unwrap()).unwrap();
    assert_eq!(ids(whole.events()), ["u1", "u2"]);
    assert_eq!(log.view().unwrap().events(), whole.events());
}

fn error_of(path: &Path) -> String {
    let error = match fast().open(path) {
        Err(error) => error,
        Ok(mut log) => log.events().unwrap_err(),
    };
    let text = error.to_string();
    assert!(text.starts_with(&format!("log `{}` ", path.display())), "{text}");
    text
}

#[test]
fn a_file_that_is_no_log_is_told_so() {
    let folder = folder();
    let long = format!("{{\"id\":\"{}\"}}\n", "x".repeat(500));
    for (bytes, says) in [
        ("hello", "is no log: it begins with `hello`, expected a line such as `{\"turnfold\":{\"log\":1}}`"),
        ("\n", "is no log: it begins with `\\n`"),
        ("\u{feff}{\"turnfold\":{\"log\":1}}\n", "is no log"),
        (&long, "is no log: it begins with `{\"id\":\"xxx"),
        ("{\"turnfold\":{}}\n", "is no log"),
        ("{\"turnfold\":{\"log\":1}\n", "is no log"),
        ("{\"turnfold\":{\"log\":2}}\nwhatever", "is of format version 2, expected 1"),
        (
            "{\"turnfold\":{\"log\":1}}\r\n",
            "has a line that ends in CR LF (line 1, byte 0), expected LF alone",
        ),
    ] {
        let error = error_of(&file(&folder, bytes.as_bytes()));
        assert!(error.contains(says), "{bytes}: {error}");
        assert!(error.len() < 400, "{error}");
    }
    assert!(error_of(&file(&folder, &[0; 4096])).contains("is no log: it begins with `\\u{0}"));
    assert!(error_of(folder.path()).contains("is no regular file"));
    let nowhere = folder.path().join("nowhere/log.jsonl");
    assert!(error_of(&nowhere).contains("does not exist"));
    let error = JsonlLog::create(&nowhere).unwrap_err().to_string();
    assert!(error.contains("nowhere/log.jsonl") && error.contains("create the folder first"), "{error}");
    let there = file(&folder, b"hello");
    assert!(JsonlLog::create(&there).unwrap_err().to_string().contains("exists already"));
    assert_eq!(fs::read(&there).unwrap(), b"hello");
    assert!(fast().open_or_create(&there).is_err());
    assert_eq!(fs::read(&there).unwrap(), b"hello");
}

#[test]
fn unknown_fields_of_the_formats_own_records_are_passed_over() {
    let folder = folder();
    let mut bytes = b"{\"turnfold\":{\"log\":1,\"later\":[1]},\"by\":\"x\"}\n".to_vec();
    let event = r#"{"text":"hi","later":{"a":[1.5]},"role":"user","id":"u1"}"#;
    let crc = crc32(format!("{event}\n").as_bytes());
    bytes.extend(
        format!("{event}\n{{\"commit\":{{\"later\":1,\"crc32\":\"{crc:08x}\",\"events\":1}}}}\n").bytes(),
    );
    let mut log = fast().open(file(&folder, &bytes)).unwrap();
    log.append(message("u2", Role::User)).unwrap();
    let events = log.events().unwrap();
    assert_eq!(ids(&events), ["u1", "u2"]);
    assert!(matches!(events[0].extra.get("later"), Some(Value::Object(_))));
    assert!(log.take_notices().is_empty());
}

#[test]
fn damage_is_told_with_its_place_and_its_text() {
    let folder = folder();
    let [one, two] = [batch(&[&line("u1")]), batch(&[&line("u2")])];
    let start = HEADER.len();
    let log = |middle: &[u8]| [HEADER.as_bytes(), &one, middle, &two].concat();
    let at = start + one.len();
    let raw = |bytes: &[u8]| {
        let commit = format!("{{\"commit\":{{\"events\":1,\"crc32\":\"{:08x}\"}}}}\n", crc32(bytes));
        [bytes, commit.as_bytes()].concat()
    };
    for (middle, says) in [
        (
            b"garbage\n".to_vec(),
            format!("is damaged at line 4 (byte {at}): the line is no event, expected value, near `garbage`"),
        ),
        (b"\n".to_vec(), format!("is damaged at line 4 (byte {at})")),
        (
            raw(b"{\"id\":\"\xff\",\"role\":\"user\"}\n"),
            format!(
                "line 4 (byte {at}): byte 7 of the line is not UTF-8, expected UTF-8 throughout, near `{{\"id\":\"\\xff\""
            ),
        ),
        (
            raw(b"{\"role\":\"user\"}\n"),
            format!("line 4 (byte {at}): the line is no event, missing field `id`"),
        ),
        (raw(b"{\"id\":\"e\",\"role\":\"bot\"}\n"), "unknown role `bot`".into()),
        (raw(b"{\"id\":\"e\",\"role\":\"user\"}\r\n"), format!("CR LF (line 4, byte {at})")),
        (
            [line("e").as_bytes(), b"\n"].concat(),
            format!(
                "line 6 (byte {}): `events` is 1, found 2 since the last commit",
                at + line("e").len() + 1 + line("u2").len() + 1
            ),
        ),
        (
            b"{\"commit\":{\"events\":1}}\n".to_vec(),
            format!(
                "line 4 (byte {at}): the line is no commit record, expected `crc32` in it once, 8 lower-case"
            ),
        ),
        (
            batch(&[]),
            format!(
                "line 4 (byte {at}): the line is no commit record, expected `events` in it once, an integer from 1 up"
            ),
        ),
        (HEADER.as_bytes().to_vec(), format!("line 4 (byte {at}): the line is no event")),
    ] {
        let error = error_of(&file(&folder, &log(&middle)));
        assert!(error.contains(&says), "{}: {error}", String::from_utf8_lossy(&middle));
        assert!(
            error.contains("CR LF")
                || error.contains(&format!("cut it to {at} bytes to keep what stands before")),
            "{error}"
        );
        // What the message proposes works.
        let path = file(&folder, &log(&middle)[..at]);
        assert_eq!(ids(&fast().open(&path).unwrap().events().unwrap()), ["u1"]);
    }
    let mut wrong_crc = two.clone();
    wrong_crc[8] ^= 1;
    let error = error_of(&file(&folder, &log(&wrong_crc)));
    let found = crc32(&wrong_crc[..=line("u2").len()]);
    let says =
        format!("line 4 (byte {at}): the batch that ends at line 5 has the crc32 `{found:08x}`, expected `");
    assert!(error.contains(&says), "{error}");
}

#[test]
fn bytes_that_no_interrupted_write_leaves_are_damage_and_no_torn_tail() {
    let folder = folder();
    let [one, two] = [batch(&[&line("u1")]), batch(&[&line("u2")])];
    let spoil = |batch: &[u8]| {
        let mut batch = batch.to_vec();
        batch[8] ^= 1;
        batch
    };
    // Two spoilt batches; a spoilt one with the beginning of another behind it.
    for tail in [[spoil(&one), spoil(&two)].concat(), [spoil(&one), b"{\"id".to_vec()].concat()] {
        let bytes = [HEADER.as_bytes(), &tail].concat();
        let path = file(&folder, &bytes);
        assert!(matches!(fast().open(&path).unwrap_err().fault, Fault::Damaged(_)));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    // A commit record that counts another one among its lines ends no batch: it is what stands last, torn.
    let first = String::from_utf8(one.clone()).unwrap();
    let lines: Vec<_> = first.lines().chain(["{\"id\":\"u2\",\"role\":\"user\"}"]).collect();
    let path = file(&folder, &[HEADER.as_bytes(), &batch(&lines)].concat());
    let verified = fast().open(&path).unwrap().verify().unwrap();
    assert_eq!(verified.version.0, (HEADER.len() + one.len()) as u64);
    assert!(verified.events == 1 && verified.torn.is_some());
    // A whole batch in CR LF isn't cut off as if it were torn.
    let crlf = String::from_utf8(one).unwrap().replace('\n', "\r\n");
    let path = file(&folder, &[HEADER.as_bytes(), crlf.as_bytes()].concat());
    assert!(error_of(&path).contains("CR LF"));
}

#[test]
fn what_others_append_is_verified_and_told_by_its_line_in_the_file() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = fast().create(&path).unwrap();
    for id in ["u1", "u2"] {
        log.append(message(id, Role::User)).unwrap();
    }
    let at = fs::metadata(&path).unwrap().len();
    let mut other = OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(b"garbage\n").unwrap();
    other.write_all(&batch(&[&line("u3")])).unwrap();
    let error = log.append(message("u4", Role::User)).unwrap_err().to_string();
    assert!(error.contains(&format!("is damaged at line 6 (byte {at})")), "{error}");
}

#[test]
fn an_id_twice_in_a_log_is_told_by_who_needs_to_know() {
    let folder = folder();
    let [one, two] = [batch(&[&line("u1")]), batch(&[&line("u1")])];
    let mut log = fast().open(file(&folder, &[HEADER.as_bytes(), &one, &two].concat())).unwrap();
    assert_eq!(log.events().unwrap().len(), 2);
    assert!(log.view().unwrap_err().to_string().contains("id `u1` stands at position 0 and again at 1"));
    assert!(log.verify().unwrap_err().to_string().contains("id `u1`"));
    for _ in 0..2 {
        let error = log.append(message("u2", Role::User)).unwrap_err().to_string();
        let (first, second) = (HEADER.len(), HEADER.len() + one.len());
        assert!(error.contains(&format!("id `u1` at byte {first} and again at byte {second}")), "{error}");
    }
}

#[test]
fn lines_are_bounded_when_read_and_when_written() {
    let folder = folder();
    let mebibytes = |n: usize| "x".repeat(n * 1024 * 1024);
    let oversized = format!("{{\"id\":\"e\",\"role\":\"user\",\"text\":\"{}\"}}\n", mebibytes(100));
    let commit = format!(
        "{{\"commit\":{{\"events\":1,\"crc32\":\"{:08x}\"}}}}\n",
        crc32fast::hash(oversized.as_bytes())
    );
    let path = file(&folder, &[HEADER, &oversized, &commit].concat().into_bytes());
    let error = error_of(&path);
    assert!(
        error.contains("line 2 (byte 23): a line is longer than 67108864 bytes, expected that at most"),
        "{error}"
    );
    assert!(error.len() < 400, "{error}");
    assert!(fast().open(&path).unwrap().append(message("u", Role::User)).is_err());
    // Torn, the same line is nobody's.
    let mut log = fast().open(file(&folder, &[HEADER, oversized.trim_end()].concat().into_bytes())).unwrap();
    assert_eq!(log.events().unwrap(), []);

    let room = usize::try_from(MAX_LINE).unwrap() - r#"{"id":"e","role":"user","text":""}"#.len() - 1;
    let error = log.append(Event::message("e", Role::User, "x".repeat(room + 1))).unwrap_err();
    assert!(matches!(&error.fault, Fault::TooLong { bytes, .. } if *bytes == MAX_LINE + 1), "{error}");
    log.append(Event::message("e", Role::User, "x".repeat(room))).unwrap();
    assert_eq!(log.events().unwrap().len(), 1);
    assert_eq!(log.view().unwrap().events().len(), 1);
}

fn nested(depth: usize) -> Value {
    (1..depth).fold(Value::Array(vec![]), |inner, _| Value::Array(vec![inner]))
}

#[test]
fn an_event_that_would_not_read_back_is_refused() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = fast().create(&path).unwrap();
    let with = |value: Value| {
        let mut event = message("e", Role::User);
        event.metadata.set("note", value);
        event
    };
    let mut contradicting = message("e", Role::User);
    contradicting.extra.set("role", "user");
    // The event and its metadata are two levels more.
    for (event, says) in [
        (with(Value::Float(f64::NAN)), "JSON has no form for one of its values"),
        (with(Value::Negative(1)), "JSON has no form"),
        (with(nested(126)), "recursion limit exceeded"),
        (contradicting, "duplicate field `role`"),
    ] {
        let error = log.append(event.clone()).unwrap_err().to_string();
        assert!(error.contains("can't hold event `e`") && error.contains(says), "{error}");
        let version = log.version().unwrap();
        let batch = vec![message("u", Role::User), event];
        assert!(log.append_batch(batch, version).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), HEADER);
    }
    log.append(with(nested(125))).unwrap();
    assert_eq!(log.events().unwrap(), [with(nested(125))]);
}

#[test]
fn a_log_open_for_reading_refuses_to_append() {
    let folder = folder();
    let path = file(&folder, &[HEADER.as_bytes(), &batch(&[&line("u1")])].concat());
    let mut log = fast().read_only().open(&path).unwrap();
    assert_eq!(ids(log.view().unwrap().events()), ["u1"]);
    for error in [
        log.append(message("u2", Role::User)).unwrap_err(),
        log.append_batch(vec![], Version(0)).unwrap_err(),
    ] {
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert!(matches!(error.fault, Fault::ReadOnly));
    }
    let nowhere = folder.path().join("nowhere.jsonl");
    assert!(fast().read_only().open_or_create(&nowhere).is_err());
    assert!(!nowhere.exists());
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_written_is_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = file(&folder, &[HEADER.as_bytes(), &batch(&[&line("u1")])].concat());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    if OpenOptions::new().append(true).open(&path).is_ok() {
        println!("passed over: this user may write what is not writable");
        return;
    }
    let mut log = fast().open(&path).unwrap();
    assert_eq!(ids(log.view().unwrap().events()), ["u1"]);
    assert!(matches!(log.append(message("u2", Role::User)).unwrap_err().fault, Fault::ReadOnly));
}

#[test]
fn a_writer_waits_for_the_lock_and_not_for_ever() {
    let folder = folder();
    let path = file(&folder, HEADER.as_bytes());
    let holder = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    FileExt::lock(&holder).unwrap();
    let mut log = fast().lock_wait(Duration::from_millis(30)).open(&path).unwrap();
    assert_eq!(log.events().unwrap(), [], "readers don't wait");
    let error = log.append(message("u1", Role::User)).unwrap_err();
    assert!(error.to_string().contains("is locked by another writer, waited 30ms"), "{error}");
    let mut patient = fast().lock_wait(Duration::from_secs(60)).open(&path).unwrap();
    thread::scope(|threads| {
        let appended = threads.spawn(move || patient.append(message("u1", Role::User)));
        thread::sleep(Duration::from_millis(50));
        assert!(!appended.is_finished());
        FileExt::unlock(&holder).unwrap();
        assert!(matches!(appended.join().unwrap().unwrap(), Added::Added(_)));
    });
    assert!(matches!(log.append(message("u1", Role::User)).unwrap(), Added::Repeated(_)));
}

#[test]
fn a_log_cut_or_replaced_under_a_handle_is_told() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let mut log = fast().create(&path).unwrap();
    log.append(message("u1", Role::User)).unwrap();
    let Added::Added(version) = log.append(message("u2", Role::User)).unwrap() else { panic!() };
    let first =
        (HEADER.len() + batch(&[r#"{"id":"u1","role":"user","text":"text of u1","tokens":3}"#]).len()) as u64;
    File::options().write(true).open(&path).unwrap().set_len(first).unwrap();
    let error = log.append(message("u3", Role::User)).unwrap_err().to_string();
    assert!(error.contains(&format!("has shrunk from version {} to {first}", version.0)), "{error}");
    if cfg!(unix) {
        fs::rename(&path, folder.path().join("old.jsonl")).unwrap();
        assert!(matches!(log.events().unwrap_err().fault, Fault::Replaced));
        fs::write(&path, HEADER).unwrap();
        assert!(matches!(log.append(message("u3", Role::User)).unwrap_err().fault, Fault::Replaced));
        assert_eq!(fs::read_to_string(&path).unwrap(), HEADER);
    }
}

/// Appends what an interrupted write leaves.
fn tear(path: &Path) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    FileExt::lock(&file).unwrap();
    file.write_all(b"{\"id\":\"torn\",\"role\":\"user\",\"text\":\"").unwrap();
    file.write_all("x".repeat(3000).as_bytes()).unwrap();
    file.write_all(b"\"}\n{\"id\":\"to").unwrap();
    FileExt::unlock(&file).unwrap();
}

#[test]
fn readers_see_whole_batches_while_writers_write_tear_and_compact() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let options = fast().lock_wait(Duration::from_secs(60));
    drop(options.create(&path).unwrap());
    let over = AtomicBool::new(false);
    let (per_writer, writers) = (60, 3);
    thread::scope(|threads| {
        let writing: Vec<_> = (0..writers)
            .map(|writer| {
                let (path, options) = (&path, &options);
                threads.spawn(move || {
                    let mut log = options.open(path).unwrap();
                    for n in 0..per_writer {
                        let pair = ["q", "a"].map(|half| format!("{half}{writer}.{n}"));
                        loop {
                            let batch =
                                vec![message(&pair[0], Role::User), message(&pair[1], Role::Assistant)];
                            let version = log.version().unwrap();
                            if log.append_batch(batch, version).unwrap().is_ok() {
                                break;
                            }
                        }
                        if n % 7 == 0 {
                            tear(path);
                        }
                    }
                })
            })
            .collect();
        let compacting = threads.spawn(|| {
            let mut log = options.open(&path).unwrap();
            let mut written = 0;
            while !over.load(Ordering::Relaxed) || written == 0 {
                let done = compact_to(&mut log, 3, &format!("b{written}"), written % 2 == 0);
                written += u32::from(matches!(done, Compacted::Written(_)));
            }
            written
        });
        let reading = threads.spawn(|| {
            let mut log = options.open(&path).unwrap();
            let mut before = 0;
            while !over.load(Ordering::Relaxed) {
                let events = log.events().unwrap();
                assert!(events.len() >= before);
                before = events.len();
                log.view().unwrap();
                log.version().unwrap();
            }
        });
        for writer in writing {
            writer.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        reading.join().unwrap();
        assert!(compacting.join().unwrap() > 0);
    });
    let mut log = options.open(&path).unwrap();
    let events = log.events().unwrap();
    let known: BTreeSet<_> = ids(&events).into_iter().collect();
    for writer in 0..writers {
        for n in 0..per_writer {
            let at = events.iter().position(|event| event.id.as_str() == format!("q{writer}.{n}")).unwrap();
            assert_eq!(events[at + 1].id.as_str(), format!("a{writer}.{n}"), "a batch stays together");
        }
    }
    assert_eq!(known.len(), events.len());
    let verified = log.verify().unwrap();
    assert_eq!(verified.boundaries, verified.hinted);
    assert_eq!(log.view().unwrap().events(), active_view(events).unwrap().events());
}

/// Runs one of the `child_…` tests in a process of its own.
fn child(name: &str, path: &Path, shell: &str) -> Command {
    let mut command = if shell.is_empty() {
        Command::new(std::env::current_exe().unwrap())
    } else {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{shell}; exec \"$0\" \"$@\"")]).arg(std::env::current_exe().unwrap());
        command
    };
    command.args([name, "--exact", "--ignored", "--nocapture"]).env("TURNFOLD_TEST_LOG", path);
    // What a child counts is no result of this run.
    command.stdout(Stdio::null());
    command
}

fn log_of_this_child() -> PathBuf {
    std::env::var_os("TURNFOLD_TEST_LOG").expect("run by another test, which names the log").into()
}

#[test]
fn processes_lose_nothing_to_each_other() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    let go = path.with_extension("go");
    let mut children: Vec<_> = (0..3)
        .map(|n| child("child_appends", &path, "").env("TURNFOLD_TEST_CHILD", n.to_string()).spawn().unwrap())
        .collect();
    fs::write(&go, "").unwrap();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut log = fast().open(&path).unwrap();
    let events = log.events().unwrap();
    for n in 0..3 {
        let own: Vec<_> = ids(&events).into_iter().filter(|id| id.starts_with(&format!("u{n}."))).collect();
        assert_eq!(own, (0..200).map(|at| format!("u{n}.{at}")).collect::<Vec<_>>());
    }
    assert_eq!(ids(&events).iter().filter(|id| id.starts_with("shared")).count(), 200);
    let verified = log.verify().unwrap();
    assert!(verified.boundaries > 0 && verified.boundaries == verified.hinted, "{verified:?}");
    let writers: Vec<_> =
        ids(&events).iter().filter(|id| id.starts_with('u')).map(|id| id.as_bytes()[1]).collect();
    assert!(writers.windows(2).filter(|pair| pair[0] != pair[1]).count() > 3, "they wrote by turns");
}

#[test]
#[ignore = "a process of `processes_lose_nothing_to_each_other`"]
fn child_appends() {
    let n = std::env::var("TURNFOLD_TEST_CHILD").unwrap();
    let path = log_of_this_child();
    while !path.with_extension("go").exists() {
        thread::yield_now();
    }
    let mut log = fast().lock_wait(Duration::from_secs(60)).open_or_create(path).unwrap();
    for at in 0..200 {
        // Long enough for others to come in between.
        thread::sleep(Duration::from_micros(200));
        assert!(matches!(log.append(message(&format!("u{n}.{at}"), Role::User)).unwrap(), Added::Added(_)));
        log.append(message(&format!("shared{at}"), Role::Assistant)).unwrap();
        if at % 8 == 0 {
            let done = compact_to(&mut log, 5, &format!("b{n}.{at}"), at % 16 == 0);
            assert!(matches!(done, Compacted::Written(_) | Compacted::Raced | Compacted::Unchanged(_)));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_the_log_as_it_was() {
    let folder = folder();
    let path = folder.path().join("log.jsonl");
    // The shell bounds the size of files, as a full disk would, and keeps the system from ending the child for it.
    let child = child("child_fills_the_disk", &path, "trap '' XFSZ; ulimit -f 8").status().unwrap();
    assert!(child.success());
    let mut log = fast().open(&path).unwrap();
    let verified = log.verify().unwrap();
    assert_eq!((verified.version.0, verified.torn), (fs::metadata(&path).unwrap().len(), None));
    log.append(message("new", Role::User)).unwrap();
    assert!(log.take_notices().is_empty());
}

#[test]
#[ignore = "the process of `a_write_that_fails_leaves_the_log_as_it_was`"]
fn child_fills_the_disk() {
    let path = log_of_this_child();
    let mut log = fast().create(&path).unwrap();
    let mut version = Version(0);
    let failed = (0..1000).find_map(|n| match log.append(message(&format!("u{n}"), Role::User)) {
        Ok(Added::Added(now)) => {
            version = now;
            None
        }
        Ok(Added::Repeated(_)) => panic!(),
        Err(error) => Some((n, error)),
    });
    let (n, error) = failed.expect("the size of files is bounded");
    assert!(matches!(&error.fault, Fault::System { done: "written", .. }), "{error}");
    assert!(std::error::Error::source(&error).is_some());
    assert!(n > 10 && version.0 == fs::metadata(&path).unwrap().len());
    assert_eq!(log.version().unwrap(), version);
    assert_eq!(log.events().unwrap().len(), n);
    assert!(log.append(message(&format!("u{n}"), Role::User)).is_err(), "it is still new to the log");
}

/// What one step does to a log.
#[derive(Clone, Debug)]
enum Step {
    Append(u8, Role),
    Batch(Vec<u8>),
    Compact { turns: u64, summarizing: bool },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let role = prop_oneof![3 => Just(Role::User), 3 => Just(Role::Assistant), 1 => Just(Role::System)];
    prop_oneof![
        6 => (0_u8..60, role).prop_map(|(id, role)| Step::Append(id, role)),
        2 => proptest::collection::vec(0_u8..60, 0..4).prop_map(Step::Batch),
        2 => (1_u64..4, any::<bool>()).prop_map(|(turns, summarizing)| Step::Compact { turns, summarizing }),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_is_the_log_that_memory_is(steps in proptest::collection::vec(step(), 1..40)) {
        let folder = folder();
        let path = folder.path().join("log.jsonl");
        let (mut file, mut memory) = (fast().create(&path).unwrap(), MemoryLog::new());
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Append(id, role) => {
                    let event = message(&format!("e{id}"), role);
                    let one = matches!(file.append(event.clone()).unwrap(), Added::Added(_));
                    let two = matches!(memory.append(event).unwrap(), Added::Added(_));
                    prop_assert_eq!(one, two);
                }
                Step::Batch(new) => {
                    let batch: Vec<_> = new.iter().map(|id| message(&format!("e{id}"), Role::User)).collect();
                    let (one, two) = (file.version().unwrap(), memory.version().unwrap());
                    let one = file.append_batch(batch.clone(), one).unwrap().err();
                    let two = memory.append_batch(batch, two).unwrap().err();
                    prop_assert_eq!(one, two);
                }
                Step::Compact { turns, summarizing } => {
                    let boundary = format!("b{n}");
                    let one = compact_to(&mut file, turns, &boundary, summarizing);
                    let two = compact_to(&mut memory, turns, &boundary, summarizing);
                    match (one, two) {
                        (Compacted::Written(one), Compacted::Written(two)) => prop_assert_eq!(one.covered, two.covered),
                        (one, two) => prop_assert_eq!(one, two),
                    }
                }
                Step::Reopen => file = fast().open(&path).unwrap(),
            }
            let view = memory.view().unwrap();
            prop_assert_eq!(file.view().unwrap().into_events(), view.into_events());
        }
        prop_assert_eq!(without_hints(file.events().unwrap()), memory.events().unwrap());
        let verified = file.verify().unwrap();
        prop_assert_eq!(verified.boundaries, verified.hinted);
        prop_assert_eq!(verified.version, file.version().unwrap());
    }
}

/// The fenced blocks of `spec/log-format.md` that are whole logs, each with the sentence behind it.
fn logs_of_the_spec() -> Vec<(String, String)> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/log-format.md");
    let spec = fs::read_to_string(spec).unwrap();
    spec.split("\n```jsonl\n")
        .skip(1)
        .map(|rest| {
            let (block, after) = rest.split_once("```\n").unwrap();
            (block.into(), after.trim_start().lines().next().unwrap_or_default().into())
        })
        .collect()
}

/// The words in backticks behind some words of a sentence.
fn told(sentence: &str, words: &str) -> Vec<String> {
    let (_, rest) = sentence.split_once(words).unwrap_or_else(|| panic!("`{words}` in `{sentence}`"));
    rest.split('`').nth(1).unwrap_or_default().split_whitespace().map(String::from).collect()
}

#[test]
fn the_examples_of_the_spec_are_logs() {
    let folder = folder();
    let logs = logs_of_the_spec();
    assert!(logs.len() >= 2);
    for (block, sentence) in logs {
        let path = file(&folder, block.as_bytes());
        let mut log = fast().open(&path).unwrap();
        assert_eq!(told(&sentence, "version is"), [log.version().unwrap().0.to_string()]);
        assert_eq!(told(&sentence, "view is"), ids(log.view().unwrap().events()));
        let verified = log.verify().unwrap();
        assert_eq!(verified.boundaries, verified.hinted);
        let torn = verified.torn.map(|torn| torn.bytes.to_string());
        assert_eq!(told(&sentence, "torn tail takes"), [torn.unwrap_or_else(|| "0".into())]);
        for line in block.lines().filter(|line| line.starts_with("{\"commit\":")) {
            let commit: Object = serde_json::from_str(line).unwrap();
            assert!(matches!(commit.get("commit"), Some(Value::Object(_))));
        }
    }
}

#[test]
fn the_test_knows_the_crc_of_the_format() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}
