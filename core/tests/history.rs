//! Random histories of a session against a model that keeps the view itself, event by event, and never reads a boundary.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise"
)]

use std::{cell::RefCell, collections::BTreeMap, convert::Infallible, fmt::Debug};

use proptest::{collection::vec, option, prelude::*, test_runner::TestRunner};
use turnfold_core::{
    Content, Event, EventId, EventType, Role, Strategy as Compaction, Summary, SummaryRequest, Unchanged,
    Value, ViewEvent, Window,
    session::{
        Added, CompactError, Compacted, MemoryLog, Refused, SessionLog, Stamped, Trigger, Version, check_log,
        compact,
    },
};

mod model;

/// What a session is asked to do.
#[derive(Clone, Debug)]
enum Operation {
    Append(Event),
    Batch { events: Vec<Event>, behind: u64 },
    Compact { trigger: Trigger, window: Window, summarizer: Option<Reply>, stamp: Stamped },
}

/// What a summarizer does.
#[derive(Clone, Debug)]
enum Reply {
    Says(Summary),
    Declines,
    Fails,
    /// Somebody appends while it runs
    Interrupted(Event, Summary),
}

/// What the model expects of an operation, and what the session did.
#[derive(Clone, Debug, PartialEq)]
enum Ended {
    Added,
    Repeated,
    Stale,
    Duplicate(EventId),
    Written(Vec<EventId>),
    Unchanged(Unchanged),
    NotTriggered,
    Raced,
    Failed,
    StampUsed(EventId),
}

/// The log and, beside it, the view.
#[derive(Debug, Default)]
struct Model {
    log: Vec<Event>,
    view: Vec<Event>,
}

impl Model {
    fn knows(&self, id: &EventId) -> bool {
        self.log.iter().any(|event| event.id == *id)
    }

    fn append(&mut self, event: &Event) -> bool {
        if self.knows(&event.id) {
            return false;
        }
        self.log.push(event.clone());
        if event.as_message().is_some() {
            self.view.push(event.clone());
        }
        true
    }

    fn batch(&mut self, events: &[Event], behind: u64) -> Ended {
        if behind > 0 {
            return Ended::Stale;
        }
        for (at, event) in events.iter().enumerate() {
            if self.knows(&event.id) || events[..at].iter().any(|earlier| earlier.id == event.id) {
                return Ended::Duplicate(event.id.clone());
            }
        }
        for event in events {
            assert!(self.append(event));
        }
        Ended::Added
    }

    fn fires(&self, trigger: &Trigger) -> bool {
        let users = self.view.iter().filter(|event| event.role() == Role::User && !event.is_synthetic());
        match trigger {
            Trigger::Always => true,
            Trigger::Turns(size) => users.count() as u64 > size.get(),
            Trigger::Tokens(size) => {
                self.view.iter().map(|event| u64::from(event.weight())).sum::<u64>() >= size.get()
            }
            Trigger::Any(any) => any.triggers().iter().any(|trigger| self.fires(trigger)),
        }
    }

