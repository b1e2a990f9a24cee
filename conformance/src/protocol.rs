//! Protocol 1 as Rust values: what a suite asks and what a subject answers (`spec/protocol.md`).
//!
//! The same values serve every front: in process they are passed as they are, over a pipe they are JSON lines.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::Value;
use turnfold_core::{Event, Window, session::Trigger};

/// The protocol version this suite speaks.
pub const PROTOCOL: u32 = 1;

/// A value that may be wrong: what it reads as, or why it can't be read, beside how it was written.
///
/// A suite has to ask wrong questions too, such as a window of size 0, and a subject has to refuse them itself.
#[derive(Debug)]
pub struct Checked<T> {
    read: Result<Arc<T>, String>,
    raw: Option<Value>,
}

/// A clone shares the value: a view is asked, recorded and judged without being copied.
impl<T> Clone for Checked<T> {
    fn clone(&self) -> Self {
        Self { read: self.read.clone(), raw: self.raw.clone() }
    }
}

/// Equal values are equal however they were written; wrong ones if they were written alike.
impl<T: PartialEq> PartialEq for Checked<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.read, &other.read) {
            (Ok(one), Ok(other)) => one == other,
            (Err(_), Err(_)) => self.raw == other.raw,
            _ => false,
        }
    }
}

impl<T> Checked<T> {
    /// The value.
    ///
    /// # Errors
    ///
    /// Why it isn't one.
    pub fn get(&self) -> Result<&T, &str> {
        self.read.as_deref().map_err(String::as_str)
    }

    /// The value, shared.
    pub fn shared(&self) -> Option<Arc<T>> {
        self.read.as_ref().ok().cloned()
    }
}

impl<T: DeserializeOwned> Checked<T> {
    /// A value as it is written, right or wrong.
    pub fn raw(raw: Value) -> Self {
        Self { read: T::deserialize(&raw).map(Arc::new).map_err(|error| error.to_string()), raw: Some(raw) }
    }
}

impl<T> From<T> for Checked<T> {
    fn from(value: T) -> Self {
        Self { read: Ok(Arc::new(value)), raw: None }
    }
}

impl<T> From<Arc<T>> for Checked<T> {
    fn from(value: Arc<T>) -> Self {
        Self { read: Ok(value), raw: None }
    }
}

impl<T: Serialize> Serialize for Checked<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match (&self.raw, &self.read) {
            (Some(raw), _) => raw.serialize(to),
            (None, Ok(value)) => value.serialize(to),
            (None, Err(_)) => Value::Null.serialize(to),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Checked<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Value::deserialize(from).map(Self::raw)
    }
}

/// What a suite asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Who are you, and what can you do?
    Hello(Greeting),
    /// Run a pass, over a view or over the session
    Compact(Compact),
    /// Start a session from a stored log
    Open(Open),
    /// Append to the session
    Append(Append),
    /// Show the session's view
    View {},
    /// Show the session's log
    Log {},
    /// Say the session's version
    Version {},
}

/// The suite introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// The versions it speaks
    pub protocol: Versions,
    /// The suite's own version
    pub suite: String,
}

/// A range of protocol versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The oldest
    pub min: u32,
    /// The newest
    pub max: u32,
}

/// One pass. With a `view` it is the pass alone; without one it is the open session's, and has a trigger and a stamp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compact {
    /// The view to compact
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Checked<Vec<Event>>>,
    /// How much stays
    pub window: Checked<Window>,
    /// Whether a summarizer is to be called back
    #[serde(default, skip_serializing_if = "is_false")]
    pub summarizer: bool,
    /// When the session is compacted at all
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Checked<Trigger>>,
    /// What the session's pass writes with
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp: Option<Stamp>,
    /// Whether the suite holds the log
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Callback>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form serde asks for")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The one way a suite is called back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Callback {
    /// By a line in the answer's place
    Callback,
}

/// What a session's pass writes with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The boundary's id
    pub boundary: String,
    /// The time of all it writes
    pub time_ms: i64,
}

/// A stored log to start from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// The events, oldest first
    pub log: Checked<Vec<Event>>,
}

/// One event by itself, or a batch if the log still is at a version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Append {
    /// One event; a known id adds nothing
    One {
        /// The event
        event: Event,
    },
    /// All or none
    Batch {
        /// The events
        events: Vec<Event>,
        /// The version the log must still be at
        expected: u64,
    },
}

/// What a subject answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Who it is
    Hello(Hello),
    /// A cutting pass
    Outcome(Outcome),
    /// A pass that changed nothing
    Unchanged(Reason),
    /// A pass that lost a race
    Raced {},
    /// The session is open
    Opened {
        /// The version it is at
        version: u64,
    },
    /// The append took place
    Appended {
        /// The version the log is at
        version: u64,
    },
    /// The batch did not take place
    Refused {
        /// `stale` or `duplicate`
        why: String,
    },
    /// The session's view
    View(Vec<Event>),
    /// The session's log
    Log(Vec<Event>),
    /// The session's version
    Version(u64),
    /// It can't be done, and that is right or wrong by the rules
    Error(Failed),
    /// It isn't offered
    Unsupported {
        /// Why
        why: String,
    },
    /// It says something of events that aren't events; only a question about such events may be answered so
    #[serde(skip)]
    Unreadable(String),
}

