//! The wire form of the spec (`spec/protocol.md`, `spec/log-format.md`): how events, windows and triggers read and
//! write as JSON, or any other format of serde's data model.
//!
//! Fields that aren't known are kept; fields that contradict the event's type are refused by name.

use alloc::{borrow::Cow, format, string::String, vec::Vec};
use core::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, SeqAccess, Visitor},
    ser::{SerializeMap, SerializeSeq},
};

use crate::{
    event::{Boundary, Content, Event, EventId, EventType, Message, Role, ToolCall, ToolResponse},
    session::Trigger,
    value::{Object, Value},
    window::{Size, Window},
};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(truth) => to.serialize_bool(*truth),
            Self::Negative(number) => to.serialize_i64(*number),
            Self::Unsigned(number) => to.serialize_u64(*number),
            Self::Float(number) => to.serialize_f64(*number),
            Self::String(text) => to.serialize_str(text),
            Self::Array(values) => values.serialize(to),
            Self::Object(object) => object.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, truth: bool) -> Result<Value, E> {
                Ok(Value::Bool(truth))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(u64::try_from(number).map_or(Value::Negative(number), Value::Unsigned))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value::Unsigned(number))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(Value::Float(number))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::String(text.into()))
            }
            fn visit_string<E>(self, text: String) -> Result<Value, E> {
                Ok(Value::String(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = from.next_element()? {
                    values.push(value);
                }
                Ok(Value::Array(values))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = from.next_entry()? {
                    fields.push(field);
                }
                Ok(Value::Object(Object(fields)))
            }
        }
        from.deserialize_any(Any)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(object) => Ok(object),
            other => Err(de::Error::custom(format_args!("found {}, expected an object", kind(&other)))),
        }
    }
}

/// What a value is, for an error message.
fn kind(value: &Value) -> Cow<'static, str> {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => format!("`{truth}`").into(),
        Value::Negative(number) => format!("`{number}`").into(),
        Value::Unsigned(number) => format!("`{number}`").into(),
        Value::Float(number) => format!("`{number}`").into(),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Cow::<'_, str>::deserialize(from)?.parse().map_err(de::Error::custom) // rule: view.limits
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("arguments", &self.arguments)?;
        extra(&mut map, &self.extra)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Fields::read(from, "a tool call")?;
        Ok(Self {
            id: fields.text("id")?.unwrap_or_default(),
            name: fields.text("name")?.unwrap_or_default(),
            arguments: fields.text("arguments")?.unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}

impl Serialize for ToolResponse {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("text", &self.text)?;
        extra(&mut map, &self.extra)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ToolResponse {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Fields::read(from, "a tool response")?;
        Ok(Self {
            id: fields.text("id")?.unwrap_or_default(),
            name: fields.text("name")?.unwrap_or_default(),
            text: fields.text("text")?.unwrap_or_default(),
            extra: fields.rest(),
        })
    }
}

fn extra<M: SerializeMap>(map: &mut M, extra: &Object) -> Result<(), M::Error> {
    extra.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        if self.as_message().is_none() {
            map.serialize_entry("type", self.type_name())?;
        }
        if let Some(time_ms) = self.time_ms {
            map.serialize_entry("time_ms", &time_ms)?;
        }
        match &self.content {
            Content::Message(message) => message_fields(&mut map, message)?,
            Content::Boundary(boundary) => map.serialize_entry("payload", boundary)?,
            Content::Other(_, payload) => map.serialize_entry("payload", payload)?,
        }
        if !self.metadata.is_empty() {
            map.serialize_entry("metadata", &self.metadata)?;
        }
        extra(&mut map, &self.extra)?;
        map.end()
    }
}

fn message_fields<M: SerializeMap>(map: &mut M, message: &Message) -> Result<(), M::Error> {
    map.serialize_entry("role", &message.role)?;
    map.serialize_entry("text", &message.text)?;
    if !message.tool_calls.is_empty() {
        map.serialize_entry("tool_calls", &message.tool_calls)?;
    }
    if !message.tool_responses.is_empty() {
        map.serialize_entry("tool_responses", &message.tool_responses)?;
    }
    if !message.parts.is_empty() {
        map.serialize_entry("parts", &message.parts)?;
    }
    if let Some(tokens) = message.tokens {
        map.serialize_entry("tokens", &tokens)?;
    }
    Ok(())
}

impl Serialize for Boundary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("strategy", &self.strategy)?;
        map.serialize_entry("pinned", &self.pinned)?;
        map.serialize_entry("preserved", &self.preserved)?;
        extra(&mut map, &self.extra)?;
        map.end()
    }
}