    fn compact(
        &mut self,
        trigger: &Trigger,
        window: Window,
        summarizer: Option<&Reply>,
        stamp: &Stamped,
    ) -> Ended {
        if !self.fires(trigger) {
            return Ended::NotTriggered;
        }
        let view = self.view.clone();
        let Some(places) = model::places(&view, window, summarizer.is_some()) else {
            let turns =
                view.iter().filter(|event| event.role() == Role::User && !event.is_synthetic()).count();
            let reasons = [Unchanged::NoTurn, Unchanged::SingleTurn, Unchanged::Fits];
            return Ended::Unchanged(reasons[turns.min(2)]);
        };
        let (summary, raced) = match summarizer {
            None => (None, false),
            Some(Reply::Fails) => return Ended::Failed,
            Some(Reply::Declines) => return Ended::Unchanged(Unchanged::Declined),
            Some(Reply::Says(summary)) => (Some(summary), false),
            Some(Reply::Interrupted(event, summary)) => (Some(summary), self.append(event)),
        };
        if summary.is_some_and(|summary| summary.text.trim().is_empty()) {
            return Ended::Unchanged(Unchanged::Declined);
        }
        if raced {
            return Ended::Raced;
        }
        let halves = summary.iter().flat_map(|summary| {
            let half = |role, text: &str, tokens| {
                let mut half =
                    Event::message(format!("{}.{role}", stamp.boundary), role, text).weighing(tokens);
                half.time_ms = Some(stamp.time_ms);
                half.metadata.set("synthetic", true);
                half.metadata.set("strategy", "window");
                half.metadata.set("boundary", stamp.boundary.as_str());
                half
            };
            [half(Role::User, Summary::OPENING, 0), half(Role::Assistant, &summary.text, summary.tokens)]
        });
        let halves: Vec<Event> = halves.collect();
        let new = [vec![stamp.boundary.clone()], ids(&halves)].concat();
        if let Some(used) = new.into_iter().find(|id| self.knows(id)) {
            return Ended::StampUsed(used);
        }
        let of = |places: &[usize]| places.iter().map(|&at| view[at].clone()).collect::<Vec<_>>();
        let marker = Content::Other(EventType::new("BOUNDARY").unwrap(), Value::Null);
        self.log.push(Event::new(stamp.boundary.clone(), marker));
        self.log.extend(halves.clone());
        self.view = of(&places.pinned).into_iter().chain(halves).chain(of(&places.preserved)).collect();
        Ended::Written(ids(&of(&places.covered)))
    }

    fn apply(&mut self, operation: &Operation) -> Ended {
        match operation {
            Operation::Append(event) if self.append(event) => Ended::Added,
            Operation::Append(_) => Ended::Repeated,
            Operation::Batch { events, behind } => self.batch(events, *behind),
            Operation::Compact { trigger, window, summarizer, stamp } => {
                self.compact(trigger, *window, summarizer.as_ref(), stamp)
            }
        }
    }
}

fn ids(events: &[Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id.clone()).collect()
}

fn ended<S: Debug>(done: Result<Compacted, CompactError<Infallible, S>>) -> Ended {
    match done {
        Ok(Compacted::Written(written)) => Ended::Written(written.covered),
        Ok(Compacted::Unchanged(reason)) => Ended::Unchanged(reason),
        Ok(Compacted::NotTriggered) => Ended::NotTriggered,
        Ok(Compacted::Raced) => Ended::Raced,
        Err(CompactError::Summarizer(_)) => Ended::Failed,
        Err(CompactError::StampUsed(id)) => Ended::StampUsed(id),
        Err(error) => panic!("nothing here can end so: {error:?}"),
    }
}

/// What performs an operation.
type Session = fn(&RefCell<MemoryLog>, &Operation) -> Ended;

/// The operation on a shared log.
fn perform(log: &RefCell<MemoryLog>, operation: &Operation) -> Ended {
    let mut own = log;
    let Ok(version) = own.version();
    match operation.clone() {
        Operation::Append(event) => match own.append(event) {
            Ok(Added::Added(_)) => Ended::Added,
            Ok(Added::Repeated(_)) => Ended::Repeated,
        },
        Operation::Batch { events, behind } => {
            let Ok(done) = own.append_batch(events, Version(version.0.wrapping_sub(behind)));
            match done {
                Ok(_) => Ended::Added,
                Err(Refused::Stale { .. }) => Ended::Stale,
                Err(Refused::Duplicate(id)) => Ended::Duplicate(id),
            }
        }
        Operation::Compact { trigger, window, summarizer: None, stamp } => {
            ended(compact(&mut own, &trigger, &mut Compaction::new(window), &stamp))
        }
        Operation::Compact { trigger, window, summarizer: Some(reply), stamp } => {
            let answer = |_: &SummaryRequest<'_, Event>| match reply.clone() {
                Reply::Says(summary) => Ok(Some(summary)),
                Reply::Declines => Ok(None),
                Reply::Fails => Err("no model"),
                Reply::Interrupted(event, summary) => {
                    let mut theirs = log;
                    let Ok(_) = theirs.append(event);
                    Ok(Some(summary))
                }
            };
            ended(compact(&mut own, &trigger, &mut Compaction::new(window).summarizing(answer), &stamp))
        }
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let id = prop_oneof![
        12 => (0..60_u32).prop_map(|n| format!("e{n}")),
        1 => (0..6_u32).prop_map(|n| format!("b{n}")),
        1 => (0..6_u32).prop_map(|n| format!("b{n}.user")),
    ];
    (id, 0..20_u32, 0..4_usize, 0..9_u32).prop_map(|(id, dice, role, weight)| match dice {
        0..=7 => Event::message(id, Role::User, "asks").weighing(weight),
        8..=14 => Event::message(id, [Role::Assistant, Role::Tool][role % 2], "says").weighing(weight),
        15..=16 => Event::message(id, Role::System, "rules").weighing(weight),
        17 => Event::message(id, Role::ALL[role], "was").weighing(weight).synthetic(),
        _ => Event::new(id, Content::Other(EventType::new("UI.CLICK").unwrap(), Value::Null)),
    })
}

