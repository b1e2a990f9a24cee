//! The pass: small logs with their outcomes written out by hand, and what holds of every pass.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

use std::{borrow::Cow, cell::Cell, convert::Infallible, ptr};

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};
use turnfold_core::{
    Content, Event, MAX_SIZE, Outcome, Plan, Role, Strategy as Compaction, Summary, SummaryRequest,
    Unchanged, View, ViewEvent, Window, compact, cut, plan, session::Stamped,
};

use letters::{ids, view};

mod letters;
mod model;

fn events(size: u64) -> Window {
    Window::last_events(size).unwrap()
}

fn turns(size: u64) -> Window {
    Window::last_turns(size).unwrap()
}

fn budget(size: u64) -> Window {
    Window::token_budget(size).unwrap()
}

fn summary(text: &str, tokens: u32) -> Summary {
    Summary { text: text.into(), tokens }
}

fn answering(
    tokens: u32,
) -> impl FnMut(&SummaryRequest<'_, Event>) -> Result<Option<Summary>, Infallible> + Clone {
    move |_| Ok(Some(summary("what was", tokens)))
}

/// A pass over a view, with or without a summarizer that always answers.
fn pass(view: &[Event], window: Window, summarizing: bool) -> Outcome<'_, Event> {
    let done = if summarizing {
        compact(view, &mut Compaction::new(window).summarizing(answering(1)))
    } else {
        compact(view, &mut Compaction::new(window))
    };
    done.unwrap_or_else(|never| match never {})
}

/// An outcome in a line: `pinned | covered | preserved`, or why nothing changed.
fn told(outcome: &Outcome<'_, Event>) -> String {
    let line = |events: &[&Event]| ids(events.iter().copied());
    match outcome.unchanged {
        Some(reason) => reason.as_str().into(),
        None => {
            [&outcome.pinned, &outcome.covered, &outcome.preserved].map(|events| line(events)).join(" | ")
        }
    }
}