impl Boundary {
    fn from_payload<E: de::Error>(payload: Value) -> Result<Self, E> {
        let Value::Object(object) = payload else {
            return Err(E::custom(format_args!(
                "`payload` of a COMPACTION is {}, expected an object",
                kind(&payload)
            )));
        };
        let mut fields = Fields { fields: object.0, of: "a COMPACTION's payload" };
        let mut ids = |name: &'static str| match fields.take(name)? {
            Some(Value::Array(ids)) => ids
                .into_iter()
                .map(|id| match id {
                    Value::String(id) => Ok(EventId::from(id)),
                    other => Err(E::custom(format_args!(
                        "`{name}` names {}, expected ids as strings",
                        kind(&other)
                    ))),
                })
                .collect::<Result<Vec<_>, E>>(),
            Some(other) => {
                Err(E::custom(format_args!("`{name}` is {}, expected a list of ids", kind(&other))))
            }
            None => Err(E::custom(format_args!("a COMPACTION has no `{name}`, expected a list of ids"))),
        };
        let (pinned, preserved) = (ids("pinned")?, ids("preserved")?);
        Ok(Self {
            strategy: fields.text("strategy")?.unwrap_or_default(),
            pinned,
            preserved,
            extra: fields.rest(),
        })
    }
}

/// The fields of an object, taken one by one by name.
struct Fields {
    fields: Vec<(String, Value)>,
    of: &'static str,
}

impl Fields {
    fn read<'de, D: Deserializer<'de>>(from: D, of: &'static str) -> Result<Self, D::Error> {
        match Value::deserialize(from)? {
            Value::Object(object) => Ok(Self { fields: object.0, of }),
            other => Err(de::Error::custom(format_args!("{of} is {}, expected an object", kind(&other)))),
        }
    }

    /// The value of a field. A known field that stands twice is refused: nothing says which one counts.
    fn take<E: de::Error>(&mut self, name: &'static str) -> Result<Option<Value>, E> {
        let Some(at) = self.fields.iter().position(|(field, _)| field == name) else { return Ok(None) };
        let (_, value) = self.fields.remove(at);
        if self.fields.iter().any(|(field, _)| field == name) {
            return Err(E::custom(format_args!("{} has `{name}` twice, expected it once", self.of)));
        }
        Ok(Some(value))
    }

    fn text<E: de::Error>(&mut self, name: &'static str) -> Result<Option<String>, E> {
        match self.take(name)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => {
                Err(E::custom(format_args!("`{name}` of {} is {}, expected a string", self.of, kind(&other))))
            }
        }
    }

    fn rest(self) -> Object {
        Object(self.fields)
    }
}

/// An event's fields as they are read, before its type is known.
#[derive(Default)]
struct Read {
    id: Option<EventId>,
    kind: Option<String>,
    time_ms: Option<i64>,
    role: Option<Role>,
    text: Option<String>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_responses: Option<Vec<ToolResponse>>,
    parts: Option<Vec<Value>>,
    tokens: Option<u32>,
    payload: Option<Value>,
    metadata: Option<Object>,
    extra: Object,
}

/// A weight: an integer of 32 bits, said so when it isn't.
struct Tokens(u32);

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let number = match value {
            Value::Unsigned(number) => u32::try_from(number).ok(),
            _ => None,
        };
        number.map(Self).ok_or_else(|| {
            de::Error::custom(format_args!(
                "`tokens` is {}, expected an integer from 0 to {}",
                kind(&value),
                u32::MAX
            ))
        })
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct EventFields;
        impl<'de> Visitor<'de> for EventFields {
            type Value = Event;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event, an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Event, A::Error> {
                let mut read = Read::default();
                while let Some(name) = from.next_key::<Cow<'de, str>>()? {
                    read.field(name, &mut from)?;
                }
                read.event()
            }
        }
        from.deserialize_map(EventFields)
    }
}

fn once<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    field: &mut Option<T>,
    name: &'static str,
    from: &mut A,
) -> Result<(), A::Error> {
    if field.is_some() {
        return Err(de::Error::duplicate_field(name));
    }
    *field = Some(from.next_value()?);
    Ok(())
}

