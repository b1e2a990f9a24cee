//! Nothing panics, whatever it is given: a plan concluded over another view, and, with `serde`, any bytes as any type.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use turnfold_core::{Event, MAX_SIZE, Plan, Role, Summary, View, Window, plan};

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    let event = (0..4_usize, prop::bool::weighted(0.2), any::<u32>());
    proptest::collection::vec(event, 0..30).prop_map(|events| {
        let event = |(n, (role, synthetic, weight)): (usize, (usize, bool, u32))| {
            let event = Event::message(format!("e{n}"), Role::ALL[role], "").weighing(weight);
            if synthetic { event.synthetic() } else { event }
        };
        events.into_iter().enumerate().map(event).collect()
    })
}

fn any_window() -> impl Strategy<Value = Window> {
    let size = prop_oneof![1..10_u64, 1..=MAX_SIZE];
    (0..3_usize, size).prop_map(|(kind, size)| {
        [Window::last_events, Window::last_turns, Window::token_budget][kind](size).unwrap()
    })
}

fn any_reply() -> impl Strategy<Value = Option<Summary>> {
    let text = prop_oneof![Just(String::new()), any::<String>()];
    proptest::option::of((text, any::<u32>()).prop_map(|(text, tokens)| Summary { text, tokens }))
}

/// Everything that takes a plan and a view, over a view the plan was not made for.
fn use_on(plan: &Plan, view: &[Event], reply: Option<Summary>) {
    let _ = plan.request(view);
    let _ = plan.conclude(view, reply);
    if let Plan::Cut(cut) = plan {
        for (at, event) in view.iter().enumerate() {
            let _ = (cut.place(at, event), cut.place(usize::MAX - at, event));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_takes_any_view(
        own in any_events(), foreign in any_events(), window in any_window(), summarizing: bool, reply in any_reply()
    ) {
        let slice = plan(&own, window, summarizing);
        let indexed = View::from_events(own.clone()).unwrap().plan(window, summarizing);
        for plan in [slice, indexed] {
            for length in 0..=own.len() {
                use_on(&plan, &own[..length], reply.clone());
            }
            use_on(&plan, &foreign, reply.clone());
            use_on(&plan, &[own.clone(), foreign.clone()].concat(), reply.clone());
        }
    }
}

#[cfg(feature = "serde")]
mod reading {
    //! Bytes as types: an error or a value, and a value that was read can be written and read again.

    use proptest::{collection::vec, prelude::*, strategy::ValueTree, test_runner::TestRunner};
    use serde_json::{from_slice, from_str, from_value, json};
    use turnfold_core::{
        Event, EventId, Object, Role, ToolCall, ToolResponse, Value, Window, session::Trigger,
    };

    /// Reads bytes as everything that reads; the event, if they are one.
    fn read_all(bytes: &[u8]) -> Option<Event> {
        let _ = (from_slice::<Value>(bytes), from_slice::<Object>(bytes), from_slice::<EventId>(bytes));
        let _ = (from_slice::<Role>(bytes), from_slice::<ToolCall>(bytes), from_slice::<ToolResponse>(bytes));
        let _ = (from_slice::<Window>(bytes), from_slice::<Trigger>(bytes));
        from_slice::<Event>(bytes).ok()
    }

    fn reads_again(event: &Event) {
        let text = serde_json::to_string(event).unwrap();
        let again: Event = from_str(&text).unwrap_or_else(|refused| unreachable!("{refused}: {text}"));
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
    }

    /// Values that some field takes, and values that none does.
    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(|truth| json!(truth)),
            any::<i64>().prop_map(|number| json!(number)),
            any::<u64>().prop_map(|number| json!(number)),
            any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(|number| json!(number)),
            any::<String>().prop_map(|text| json!(text)),
            prop::sample::select(&["user", "system", "MESSAGE", "COMPACTION", "UI.CLICK", "always"][..])
                .prop_map(|text| json!(text)),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let name = prop_oneof![prop::sample::select(FIELDS).prop_map(str::to_owned), any::<String>()];
            prop_oneof![
                vec(inner.clone(), 0..4).prop_map(serde_json::Value::Array),
                vec((name, inner), 0..5)
                    .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    const FIELDS: &[&str] = &[
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
        "strategy",
        "pinned",
        "preserved",
        "name",
        "arguments",
        "events",
        "turns",
        "any",
        "later",
    ];

    /// The text of an object with an event's fields, most of them with a value of their kind, some twice.
    fn near_event() -> impl Strategy<Value = String> {
        let kind = prop_oneof![
            4 => Just("\"role\":\"user\""),
            1 => Just("\"type\":\"MESSAGE\",\"role\":\"tool\""),
            2 => Just("\"type\":\"COMPACTION\",\"payload\":{\"pinned\":[\"a\"],\"preserved\":[],\"later\":1}"),
            2 => Just("\"type\":\"UI.CLICK\",\"payload\":[1]"),
            1 => Just("\"type\":\"ui\""),
        ];
        let field = prop_oneof![
            Just("\"text\":\"so\"".to_owned()),
            Just("\"tool_calls\":[{\"id\":\"c\"},{}]".to_owned()),
            any::<u32>().prop_map(|tokens| format!("\"tokens\":{tokens}")),
            any::<i64>().prop_map(|time| format!("\"time_ms\":{time}")),
            any_json().prop_map(|value| format!("\"metadata\":{{\"synthetic\":{value}}}")),
            any_json().prop_map(|value| format!("\"later\":{value}")),
            (prop::sample::select(FIELDS), any_json()).prop_map(|(name, value)| format!("{name:?}:{value}")),
        ];
        (kind, vec(field, 0..4)).prop_map(|(kind, fields)| {
            let fields = [vec![kind.to_owned()], fields].concat().join(",");
            format!("{{\"id\":\"e\",{fields}}}")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes(bytes in vec(any::<u8>(), 0..80)) {
            read_all(&bytes);
        }

        #[test]
        fn any_tree(tree in any_json()) {
            let text = tree.to_string();
            let from_text = read_all(text.as_bytes());
            let from_tree = from_value::<Event>(tree.clone()).ok();
            prop_assert_eq!(&from_tree, &from_text);
            prop_assert_eq!(from_value::<Window>(tree.clone()).ok(), from_str::<Window>(&text).ok());
            prop_assert_eq!(from_value::<Trigger>(tree).ok(), from_str::<Trigger>(&text).ok());
            from_text.iter().for_each(reads_again);
        }

        #[test]
        fn nearly_an_event(line in near_event()) {
            read_all(line.as_bytes()).iter().for_each(reads_again);
        }

        /// A line with a byte changed, lost or come in between, or cut off.
        #[test]
        fn a_damaged_event(line in near_event(), at in any::<prop::sample::Index>(), byte: u8, damage in 0..4) {
            let mut bytes = line.into_bytes();
            let at = at.index(bytes.len());
            match damage {
                0 => bytes[at] = byte,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, byte),
                _ => bytes.truncate(at),
            }
            read_all(&bytes).iter().for_each(reads_again);
        }
    }

    #[test]
    fn nearly_an_event_often_is_one() {
        let mut runner = TestRunner::deterministic();
        let accepted = (0..1_000)
            .filter(|_| read_all(near_event().new_tree(&mut runner).unwrap().current().as_bytes()).is_some())
            .count();
        println!("{accepted} of 1000 lines are events");
        assert!((150..950).contains(&accepted), "{accepted}");
    }

    #[test]
    fn depth_is_an_error() {
        for (open, close) in [("[", "]"), ("{\"any\":[", "]}"), ("{\"metadata\":", "}"), ("{\"later\":", "}")]
        {
            for text in [open.repeat(100_000), format!("{}0{}", open.repeat(100_000), close.repeat(100_000))]
            {
                assert!(from_str::<Value>(&text).is_err());
                assert_eq!(read_all(text.as_bytes()), None);
                assert_eq!(
                    read_all(format!("{{\"id\":\"e\",\"role\":\"user\",\"later\":{text}}}").as_bytes()),
                    None
                );
            }
        }
    }
}
