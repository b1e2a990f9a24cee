//! OpenAI chat messages, read and written.
//!
//! | message | event |
//! |---|---|
//! | role `system`, `developer` | system |
//! | role `user`, `assistant` | the same |
//! | role `tool`, `function` | tool, with one response; SWE-agent's `tool_call_ids` names its call too |
//! | `content` a string | text |
//! | `content` a list | its texts joined by newlines; other parts in `parts`; the order in `openai.content` |
//! | `tool_calls`, `function_call` | tool calls; the latter marked |
//! | any other field | `openai.fields` |
//!
//! Written from elsewhere: an event with several responses becomes a message for each; a text beside responses is
//! written into the first; pictures and files are converted; what has no form here is counted.

use turnfold_core::{Event, Message, Object, Role, ToolCall, ToolResponse, Value};

use crate::compact::{
    content::{self, Content, Piece},
    dialogue::{Draft, Format},
    losses::Losses,
    origin::Origin,
    parts,
    value::{field, found, list, object, object_of, text, text_field, written},
};

const NAME: &str = Format::Openai.as_str();
/// The form of a call that stood under `function_call`.
const LEGACY: &str = "function_call";

/// Reads a message.
///
/// # Errors
///
/// What is wrong with it, as what follows "message 3".
pub(crate) fn read(value: &Value) -> Result<Draft, String> {
    let message = object(value)
        .ok_or_else(|| format!("is {}, expected an object with `role` and `content`", found(value)))?;
    let role = role(message)?;
    let content = content(message)?;
    let mut event = Event::message("", role, "");
    if let turnfold_core::Content::Message(into) = &mut event.content {
        match role {
            Role::Tool => into.tool_responses.push(response(message, content.text)),
            _ => into.text = content.text,
        }
        if role == Role::Assistant {
            into.tool_calls = calls(message)?;
        }
        into.parts = content.parts;
    }
    let origin = Origin { content: content.layout, ..Origin::default() };
    origin.clone().keep(&mut event.extra, NAME);
    let plain = plain(&event, &mut Losses::default()).into_iter().next().unwrap_or_default();
    event.extra = Object::new();
    origin.with_difference(&plain, message).keep(&mut event.extra, NAME);
    Ok(Draft { event, own_id: message.get("id").and_then(text).map(String::from) })
}

fn role(message: &Object) -> Result<Role, String> {
    const EXPECTED: &str = "expected `system`, `developer`, `user`, `assistant`, `tool` or `function`";
    match message.get("role") {
        None => Err(format!("has no `role`, {EXPECTED}")),
        Some(Value::String(role)) => match role.as_str() {
            "system" | "developer" => Ok(Role::System),
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "tool" | "function" => Ok(Role::Tool),
            _ => Err(format!("has the unknown role {}, {EXPECTED}", quoted(role))),
        },
        Some(other) => Err(format!("has as `role` {}, {EXPECTED}", found(other))),
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", crate::compact::value::shortened(name))
}

fn content(message: &Object) -> Result<Content, String> {
    match message.get("content") {
        None | Some(Value::Null) => Ok(Content::default()),
        Some(Value::String(text)) => Ok(Content::plain(text)),
        Some(Value::Array(items)) => Ok(Content::list(items)),
        Some(other) => {
            Err(format!("has as `content` {}, expected a string, a list of parts or null", found(other)))
        }
    }
}

fn response(message: &Object, answer: String) -> ToolResponse {
    let named = message.get("tool_call_id").and_then(text);
    let listed = || message.get("tool_call_ids").and_then(list)?.first().and_then(text);
    ToolResponse {
        id: named.or_else(listed).unwrap_or_default().into(),
        name: message.get("name").and_then(text).unwrap_or_default().into(),
        text: answer,
        extra: Object::new(),
    }
}

fn calls(message: &Object) -> Result<Vec<ToolCall>, String> {
    let listed: &[Value] = match message.get("tool_calls") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(calls)) => calls,
        Some(other) => return Err(format!("has as `tool_calls` {}, expected a list of calls", found(other))),
    };
    let mut calls = Vec::with_capacity(listed.len());
    for (at, value) in listed.iter().enumerate() {
        let number = at.saturating_add(1);
        let read = object(value).ok_or_else(|| {
            format!("has as tool call {number} {}, expected an object with `id` and `function`", found(value))
        })?;
        calls.push(call(read));
    }
    if let Some(Value::Object(function)) = message.get("function_call") {
        let mut call = named_call("", Some(function));
        let origin = Origin { form: Some(LEGACY.into()), ..Origin::default() };
        origin.with_difference(&plain_function(&call), function).keep(&mut call.extra, NAME);
        calls.push(call);
    }
    Ok(calls)
}