/// The small logs of the spec that tell readings apart, by name.
#[test]
fn small_logs_end_as_written() {
    let logs: &[(&str, &str, Window, &str)] = &[
        ("last turn by events", "U A U A U A", events(3), " | U1 A1 U2 A2 | U3 A3"),
        ("last two turns by events", "U A U A U A", events(4), " | U1 A1 | U2 A2 U3 A3"),
        ("cut inside a tool turn", "U A U A(t) T A", events(1), " | U1 A1 | U2 A2 T1 A3"),
        ("cut between call and result", "U A U A(t) T A", events(2), " | U1 A1 | U2 A2 T1 A3"),
        ("two system messages, one turn", "S U A S U A", turns(1), "S2 | S1 U1 A1 | U2 A2"),
        ("two system messages that fit", "S U A S U A", turns(2), "fits"),
        ("system message inside the kept turn", "S U A U S A", turns(1), "S2 | S1 U1 A1 | U2 A2"),
        ("superseded between preserved", "U U S A S A", turns(1), "S2 | U1 S1 | U2 A1 A2"),
        ("preamble by events", "A U A U A", events(1), "A1 | U1 A2 | U2 A3"),
        ("preamble by turns", "A U A U A", turns(1), "A1 | U1 A2 | U2 A3"),
        ("preamble by tokens", "A U A U A", budget(1), "A1 | U1 A2 | U2 A3"),
        ("preamble that fits", "A U A U A", events(4), "fits"),
        ("budget met exactly", "S:6 U:2 A:2 U:2 A:2", budget(10), "S1 | U1 A1 | U2 A2"),
        ("budget for all", "S:6 U:2 A:2 U:2 A:2", budget(14), "fits"),
        ("budget for all but one token", "S:6 U:2 A:2 U:2 A:2", budget(13), "S1 | U1 A1 | U2 A2"),
        ("overdrawn", "S:12 M:3 U A U A", budget(10), "S1 u1 a1 | U1 A1 | U2 A2"),
        ("prior summary carried", "M U A U A", turns(1), "u1 a1 | U1 A1 | U2 A2"),
        ("no turn", "A A T", turns(1), "no-turn"),
        ("nothing at all", "", events(1), "no-turn"),
        ("only what a compaction wrote", "S M", budget(1), "no-turn"),
        ("inclusive fit", "U:0 U:1", budget(1), "fits"),
        ("superseded take no slot", "U S S U", events(2), "fits"),
        ("superseded weigh nothing", "U:1 S:9 S:0 U:1", budget(2), "fits"),
        ("consecutive users", "U U", turns(1), " | U1 | U2"),
        ("negative allowance", "S:2 U:0 U:0", budget(1), "S1 | U1 | U2"),
        ("allowance of nothing", "S:1 U:0 U:0", budget(1), "fits"),
        ("superseded before the first turn", "S S U U", turns(1), "S2 | S1 U1 | U2"),
        ("preamble before summary", "A M U U", turns(1), "A1 u1 a1 | U1 | U2"),
        ("preamble behind summary", "M A U U", turns(1), "A1 u1 a1 | U1 | U2"),
        ("single turn over the budget", "S S U:2", budget(1), "single-turn"),
        ("single turn beside a summary", "U:2 M", budget(1), "single-turn"),
        ("newest turn over the window", "U U:9 A:9", budget(1), " | U1 | U2 A1"),
        ("newest turn over the events", "U U A A", events(1), " | U1 | U2 A1 A2"),
        ("first turn over the budget alone", "U:1 A:5 U:1 A:1", budget(7), " | U1 A1 | U2 A2"),
        ("stop at the first that doesn't fit", "U:0 U:9 U:0", budget(1), " | U1 U2 | U3"),
        ("open call", "U A(t) U A", turns(1), " | U1 A1 | U2 A2"),
        ("result without its call", "U A(t) U T A", turns(1), " | U1 A1 | U2 T1 A2"),
        ("synthetic user starts no turn", "U u U", turns(1), "u1 | U1 | U2"),
        ("synthetic system is no system message", "S s U U", turns(1), "S1 s1 | U1 | U2"),
        ("synthetic inside a kept turn", "U U a A", turns(1), "a1 | U1 | U2 A1"),
        ("largest sizes", "U U", events(MAX_SIZE), "fits"),
    ];
    for (name, letters, window, outcome) in logs {
        assert_eq!(told(&pass(&view(letters), *window, false)), *outcome, "{name}: {letters} under {window}");
    }
}

/// The same with a summarizer that answers, and what it was handed: `prior < events`.
#[test]
fn small_logs_with_a_summarizer_end_as_written() {
    let logs: &[(&str, &str, Window, &str, &str)] = &[
        ("first summary", "U A U A", turns(1), " | U1 A1 | U2 A2", "none < U1 A1"),
        ("prior handed", "M U A U A", turns(1), " | u1 a1 U1 A1 | U2 A2", "text of a1 < U1 A1"),
        ("prior not charged", "S:1 M:9 U U", budget(3), "fits", "not asked"),
        ("prior inside the kept turn", "U U M A", turns(1), " | U1 u1 a1 | U2 A1", "text of a1 < U1"),
        ("two priors", "M U M U", turns(1), " | u1 a1 U1 u2 a2 | U2", "text of a1\ntext of a2 < U1"),
        ("prior of a user half alone", "u U U", turns(1), " | u1 U1 | U2", " < U1"),
        (
            "prior of every role",
            "s u a t U U",
            turns(1),
            " | s1 u1 a1 t1 U1 | U2",
            "text of s1\ntext of a1\ntext of t1 < U1",
        ),
        ("superseded not handed", "S S U S U", turns(1), "S3 | S1 S2 U1 | U2", "none < U1"),
        ("preamble not handed", "A M U U", turns(1), "A1 | u1 a1 U1 | U2", "text of a1 < U1"),
        ("whole turns, in order", "U A(t) T U U", turns(1), " | U1 A1 T1 U2 | U3", "none < U1 A1 T1 U2"),
        ("single turn", "U:2 M", budget(1), "single-turn", "not asked"),
        ("no turn", "A M", budget(1), "no-turn", "not asked"),
        ("fits", "M U A U A", turns(2), "fits", "not asked"),
    ];
    for (name, letters, window, outcome, request) in logs {
        let mut handed = "not asked".to_owned();
        let watching = |request: &SummaryRequest<'_, Event>| {
            let prior = request.prior.as_deref().unwrap_or("none");
            handed = format!("{prior} < {}", ids(request.events.iter().copied()));
            Ok::<_, Infallible>(Some(summary("what was", 1)))
        };
        let view = view(letters);
        let done = compact(&view, &mut Compaction::new(*window).summarizing(watching)).unwrap();
        assert_eq!(told(&done), *outcome, "{name}: {letters} under {window}");
        assert_eq!(done.summary.is_some(), done.unchanged.is_none(), "{name}");
        assert_eq!(handed, *request, "{name}: {letters} under {window}");
    }
}

