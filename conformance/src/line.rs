//! Lines of protocol 1: one JSON object each, with the id that joins an answer to its request.

use serde::{Deserialize, Serialize};
use turnfold_core::Event;

use crate::{
    protocol::{Answer, Call, Failed, Hello, Outcome, Reason, Request, Said},
    subject::Fault,
    text::shorten,
};

/// What a subject writes.
#[derive(Debug)]
pub(crate) enum Incoming {
    Answer(Answer),
    Summarize(Call),
    Read(Half),
    Write(Write),
}

/// Half of a log's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Half {
    Version,
    Events,
}

/// A batch for the log that the suite holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Write {
    pub(crate) events: Vec<Event>,
    pub(crate) expected: u64,
}

#[derive(Deserialize)]
struct AtVersion {
    version: u64,
}

#[derive(Deserialize)]
struct Why {
    why: String,
}

#[derive(Deserialize)]
struct Empty {}

/// Every field an answer may have; one of them it has.
#[derive(Deserialize)]
struct Fields {
    id: u64,
    hello: Option<Hello>,
    outcome: Option<Outcome>,
    unchanged: Option<Reason>,
    raced: Option<Empty>,
    opened: Option<AtVersion>,
    appended: Option<AtVersion>,
    refused: Option<Why>,
    view: Option<Vec<Event>>,
    log: Option<Vec<Event>>,
    version: Option<u64>,
    error: Option<Failed>,
    unsupported: Option<Why>,
    summarize: Option<Call>,
    read: Option<Half>,
    write: Option<Write>,
}

/// Reads a line that a subject wrote.
pub(crate) fn read(line: &[u8]) -> Result<(u64, Incoming), Fault> {
    let fields: Fields = match serde_json::from_slice(line) {
        Ok(fields) => fields,
        Err(error) => return unreadable(line, &error),
    };
    let id = fields.id;
    let said = [
        fields.hello.map(|hello| Incoming::Answer(Answer::Hello(hello))),
        fields.outcome.map(|outcome| Incoming::Answer(Answer::Outcome(outcome))),
        fields.unchanged.map(|reason| Incoming::Answer(Answer::Unchanged(reason))),
        fields.raced.map(|_| Incoming::Answer(Answer::Raced {})),
        fields.opened.map(|at| Incoming::Answer(Answer::Opened { version: at.version })),
        fields.appended.map(|at| Incoming::Answer(Answer::Appended { version: at.version })),
        fields.refused.map(|refused| Incoming::Answer(Answer::Refused { why: refused.why })),
        fields.view.map(|view| Incoming::Answer(Answer::View(view))),
        fields.log.map(|log| Incoming::Answer(Answer::Log(log))),
        fields.version.map(|version| Incoming::Answer(Answer::Version(version))),
        fields.error.map(|failed| Incoming::Answer(Answer::Error(failed))),
        fields.unsupported.map(|why| Incoming::Answer(Answer::Unsupported { why: why.why })),
        fields.summarize.map(Incoming::Summarize),
        fields.read.map(Incoming::Read),
        fields.write.map(Incoming::Write),
    ];
    let mut said = said.into_iter().flatten();
    match (said.next(), said.next()) {
        (Some(one), None) => Ok((id, one)),
        (None, _) => Err(Fault::protocol(format!("answer {id} says nothing the protocol knows"))),
        (Some(_), Some(_)) => Err(Fault::protocol(format!("answer {id} says two things at once"))),
    }
}

/// A line that is no answer. One that would be, but for the events in it, is an answer to a question about such events.
fn unreadable(line: &[u8], error: &serde_json::Error) -> Result<(u64, Incoming), Fault> {
    #[derive(Deserialize)]
    struct Loose {
        id: u64,
        #[serde(default)]
        outcome: Option<serde_json::Map<String, serde_json::Value>>,
        #[serde(default)]
        summarize: Option<LooseCall>,
    }
    #[derive(Deserialize)]
    struct LooseCall {
        #[serde(default)]
        prior: Option<String>,
        events: Vec<serde_json::Value>,
    }
    let shown = shorten(&String::from_utf8_lossy(line), 160);
    let why =
        format!("a line on stdout is no answer of the protocol: {error}: `{shown}`; logs belong on stderr");
    match serde_json::from_slice(line) {
        Ok(Loose { id, outcome: Some(_), summarize: None }) => {
            Ok((id, Incoming::Answer(Answer::Unreadable(why))))
        }
        Ok(Loose { id, outcome: None, summarize: Some(LooseCall { prior, events }) }) => {
            let events = events.into_iter().filter_map(|event| serde_json::from_value(event).ok()).collect();
            Ok((id, Incoming::Summarize(Call { prior, events, unreadable: Some(why) })))
        }
        _ => Err(Fault::protocol(why)),
    }
}