fn call(read: &Object) -> ToolCall {
    let inner = read.get("function").or_else(|| read.get("custom")).and_then(object);
    let mut call = named_call(read.get("id").and_then(text).unwrap_or_default(), inner);
    Origin::default().with_difference(&plain_call(&call), read).keep(&mut call.extra, NAME);
    call
}

fn named_call(id: &str, function: Option<&Object>) -> ToolCall {
    let get = |name: &str| function.and_then(|function| function.get(name));
    let arguments = match get("arguments").or_else(|| get("input")) {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => String::new(),
        Some(other) => written(other),
    };
    let name = get("name").and_then(text).unwrap_or_default().into();
    ToolCall { id: id.into(), name, arguments, extra: Object::new() }
}

/// Writes events as messages.
pub(crate) fn write(events: &[&Event], from: Format, losses: &mut Losses) -> Vec<Value> {
    let mut messages = Vec::with_capacity(events.len());
    for event in events {
        losses.count_event(event, from, Format::Openai);
        let mut plain = plain(event, losses);
        if let (Some(origin), Some(first)) = (Origin::read(&event.extra, NAME), plain.first_mut()) {
            *first = origin.apply(std::mem::take(first));
        }
        messages.extend(plain.into_iter().map(Value::Object));
    }
    messages
}

/// The messages of an event without what its origin adds.
fn plain(event: &Event, losses: &mut Losses) -> Vec<Object> {
    let Some(message) = event.as_message() else { return Vec::new() };
    let mut messages = Vec::new();
    if message.role != Role::Tool || message.tool_responses.is_empty() {
        messages.push(spoken(event, message, losses));
    }
    let mut parts = if messages.is_empty() { message.parts.iter() } else { [].iter() };
    for (at, response) in message.tool_responses.iter().enumerate() {
        let last = at.saturating_add(1) == message.tool_responses.len();
        let mut pieces = content::of_response(event, message, response, last, &mut parts);
        if at == 0 && message.role == Role::Tool && !message.text.is_empty() {
            pieces.pieces.insert(0, Piece::text(&message.text));
        }
        let mut answer = object_of([("role", "tool".into())]);
        if !response.id.is_empty() {
            answer.set("tool_call_id", response.id.as_str());
        }
        if !response.name.is_empty() {
            answer.set("name", response.name.as_str());
        }
        answer.set("content", written_content(pieces, "".into(), losses));
        messages.push(answer);
    }
    messages
}

fn spoken(event: &Event, message: &Message, losses: &mut Losses) -> Object {
    let mut spoken = object_of([("role", message.role.as_str().into())]);
    let (calls, legacy): (Vec<_>, Vec<_>) = message.tool_calls.iter().partition(|call| !is_legacy(call));
    let without_text = if message.tool_calls.is_empty() { "".into() } else { Value::Null };
    let pieces = content::of_message(event, message);
    spoken.set("content", written_content(pieces, without_text, losses));
    if !calls.is_empty() {
        let calls = calls.into_iter().map(|call| {
            let origin = Origin::read(&call.extra, NAME).unwrap_or_default();
            Value::Object(origin.apply(plain_call(call)))
        });
        spoken.set("tool_calls", Value::Array(calls.collect()));
    }
    if let Some(call) = legacy.last() {
        let origin = Origin::read(&call.extra, NAME).unwrap_or_default();
        spoken.set("function_call", Value::Object(origin.apply(plain_function(call))));
    }
    spoken
}

