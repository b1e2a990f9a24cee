//! Anthropic messages, read and written.
//!
//! | message | event |
//! |---|---|
//! | `system`, a string or blocks | system, first |
//! | user with tool results only | tool, a response for each: no turn start |
//! | user with tool results and anything else | two events: the results as tool, the rest as user, which starts a turn |
//! | user or assistant | the same |
//! | text blocks | text, joined by newlines |
//! | `tool_use` of the assistant | a tool call, `input` as JSON text |
//! | `tool_result` of the user | a tool response, its texts joined; pictures in it are parts of the event |
//! | any other block (thinking, image, document, server tools …) | a part |
//! | order of blocks | `anthropic.content` |
//! | any other field | `anthropic.fields`, of a text block in the order's item |
//!
//! Two events of one message are written as one again where both are kept. Written from elsewhere: system messages go
//! to `system`, consecutive tool messages become one user message, a text beside responses is written into the first;
//! arguments that are no JSON object stand under `arguments` of the input; what has no form here is counted.

use std::slice;

use turnfold_core::{Event, Message, Object, Role, ToolCall, ToolResponse, Value};

use crate::compact::{
    content::{self, Content, Item, Piece, Pieces},
    dialogue::{Draft, Format},
    losses::Losses,
    origin::Origin,
    parts,
    value::{field, found, list, object, object_of, shortened, text, text_field, written},
};

const NAME: &str = Format::Anthropic.as_str();
/// The form of a system message that stood among the messages.
const INLINE: &str = "inline";

/// Reads what stands under `system`.
///
/// # Errors
///
/// Anything but a string, blocks or null.
pub(crate) fn read_system(system: &Value) -> Result<Option<Draft>, String> {
    let content = match system {
        Value::Null => return Ok(None),
        Value::String(text) => Content::plain(text),
        Value::Array(blocks) => Content::list(blocks),
        other => return Err(format!("`system` is {}, expected a string or a list of blocks", found(other))),
    };
    let mut event = Event::message("", Role::System, content.text);
    if let Some(message) = message_mut(&mut event) {
        message.parts = content.parts;
    }
    Origin { content: content.layout, ..Origin::default() }.keep(&mut event.extra, NAME);
    Ok(Some(Draft { event, own_id: None }))
}

/// Reads the message that stands at `number`: one event, or two.
///
/// # Errors
///
/// What is wrong with it, as what follows "message 3".
pub(crate) fn read(value: &Value, number: usize) -> Result<Vec<Draft>, String> {
    let message = object(value)
        .ok_or_else(|| format!("is {}, expected an object with `role` and `content`", found(value)))?;
    let role = role(message)?;
    let mut events = match message.get("content") {
        None | Some(Value::Null) => vec![said(role, Content::default(), Vec::new())],
        Some(Value::String(text)) => vec![said(role, Content::plain(text), Vec::new())],
        Some(Value::Array(blocks)) => match role {
            Role::User => of_user(blocks, number),
            _ => vec![of_speaker(role, blocks)],
        },
        Some(other) => {
            return Err(format!("has as `content` {}, expected a string or a list of blocks", found(other)));
        }
    };
    if let (Role::System, Some(event)) = (role, events.first_mut()) {
        let origin = Origin::read(&event.extra, NAME).unwrap_or_default();
        Origin { form: Some(INLINE.into()), ..origin }.keep(&mut event.extra, NAME);
    }
    keep_difference(&mut events, message);
    let last = events.len().saturating_sub(1);
    let own_id = |at: usize| message.get("id").and_then(text).filter(|_| at == last).map(String::from);
    Ok(events.into_iter().enumerate().map(|(at, event)| Draft { event, own_id: own_id(at) }).collect())
}

/// Keeps in the last event what the message says beyond the events.
fn keep_difference(events: &mut [Event], message: &Object) {
    let written = write(&events.iter().collect::<Vec<_>>(), Format::Anthropic, &mut Losses::default());
    let Some(Value::Object(plain)) = written.messages.into_iter().next() else { return };
    if let Some(event) = events.last_mut() {
        let origin = Origin::read(&event.extra, NAME).unwrap_or_default();
        origin.with_difference(&plain, message).keep(&mut event.extra, NAME);
    }
}

