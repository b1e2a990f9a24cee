//! Small views in letters, as the spec writes small logs: `S:6 U A(t) T A`.
//!
//! `S U A T` are the roles, lower case is synthetic, and `M:3` is a summary turn, `u:0 a:3`. A weight not written is 1,
//! `A(t)` calls a tool. Ids are the letter and how often it has stood so far: `U1 A1 U2`.

use std::collections::BTreeMap;

use turnfold_core::{Content, Event, Role, ToolCall, ToolResponse};

/// The events of a line of letters.
pub(crate) fn view(line: &str) -> Vec<Event> {
    let mut seen = BTreeMap::new();
    let mut events = Vec::new();
    for word in line.split_whitespace() {
        let (letter, weight) = word.split_once(':').unwrap_or((word, "1"));
        if letter == "M" {
            events.push(event("u", "0", &mut seen));
            events.push(event("a", weight, &mut seen));
        } else {
            events.push(event(letter, weight, &mut seen));
        }
    }
    events
}

fn event<'l>(letter: &'l str, weight: &str, seen: &mut BTreeMap<&'l str, u32>) -> Event {
    let (letter, calls) = letter.strip_suffix("(t)").map_or((letter, false), |letter| (letter, true));
    let role = match letter.to_ascii_lowercase().as_str() {
        "s" => Role::System,
        "u" => Role::User,
        "a" => Role::Assistant,
        "t" => Role::Tool,
        other => panic!("no role is written `{other}`"),
    };
    let count = seen.entry(letter).and_modify(|count| *count += 1).or_insert(1);
    let mut event = Event::message(format!("{letter}{count}"), role, format!("text of {letter}{count}"))
        .weighing(weight.parse().unwrap_or_else(|_| panic!("`{weight}` is no weight")));
    if let Content::Message(message) = &mut event.content {
        if calls {
            message.tool_calls.push(ToolCall {
                id: "call".into(),
                name: "look".into(),
                ..ToolCall::default()
            });
        }
        if role == Role::Tool {
            message.tool_responses.push(ToolResponse { id: "call".into(), ..ToolResponse::default() });
        }
    }
    if letter.starts_with(char::is_lowercase) { event.synthetic() } else { event }
}

/// The ids of events, as one line.
pub(crate) fn ids<'e>(events: impl IntoIterator<Item = &'e Event>) -> String {
    events.into_iter().map(|event| event.id.as_str()).collect::<Vec<_>>().join(" ")
}