#[test]
fn an_unchanged_view_is_preserved_whole() {
    for (letters, window) in [("S S U A", turns(1)), ("A T", budget(1)), ("S U S U M", turns(2))] {
        let view = view(letters);
        for summarizing in [false, true] {
            let outcome = pass(&view, window, summarizing);
            assert!(outcome.unchanged.is_some());
            assert!(outcome.pinned.is_empty() && outcome.covered.is_empty() && outcome.summary.is_none());
            assert!(outcome.preserved.iter().copied().eq(&view), "{letters}");
            assert_eq!((outcome.saved, outcome.overshoot), (0, 0));
        }
    }
}

#[test]
fn saved_and_overshoot_of_small_logs() {
    let saved = |letters, window, summary_tokens| {
        let view = view(letters);
        let outcome = match summary_tokens {
            Some(tokens) => {
                compact(&view, &mut Compaction::new(window).summarizing(answering(tokens))).unwrap()
            }
            None => compact(&view, &mut Compaction::new(window)).unwrap(),
        };
        (outcome.saved, outcome.overshoot)
    };
    assert_eq!(saved("S:6 U:2 A:2 U:2 A:2", budget(10), None), (4, 0), "nothing left over");
    assert_eq!(saved("S:12 M:3 U A U A", budget(10), None), (2, 7), "pinned over the budget");
    assert_eq!(saved("S:12 M:3 U A U A", budget(10), Some(0)), (5, 4), "the prior leaves too");
    assert_eq!(saved("U:3 U:1", budget(1), Some(5)), (-2, 5), "a summary heavier than what it stands for");
    assert_eq!(saved("U:3 U:9", turns(1), Some(5)), (-2, 0), "no budget, no overshoot");
    assert_eq!(saved("S:7 U:1 S:2 U:1", turns(1), None), (8, 0), "superseded count as covered");
}

#[test]
fn the_heaviest_events_are_summed_exactly() {
    const HEAVY: u64 = u32::MAX as u64;
    let mut view = view("S A");
    view.extend((0..5_000).map(|n| Event::message(format!("e{n}"), Role::User, "")));
    let view: Vec<Event> = view.into_iter().map(|event| event.weighing(u32::MAX)).collect();
    let of = |window, tokens| {
        let outcome = compact(&view, &mut Compaction::new(window).summarizing(answering(tokens))).unwrap();
        (u64::try_from(outcome.saved).unwrap(), outcome.overshoot, outcome.preserved.len())
    };
    assert_eq!(of(turns(1), 0), (4_999 * HEAVY, 0, 1));
    assert_eq!(of(budget(1), u32::MAX), (4_998 * HEAVY, 4 * HEAVY - 1, 1));
    assert_eq!(of(budget(1_002 * HEAVY), u32::MAX), (3_999 * HEAVY, HEAVY, 1_000));
    assert_eq!(of(budget(1_002 * HEAVY - 1), 7), (4_001 * HEAVY - 7, 0, 999));
    assert_eq!(of(budget(5_002 * HEAVY - 1), 1), (HEAVY - 1, 0, 4_999));
    assert_eq!(pass(&view, budget(5_002 * HEAVY), true).unchanged, Some(Unchanged::Fits));
}