fn any_trigger() -> impl Strategy<Value = Trigger> {
    let turns = || (1..5_u64).prop_map(|size| Trigger::turns(size).unwrap());
    let tokens = || (1..40_u64).prop_map(|size| Trigger::tokens(size).unwrap());
    prop_oneof![
        4 => Just(Trigger::Always),
        1 => turns(),
        1 => tokens(),
        1 => (turns(), tokens()).prop_map(|(turns, tokens)| Trigger::any(vec![turns, tokens]).unwrap()),
    ]
}

fn any_operation() -> impl Strategy<Value = Operation> {
    let summary = || {
        let text = prop_oneof![8 => Just("what was"), 1 => Just(" \u{3000}")];
        (text, 0..20_u32).prop_map(|(text, tokens)| Summary { text: text.into(), tokens })
    };
    let reply = prop_oneof![
        4 => summary().prop_map(Reply::Says),
        1 => Just(Reply::Declines),
        1 => Just(Reply::Fails),
        2 => (any_event(), summary()).prop_map(|(event, summary)| Reply::Interrupted(event, summary)),
    ];
    let window = (0..3_usize, 1..12_u64).prop_map(|(kind, size)| {
        [Window::last_events, Window::last_turns, Window::token_budget][kind](size).unwrap()
    });
    let stamp = (0..20_u32, -5..5_i64).prop_map(|(n, time)| Stamped::new(format!("b{n}"), time));
    prop_oneof![
        6 => any_event().prop_map(Operation::Append),
        3 => (vec(any_event(), 0..5), prop_oneof![4 => Just(0), 1 => 1..3_u64])
            .prop_map(|(events, behind)| Operation::Batch { events, behind }),
        4 => (any_trigger(), window, option::of(reply), stamp).prop_map(
            |(trigger, window, summarizer, stamp)| Operation::Compact { trigger, window, summarizer, stamp }
        ),
    ]
}

/// Performs a history on a log and on the model and compares them after each operation.
fn follow(
    history: &[Operation],
    perform: Session,
    mut count: impl FnMut(&Ended),
) -> Result<(), TestCaseError> {
    let log = RefCell::new(MemoryLog::new());
    let mut model = Model::default();
    let (mut version, mut events) = (Version(0), Vec::<Event>::new());
    for operation in history {
        let expected = model.apply(operation);
        let done = perform(&log, operation);
        prop_assert_eq!(&done, &expected, "{:?}", operation);
        count(&done);

        let Ok(now) = (&log).events();
        let Ok(version_now) = (&log).version();
        prop_assert_eq!(&now[..events.len()], &events[..], "what was logged stays: {:?}", operation);
        prop_assert_eq!(now.len() > events.len(), version_now > version, "{:?}", operation);
        prop_assert!(version_now >= version);
        prop_assert_eq!(ids(&now), ids(&model.log), "{:?}", operation);
        let shown = (&log).view().unwrap();
        prop_assert_eq!(shown.events(), &model.view[..], "{:?}", operation);

        prop_assert_eq!(check_log(&now), Ok(()));
        let mut opened = MemoryLog::open(now.clone()).unwrap();
        let shown = opened.view().unwrap();
        prop_assert_eq!(shown.events(), &model.view[..]);
        prop_assert_eq!(opened.version(), Ok(version_now));
        (version, events) = (version_now, now);
    }
    Ok(())
}