fn role(message: &Object) -> Result<Role, String> {
    const EXPECTED: &str = "expected `user` or `assistant`";
    match message.get("role") {
        None => Err(format!("has no `role`, {EXPECTED}")),
        Some(Value::String(role)) => match role.as_str() {
            "user" => Ok(Role::User),
            "assistant" => Ok(Role::Assistant),
            "system" => Ok(Role::System),
            _ => Err(format!("has the unknown role `{}`, {EXPECTED}", shortened(role))),
        },
        Some(other) => Err(format!("has as `role` {}, {EXPECTED}", found(other))),
    }
}

fn message_mut(event: &mut Event) -> Option<&mut Message> {
    match &mut event.content {
        turnfold_core::Content::Message(message) => Some(message),
        _ => None,
    }
}

fn said(role: Role, content: Content, calls: Vec<ToolCall>) -> Event {
    let mut event = Event::message("", role, content.text);
    if let Some(message) = message_mut(&mut event) {
        message.tool_calls = calls;
        message.parts = content.parts;
    }
    Origin { content: content.layout, ..Origin::default() }.keep(&mut event.extra, NAME);
    event
}

fn of_speaker(role: Role, blocks: &[Value]) -> Event {
    let mut content = Content::list(&[]);
    let mut calls = Vec::new();
    for block in blocks {
        match (role, text_field(block, "type"), block) {
            (Role::Assistant, Some("tool_use"), Value::Object(block)) => {
                calls.push(call(block));
                content.place(Item::Call);
            }
            _ => content.add(block),
        }
    }
    said(role, content, calls)
}

/// The results as a tool event, the rest as a user event; only one of the two where there is nothing else.
fn of_user(blocks: &[Value], number: usize) -> Vec<Event> {
    let mut results = Content::list(&[]);
    let mut responses = Vec::new();
    let mut rest = Content::list(&[]);
    for block in blocks {
        match block {
            Value::Object(result) if text_field(block, "type") == Some("tool_result") => {
                responses.push(response(result, &mut results.parts));
                results.place(Item::Response);
                rest.place(Item::Response);
            }
            _ => rest.add(block),
        }
    }
    let only_results = responses.len() == blocks.len() && !blocks.is_empty();
    if responses.is_empty() {
        return vec![said(Role::User, rest, Vec::new())];
    }
    let mut answered = said(Role::Tool, results, Vec::new());
    if let Some(message) = message_mut(&mut answered) {
        message.tool_responses = responses;
    }
    if only_results {
        return vec![answered];
    }
    let mut events = vec![answered, said(Role::User, rest, Vec::new())];
    for event in &mut events {
        let origin = Origin::read(&event.extra, NAME).unwrap_or_default();
        Origin { message: Some(number as u64), ..origin }.keep(&mut event.extra, NAME);
    }
    events
}

fn call(block: &Object) -> ToolCall {
    let mut call = ToolCall {
        id: block.get("id").and_then(text).unwrap_or_default().into(),
        name: block.get("name").and_then(text).unwrap_or_default().into(),
        arguments: block.get("input").map(written).unwrap_or_default(),
        extra: Object::new(),
    };
    let plain = plain_call(&call, &mut Losses::default());
    Origin::default().with_difference(&plain, block).keep(&mut call.extra, NAME);
    call
}

fn response(block: &Object, parts: &mut Vec<Value>) -> ToolResponse {
    let content = match block.get("content") {
        Some(Value::String(text)) => Content::plain(text),
        Some(Value::Array(blocks)) => Content::list(blocks),
        _ => Content::default(),
    };
    let mut response = ToolResponse {
        id: block.get("tool_use_id").and_then(text).unwrap_or_default().into(),
        name: String::new(),
        text: content.text,
        extra: Object::new(),
    };
    let readable =
        block.get("content").filter(|content| matches!(content, Value::String(_) | Value::Array(_)));
    let plain = plain_result(&response.id, readable.cloned().unwrap_or_else(|| "".into()));
    let origin = Origin { content: content.layout, ..Origin::default() };
    origin.with_difference(&plain, block).keep(&mut response.extra, NAME);
    parts.extend(content.parts);
    response
}