#[test]
fn a_blank_summary_is_none() {
    let view = view("S S U U");
    for blank in ["", " ", "\t", "\n", "\r", "\r\n", "\u{a0}", "\u{3000}", " \t\r\n\u{a0}\u{3000}"] {
        let blanks = |_: &SummaryRequest<'_, Event>| Ok::<_, Infallible>(Some(summary(blank, 3)));
        let outcome = compact(&view, &mut Compaction::new(turns(1)).summarizing(blanks)).unwrap();
        assert_eq!(outcome.unchanged, Some(Unchanged::Declined), "{blank:?}");
        assert_eq!(ids(outcome.preserved), "S1 S2 U1 U2", "{blank:?}");
        assert_eq!((outcome.saved, outcome.overshoot, outcome.summary), (0, 0, None), "{blank:?}");
    }
}

#[test]
fn a_text_that_is_not_blank_stays_as_it_is() {
    let view = view("U U");
    for text in ["\n so \t", "\u{3000}so\u{a0}", ".", "\0", "\u{200b}"] {
        let says = |_: &SummaryRequest<'_, Event>| Ok::<_, Infallible>(Some(summary(text, 3)));
        let outcome = compact(&view, &mut Compaction::new(turns(1)).summarizing(says)).unwrap();
        assert_eq!(outcome.summary, Some(summary(text, 3)));
    }
}

#[test]
fn a_summarizer_that_declines_leaves_the_view() {
    let view = view("S S M U U");
    let declines = |_: &SummaryRequest<'_, Event>| Ok::<_, Infallible>(None);
    let outcome = compact(&view, &mut Compaction::new(turns(1)).summarizing(declines)).unwrap();
    assert_eq!(told(&outcome), "declined");
    assert_eq!(ids(outcome.preserved), "S1 S2 u1 a1 U1 U2");
}

#[test]
fn a_failure_reaches_the_caller() {
    let fails = |_: &SummaryRequest<'_, Event>| Err::<Option<Summary>, _>("no model today");
    let failed = compact(&view("U U"), &mut Compaction::new(turns(1)).summarizing(fails)).map(|_| ());
    assert_eq!(failed, Err("no model today"));
    let never_asked = compact(&view("U U"), &mut Compaction::new(turns(2)).summarizing(fails)).map(|_| ());
    assert_eq!(never_asked, Ok(()));
}

#[test]
fn a_reply_nobody_asked_for_changes_nothing() {
    let view = view("M U A U");
    let unasked = Some(summary("unasked", 9));
    for window in [turns(1), turns(2)] {
        let plan = plan(&view, window, false);
        assert_eq!(plan.request(&view), None);
        assert_eq!(plan.conclude(&view, unasked.clone()), plan.conclude(&view, None), "{window}");
    }
    let fits = plan(&view, turns(2), true);
    assert_eq!(fits.request(&view), None);
    assert_eq!(fits.conclude(&view, unasked).unchanged, Some(Unchanged::Fits));
}

/// A message of an application that knows better where a turn starts.
#[derive(Clone)]
struct Branching {
    event: Event,
    starts: bool,
}

impl ViewEvent for Branching {
    fn role(&self) -> Role {
        self.event.role()
    }
    fn is_synthetic(&self) -> bool {
        self.event.is_synthetic()
    }
    fn weight(&self) -> u32 {
        self.event.weight()
    }
    fn text(&self) -> Cow<'_, str> {
        self.event.text()
    }
    fn starts_turn(&self) -> bool {
        self.starts
    }
}

#[test]
fn an_event_type_may_say_where_turns_start() {
    let of = |letters, starts: &[bool]| -> Vec<Branching> {
        view(letters).into_iter().zip(starts).map(|(event, &starts)| Branching { event, starts }).collect()
    };
    let at = |view: &[Branching]| match plan(view, turns(1), false) {
        Plan::Cut(cut) => Ok(cut.at()),
        Plan::Unchanged(reason) => Err(reason),
    };
    let assistant_starts = of("U A U A", &[true, false, false, true]);
    assert_eq!(at(&assistant_starts), Ok(3));
    assert_eq!(cut::by_definition(&assistant_starts, turns(1), false), Some(3));
    assert_eq!(at(&of("U A U A", &[false; 4])), Err(Unchanged::NoTurn));
    assert_eq!(
        at(&of("U s S u", &[true; 4])),
        Err(Unchanged::SingleTurn),
        "synthetic and system are not asked"
    );
}

