//! The indexed view: what it refuses, what it tells, and that its index never falls behind its events.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::borrow::Cow;

use proptest::prelude::*;
use turnfold_core::{
    Event, Identified, InvalidView, MAX_SIZE, Role, View, ViewEvent, Window, plan, require_weights,
};

use letters::{ids, view};

mod letters;

fn windows() -> Vec<Window> {
    let make = |size| {
        [Window::last_events, Window::last_turns, Window::token_budget].map(|make| make(size).unwrap())
    };
    [1, 2, 3, 5, 8, 13, 1_000, MAX_SIZE].into_iter().flat_map(make).collect()
}

/// Everything a view answers is what a fresh look at its events says.
fn is_consistent(indexed: &View<Event>) -> Result<(), TestCaseError> {
    let events = indexed.events();
    let users = events.iter().filter(|event| event.role() == Role::User && !event.is_synthetic());
    prop_assert_eq!(indexed.turn_count(), users.count());
    prop_assert_eq!(indexed.tokens(), events.iter().map(|event| u64::from(event.weight())).sum::<u64>());
    for (at, event) in events.iter().enumerate() {
        prop_assert_eq!(indexed.position(event.id.as_str()), Some(at));
    }
    prop_assert_eq!(indexed.position("nobody"), None);
    for window in windows() {
        for summarizing in [false, true] {
            prop_assert_eq!(
                indexed.plan(window, summarizing),
                plan(events, window, summarizing),
                "{}",
                window
            );
        }
    }
    Ok(())
}

#[test]
fn a_view_tells_what_it_holds() {
    let view = View::from_events(view("S:6 A:1 U:2 A:3 M:4 U:5")).unwrap();
    assert_eq!(ids(view.events()), "S1 A1 U1 A2 u1 a1 U2");
    assert_eq!((view.tokens(), view.turn_count()), (21, 2));
    assert_eq!((view.position("A2"), view.position("A3"), view.position("")), (Some(3), None, None));
    assert_eq!(ids(&view.into_events()), "S1 A1 U1 A2 u1 a1 U2");
}

#[test]
fn an_empty_view_has_nothing() {
    let empty = View::<Event>::new();
    assert!(empty.events().is_empty());
    assert_eq!((empty.tokens(), empty.turn_count(), empty.position("")), (0, 0, None));
    is_consistent(&empty).unwrap();
}

#[test]
fn an_id_stands_once() {
    let twice = [view("U A"), view("U")].concat();
    let refused = View::from_events(twice).unwrap_err();
    assert_eq!(refused, InvalidView::DuplicateId { id: "U1".into(), first: 0, second: 2 });
    assert_eq!(refused.to_string(), "id `U1` stands at position 0 and again at 2, expected every id once");
}

#[test]
fn an_empty_id_is_an_id() {
    let mut view = View::new();
    view.push(Event::message("", Role::User, "")).unwrap();
    assert_eq!(view.position(""), Some(0));
    assert!(view.push(Event::message("", Role::User, "")).is_err());
}

#[test]
fn a_token_budget_asks_for_weights() {
    let weightless = Event::message("none", Role::Assistant, "");
    let view = [view("U:0 A"), vec![weightless]].concat();
    let refused = require_weights(&view).unwrap_err();
    assert_eq!(refused, InvalidView::MissingWeight { id: "none".into(), position: 2 });
    assert_eq!(
        refused.to_string(),
        "event `none` at position 2 has no weight, which a token budget needs: give it `tokens`"
    );
    assert_eq!(require_weights(&view[..2]), Ok(()), "a weight of 0 is a weight");
    assert_eq!(require_weights(&[]), Ok(()));
}

/// An event that is only heavy.
#[derive(Clone, Debug)]
struct Heavy(String, u32);

impl ViewEvent for Heavy {
    fn role(&self) -> Role {
        Role::User
    }
    fn is_synthetic(&self) -> bool {
        false
    }
    fn weight(&self) -> u32 {
        self.1
    }
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }
}

impl Identified for Heavy {
    fn id(&self) -> &str {
        &self.0
    }
}

#[test]
fn a_view_weighs_no_more_than_any_reader_can_count() {
    const MOST_HEAVIEST: u64 = MAX_SIZE / u32::MAX as u64;
    let mut view = View::new();
    for n in 0..MOST_HEAVIEST {
        view.push(Heavy(n.to_string(), u32::MAX)).unwrap();
    }
    let left = u32::try_from(MAX_SIZE - view.tokens()).unwrap();
    let over = view.push(Heavy("over".into(), left + 1)).unwrap_err();
    let position = usize::try_from(MOST_HEAVIEST).unwrap();
    assert_eq!(over, InvalidView::TooHeavy { id: "over".into(), position, tokens: MAX_SIZE + 1 });
    assert_eq!(
        over.to_string(),
        format!(
            "event `over` at position {position} takes the view to 9007199254740992 tokens, expected 9007199254740991 at most"
        )
    );
    assert_eq!(
        (view.position("over"), view.turn_count()),
        (None, position),
        "what was refused left no trace"
    );
    view.push(Heavy("last".into(), left)).unwrap();
    assert_eq!(view.tokens(), MAX_SIZE);
    view.push(Heavy("weightless".into(), 0)).unwrap();
    let budget = Window::token_budget(MAX_SIZE).unwrap();
    assert_eq!(view.plan(budget, false), plan(view.events(), budget, false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Events pushed one by one, with ids that come again: each refusal leaves everything as it was.
    #[test]
    fn the_index_is_never_behind(pushes in proptest::collection::vec((0..30_u32, 0..8_usize, 0..9_u32), 0..40)) {
        let mut indexed = View::new();
        let mut held: Vec<Event> = Vec::new();
        for (id, letter, weight) in pushes {
            let event = Event::message(format!("e{id}"), Role::ALL[letter / 2], "").weighing(weight);
            let event = if letter % 2 == 1 { event.synthetic() } else { event };
            let first = held.iter().position(|own| own.id == event.id);
            match (indexed.push(event.clone()), first) {
                (Ok(()), None) => held.push(event),
                (Err(InvalidView::DuplicateId { id, first, second }), Some(at)) => {
                    prop_assert_eq!((id, first, second), (event.id, at, held.len()));
                }
                (pushed, first) => prop_assert!(false, "{pushed:?} where `{}` stands at {first:?}", event.id),
            }
            prop_assert_eq!(indexed.events(), &held[..]);
            is_consistent(&indexed)?;
        }
    }
}
