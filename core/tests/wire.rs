//! The wire form holds whatever an event can hold: what is written reads back the same.
#![cfg(feature = "serde")]
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::{collection::vec, option, prelude::*};
use turnfold_core::{
    Boundary, Content, Event, EventType, MAX_SIZE, Message, Object, Role, ToolCall, ToolResponse, Value,
    Window, session::Trigger,
};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z ]{0,6}",
        any::<String>(),
        vec(prop_oneof![0..0x20_u8, Just(0x7f), Just(b'"'), Just(b'\\'), Just(b'/')], 0..6)
            .prop_map(|bytes| bytes.into_iter().map(char::from).collect()),
        Just("\u{2028}\u{2029}\u{feff}\u{fffd}\u{10ffff}\u{1f469}\u{200d}\u{1f680}".to_owned()),
    ]
}

/// JSON has no number that isn't finite.
fn any_float() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |number| number.is_finite())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (i64::MIN..0).prop_map(Value::Negative),
        any::<u64>().prop_map(Value::Unsigned),
        any_float().prop_map(Value::Float),
        any_text().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((any_text(), inner), 0..4).prop_map(|fields| Value::Object(Object(fields))),
        ]
    })
}

/// Fields with names that come again, none of them one of `known`.
fn extra(known: &'static [&'static str]) -> impl Strategy<Value = Object> {
    vec((any_text(), any_value()), 0..3).prop_map(move |fields| {
        Object(fields.into_iter().filter(|(name, _)| !known.contains(&name.as_str())).collect())
    })
}

fn any_message() -> impl Strategy<Value = Content> {
    let call = (any_text(), any_text(), any_text(), extra(&["id", "name", "arguments"]))
        .prop_map(|(id, name, arguments, extra)| ToolCall { id, name, arguments, extra });
    let response = (any_text(), any_text(), any_text(), extra(&["id", "name", "text"]))
        .prop_map(|(id, name, text, extra)| ToolResponse { id, name, text, extra });
    let role = prop::sample::select(&Role::ALL);
    (role, any_text(), vec(call, 0..3), vec(response, 0..3), vec(any_value(), 0..3), option::of(any::<u32>()))
        .prop_map(|(role, text, tool_calls, tool_responses, parts, tokens)| {
            Content::Message(Message { role, text, tool_calls, tool_responses, parts, tokens })
        })
}

fn any_boundary() -> impl Strategy<Value = Content> {
    let ids = || vec(any_text().prop_map(Into::into), 0..4);
    (any_text(), ids(), ids(), extra(&["strategy", "pinned", "preserved"])).prop_map(
        |(strategy, pinned, preserved, extra)| {
            Content::Boundary(Boundary { strategy, pinned, preserved, extra })
        },
    )
}

fn any_other() -> impl Strategy<Value = Content> {
    let name =
        "[A-Z][A-Z0-9_.]{0,63}".prop_filter_map("an application's type", |name| EventType::new(&name).ok());
    (name, any_value()).prop_map(|(name, payload)| Content::Other(name, payload))
}

fn any_event() -> impl Strategy<Value = Event> {
    let content = prop_oneof![3 => any_message(), 1 => any_boundary(), 1 => any_other()];
    let known = &[
        "id",
        "type",
        "time_ms",
        "role",
        "text",
        "tool_calls",
        "tool_responses",
        "parts",
        "tokens",
        "payload",
        "metadata",
    ];
    (any_text(), option::of(any::<i64>()), content, extra(&[]), extra(known)).prop_map(
        |(id, time_ms, content, metadata, extra)| Event { id: id.into(), time_ms, content, metadata, extra },
    )
}

fn any_size() -> impl Strategy<Value = u64> {
    prop_oneof![1..9_u64, 1..=MAX_SIZE, Just(MAX_SIZE)]
}

fn any_trigger() -> impl Strategy<Value = Trigger> {
    let leaf = prop_oneof![
        Just(Trigger::Always),
        any_size().prop_map(|size| Trigger::turns(size).unwrap()),
        any_size().prop_map(|size| Trigger::tokens(size).unwrap()),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| vec(inner, 1..4).prop_map(|any| Trigger::any(any).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_event_reads_as_it_was_written(event in any_event()) {
        let line = serde_json::to_string(&event).unwrap();
        prop_assert!(!line.contains(['\n', '\r']), "one event is one line");
        let read: Event = serde_json::from_str(&line).unwrap();
        prop_assert_eq!(&read, &event);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), line, "and writes as it was read");
    }

    /// A pretty printer and a reader that gives the whole input as bytes change nothing.
    #[test]
    fn white_space_and_the_reader_do_not_matter(event in any_event()) {
        let pretty = serde_json::to_vec_pretty(&event).unwrap();
        prop_assert_eq!(&serde_json::from_slice::<Event>(&pretty).unwrap(), &event);
        prop_assert_eq!(&serde_json::from_reader::<_, Event>(&pretty[..]).unwrap(), &event);
    }

    /// Through a tree of `serde_json`, which keeps of a repeated name the last, an event reads as that tree's text does.
    #[test]
    fn a_tree_reads_as_its_text(event in any_event()) {
        let tree = serde_json::to_value(&event).unwrap();
        let text: Event = serde_json::from_str(&tree.to_string()).unwrap();
        prop_assert_eq!(serde_json::from_value::<Event>(tree).unwrap(), text);
    }

    #[test]
    fn any_value_reads_as_it_was_written(value in any_value()) {
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn a_window_reads_as_it_was_written(kind in 0..3_usize, size in any_size()) {
        let window = [Window::last_events, Window::last_turns, Window::token_budget][kind](size).unwrap();
        let text = serde_json::to_string(&window).unwrap();
        prop_assert_eq!(serde_json::from_str::<Window>(&text).unwrap(), window);
    }

    #[test]
    fn a_trigger_reads_as_it_was_written(trigger in any_trigger()) {
        let text = serde_json::to_string(&trigger).unwrap();
        prop_assert_eq!(serde_json::from_str::<Trigger>(&text).unwrap(), trigger);
    }
}

#[test]
fn a_role_is_one_of_four() {
    for role in Role::ALL {
        assert_eq!(serde_json::from_str::<Role>(&format!("\"{role}\"")).unwrap(), role);
    }
    for other in ["\"User\"", "\"\"", "\"developer\"", "1", "null", "[]"] {
        assert!(serde_json::from_str::<Role>(other).is_err(), "{other}");
    }
}

#[test]
fn integers_keep_all_their_digits() {
    for text in ["0", "18446744073709551615", "-1", "-9223372036854775808", "[9007199254740993]"] {
        let value: Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
    }
}