/// What a suite writes.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Outgoing<'a> {
    Summary(&'a Said),
    Version(u64),
    Events(&'a [Event]),
    Written { version: u64 },
    Refused { why: &'a str },
}

/// Writes one line: the id, then the one field of what is said.
pub(crate) fn write(id: u64, said: &impl Serialize, to: &mut Vec<u8>) -> Result<(), Fault> {
    let failed = |error: serde_json::Error| Fault::protocol(format!("a line can't be written: {error}"));
    to.clear();
    to.extend_from_slice(b"{\"id\":");
    to.extend_from_slice(id.to_string().as_bytes());
    let after_id = to.len();
    serde_json::to_writer(&mut *to, said).map_err(failed)?;
    match to.get_mut(after_id) {
        Some(brace @ b'{') => *brace = b',', // `{"id":1` and `{"view":{}}` become one object
        _ => return Err(Fault::protocol("a line is no object")),
    }
    to.push(b'\n');
    Ok(())
}

/// What a suite's line asks of a subject.
pub(crate) enum Asked {
    Request(Box<Request>),
    Summary(Said),
    Version(u64),
    Events(Vec<Event>),
    Written(u64),
    Refused,
}

/// What a suite's line may hold beside its id.
const ASKED: [&str; 11] = [
    "hello", "compact", "open", "append", "view", "log", "version", "summary", "events", "written", "refused",
];

/// Reads a line that a suite wrote: its id, and what it asks or why that isn't offered. Fields that aren't known are
/// left out.
///
/// # Errors
///
/// A line that is no request at all, since it has no id to answer to.
pub(crate) fn read_request(line: &[u8]) -> Result<(u64, Result<Asked, String>), String> {
    let shown = || shorten(&String::from_utf8_lossy(line), 160);
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(line)
        .map_err(|error| format!("a line is no JSON object: {error}: `{}`", shown()))?;
    let id = fields
        .get("id")
        .and_then(serde_json::Value::as_u64)
        .filter(|&id| id > 0)
        .ok_or_else(|| format!("a request has no `id`, expected a positive integer: `{}`", shown()))?;
    let known = ASKED.into_iter().find_map(|name| Some((name, fields.remove(name)?)));
    let Some((name, value)) = known else {
        return Ok((
            id,
            Err(format!(
                "expected a request with one of {}",
                ASKED.map(|name| format!("`{name}`")).join(", ")
            )),
        ));
    };
    let asked = match name {
        "summary" => serde_json::from_value(value).map(Asked::Summary),
        "version" if value.is_u64() => serde_json::from_value(value).map(Asked::Version),
        "events" => serde_json::from_value(value).map(Asked::Events),
        "written" => serde_json::from_value(value).map(|AtVersion { version }| Asked::Written(version)),
        "refused" => Ok(Asked::Refused),
        _ => serde_json::from_value(serde_json::json!({ name: value }))
            .map(|asked| Asked::Request(Box::new(asked))),
    };
    Ok((id, asked.map_err(|error| format!("`{name}`: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_object_with_its_id_first() {
        let mut line = Vec::new();
        write(7, &Request::View {}, &mut line).unwrap();
        assert_eq!(line, b"{\"id\":7,\"view\":{}}\n");
        write(8, &Outgoing::Summary(&Said::Declined), &mut line).unwrap();
        assert_eq!(line, b"{\"id\":8,\"summary\":{\"decline\":true}}\n");
    }

    #[test]
    fn what_is_no_answer_is_quoted() {
        for (line, says) in [
            ("hello there", "`hello there`"),
            ("{\"id\":1}", "says nothing"),
            ("{\"id\":1,\"raced\":{},\"version\":3}", "two things"),
            ("{\"id\":1,\"view\":[{\"id\":\"e\",\"role\":\"bot\"}]}", "unknown role `bot`"),
            ("{\"unchanged\":{}}", "missing field `id`"),
        ] {
            let fault = read(line.as_bytes()).unwrap_err();
            assert!(fault.message.contains(says), "{line}: {fault}");
        }
        assert!(read(&[0xff, 0xfe]).is_err());
    }
}
