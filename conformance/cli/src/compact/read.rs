//! Finds the dialogues of a text: which format it is in, where the messages stand, what is wrong where.

use turnfold_core::{
    Event, Object, Value,
    session::{MemoryLog, SessionLog},
};

use crate::{
    compact::{
        anthropic,
        dialogue::{Dialogue, Draft, Format, Shell, Transcript, named},
        foreign, openai,
        source::Document,
        value::{field, found, list, object, text_field},
    },
    failure::Failure,
};

/// Where an object keeps its messages, the likelier first.
const LISTS: [&str; 4] = ["messages", "traj", "history", "trajectory"];

const EXPECTED: &str = "expected OpenAI messages or Anthropic messages (a list, an object that holds one under `messages`, \
                        `traj`, `history` or `trajectory`, a list of those, or JSON lines), or a Turnfold log";

/// Reads a text.
///
/// # Errors
///
/// What was found in place of a transcript, or the first message that is none.
pub(crate) fn transcript(text: &str, from: Option<Format>, name: &str) -> Result<Transcript, Failure> {
    let document = Document::parse(text, name)?;
    match (from, event_lines(&document, from)) {
        (None | Some(Format::Jsonl), Some(lines)) => return of_events(lines, name),
        (Some(Format::Jsonl), None) => return Err(no_log(&document, name)),
        _ => {}
    }
    let (several, bundles) = Bundle::all(document, name)?;
    let format = from.unwrap_or_else(|| detected(&bundles));
    let count = bundles.len();
    let mut dialogues = Vec::with_capacity(count);
    for (at, bundle) in bundles.into_iter().enumerate() {
        let number = at.saturating_add(1);
        let place = if several { format!("{name}: dialogue {number}") } else { name.to_owned() };
        dialogues.push(bundle.read(format, number, &place)?);
    }
    Ok(Transcript { format, several, dialogues })
}

fn no_log(document: &Document, name: &str) -> Failure {
    let what = match document {
        Document::Value(value) => found(value),
        Document::Lines(_) => "JSON lines that are no events".into(),
    };
    Failure::input(format!(
        "{name} is no Turnfold log: found {what}, expected a log's header on its first line, or event lines with `id` \
         and `role`: leave `--from` out to have the format detected"
    ))
}

/// The lines, if they are events: a message of ours has a `text` where a chat message has a `content`. Where the format
/// is said, an id is enough.
fn event_lines(document: &Document, from: Option<Format>) -> Option<Vec<(usize, &Value)>> {
    let lines: Vec<(usize, &Value)> = match document {
        Document::Value(value) => vec![(1, value)],
        Document::Lines(lines) => lines.iter().map(|(number, value)| (*number, value)).collect(),
    };
    let is_event = |value: &Value| {
        let message = text_field(value, "role").is_some() && field(value, "text").is_some();
        let other = text_field(value, "type").is_some() && field(value, "payload").is_some();
        let said = from == Some(Format::Jsonl) || (field(value, "content").is_none() && (message || other));
        said && text_field(value, "id").is_some()
    };
    lines.first().is_some_and(|(_, first)| is_event(first)).then_some(lines)
}

fn of_events(lines: Vec<(usize, &Value)>, name: &str) -> Result<Transcript, Failure> {
    let mut events = Vec::with_capacity(lines.len());
    for (number, value) in lines {
        // Through text, as an open value is no deserializer.
        let event: Event = serde_json::from_str(&crate::compact::value::written(value)).map_err(|error| {
            let text = error.to_string();
            let said = text.rsplit_once(" at line ").map_or(text.as_str(), |(said, _)| said);
            Failure::input(format!("{name}: line {number} is no event: {said}"))
        })?;
        events.push(event);
    }
    let mut log = MemoryLog::open(events)
        .map_err(|corruption| Failure::input(format!("{name} is no log: {corruption}")))?;
    let view = log.view().map_err(|error| Failure::input(format!("{name} has no view: {error}")))?;
    let dialogue = Dialogue { number: 1, events: view.into_events(), shell: Shell::List };
    Ok(Transcript { format: Format::Jsonl, several: false, dialogues: vec![dialogue] })
}

/// A dialogue's messages before they are read.
struct Bundle {
    messages: Vec<Value>,
    /// The line of each message, where it has one of its own
    lines: Vec<usize>,
    shell: Shell,
}

impl Bundle {
    /// The dialogues of a document, and whether its form is one of several.
    fn all(document: Document, name: &str) -> Result<(bool, Vec<Self>), Failure> {
        let unread = |document: &Document| unread(document, name);
        match document {
            Document::Value(Value::Array(items)) if items.iter().any(is_message) || items.is_empty() => {
                Ok((false, vec![Self::of(items, Shell::List)]))
            }
            Document::Value(Value::Array(items)) => {
                if !items.iter().any(is_dialogue) {
                    return Err(unread(&Document::Value(Value::Array(items))));
                }
                let numbered = items.into_iter().enumerate();
                let dialogue = |(at, item): (usize, Value)| {
                    Self::of_item(item).map_err(|item| {
                        let number = at.saturating_add(1);
                        no_dialogue(&format!("{name}: dialogue {number}"), &item)
                    })
                };
                numbered.map(dialogue).collect::<Result<_, _>>().map(|all| (true, all))
            }
            Document::Value(value) => {
                if is_message(&value) && field(&value, "content").is_some() {
                    return Ok((false, vec![Self::of(vec![value], Shell::List)]));
                }
                Self::of_item(value)
                    .map(|bundle| (false, vec![bundle]))
                    .map_err(|value| unread(&Document::Value(value)))
            }
            Document::Lines(lines) => {
                if lines.iter().any(|(_, value)| is_message(value)) {
                    let (numbers, messages) = lines.into_iter().unzip();
                    return Ok((false, vec![Self { messages, lines: numbers, shell: Shell::List }]));
                }
                if !lines.iter().any(|(_, value)| is_dialogue(value)) {
                    return Err(unread(&Document::Lines(lines)));
                }
                let dialogue = |(line, item)| {
                    Self::of_item(item).map_err(|item| no_dialogue(&format!("{name}: line {line}"), &item))
                };
                lines.into_iter().map(dialogue).collect::<Result<_, _>>().map(|all| (true, all))
            }
        }
    }