/// Why a pass changed nothing, in the subject's own words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A word, for people
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An error a subject reports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Its kind
    pub class: ErrorClass,
    /// What it says
    #[serde(default)]
    pub message: String,
}

/// The kinds of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// A window that can't be made
    InvalidWindow,
    /// A view that isn't one
    InvalidView,
    /// The summarizer failed
    Summarizer,
    /// A log that defines no view
    CorruptLog,
    /// Anything else
    Internal,
}

impl ErrorClass {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidWindow => "invalid-window",
            Self::InvalidView => "invalid-view",
            Self::Summarizer => "summarizer",
            Self::CorruptLog => "corrupt-log",
            Self::Internal => "internal",
        }
    }
}

impl Answer {
    /// An error of a kind.
    pub fn error(class: ErrorClass, message: &(impl ToString + ?Sized)) -> Self {
        Self::Error(Failed { class, message: message.to_string() })
    }

    /// Nothing changed.
    pub fn unchanged(reason: &str) -> Self {
        Self::Unchanged(Reason { reason: Some(reason.into()) })
    }

    /// It isn't offered.
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self::Unsupported { why: why.into() }
    }
}

/// A cutting pass: where each event went, or only the view that came out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// First in the next view
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Vec<Event>>,
    /// What left
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered: Option<Vec<Event>>,
    /// Last in the next view
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preserved: Option<Vec<Event>>,
    /// Between them
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Vec<Event>>,
    /// Tokens saved
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<i64>,
    /// Tokens over a budget
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overshoot: Option<u64>,
    /// The next view alone, of a subject that knows no more
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Vec<Event>>,
}

/// A subject introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The protocol version it chose
    pub protocol: u32,
    /// What it is
    pub implementation: Implementation,
    /// What it can do
    pub capabilities: Capabilities,
}

/// What a subject is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// Its name
    pub name: String,
    /// Its version
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The language it is written in
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// What a subject can do. What it doesn't declare isn't asked, and is no pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Kinds of window
    pub windows: Vec<WindowKind>,
    /// Whether it calls a summarizer back
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarizer: Option<Callback>,
    /// Whether it keeps a session
    #[serde(default)]
    pub session: bool,
    /// Whether it takes requests while it waits for a summary
    #[serde(default)]
    pub race: bool,
    /// Whether it runs a pass over a log that the suite holds
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Callback>,
}

impl Capabilities {
    /// Everything there is.
    pub fn all() -> Self {
        Self {
            windows: vec![WindowKind::Events, WindowKind::Turns, WindowKind::Tokens],
            summarizer: Some(Callback::Callback),
            session: true,
            race: true,
            store: Some(Callback::Callback),
        }
    }
}

/// The kinds of window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowKind {
    /// The last so many events
    Events,
    /// The last so many turns
    Turns,
    /// A token budget
    Tokens,
}

/// What a subject hands to the summarizer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The text of the prior summary, if there is one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<String>,
    /// The events to condense
    pub events: Vec<Event>,
    /// Why some of what was handed over is no event; only a question about such events may come to that
    #[serde(skip)]
    pub unreadable: Option<String>,
}

/// What the summarizer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A text and the weight of the whole summary turn
    Text {
        /// The text, possibly blank
        text: String,
        /// The weight
        tokens: u32,
    },
    /// Nothing
    Declined,
    /// It failed
    Failed(String),
}

/// [`Said`] as it is written.
#[derive(Serialize, Deserialize)]
struct SaidFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "is_false")]
    decline: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fail: Option<String>,
}

impl Serialize for Said {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = SaidFields { text: None, tokens: None, decline: false, fail: None };
        match self {
            Self::Text { text, tokens } => {
                fields.text = Some(text.clone());
                fields.tokens = Some(*tokens);
            }
            Self::Declined => fields.decline = true,
            Self::Failed(why) => fields.fail = Some(why.clone()),
        }
        fields.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let fields = SaidFields::deserialize(from)?;
        match (fields.text, fields.decline, fields.fail) {
            (Some(text), false, None) => Ok(Self::Text { text, tokens: fields.tokens.unwrap_or(0) }),
            (None, true, None) => Ok(Self::Declined),
            (None, false, Some(why)) => Ok(Self::Failed(why)),
            _ => Err(serde::de::Error::custom("a summary has one of `text`, `decline` and `fail`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_keeps_how_it_was_written() {
        let wrong: Checked<Window> = serde_json::from_str(r#"{"turns":0}"#).unwrap();
        assert!(wrong.get().unwrap_err().contains("`0`"));
        assert_eq!(serde_json::to_string(&wrong).unwrap(), r#"{"turns":0}"#);
    }

    #[test]
    fn what_a_summarizer_says_round_trips() {
        for text in [r#"{"text":" ","tokens":3}"#, r#"{"decline":true}"#, r#"{"fail":"no"}"#] {
            assert_eq!(serde_json::to_string(&serde_json::from_str::<Said>(text).unwrap()).unwrap(), text);
        }
        assert!(serde_json::from_str::<Said>("{}").is_err());
        assert!(serde_json::from_str::<Said>(r#"{"text":"a","fail":"b"}"#).is_err());
    }
}