impl Read {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: Cow<'de, str>, from: &mut A) -> Result<(), A::Error> {
        match &*name {
            "id" => once(&mut self.id, "id", from),
            "type" => once(&mut self.kind, "type", from),
            "time_ms" => once(&mut self.time_ms, "time_ms", from),
            "role" => once(&mut self.role, "role", from),
            "text" => once(&mut self.text, "text", from),
            "tool_calls" => once(&mut self.tool_calls, "tool_calls", from),
            "tool_responses" => once(&mut self.tool_responses, "tool_responses", from),
            "parts" => once(&mut self.parts, "parts", from),
            "tokens" => {
                let mut tokens = self.tokens.map(Tokens);
                once(&mut tokens, "tokens", from)?;
                self.tokens = tokens.map(|tokens| tokens.0);
                Ok(())
            }
            "payload" => once(&mut self.payload, "payload", from),
            "metadata" => once(&mut self.metadata, "metadata", from),
            _ => {
                let value = from.next_value()?;
                self.extra.0.push((name.into_owned(), value));
                Ok(())
            }
        }
    }

    fn event<E: de::Error>(self) -> Result<Event, E> {
        let id = self.id.ok_or_else(|| E::missing_field("id"))?;
        let message_field = [
            ("role", self.role.is_some()),
            ("text", self.text.is_some()),
            ("tool_calls", self.tool_calls.is_some()),
            ("tool_responses", self.tool_responses.is_some()),
            ("parts", self.parts.is_some()),
            ("tokens", self.tokens.is_some()),
        ]
        .into_iter()
        .find_map(|(name, there)| there.then_some(name));
        let content = match self.kind.as_deref() {
            None | Some(EventType::MESSAGE) => {
                if self.payload.is_some() {
                    return Err(E::custom(format_args!(
                        "event `{id}` is a MESSAGE and has a `payload`, expected none"
                    )));
                }
                Content::Message(Message {
                    role: self.role.ok_or_else(|| E::custom(format_args!("event `{id}` has no `role`")))?,
                    text: self.text.unwrap_or_default(),
                    tool_calls: self.tool_calls.unwrap_or_default(),
                    tool_responses: self.tool_responses.unwrap_or_default(),
                    parts: self.parts.unwrap_or_default(),
                    tokens: self.tokens,
                })
            }
            Some(kind) => {
                if let Some(field) = message_field {
                    return Err(E::custom(format_args!(
                        "event `{id}` is of type `{kind}` and has a `{field}`, expected none outside a MESSAGE"
                    )));
                }
                let payload = self.payload.unwrap_or(Value::Null);
                if kind == EventType::COMPACTION {
                    Content::Boundary(Boundary::from_payload(payload)?)
                } else {
                    Content::Other(EventType::new(kind).map_err(E::custom)?, payload)
                }
            }
        };
        let metadata = self.metadata.unwrap_or_default();
        Ok(Event { id, time_ms: self.time_ms, content, metadata, extra: self.extra })
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (name, size) = match self {
            Self::Events(size) => ("events", size),
            Self::Turns(size) => ("turns", size),
            Self::Tokens(size) => ("tokens", size),
        };
        to.collect_map([(name, size.get())])
    }
}

/// One field whose name says what its number counts.
fn named_size<E: de::Error>(fields: Fields, what: &str) -> Result<(String, Value), E> {
    let mut fields = fields.fields.into_iter();
    match (fields.next(), fields.next()) {
        (Some(field), None) => Ok(field),
        _ => Err(E::custom(format_args!("{what} has one field"))),
    }
}

fn size<E: de::Error>(value: &Value) -> Result<Size, E> {
    match value {
        Value::Unsigned(size) => Size::new(*size).map_err(E::custom),
        other => Err(E::custom(format_args!("size is {}, expected an integer from 1 up", kind(other)))),
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (name, value) = named_size(Fields::read(from, "a window")?, "a window")?;
        match name.as_str() {
            "events" => size(&value).map(Self::Events),
            "turns" => size(&value).map(Self::Turns),
            "tokens" => size(&value).map(Self::Tokens),
            other => Err(de::Error::custom(format_args!(
                "a window counts `{other}`, expected `events`, `turns` or `tokens`"
            ))),
        }
    }
}

impl Serialize for Trigger {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Always => to.serialize_str("always"),
            Self::Turns(size) => to.collect_map([("turns", size.get())]),
            Self::Tokens(size) => to.collect_map([("tokens", size.get())]),
            Self::Any(any) => to.collect_map([("any", Triggers(any.triggers()))]),
        }
    }
}

struct Triggers<'t>(&'t [Trigger]);

impl Serialize for Triggers<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.0.len()))?;
        self.0.iter().try_for_each(|trigger| list.serialize_element(trigger))?;
        list.end()
    }
}

impl<'de> Deserialize<'de> for Trigger {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        trigger(Value::deserialize(from)?)
    }
}