#[test]
fn a_session_is_what_its_history_made_it() {
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    let census = RefCell::new(BTreeMap::<&str, u32>::new());
    let followed = TestRunner::new(config).run(&vec(any_operation(), 0..60), |history| {
        follow(&history, perform, |ended| {
            let word = match ended {
                Ended::Added => "added",
                Ended::Repeated => "repeated",
                Ended::Stale => "stale",
                Ended::Duplicate(_) => "duplicate",
                Ended::Written(_) => "written",
                Ended::Unchanged(reason) => reason.as_str(),
                Ended::NotTriggered => "not triggered",
                Ended::Raced => "raced",
                Ended::Failed => "failed",
                Ended::StampUsed(_) => "stamp used",
            };
            *census.borrow_mut().entry(word).or_default() += 1;
        })
    });
    followed.unwrap_or_else(|failure| panic!("{failure}"));
    let census = census.into_inner();
    println!("{census:?}");
    assert_eq!(census.len(), 13, "an end that never came: {census:?}");
    assert!(census.values().all(|count| *count >= 20), "an end too rare to prove anything: {census:?}");
}

/// The comparison can fail: sessions that do something else are told.
#[test]
fn a_wrong_session_is_told() {
    let appended = |id: &str, role| Operation::Append(Event::message(id, role, "").weighing(1));
    let compacted = |trigger, reply: Option<&str>| Operation::Compact {
        trigger,
        window: Window::last_turns(1).unwrap(),
        summarizer: reply.map(|text| Reply::Says(Summary { text: text.into(), tokens: 1 })),
        stamp: Stamped::new("b1", 0),
    };
    let batch = Operation::Batch { events: vec![Event::message("late", Role::Tool, "")], behind: 1 };
    let history = [
        appended("s", Role::System),
        appended("a", Role::User),
        appended("a", Role::User),
        appended("b", Role::User),
        batch,
        compacted(Trigger::turns(2).unwrap(), None),
        compacted(Trigger::Always, Some(" ")),
        compacted(Trigger::Always, Some("what was")),
    ];
    follow(&history, perform, |_| {}).unwrap();
    let wrong: [(&str, Session); 5] = [
        ("a repeated event lands again", |log, operation| match operation {
            Operation::Append(event) => {
                let again = Event { id: format!("{} again", event.id).into(), ..event.clone() };
                match perform(log, operation) {
                    Ended::Repeated => perform(log, &Operation::Append(again)),
                    other => other,
                }
            }
            _ => perform(log, operation),
        }),
        ("a stale batch lands", |log, operation| match operation {
            Operation::Batch { events, .. } => {
                perform(log, &Operation::Batch { events: events.clone(), behind: 0 })
            }
            _ => perform(log, operation),
        }),
        ("the trigger isn't asked", |log, operation| match operation.clone() {
            Operation::Compact { window, summarizer, stamp, .. } => {
                perform(log, &Operation::Compact { trigger: Trigger::Always, window, summarizer, stamp })
            }
            _ => perform(log, operation),
        }),
        ("the summary is left out", |log, operation| match operation.clone() {
            Operation::Compact { trigger, window, stamp, .. } => {
                perform(log, &Operation::Compact { trigger, window, summarizer: None, stamp })
            }
            _ => perform(log, operation),
        }),
        ("something is appended behind a pass", |log, operation| {
            let done = perform(log, operation);
            if matches!(done, Ended::Written(_)) {
                perform(log, &Operation::Append(Event::message("behind", Role::Tool, "")));
            }
            done
        }),
    ];
    for (name, perform) in wrong {
        assert!(follow(&history, perform, |_| {}).is_err(), "{name}");
    }
}