#[test]
fn a_pass_reads_references_as_it_reads_events() {
    let view = view("S S M U A U A");
    let borrowed: Vec<&Event> = view.iter().collect();
    for summarizing in [false, true] {
        assert_eq!(plan(&borrowed, turns(1), summarizing), plan(&view, turns(1), summarizing));
    }
}

#[test]
fn every_reason_has_its_word() {
    let words = [Unchanged::NoTurn, Unchanged::SingleTurn, Unchanged::Fits, Unchanged::Declined];
    assert_eq!(words.map(Unchanged::as_str), ["no-turn", "single-turn", "fits", "declined"]);
}

/// Up to 60 messages of any role, some synthetic; turns of one event to many, weights of every size.
fn any_view() -> impl Strategy<Value = Vec<Event>> {
    let weight = prop_oneof![4 => 0..=9_u32, 1 => any::<u32>(), 1 => Just(u32::MAX)];
    let text = prop_oneof![Just(""), Just(" "), Just("so"), Just("two\nlines"), Just("…")];
    let event = (0..100_u32, 0..4_usize, weight, text);
    (0..60_u32, proptest::collection::vec(event, 0..60)).prop_map(|(odds, events)| {
        let event = |(n, (dice, role, weight, text)): (usize, (u32, usize, u32, &str))| {
            let (role, synthetic) = match dice {
                _ if dice < odds => (Role::User, false),
                _ if dice < odds + 10 => (Role::System, false),
                _ if dice < odds + 20 => (Role::ALL[role], true),
                _ => ([Role::Assistant, Role::Tool][role % 2], false),
            };
            let event = Event::message(format!("e{n}"), role, text).weighing(weight);
            if synthetic { event.synthetic() } else { event }
        };
        events.into_iter().enumerate().map(event).collect()
    })
}

fn any_window() -> impl Strategy<Value = Window> {
    let size = prop_oneof![6 => 1..20_u64, 3 => 1..100_u64, 1 => 1..=MAX_SIZE];
    (0..3_usize, size).prop_map(|(kind, size)| [events, turns, budget][kind](size))
}

/// Positions in a view by address: what an outcome refers to is the caller's own memory.
fn positions(view: &[Event], events: &[&Event]) -> Vec<usize> {
    let at = |event: &&Event| view.iter().position(|own| ptr::eq(own, *event));
    events.iter().map(|event| at(event).unwrap_or_else(|| panic!("`{}` is a copy", event.id))).collect()
}

fn weigh(events: &[&Event]) -> i128 {
    events.iter().map(|event| i128::from(event.weight())).sum()
}

fn next_view(outcome: &Outcome<'_, Event>) -> Vec<Event> {
    let summary = outcome.summary.iter().flat_map(|summary| summary.turn("window", &Stamped::new("b", 0)));
    let cloned = |events: &[&Event]| events.iter().map(|&event| event.clone()).collect::<Vec<_>>();
    cloned(&outcome.pinned).into_iter().chain(summary).chain(cloned(&outcome.preserved)).collect()
}

fn replies() -> impl Strategy<Value = Result<Option<Summary>, u8>> {
    prop_oneof![
        any::<u32>().prop_map(|tokens| Ok(Some(summary("what was", tokens)))),
        Just(Ok(Some(summary(" \n", 5)))),
        Just(Ok(None)),
        any::<u8>().prop_map(Err),
    ]
}