fn is_legacy(call: &ToolCall) -> bool {
    Origin::read(&call.extra, NAME).is_some_and(|origin| origin.form.as_deref() == Some(LEGACY))
}

fn plain_call(call: &ToolCall) -> Object {
    object_of([
        ("id", call.id.as_str().into()),
        ("type", "function".into()),
        ("function", Value::Object(plain_function(call))),
    ])
}

fn plain_function(call: &ToolCall) -> Object {
    object_of([("name", call.name.as_str().into()), ("arguments", call.arguments.as_str().into())])
}

fn written_content(from: content::Pieces<'_>, without_text: Value, losses: &mut Losses) -> Value {
    let native = from.format == Some(Format::Openai);
    let mut blocks = Vec::with_capacity(from.pieces.len());
    let mut texts = Vec::new();
    for piece in from.pieces {
        match piece {
            Piece::Text { text, fields, bare } if native => {
                blocks.push(content::written_text(text, &fields, bare));
            }
            Piece::Text { text, fields, .. } => {
                for (name, _) in fields.0.iter().filter(|(name, _)| name != "type") {
                    losses.count(format!("`{name}` of a text block"));
                }
                texts.push(text);
                blocks.push(content::written_text(text, &Object::new(), false));
            }
            Piece::Part(part) if native => blocks.push(part.clone()),
            Piece::Part(part) => blocks.extend(parts::to_openai(part, losses)),
            Piece::Call | Piece::Response => {}
        }
    }
    match texts.as_slice() {
        _ if native => Value::Array(blocks),
        [] if blocks.is_empty() => without_text,
        [text] if blocks.len() == 1 => (*text).into(),
        _ => Value::Array(blocks),
    }
}

/// What speaks for a list of messages being OpenAI's. A system message among them doesn't: it is found in either.
pub(crate) fn speaks_for(message: &Value) -> bool {
    let part = |part: &Value| {
        matches!(text_field(part, "type"), Some("image_url" | "input_audio" | "file" | "refusal"))
    };
    matches!(text_field(message, "role"), Some("developer" | "tool" | "function"))
        || ["tool_calls", "function_call", "tool_call_id"].iter().any(|name| field(message, name).is_some())
        || field(message, "content").and_then(list).is_some_and(|parts| parts.iter().any(part))
}

