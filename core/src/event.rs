//! Events: what a log holds and a view shows, and the small trait by which a pass reads any caller's own type.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::{borrow::Borrow, fmt, str::FromStr};

use crate::value::{Object, Value};

/// The name of an event, unique in its log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(String);

impl EventId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for EventId {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl Borrow<str> for EventId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Instructions to the model
    System,
    /// The person, or whatever asks on its behalf
    User,
    /// The model
    Assistant,
    /// Results of tool calls
    Tool,
}

impl Role {
    /// Every role, in the order of the spec.
    pub const ALL: [Self; 4] = [Self::System, Self::User, Self::Assistant, Self::Tool];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(name: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == name).ok_or_else(|| UnknownRole(name.into()))
    }
}

/// A role that isn't one of the four.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRole(pub String);

impl fmt::Display for UnknownRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown role `{}`, expected `system`, `user`, `assistant` or `tool`", self.0)
    }
}

impl core::error::Error for UnknownRole {}

/// What a pass reads of an event: implement it for your own message type.
///
/// ```
/// use std::borrow::Cow;
/// use turnfold_core::{Role, ViewEvent};
///
/// struct Line(Role, String);
/// impl ViewEvent for Line {
///     fn role(&self) -> Role { self.0 }
///     fn is_synthetic(&self) -> bool { false }
///     fn weight(&self) -> u32 { self.1.len() as u32 / 4 }
///     fn text(&self) -> Cow<'_, str> { Cow::Borrowed(&self.1) }
/// }
/// assert!(Line(Role::User, "hi".into()).starts_turn());
/// ```
pub trait ViewEvent {
    /// Who speaks.
    fn role(&self) -> Role;
    /// Whether a compaction wrote it.
    fn is_synthetic(&self) -> bool;
    /// Its token cost; only token windows and the saved tokens read it.
    fn weight(&self) -> u32;
    /// Its text; only read of synthetic events, to hand the prior summary over.
    fn text(&self) -> Cow<'_, str>;
    /// Whether a turn starts here. Not asked of synthetic and system events, which never start one.
    fn starts_turn(&self) -> bool {
        self.role() == Role::User // rule: turn.start
    }
}

impl<E: ViewEvent + ?Sized> ViewEvent for &E {
    fn role(&self) -> Role {
        (**self).role()
    }
    fn is_synthetic(&self) -> bool {
        (**self).is_synthetic()
    }
    fn weight(&self) -> u32 {
        (**self).weight()
    }
    fn text(&self) -> Cow<'_, str> {
        (**self).text()
    }
    fn starts_turn(&self) -> bool {
        (**self).starts_turn()
    }
}

/// A call the model makes to a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// Joins the call with its response
    pub id: String,
    /// The tool
    pub name: String,
    /// Its arguments, as the model wrote them
    pub arguments: String,
    /// Fields we don't know, kept
    pub extra: Object,
}

/// What a tool answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResponse {
    /// The call it answers
    pub id: String,
    /// The tool
    pub name: String,
    /// The answer
    pub text: String,
    /// Fields we don't know, kept
    pub extra: Object,
}

/// What one speaker says.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Who speaks
    pub role: Role,
    /// The text, possibly empty
    pub text: String,
    /// Calls to tools
    pub tool_calls: Vec<ToolCall>,
    /// Answers of tools
    pub tool_responses: Vec<ToolResponse>,
    /// Images and other parts that aren't text, unread
    pub parts: Vec<Value>,
    /// The token cost, where known
    pub tokens: Option<u32>,
}

/// The type of an event that is no message: upper-case letters, digits, `_` and `.`, first a letter, at most 64.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventType(String);

impl EventType {
    /// The type of a message.
    pub const MESSAGE: &'static str = "MESSAGE";
    /// The type of a boundary.
    pub const COMPACTION: &'static str = "COMPACTION";

    /// Checks and makes a type.
    ///
    /// # Errors
    ///
    /// A text that breaks the form, or one of the two types that have a content of their own.
    pub fn new(name: &str) -> Result<Self, InvalidEventType> {
        let mut letters = name.bytes();
        let formed = letters.next().is_some_and(|first| first.is_ascii_uppercase())
            && letters.all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'.')
            && name.len() <= 64;
        if formed && name != Self::MESSAGE && name != Self::COMPACTION {
            Ok(Self(name.into()))
        } else {
            Err(InvalidEventType(name.into()))
        }
    }

    /// The type as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no type of an application's event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidEventType(pub String);

impl fmt::Display for InvalidEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().take(80).collect();
        write!(
            f,
            "event type `{shown}` is not an application's: expected 1 to 64 upper-case letters, digits, `_` or `.`, \
             first a letter, other than `MESSAGE` and `COMPACTION`"
        )
    }
}

impl core::error::Error for InvalidEventType {}