/// What the properties below are about comes up often.
#[test]
fn random_views_meet_every_answer() {
    let (mut cuts, mut kept, mut carrying) = (0, 0, 0);
    let mut runner = TestRunner::deterministic();
    for _ in 0..1_000 {
        let tree = (any_view(), any_window()).new_tree(&mut runner).unwrap();
        let (view, window) = tree.current();
        if model::places(&view, window, true).is_some() {
            cuts += 1;
            carrying += u32::from(view.iter().any(ViewEvent::is_synthetic));
        } else {
            kept += 1;
        }
    }
    println!("of 1000 views {cuts} are cut, {carrying} of them with a prior summary, {kept} stay");
    assert!(cuts > 300 && kept > 300 && carrying > 100, "{cuts} {kept} {carrying}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// result.partition, result.covered-order, result.verbatim, pin.*, cut.leaves
    #[test]
    fn every_event_has_the_place_the_spec_gives_it(
        view in any_view(), window in any_window(), summarizing: bool
    ) {
        let before = view.clone();
        let outcome = pass(&view, window, summarizing);
        let (pinned, covered, preserved) = (
            positions(&view, &outcome.pinned),
            positions(&view, &outcome.covered),
            positions(&view, &outcome.preserved),
        );
        match model::places(&view, window, summarizing) {
            None => {
                prop_assert!(outcome.unchanged.is_some());
                prop_assert!(pinned.is_empty() && covered.is_empty());
                prop_assert_eq!(&preserved, &(0..view.len()).collect::<Vec<_>>());
            }
            Some(places) => {
                prop_assert_eq!(outcome.unchanged, None);
                prop_assert_eq!((&pinned, &covered, &preserved), (&places.pinned, &places.covered, &places.preserved));
            }
        }
        let mut all = [pinned, covered, preserved].concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..view.len()).collect::<Vec<_>>());
        prop_assert_eq!(before, view);
    }

    /// result.suffix, turn.newest, turn.whole
    #[test]
    fn what_is_preserved_begins_at_a_turn_start_and_ends_with_the_newest(
        view in any_view(), window in any_window(), summarizing: bool
    ) {
        let outcome = pass(&view, window, summarizing);
        if outcome.unchanged.is_none() {
            let first = outcome.preserved[0];
            prop_assert!(first.role() == Role::User && !first.is_synthetic());
            let body = view.iter().filter(|event| event.role() != Role::System && !event.is_synthetic());
            let suffix: Vec<&Event> = body.skip_while(|event| !ptr::eq(*event, first)).collect();
            prop_assert!(outcome.preserved.iter().zip(&suffix).all(|(a, b)| ptr::eq(*a, *b)));
            prop_assert_eq!(outcome.preserved.len(), suffix.len());
        }
    }

    /// summary.once, summary.input, summary.prior-text, summary.failure, result.saved, result.overshoot
    #[test]
    fn the_summarizer_is_asked_once_for_what_is_covered(
        view in any_view(), window in any_window(), reply in replies()
    ) {
        let places = model::places(&view, window, true);
        let calls = Cell::new(0);
        let watching = |request: &SummaryRequest<'_, Event>| {
            calls.set(calls.get() + 1);
            let body = |at: &usize| view[*at].role() != Role::System && !view[*at].is_synthetic();
            let covered = &places.as_ref().unwrap().covered;
            assert_eq!(positions(&view, &request.events), covered.iter().copied().filter(body).collect::<Vec<_>>());
            let prior: Vec<&Event> = view.iter().filter(ViewEvent::is_synthetic).collect();
            let spoken = prior.iter().filter(|event| event.role() != Role::User);
            let spoken: Vec<_> = spoken.map(|event| event.text().into_owned()).collect();
            assert_eq!(request.prior, (!prior.is_empty()).then(|| spoken.join("\n")));
            reply.clone()
        };
        let done = compact(&view, &mut Compaction::new(window).summarizing(watching));
        prop_assert_eq!(calls.get(), i32::from(places.is_some()));
        match (&places, &reply, done) {
            (None, _, Ok(outcome)) => prop_assert!(outcome.unchanged.is_some_and(|why| why != Unchanged::Declined)),
            (Some(_), Err(code), Err(error)) => prop_assert_eq!(error, *code),
            (Some(_), Ok(Some(said)), Ok(outcome)) if said.text != " \n" => {
                prop_assert_eq!(outcome.summary.as_ref(), Some(said));
                let (covered, kept) = (weigh(&outcome.covered), weigh(&outcome.pinned) + weigh(&outcome.preserved));
                prop_assert_eq!(i128::from(outcome.saved), covered - i128::from(said.tokens));
                let over = match window {
                    Window::Tokens(size) => (kept + i128::from(said.tokens) - i128::from(size.get())).max(0),
                    Window::Events(_) | Window::Turns(_) => 0,
                };
                prop_assert_eq!(i128::from(outcome.overshoot), over);
            }
            (Some(_), Ok(_), Ok(outcome)) => {
                prop_assert_eq!(outcome.unchanged, Some(Unchanged::Declined));
                prop_assert_eq!(positions(&view, &outcome.preserved), (0..view.len()).collect::<Vec<_>>());
            }
            (_, _, done) => prop_assert!(false, "{done:?} after {reply:?}"),
        }
    }

    /// pass.idempotent
    #[test]
    fn a_second_pass_changes_nothing(view in any_view(), window in any_window(), summarizing: bool) {
        let outcome = pass(&view, window, summarizing);
        if outcome.unchanged.is_none() {
            let next = next_view(&outcome);
            let again = pass(&next, window, summarizing);
            prop_assert!(again.unchanged.is_some(), "{} then {}", told(&outcome), told(&again));
        }
    }

    /// pass.monotone
    #[test]
    fn a_larger_window_preserves_no_less(
        view in any_view(), kind in 0..3_usize, small in 1..40_u64, more in 0..40_u64, summarizing: bool
    ) {
        let of = |size| positions(&view, &pass(&view, [events, turns, budget][kind](size), summarizing).preserved);
        let (less, more) = (of(small), of(small + more));
        prop_assert!(less.iter().all(|at| more.contains(at)), "{less:?} {more:?}");
    }

    /// pass.blind
    #[test]
    fn names_and_times_are_not_read(view in any_view(), window in any_window(), summarizing: bool) {
        let renamed: Vec<Event> = view.iter().enumerate().map(|(at, event)| Event {
            id: format!("other {}", view.len() - at).into(),
            time_ms: Some(-7 * i64::try_from(at).unwrap()),
            ..event.clone()
        }).collect();
        prop_assert_eq!(plan(&view, window, summarizing), plan(&renamed, window, summarizing));
    }

    /// pass.blind
    #[test]
    fn event_and_turn_windows_read_no_text_and_no_weight(
        view in any_view(), turn in any::<bool>(), size in 1..40_u64, weight: u32, summarizing: bool
    ) {
        let window = if turn { turns(size) } else { events(size) };
        let mut other = view.clone();
        for event in &mut other {
            if let Content::Message(message) = &mut event.content {
                (message.text, message.tokens) = ("other".into(), Some(weight));
            }
        }
        prop_assert_eq!(plan(&view, window, summarizing), plan(&other, window, summarizing));
    }

    /// pass.suffix-only
    #[test]
    fn turns_older_than_the_newest_covered_one_do_not_matter(
        view in any_view(), window in any_window(), gone: u64, weight: u32, summarizing: bool
    ) {
        let outcome = pass(&view, window, summarizing);
        if outcome.unchanged.is_none() {
            let cut = positions(&view, &outcome.preserved)[0];
            let starts = |at: usize| view[at].role() == Role::User && !view[at].is_synthetic();
            let newest_covered = (0..cut).rfind(|&at| starts(at)).unwrap();
            let mut other = Vec::new();
            let mut turn = 0_u64;
            for (at, event) in view.iter().enumerate() {
                turn += u64::from(starts(at));
                let older = turn > 0 && at < newest_covered;
                let body = event.role() != Role::System && !event.is_synthetic();
                match older && body {
                    true if gone >> (turn % 64) & 1 == 1 => {}
                    true => other.push(event.clone().weighing(weight)),
                    false => other.push(event.clone()),
                }
            }
            let again = pass(&other, window, summarizing);
            prop_assert_eq!(again.preserved, outcome.preserved);
        }
    }

    /// The index of a view and the slice give one plan, with real events.
    #[test]
    fn a_view_plans_as_its_slice_does(view in any_view(), window in any_window(), summarizing: bool) {
        let indexed = View::from_events(view.clone()).unwrap();
        prop_assert_eq!(indexed.plan(window, summarizing), plan(&view, window, summarizing));
    }
}