/// The object that holds the messages, or the list itself.
pub(crate) fn in_shell(messages: Vec<Value>, shell: Option<(&Object, &str)>) -> Value {
    let messages = Value::Array(messages);
    match shell {
        None => messages,
        Some((fields, name)) => {
            let mut fields = fields.clone();
            fields.set(name, messages);
            Value::Object(fields)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::value::same;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    fn event(json: &str) -> Event {
        read(&value(json)).unwrap().event
    }

    fn written(events: &[Event]) -> (Vec<Value>, String) {
        let mut losses = Losses::default();
        (write(&events.iter().collect::<Vec<_>>(), Format::Openai, &mut losses), losses.to_string())
    }

    #[test]
    fn roles_are_read_as_the_four() {
        for (name, role) in [
            ("system", Role::System),
            ("developer", Role::System),
            ("user", Role::User),
            ("assistant", Role::Assistant),
            ("tool", Role::Tool),
            ("function", Role::Tool),
        ] {
            let json = format!(r#"{{"role":"{name}","content":"x"}}"#);
            assert_eq!(event(&json).as_message().unwrap().role, role);
            assert!(same(&written(&[event(&json)]).0[0], &value(&json)), "{name}");
        }
    }

    #[test]
    fn a_plain_message_needs_nothing_kept() {
        for json in [
            r#"{"role":"user","content":"hi"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}"#,
            r#"{"role":"tool","tool_call_id":"c","content":"a"}"#,
        ] {
            assert!(event(json).extra.is_empty(), "{json}");
        }
    }

    #[test]
    fn calls_and_answers_are_read_whichever_way_they_are_written() {
        let call = |json: &str| {
            let call = event(json).as_message().unwrap().tool_calls[0].clone();
            (call.id, call.name, call.arguments)
        };
        let read = |id: &str, name: &str, arguments: &str| (id.into(), name.into(), arguments.into());
        let calls = |call: &str| format!(r#"{{"role":"assistant","tool_calls":[{call}]}}"#);
        assert_eq!(
            call(&calls(r#"{"id":"c","function":{"name":"ls","arguments":"{ }"}}"#)),
            read("c", "ls", "{ }")
        );
        assert_eq!(
            call(&calls(r#"{"function":{"name":"ls","arguments":{"a":1}}}"#)),
            read("", "ls", r#"{"a":1}"#)
        );
        assert_eq!(
            call(&calls(r#"{"id":"c","type":"custom","custom":{"name":"sh","input":"ls"}}"#)),
            read("c", "sh", "ls")
        );
        assert_eq!(
            call(r#"{"role":"assistant","function_call":{"name":"ls","arguments":"{}"}}"#),
            read("", "ls", "{}")
        );
        let answer = |json: &str| event(json).as_message().unwrap().tool_responses[0].clone();
        assert_eq!(answer(r#"{"role":"tool","tool_call_ids":["a","b"],"content":"x"}"#).id, "a");
        assert_eq!(answer(r#"{"role":"tool","tool_call_id":"c","tool_call_ids":["a"]}"#).id, "c");
        assert_eq!(answer(r#"{"role":"function","name":"ls","content":"x"}"#).name, "ls");
    }

    #[test]
    fn what_is_no_message_is_said() {
        for (json, says) in [
            ("[]", "is an empty list, expected an object with `role` and `content`"),
            ("{}", "has no `role`, expected `system`, `developer`,"),
            (r#"{"role":"bot"}"#, "has the unknown role `bot`, expected `system`"),
            (r#"{"role":1}"#, "has as `role` the number `1`, expected"),
            (
                r#"{"role":"user","content":{"a":1}}"#,
                "has as `content` an object with `a`, expected a string, a list",
            ),
            (
                r#"{"role":"assistant","tool_calls":"x"}"#,
                "has as `tool_calls` the string `x`, expected a list",
            ),
            (
                r#"{"role":"assistant","tool_calls":[{},1]}"#,
                "has as tool call 2 the number `1`, expected an object",
            ),
        ] {
            let fault = read(&value(json)).unwrap_err();
            assert!(fault.starts_with(says), "{json}: {fault}");
        }
    }

    #[test]
    fn an_event_with_several_responses_is_a_message_for_each() {
        let event: Event = serde_json::from_str(
            r#"{"id":"e","role":"tool","text":"both:","tool_responses":[{"id":"a","name":"ls","text":"x"},{"id":"b","name":"","text":""}]}"#,
        )
        .unwrap();
        let (messages, losses) = written(&[event]);
        let expected = [
            r#"{"role":"tool","tool_call_id":"a","name":"ls","content":[{"type":"text","text":"both:"},{"type":"text","text":"x"}]}"#,
            r#"{"role":"tool","tool_call_id":"b","content":""}"#,
        ];
        assert_eq!(messages, expected.map(value));
        assert_eq!(losses, "");
    }

    #[test]
    fn an_edited_event_is_written_as_it_is_now() {
        let mut edited =
            event(r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#);
        if let turnfold_core::Content::Message(message) = &mut edited.content {
            message.text = "no more a list".into();
        }
        assert_eq!(written(&[edited]).0, [value(r#"{"role":"user","content":"no more a list"}"#)]);
    }
}