    fn of(messages: Vec<Value>, shell: Shell) -> Self {
        Self { messages, lines: Vec::new(), shell }
    }

    /// A dialogue from a list of messages or an object that holds one; gives the value back otherwise.
    fn of_item(item: Value) -> Result<Self, Value> {
        match item {
            Value::Array(messages) if messages.is_empty() || messages.iter().any(is_message) => {
                Ok(Self::of(messages, Shell::List))
            }
            Value::Object(mut fields) => {
                let Some(list) = list_name(&fields) else { return Err(Value::Object(fields)) };
                let mut messages = Vec::new();
                if let Some((_, Value::Array(held))) =
                    fields.0.iter_mut().rev().find(|(name, _)| name == list)
                {
                    messages = std::mem::take(held);
                }
                Ok(Self::of(messages, Shell::Object { fields, list: list.into() }))
            }
            other => Err(other),
        }
    }

    fn read(self, format: Format, number: usize, place: &str) -> Result<Dialogue, Failure> {
        let mut drafts: Vec<Draft> = Vec::with_capacity(self.messages.len());
        let system = match (format, &self.shell) {
            (Format::Anthropic, Shell::Object { fields, .. }) => fields.get("system"),
            _ => None,
        };
        if let Some(system) = system.map(anthropic::read_system) {
            drafts.extend(system.map_err(|fault| Failure::input(format!("{place}: {fault}")))?);
        }
        for (at, message) in self.messages.iter().enumerate() {
            let number = at.saturating_add(1);
            let read = match format {
                Format::Anthropic => anthropic::read(message, number),
                Format::Openai | Format::Jsonl => openai::read(message).map(|draft| vec![draft]),
            };
            drafts.extend(read.map_err(|fault| {
                let line = self.lines.get(at).map_or(String::new(), |line| format!(" (line {line})"));
                Failure::input(format!("{place}: message {number}{line} {fault}"))
            })?);
        }
        Ok(Dialogue { number, events: named(drafts), shell: self.shell })
    }
}

fn is_message(value: &Value) -> bool {
    text_field(value, "role").is_some() && field(value, "sessionID").is_none()
}

/// The name of the list of messages: the first that holds one, else an empty one.
fn list_name(fields: &Object) -> Option<&'static str> {
    let held = |name: &str| fields.get(name).and_then(list);
    let holds_messages = |name: &&str| held(name).is_some_and(|items| items.iter().any(is_message));
    let is_empty = |name: &&str| held(name).is_some_and(<[Value]>::is_empty);
    LISTS.into_iter().find(holds_messages).or_else(|| LISTS.into_iter().find(is_empty))
}

fn is_dialogue(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(is_message),
        Value::Object(fields) => list_name(fields).is_some(),
        _ => false,
    }
}

/// The chat format that the messages speak for; OpenAI's where they have nothing of either.
fn detected(bundles: &[Bundle]) -> Format {
    let messages = || bundles.iter().flat_map(|bundle| &bundle.messages);
    let system_apart = |bundle: &Bundle| match &bundle.shell {
        Shell::Object { fields, list } => {
            list == "messages" && matches!(fields.get("system"), Some(Value::String(_) | Value::Array(_)))
        }
        Shell::List => false,
    };
    if messages().any(openai::speaks_for) {
        Format::Openai
    } else if bundles.iter().any(system_apart) || messages().any(anthropic::speaks_for) {
        Format::Anthropic
    } else {
        Format::Openai
    }
}

fn unread(document: &Document, name: &str) -> Failure {
    if let Some(format) = foreign::recognised(document) {
        return Failure::input(format!(
            "{name} looks like {format}, which this command doesn't read; {EXPECTED}: convert it to one of them"
        ));
    }
    let what = match document {
        Document::Value(value) => found(value),
        Document::Lines(lines) => {
            let first = lines
                .first()
                .map_or_else(String::new, |(number, value)| format!("line {number} is {}", found(value)));
            format!("JSON lines of which {first}")
        }
    };
    Failure::input(format!("{name} holds no messages with a `role`: found {what}; {EXPECTED}"))
}

fn no_dialogue(place: &str, item: &Value) -> Failure {
    let names = LISTS.map(|name| format!("`{name}`")).join(", ");
    let expected =
        format!("expected a list of messages with `role`, or an object that holds one under {names}");
    let hint = if object(item).is_some() { "" } else { ": are these the messages of one dialogue?" };
    Failure::input(format!("{place} is {}, {expected}{hint}", found(item)))
}