/// What was written: the system prompt apart.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// What stands under `system`
    pub(crate) system: Option<Value>,
    /// The messages
    pub(crate) messages: Vec<Value>,
}

/// Writes events as messages.
pub(crate) fn write(events: &[&Event], from: Format, losses: &mut Losses) -> Written {
    let mut systems = Vec::new();
    let mut written = Written::default();
    let mut results: Option<Vec<Value>> = None; // of foreign tool events in a row, or of a message's first half
    for (at, event) in events.iter().enumerate() {
        losses.count_event(event, from, Format::Anthropic);
        let Some(message) = event.as_message() else { continue };
        let origin = Origin::read(&event.extra, NAME).unwrap_or_default();
        match message.role {
            Role::System if origin.form.as_deref() != Some(INLINE) => {
                if !written.messages.is_empty() {
                    losses.count("place of a system message");
                }
                systems.push(*event);
            }
            Role::Tool => {
                let next = events.get(at.saturating_add(1)).copied();
                let blocks = result_blocks(event, message, losses);
                results.get_or_insert_default().extend(blocks);
                if !(is_half_of(&origin, next) || is_foreign(event) && next.is_some_and(is_foreign_tool)) {
                    let blocks = results.take().unwrap_or_default();
                    written.messages.push(answered(&origin, blocks));
                }
            }
            Role::System | Role::User | Role::Assistant => {
                let blocks = results.take().unwrap_or_default();
                written.messages.push(spoken(event, message, &origin, blocks, losses));
                if !message.tool_responses.is_empty() {
                    let blocks = result_blocks(event, message, losses);
                    written.messages.push(answered(&Origin::default(), blocks));
                }
            }
        }
    }
    written.system = written_system(&systems, losses);
    written
}

/// Whether the next event is the other half of the same message.
fn is_half_of(origin: &Origin, next: Option<&Event>) -> bool {
    let next = next.and_then(|next| Some((next.as_message()?, Origin::read(&next.extra, NAME)?)));
    next.is_some_and(|(message, next)| {
        message.role == Role::User && origin.message.is_some() && next.message == origin.message
    })
}

fn is_foreign(event: &Event) -> bool {
    Origin::read(&event.extra, NAME).is_none_or(|origin| origin.content.is_none())
}

fn is_foreign_tool(event: &Event) -> bool {
    event.as_message().is_some_and(|message| message.role == Role::Tool) && is_foreign(event)
}

fn answered(origin: &Origin, blocks: Vec<Value>) -> Value {
    let plain = object_of([("role", "user".into()), ("content", Value::Array(blocks))]);
    Value::Object(origin.apply(plain))
}