/// The record of a pass: which events make up the view from then on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boundary {
    /// The strategy that wrote it
    pub strategy: String,
    /// First in the view, in this order
    pub pinned: Vec<EventId>,
    /// Last in the view, in this order
    pub preserved: Vec<EventId>,
    /// Fields we don't know, kept
    pub extra: Object,
}

/// What an event carries, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// `MESSAGE`: part of the view
    Message(Message),
    /// `COMPACTION`: defines the view
    Boundary(Boundary),
    /// Any other type: never part of the view
    Other(EventType, Value),
}

/// One entry of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique in its log
    pub id: EventId,
    /// Milliseconds since 1970-01-01T00:00:00Z, where known; order is the log's, never the time's
    pub time_ms: Option<i64>,
    /// What it carries
    pub content: Content,
    /// Open flags and notes; [`Event::SYNTHETIC`] is one
    pub metadata: Object,
    /// Fields we don't know, kept
    pub extra: Object,
}

impl Event {
    /// Metadata: boolean `true` on a message that a compaction wrote.
    pub const SYNTHETIC: &'static str = "synthetic";
    /// Metadata: the strategy that wrote a synthetic message.
    pub const STRATEGY: &'static str = "strategy";
    /// Metadata: the boundary a synthetic message belongs to.
    pub const BOUNDARY: &'static str = "boundary";

    /// A message of text, without time and weight.
    pub fn message(id: impl Into<EventId>, role: Role, text: impl Into<String>) -> Self {
        Self::new(
            id,
            Content::Message(Message {
                role,
                text: text.into(),
                tool_calls: Vec::new(),
                tool_responses: Vec::new(),
                parts: Vec::new(),
                tokens: None,
            }),
        )
    }

    /// An event of any content, without time and metadata.
    pub fn new(id: impl Into<EventId>, content: Content) -> Self {
        Self { id: id.into(), time_ms: None, content, metadata: Object::new(), extra: Object::new() }
    }

    /// The same message with a weight; other types have none and stay as they are.
    #[must_use]
    pub fn weighing(mut self, tokens: u32) -> Self {
        if let Content::Message(message) = &mut self.content {
            message.tokens = Some(tokens);
        }
        self
    }

    /// The same event flagged as written by a compaction.
    #[must_use]
    pub fn synthetic(mut self) -> Self {
        self.metadata.set(Self::SYNTHETIC, true);
        self
    }

    /// The message, if it is one.
    pub fn as_message(&self) -> Option<&Message> {
        match &self.content {
            Content::Message(message) => Some(message),
            Content::Boundary(_) | Content::Other(..) => None,
        }
    }

    /// The boundary, if it is one.
    pub fn as_boundary(&self) -> Option<&Boundary> {
        match &self.content {
            Content::Boundary(boundary) => Some(boundary),
            Content::Message(_) | Content::Other(..) => None,
        }
    }

    /// The type's name.
    pub fn type_name(&self) -> &str {
        match &self.content {
            Content::Message(_) => EventType::MESSAGE,
            Content::Boundary(_) => EventType::COMPACTION,
            Content::Other(name, _) => name.as_str(),
        }
    }

    /// The token cost of a message, where known.
    pub fn tokens(&self) -> Option<u32> {
        self.as_message()?.tokens
    }
}

/// A view holds messages only, and the session keeps other types out of it; given one all the same, a pass reads it as a
/// weightless tool message, which starts nothing.
impl ViewEvent for Event {
    fn role(&self) -> Role {
        self.as_message().map_or(Role::Tool, |message| message.role)
    }

    fn is_synthetic(&self) -> bool {
        self.metadata.get(Self::SYNTHETIC) == Some(&Value::Bool(true)) // rule: synthetic.flag
    }

    fn weight(&self) -> u32 {
        self.tokens().unwrap_or(0)
    }

    fn text(&self) -> Cow<'_, str> {
        self.as_message().map_or(Cow::Borrowed(""), |message| Cow::Borrowed(&message.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn types_of_applications_are_checked() {
        for good in ["A", "UI.CLICK_2", &"A".repeat(64)] {
            assert_eq!(EventType::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "a", "1A", "_A", "A-B", "É", "MESSAGE", "COMPACTION", &"A".repeat(65)] {
            assert!(EventType::new(bad).unwrap_err().to_string().contains("expected"), "{bad}");
        }
    }

    #[test]
    fn only_boolean_true_is_synthetic() {
        let flagged = |value: Value| {
            let mut event = Event::message("e", Role::User, "");
            event.metadata.set(Event::SYNTHETIC, value);
            event.is_synthetic()
        };
        assert!(flagged(true.into()));
        for other in [false.into(), "true".into(), 1.into(), Value::Null] {
            assert!(!flagged(other));
        }
    }

    #[test]
    fn roles_round_trip() {
        for role in Role::ALL {
            assert_eq!(role.as_str().parse(), Ok(role));
        }
        assert!("User".parse::<Role>().unwrap_err().to_string().contains("`User`"));
    }
}