fn trigger<E: de::Error>(value: Value) -> Result<Trigger, E> {
    let object = match value {
        Value::String(name) if name == "always" => return Ok(Trigger::Always),
        Value::Object(object) => object,
        other => {
            return Err(E::custom(format_args!(
                "a trigger is {}, expected `\"always\"` or an object",
                kind(&other)
            )));
        }
    };
    let (name, value) = named_size(Fields { fields: object.0, of: "a trigger" }, "a trigger")?;
    match (name.as_str(), value) {
        ("turns", value) => size(&value).map(Trigger::Turns),
        ("tokens", value) => size(&value).map(Trigger::Tokens),
        ("any", Value::Array(triggers)) => {
            let triggers = triggers.into_iter().map(trigger).collect::<Result<Vec<_>, E>>()?;
            Trigger::any(triggers).map_err(E::custom)
        }
        (other, _) => Err(E::custom(format_args!(
            "a trigger has `{other}`, expected `turns`, `tokens` or a list under `any`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn round_trip(line: &str) {
        let event: Event = serde_json::from_str(line).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), line);
    }

    #[test]
    fn events_keep_what_they_came_with() {
        round_trip(r#"{"id":"e1","role":"user","text":"hi"}"#);
        round_trip(
            r#"{"id":"e2","time_ms":7,"role":"assistant","text":"","tool_calls":[{"id":"t1","name":"ls","arguments":"{}","x":1}],"parts":[{"image":"…"}],"tokens":3,"metadata":{"a":[1,-2,1.5,null]},"later":{"b":true}}"#,
        );
        round_trip(
            r#"{"id":"e3","role":"tool","text":"","tool_responses":[{"id":"t1","name":"ls","text":"a b"}]}"#,
        );
        round_trip(
            r#"{"id":"b1","type":"COMPACTION","payload":{"strategy":"window","pinned":[],"preserved":["e1"],"hints":{}}}"#,
        );
        round_trip(r#"{"id":"x1","type":"UI.CLICK","payload":{"at":[1,2]}}"#);
    }

    #[test]
    fn errors_say_what_was_found_and_what_was_expected() {
        for (line, says) in [
            (r#"{"role":"user"}"#, "`id`"),
            (r#"{"id":"e"}"#, "`e` has no `role`"),
            (r#"{"id":"e","role":"bot"}"#, "unknown role `bot`, expected `system`"),
            (
                r#"{"id":"e","role":"user","tokens":4294967296}"#,
                "`tokens` is `4294967296`, expected an integer from 0",
            ),
            (r#"{"id":"e","role":"user","tokens":-1}"#, "`tokens` is `-1`"),
            (r#"{"id":"e","role":"user","tokens":1.5}"#, "`tokens` is `1.5`"),
            (r#"{"id":"e","role":"user","id":"f"}"#, "duplicate field `id`"),
            (r#"{"id":"e","role":"user","payload":1}"#, "has a `payload`, expected none"),
            (r#"{"id":"e","type":"A","role":"user"}"#, "of type `A` and has a `role`"),
            (r#"{"id":"e","type":"a"}"#, "event type `a`"),
            (r#"{"id":"e","type":"COMPACTION"}"#, "`payload` of a COMPACTION is null"),
            (r#"{"id":"e","type":"COMPACTION","payload":{"pinned":[]}}"#, "no `preserved`"),
            (r#"{"id":"e","type":"COMPACTION","payload":{"pinned":[1]}}"#, "`pinned` names `1`"),
            (r"[1]", "an event, an object"),
        ] {
            let error = serde_json::from_str::<Event>(line).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }

    #[test]
    fn windows_and_triggers_round_trip() {
        for text in [r#"{"events":3}"#, r#"{"turns":1}"#, r#"{"tokens":9007199254740991}"#] {
            assert_eq!(serde_json::to_string(&serde_json::from_str::<Window>(text).unwrap()).unwrap(), text);
        }
        for text in [r#""always""#, r#"{"turns":2}"#, r#"{"any":[{"tokens":9},"always"]}"#] {
            assert_eq!(serde_json::to_string(&serde_json::from_str::<Trigger>(text).unwrap()).unwrap(), text);
        }
        for bad in
            [r#"{"events":0}"#, r#"{"turns":-1}"#, r#"{"words":1}"#, r#"{"turns":1,"events":1}"#, "{}", "3"]
        {
            assert!(serde_json::from_str::<Window>(bad).is_err(), "{bad}");
        }
        for bad in [r#"{"any":[]}"#, r#""never""#, r#"{"turns":0}"#] {
            assert!(serde_json::from_str::<Trigger>(bad).is_err(), "{bad}");
        }
    }
}