fn spoken(
    event: &Event,
    message: &Message,
    origin: &Origin,
    results: Vec<Value>,
    losses: &mut Losses,
) -> Value {
    let pieces = content::of_message(event, message);
    let native = pieces.format == Some(Format::Anthropic);
    let mut results = results.into_iter();
    let mut calls = message.tool_calls.iter();
    let mut blocks = Vec::new();
    for piece in pieces.pieces {
        match piece {
            Piece::Call => blocks.extend(calls.next().map(|call| written_call(call, losses))),
            Piece::Response => blocks.extend(results.next()),
            piece => blocks.extend(block(piece, native, losses)),
        }
    }
    blocks.extend(calls.map(|call| written_call(call, losses)));
    blocks.splice(..0, results);
    let role = match message.role {
        Role::System => "system",
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let content = if native { Value::Array(blocks) } else { plainest(blocks) };
    Value::Object(origin.apply(object_of([("role", role.into()), ("content", content)])))
}

/// A string where one text block, and nothing else, says it all.
fn plainest(mut blocks: Vec<Value>) -> Value {
    match blocks.as_slice() {
        [] => "".into(),
        [Value::Object(block)] if block.0.len() == 2 && block.get("type").and_then(text) == Some("text") => {
            let block = blocks.pop();
            block.as_ref().and_then(|block| field(block, "text")).cloned().unwrap_or(Value::Null)
        }
        _ => Value::Array(blocks),
    }
}

fn block(piece: Piece<'_>, native: bool, losses: &mut Losses) -> Option<Value> {
    match piece {
        Piece::Text { text, fields, bare } if native => Some(content::written_text(text, &fields, bare)),
        Piece::Text { text, fields, .. } => {
            for (name, _) in fields.0.iter().filter(|(name, _)| name != "type") {
                losses.count(format!("`{name}` of a text block"));
            }
            Some(content::written_text(text, &Object::new(), false))
        }
        Piece::Part(part) if native => Some(part.clone()),
        Piece::Part(part) => parts::to_anthropic(part, losses),
        Piece::Call | Piece::Response => None,
    }
}

fn written_system(systems: &[&Event], losses: &mut Losses) -> Option<Value> {
    let mut blocks = Vec::new();
    let mut listed = false;
    for event in systems {
        let Some(message) = event.as_message() else { continue };
        let Pieces { pieces, format } = content::of_message(event, message);
        let native = format == Some(Format::Anthropic);
        listed |= native;
        blocks.extend(pieces.into_iter().filter_map(|piece| block(piece, native, losses)));
    }
    match systems {
        [] => None,
        _ if listed => Some(Value::Array(blocks)),
        _ => Some(plainest(blocks)),
    }
}

fn result_blocks(event: &Event, message: &Message, losses: &mut Losses) -> Vec<Value> {
    let own = message.role == Role::Tool;
    let mut parts: slice::Iter<'_, Value> = if own { message.parts.iter() } else { [].iter() };
    let silent = [ToolResponse::default()];
    let responses =
        if message.tool_responses.is_empty() { &silent } else { message.tool_responses.as_slice() };
    let mut blocks = Vec::with_capacity(responses.len());
    for (at, response) in responses.iter().enumerate() {
        let last = at.saturating_add(1) == responses.len();
        let mut pieces = content::of_response(event, message, response, last, &mut parts);
        if at == 0 && own && !message.text.is_empty() {
            pieces.pieces.insert(0, Piece::text(&message.text));
        }
        if !response.name.is_empty() {
            losses.count("tool response `name`");
        }
        let native = pieces.format == Some(Format::Anthropic);
        let content: Vec<_> =
            pieces.pieces.into_iter().filter_map(|piece| block(piece, native, losses)).collect();
        let content = if native { Value::Array(content) } else { plainest(content) };
        let origin = Origin::read(&response.extra, NAME).unwrap_or_default();
        blocks.push(Value::Object(origin.apply(plain_result(&response.id, content))));
    }
    blocks
}

fn plain_result(id: &str, content: Value) -> Object {
    object_of([("type", "tool_result".into()), ("tool_use_id", id.into()), ("content", content)])
}

fn written_call(call: &ToolCall, losses: &mut Losses) -> Value {
    let origin = Origin::read(&call.extra, NAME).unwrap_or_default();
    Value::Object(origin.apply(plain_call(call, losses)))
}

fn plain_call(call: &ToolCall, losses: &mut Losses) -> Object {
    object_of([
        ("type", "tool_use".into()),
        ("id", call.id.as_str().into()),
        ("name", call.name.as_str().into()),
        ("input", input(&call.arguments, losses)),
    ])
}

/// Arguments as an object; a text that is none stands in one.
fn input(arguments: &str, losses: &mut Losses) -> Value {
    if arguments.trim().is_empty() {
        return Value::Object(Object::new());
    }
    if let Ok(Value::Object(input)) = serde_json::from_str(arguments) {
        return Value::Object(input);
    }
    losses.count("tool call with arguments that are no JSON object, written under `input.arguments`");
    Value::Object(object_of([("arguments", arguments.into())]))
}

/// What speaks for a list of messages being Anthropic's.
pub(crate) fn speaks_for(message: &Value) -> bool {
    let block = |block: &Value| match text_field(block, "type") {
        Some("tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use") => true,
        Some("image" | "document") => field(block, "source").is_some(),
        _ => false,
    };
    field(message, "content").and_then(list).is_some_and(|blocks| blocks.iter().any(block))
}

/// The object that holds the messages; the list itself where it came as one and no system prompt has to stand beside it.
pub(crate) fn in_shell(written: Written, shell: Option<(&Object, &str)>) -> Value {
    let messages = Value::Array(written.messages);
    let mut fields = match (shell, &written.system) {
        (Some((fields, _)), _) => fields.clone(),
        (None, Some(_)) => Object::new(),
        (None, None) => return messages,
    };
    match written.system {
        Some(system) => fields.set("system", system),
        None => fields.0.retain(|(name, value)| name != "system" || *value == Value::Null),
    }
    fields.set(shell.map_or("messages", |(_, name)| name), messages);
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::value::same;

    fn value(json: &str) -> Value {
        serde_json::from_str(json).unwrap()
    }

    fn events(json: &str) -> Vec<Event> {
        read(&value(json), 3).unwrap().into_iter().map(|draft| draft.event).collect()
    }

    fn roles(json: &str) -> Vec<Role> {
        events(json).iter().map(|event| event.as_message().unwrap().role).collect()
    }

    fn written(events: &[&Event]) -> (Option<Value>, Vec<Value>, String) {
        let mut losses = Losses::default();
        let Written { system, messages } = write(events, Format::Anthropic, &mut losses);
        (system, messages, losses.to_string())
    }

    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"t1","content":"x"}"#;
    const OTHER: &str = r#"{"type":"tool_result","tool_use_id":"t2","is_error":true}"#;
    const TEXT: &str = r#"{"type":"text","text":"and now?"}"#;
    const IMAGE: &str = r#"{"type":"image","source":{"type":"url","url":"u"}}"#;

    fn user(blocks: &[&str]) -> String {
        format!(r#"{{"role":"user","content":[{}],"id":"x"}}"#, blocks.join(","))
    }

    #[test]
    fn tool_results_alone_start_no_turn_and_anything_else_does() {
        assert_eq!(roles(&user(&[RESULT])), [Role::Tool]);
        assert_eq!(roles(&user(&[RESULT, OTHER])), [Role::Tool]);
        assert_eq!(roles(&user(&[])), [Role::User]);
        assert_eq!(roles(&user(&[TEXT])), [Role::User]);
        for blocks in [[RESULT, TEXT], [TEXT, RESULT], [RESULT, IMAGE]] {
            assert_eq!(roles(&user(&blocks)), [Role::Tool, Role::User], "{blocks:?}");
        }
        assert_eq!(roles(r#"{"role":"assistant","content":[]}"#), [Role::Assistant]);
    }

    #[test]
    fn two_halves_are_one_message_again_where_both_are_kept() {
        for blocks in [vec![RESULT, TEXT], vec![TEXT, RESULT, IMAGE, OTHER, TEXT], vec![RESULT, IMAGE]] {
            let message = user(&blocks);
            let halves = events(&message);
            let (_, messages, _) = written(&halves.iter().collect::<Vec<_>>());
            assert_eq!(messages.len(), 1);
            assert!(same(&messages[0], &value(&message)), "{blocks:?}");
        }
    }

    #[test]
    fn one_half_alone_is_a_message_of_its_own() {
        let halves = events(&user(&[RESULT, TEXT]));
        let (_, messages, _) = written(&[&halves[1]]);
        assert!(same(&messages[0], &value(&user(&[TEXT]))));
        let (_, messages, _) = written(&[&halves[0]]);
        assert_eq!(messages, [value(&format!(r#"{{"role":"user","content":[{RESULT}]}}"#))]);

        let stranger = read(&value(&user(&[OTHER, TEXT])), 9).unwrap().remove(1).event;
        let (_, messages, _) = written(&[&halves[0], &stranger]);
        assert_eq!(messages.len(), 2, "halves of two messages don't join");
    }

    #[test]
    fn results_stay_with_a_half_that_was_edited() {
        let mut halves = events(&user(&[TEXT, RESULT]));
        message_mut(&mut halves[1]).unwrap().text = "no more that text".into();
        let (_, messages, _) = written(&[&halves[0], &halves[1]]);
        let edited = r#"{"type":"text","text":"no more that text"}"#;
        assert!(same(&messages[0], &value(&user(&[RESULT, edited]))), "{messages:?}");
    }

    #[test]
    fn pictures_in_results_are_parts_of_their_event() {
        let message = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":[{IMAGE},{TEXT}]}},
            {{"type":"tool_result","tool_use_id":"b","content":[{TEXT},{IMAGE},{IMAGE}]}}]}}"#
        );
        let events = events(&message);
        assert_eq!(events[0].as_message().unwrap().parts.len(), 3);
        assert!(same(&written(&[&events[0]]).1[0], &value(&message)));
    }

    #[test]
    fn consecutive_tool_events_from_elsewhere_are_one_user_message() {
        let event = |json: &str| serde_json::from_str::<Event>(json).unwrap();
        let call = event(
            r#"{"id":"a","role":"assistant","text":"","tool_calls":[{"id":"t","name":"ls","arguments":""},{"id":"u","name":"ls","arguments":"[1]"}]}"#,
        );
        let first = event(
            r#"{"id":"b","role":"tool","text":"","tool_responses":[{"id":"t","name":"ls","text":"x"}]}"#,
        );
        let second = event(r#"{"id":"c","role":"tool","text":"no response"}"#);
        let (_, messages, losses) = written(&[&call, &first, &second]);
        let expected = [
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}},{"type":"tool_use","id":"u","name":"ls","input":{"arguments":"[1]"}}]}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"tool_result","tool_use_id":"","content":"no response"}]}"#,
        ];
        assert_eq!(messages, expected.map(value));
        assert_eq!(
            losses,
            "1 × tool call with arguments that are no JSON object, written under `input.arguments`, \
             1 × tool response `name`"
        );
    }

    #[test]
    fn the_system_prompt_stands_apart() {
        for json in [
            r#""be brief""#,
            r#"[{"type":"text","text":"a"},{"type":"text","text":"b","x":1}]"#,
            "[]",
            r#""""#,
        ] {
            let draft = read_system(&value(json)).unwrap().unwrap();
            assert_eq!(written(&[&draft.event]).0, Some(value(json)));
        }
        assert!(read_system(&Value::Null).unwrap().is_none());
        assert!(
            read_system(&value("7")).unwrap_err().contains("`system` is the number `7`, expected a string")
        );

        let inline = r#"{"role":"system","content":"later"}"#;
        let (system, messages, _) = written(&[&events(inline)[0]]);
        assert_eq!((system, messages), (None, vec![value(inline)]));
        let foreign = Event::message("s", Role::System, "brief");
        let (system, _, losses) =
            written(&[&events(r#"{"role":"user","content":"x"}"#)[0], &foreign, &foreign]);
        assert_eq!(system, Some(value(r#"[{"type":"text","text":"brief"},{"type":"text","text":"brief"}]"#)));
        assert_eq!(losses, "2 × place of a system message");
    }

    #[test]
    fn what_is_no_message_is_said() {
        for (json, says) in [
            ("7", "is the number `7`, expected an object with `role` and `content`"),
            ("{}", "has no `role`, expected `user` or `assistant`"),
            (r#"{"role":"tool"}"#, "has the unknown role `tool`, expected `user` or `assistant`"),
            (r#"{"role":null}"#, "has as `role` null, expected `user` or `assistant`"),
            (
                r#"{"role":"user","content":7}"#,
                "has as `content` the number `7`, expected a string or a list of blocks",
            ),
        ] {
            assert_eq!(read(&value(json), 1).unwrap_err(), says, "{json}");
        }
    }
}
