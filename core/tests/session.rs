//! The session, rule by rule: what a pass writes, what it leaves alone, and the view that a log defines.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::{cell::RefCell, convert::Infallible};

use turnfold_core::{
    Boundary, Content, Event, EventType, InvalidView, MAX_SIZE, Role, Strategy, Summary, SummaryRequest,
    Unchanged, Value, View, ViewEvent, Window,
    session::{
        Added, Attempt, CompactError, Compacted, CorruptLog, Corruption, MemoryLog, Refused, SessionLog,
        Stamped, Trigger, Version, Written, active_view, check_log, compact,
    },
};

use letters::{ids, view};

mod letters;

fn turns(size: u64) -> Window {
    Window::last_turns(size).unwrap()
}

fn log_of(events: Vec<Event>) -> MemoryLog {
    MemoryLog::open(events).unwrap()
}

fn stamp() -> Stamped {
    Stamped::new("b1", 1_000)
}

fn message(id: &str) -> Event {
    Event::message(id, Role::User, "another").weighing(1)
}

fn other(id: &str) -> Event {
    Event::new(id, Content::Other(EventType::new("UI.CLICK").unwrap(), Value::Null))
}

fn boundary(id: &str, pinned: &[&str], preserved: &[&str]) -> Event {
    let ids = |ids: &[&str]| ids.iter().map(|&id| id.into()).collect();
    let boundary = Boundary {
        strategy: "window".into(),
        pinned: ids(pinned),
        preserved: ids(preserved),
        ..Boundary::default()
    };
    Event::new(id, Content::Boundary(boundary))
}

/// A half of a summary turn, as a pass writes it.
fn half(boundary: &str, role: Role, text: &str) -> Event {
    let mut half = Event::message(format!("{boundary}.{role}"), role, text).weighing(1).synthetic();
    half.metadata.set(Event::BOUNDARY, boundary);
    half
}

fn shown(log: &mut impl SessionLog<Error = Infallible>) -> String {
    ids(log.view().unwrap().events())
}

fn stored<L: SessionLog<Error = Infallible>>(log: &mut L) -> (Version, Vec<Event>) {
    let Ok(version) = log.version();
    let Ok(events) = log.events();
    (version, events)
}

fn says(text: &str) -> impl FnMut(&SummaryRequest<'_, Event>) -> Result<Option<Summary>, Infallible> {
    move |_| Ok(Some(Summary { text: text.into(), tokens: 7 }))
}

fn written(done: Compacted) -> Written {
    match done {
        Compacted::Written(written) => written,
        other => panic!("found {other:?}, expected a boundary"),
    }
}

/// log.boundary, log.boundary-ids, summary.shape, summary.same-time, log.append-only
#[test]
fn a_cutting_pass_writes_a_boundary_and_the_summary_turn() {
    let before = view("S:5 S:6 A:1 M:4 U:2 A:2 U:3");
    let mut log = log_of(before.clone());
    let mut strategy = Strategy::new(Window::token_budget(10).unwrap()).summarizing(says("what was"));
    strategy.name = "nightly".into();
    let done = written(compact(&mut log, &Trigger::Always, &mut strategy, &stamp()).unwrap());

    let (version, events) = stored(&mut log);
    assert_eq!(events[..8], before, "what was logged stays");
    let mut expected = boundary("b1", &["S2", "A1"], &["U2"]);
    expected.time_ms = Some(1_000);
    if let Content::Boundary(boundary) = &mut expected.content {
        boundary.strategy = "nightly".into();
    }
    assert_eq!(events[8], expected);
    for (event, role, text, tokens) in
        [(&events[9], Role::User, Summary::OPENING, 0), (&events[10], Role::Assistant, "what was", 7)]
    {
        assert_eq!(event.id.to_string(), format!("b1.{role}"));
        let spoken = event.as_message().unwrap();
        assert_eq!((spoken.role, spoken.text.as_str(), spoken.tokens), (role, text, Some(tokens)));
        assert_eq!(event.time_ms, Some(1_000), "both halves at one time");
        assert!(event.is_synthetic());
        assert_eq!(event.metadata.get(Event::STRATEGY), Some(&"nightly".into()));
        assert_eq!(event.metadata.get(Event::BOUNDARY), Some(&"b1".into()));
    }
    assert_eq!(events.len(), 11);

    assert_eq!((done.version, done.boundary), (version, "b1".into()));
    assert_eq!(done.covered, ["S1", "u1", "a1", "U1", "A2"].map(Into::into));
    assert_eq!((done.saved, done.overshoot), (13 - 7, 17 - 10));
    assert_eq!(shown(&mut log), "S2 A1 b1.user b1.assistant U2");
}

/// log.boundary, pin.summary-carried
#[test]
fn without_a_summarizer_the_boundary_stands_alone() {
    let mut log = log_of(view("M U A U"));
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp()).unwrap();
    assert_eq!(written(done).covered, ["U1", "A1"].map(Into::into));
    let (_, events) = stored(&mut log);
    let mut expected = boundary("b1", &["u1", "a1"], &["U2"]);
    expected.time_ms = Some(1_000);
    assert_eq!(events[5..], [expected]);
    assert_eq!(shown(&mut log), "u1 a1 U2");
}

/// summary.prior-handed, log.newest-boundary
#[test]
fn a_second_pass_covers_the_first_summary_or_carries_it() {
    let begun = || {
        let mut log = log_of(view("S U U"));
        let done = compact(
            &mut log,
            &Trigger::Always,
            &mut Strategy::new(turns(1)).summarizing(says("one")),
            &stamp(),
        );
        assert_eq!(written(done.unwrap()).covered, ["U1".into()]);
        let Ok(_) = log.append(message("U3"));
        log
    };
    let second = Stamped::new("b2", 2_000);

    let mut log = begun();
    let mut priors = Vec::new();
    let watching = |request: &SummaryRequest<'_, Event>| {
        priors.push(request.prior.clone());
        Ok::<_, Infallible>(Some(Summary { text: "two".into(), tokens: 1 }))
    };
    let done =
        compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(watching), &second);
    assert_eq!(written(done.unwrap()).covered, ["b1.user", "b1.assistant", "U2"].map(Into::into));
    assert_eq!(priors, [Some("one".to_owned())]);
    assert_eq!(shown(&mut log), "S1 b2.user b2.assistant U3");

    let mut log = begun();
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &second);
    assert_eq!(written(done.unwrap()).covered, ["U2".into()]);
    assert_eq!(shown(&mut log), "S1 b1.user b1.assistant U3");
}

/// summary.decline, summary.blank, summary.failure, write.*, trigger.gate, log.append-only
#[test]
fn a_pass_that_does_not_cut_writes_nothing() {
    type Said = Result<Option<&'static str>, &'static str>;
    type Ended = Result<Compacted, CompactError<Infallible, &'static str>>;
    let never = Trigger::turns(9).unwrap();
    let unchanged = |reason| Ok(Compacted::Unchanged(reason));
    let cases: [(&str, &Trigger, Said, Ended); 8] = [
        ("S S U U", &Trigger::Always, Ok(None), unchanged(Unchanged::Declined)),
        ("S S U U", &Trigger::Always, Ok(Some("")), unchanged(Unchanged::Declined)),
        ("S S U U", &Trigger::Always, Ok(Some("\t\u{3000}\r\n")), unchanged(Unchanged::Declined)),
        ("S S U U", &Trigger::Always, Err("no model"), Err(CompactError::Summarizer("no model"))),
        ("S S U M", &Trigger::Always, Ok(Some("so")), unchanged(Unchanged::SingleTurn)),
        ("S S A M", &Trigger::Always, Ok(Some("so")), unchanged(Unchanged::NoTurn)),
        ("", &Trigger::Always, Ok(Some("so")), unchanged(Unchanged::NoTurn)),
        ("S S U U", &never, Ok(Some("so")), Ok(Compacted::NotTriggered)),
    ];
    for (letters, trigger, said, ended) in cases {
        let mut log = log_of(view(letters));
        let before = stored(&mut log);
        let says = |_: &SummaryRequest<'_, Event>| {
            said.map(|said| said.map(|text| Summary { text: text.into(), tokens: 1 }))
        };
        let done = compact(&mut log, trigger, &mut Strategy::new(turns(1)).summarizing(says), &stamp());
        assert_eq!(done, ended, "{letters} with {said:?}");
        assert_eq!(stored(&mut log), before, "{letters} with {said:?}");
    }
    let mut log = log_of(view("S S U U"));
    let before = stored(&mut log);
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(2)), &stamp());
    assert_eq!(done, Ok(Compacted::Unchanged(Unchanged::Fits)));
    assert_eq!(stored(&mut log), before);
}

/// log.atomic
#[test]
fn a_stamp_that_was_used_is_an_error_and_nothing_is_written() {
    for used in ["b1", "b1.user", "b1.assistant"] {
        let mut log = log_of([view("U U"), vec![message(used)]].concat());
        let before = stored(&mut log);
        let done = compact(
            &mut log,
            &Trigger::Always,
            &mut Strategy::new(turns(1)).summarizing(says("so")),
            &stamp(),
        );
        assert_eq!(done, Err(CompactError::StampUsed(used.into())));
        assert_eq!(
            done.unwrap_err().to_string(),
            format!("id `{used}` of the stamp is in the log already, expected a new one")
        );
        assert_eq!(stored(&mut log), before);
    }
}

/// A boundary without a summary needs no ids for one.
#[test]
fn only_the_ids_that_are_written_must_be_new() {
    let mut log = log_of([view("U U"), vec![message("b1.user")]].concat());
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp()).unwrap();
    assert_eq!(written(done).boundary, "b1".into());
}

/// log.race, log.race-told
fn is_raced<L: SessionLog<Error = Infallible> + Copy>(log: L) {
    let mut own = log;
    let mut calls = 0;
    let interrupted = |_: &SummaryRequest<'_, Event>| {
        calls += 1;
        let mut theirs = log;
        let Ok(added) = theirs.append(message("late"));
        assert!(matches!(added, Added::Added(_)));
        Ok::<_, Infallible>(Some(Summary { text: "so".into(), tokens: 1 }))
    };
    let (_, before) = stored(&mut own);
    let done =
        compact(&mut own, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(interrupted), &stamp());
    assert_eq!(done, Ok(Compacted::Raced));
    assert_eq!(calls, 1, "no silent retry");
    assert_eq!(
        stored(&mut own).1,
        [before, vec![message("late")]].concat(),
        "the winner's event and no other"
    );

    let done =
        compact(&mut own, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(says("so")), &stamp());
    assert_eq!(
        written(done.unwrap()).covered,
        ["U1", "A1", "U2"].map(Into::into),
        "the lost stamp is unused"
    );
    assert_eq!(shown(&mut own), "b1.user b1.assistant late");
}

#[test]
fn an_append_while_the_summarizer_runs_is_a_lost_race() {
    is_raced(&RefCell::new(log_of(view("U A U"))));
}

/// log.repeat
#[test]
fn a_repeated_append_while_the_summarizer_runs_is_none() {
    let log = RefCell::new(log_of(view("U A U")));
    let repeating = |_: &SummaryRequest<'_, Event>| {
        let Ok(added) = (&log).append(message("U2"));
        assert_eq!(added, Added::Repeated(Version(3)));
        Ok::<_, Infallible>(Some(Summary { text: "so".into(), tokens: 1 }))
    };
    let done =
        compact(&mut &log, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(repeating), &stamp());
    assert_eq!(written(done.unwrap()).version, Version(6));
}

#[test]
fn of_two_attempts_the_first_to_commit_wins() {
    let mut log = log_of(view("U A U A U"));
    let one = Attempt::begin(&mut log, &Trigger::Always, turns(1), false).unwrap();
    let two = Attempt::begin(&mut log, &Trigger::Always, turns(2), false).unwrap();
    let (first, second) = (Stamped::new("first", 0), Stamped::new("second", 0));
    assert_eq!(
        written(two.commit(&mut log, None, "window", &second).unwrap()).covered,
        ["U1", "A1"].map(Into::into)
    );
    let after = stored(&mut log);
    assert_eq!(one.commit(&mut log, None, "window", &first), Ok(Compacted::Raced));
    assert_eq!(
        two.commit(&mut log, None, "window", &second),
        Ok(Compacted::Raced),
        "nor does it write twice"
    );
    assert_eq!(stored(&mut log), after);
}

/// An attempt in steps, for a caller that awaits its model between them.
#[test]
fn an_attempt_in_steps_is_the_blocking_one() {
    let mut log = log_of(view("S M U A U"));
    let attempt = Attempt::begin(&mut log, &Trigger::Always, turns(1), true).unwrap();
    assert!(attempt.fired());
    assert_eq!(ids(attempt.view().events()), "S1 u1 a1 U1 A1 U2");
    let request = attempt.request().unwrap();
    assert_eq!((request.prior.as_deref(), ids(request.events)), (Some("text of a1"), "U1 A1".to_owned()));
    let reply = Some(Summary { text: "so".into(), tokens: 7 });
    assert_eq!(ids(attempt.outcome(reply.clone()).unwrap().covered), "u1 a1 U1 A1");
    assert_eq!(
        attempt.commit(&mut log, None, "window", &stamp()),
        Ok(Compacted::Unchanged(Unchanged::Declined))
    );
    let done = written(attempt.commit(&mut log, reply, "window", &stamp()).unwrap());

    let mut blocking = log_of(view("S M U A U"));
    let mut strategy = Strategy::new(turns(1)).summarizing(says("so"));
    assert_eq!(written(compact(&mut blocking, &Trigger::Always, &mut strategy, &stamp()).unwrap()), done);
    assert_eq!(stored(&mut log), stored(&mut blocking));
}

/// trigger.gate
#[test]
fn an_attempt_that_is_not_triggered_has_no_plan() {
    let mut log = log_of(view("U U"));
    let attempt = Attempt::begin(&mut log, &Trigger::turns(2).unwrap(), turns(1), true).unwrap();
    assert!(!attempt.fired());
    assert_eq!((attempt.request(), attempt.outcome(None)), (None, None));
    let reply = Some(Summary { text: "so".into(), tokens: 1 });
    assert_eq!(attempt.commit(&mut log, reply, "window", &stamp()), Ok(Compacted::NotTriggered));
    assert_eq!(stored(&mut log).0, Version(2));
}

/// A log that notes what it is asked for, lets somebody else append right after its version was read, and may fail.
#[derive(Debug, Default)]
struct Watched {
    log: MemoryLog,
    asked: Vec<&'static str>,
    appended_after_version: Option<Event>,
    broken: &'static str,
}

impl Watched {
    fn over(letters: &str) -> Self {
        Self { log: log_of(view(letters)), ..Self::default() }
    }

    fn ask(&mut self, what: &'static str) -> Result<(), &'static str> {
        self.asked.push(what);
        if self.broken == what { Err("disk on fire") } else { Ok(()) }
    }
}

impl SessionLog for Watched {
    type Error = &'static str;

    fn version(&mut self) -> Result<Version, Self::Error> {
        self.ask("version")?;
        let Ok(version) = self.log.version();
        if let Some(event) = self.appended_after_version.take() {
            let Ok(_) = self.log.append(event);
        }
        Ok(version)
    }
    fn events(&mut self) -> Result<Vec<Event>, Self::Error> {
        self.ask("events")?;
        let Ok(events) = self.log.events();
        Ok(events)
    }
    fn append(&mut self, event: Event) -> Result<Added, Self::Error> {
        self.ask("append")?;
        let Ok(added) = self.log.append(event);
        Ok(added)
    }
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Self::Error> {
        self.ask("append_batch")?;
        let Ok(done) = self.log.append_batch(batch, expected);
        Ok(done)
    }
    fn view(&mut self) -> Result<View<Event>, CorruptLog<Self::Error>> {
        self.ask("view").map_err(CorruptLog::Store)?;
        self.log.view().map_err(|error| match error {
            CorruptLog::Log(corruption) => CorruptLog::Log(corruption),
            CorruptLog::Store(never) => match never {},
        })
    }
}

/// log.version-first
#[test]
fn the_version_is_read_before_the_events() {
    let mut log = Watched::over("U U");
    log.appended_after_version = Some(message("late"));
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp());
    assert_eq!(done, Ok(Compacted::Raced), "what came in between was read, but not at that version");
    assert_eq!(log.asked, ["version", "view", "append_batch"]);
}

#[test]
fn a_store_that_fails_is_told_and_asked_no_further() {
    for (broken, asked) in [
        ("version", vec!["version"]),
        ("view", vec!["version", "view"]),
        ("append_batch", vec!["version", "view", "append_batch"]),
    ] {
        let mut log = Watched { broken, ..Watched::over("U U") };
        let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp());
        assert_eq!(done, Err(CompactError::Store("disk on fire")));
        assert_eq!(done.unwrap_err().to_string(), "the log can't be used: disk on fire");
        assert_eq!(log.asked, asked);
        assert_eq!(stored(&mut log.log).0, Version(2));
    }
}

/// A store may answer `view` from an index of its own: a lock around it must not hide that.
#[test]
fn a_shared_log_asks_the_log_itself() {
    let log = RefCell::new(Watched::over("U U"));
    let mut shared = &log;
    assert_eq!(ids(shared.view().unwrap().events()), "U1 U2");
    assert_eq!(shared.version(), Ok(Version(2)));
    assert_eq!(shared.append(message("e")), Ok(Added::Added(Version(3))));
    assert_eq!(shared.append_batch(vec![message("f")], Version(3)), Ok(Ok(Version(4))));
    assert_eq!(shared.events().unwrap().len(), 4);
    assert_eq!(log.borrow().asked, ["view", "version", "append", "append_batch", "events"]);
}

/// A store that only knows its events gets its view from them.
#[test]
fn a_view_comes_from_the_events_by_default() {
    struct Plain(Vec<Event>);
    impl SessionLog for Plain {
        type Error = &'static str;
        fn version(&mut self) -> Result<Version, Self::Error> {
            Ok(Version(0))
        }
        fn events(&mut self) -> Result<Vec<Event>, Self::Error> {
            if self.0.is_empty() { Err("nothing there") } else { Ok(self.0.clone()) }
        }
        fn append(&mut self, _: Event) -> Result<Added, Self::Error> {
            Err("read only")
        }
        fn append_batch(
            &mut self,
            _: Vec<Event>,
            _: Version,
        ) -> Result<Result<Version, Refused>, Self::Error> {
            Err("read only")
        }
    }
    assert_eq!(ids(Plain(view("U A U")).view().unwrap().events()), "U1 A1 U2");
    let failed = Plain(Vec::new()).view().unwrap_err();
    assert_eq!(failed, CorruptLog::Store("nothing there"));
    assert_eq!(failed.to_string(), "nothing there");
}

/// log.newest-boundary, log.view
#[test]
fn the_newest_boundary_alone_defines_the_view() {
    let mut log = view("S U A U A");
    log.push(boundary("b1", &["S1"], &["U2", "A2"]));
    log.extend([
        half("b1", Role::User, "?"),
        half("b1", Role::Assistant, "one"),
        message("U3"),
        message("U4"),
    ]);
    assert_eq!(ids(active_view(log.clone()).unwrap().events()), "S1 b1.user b1.assistant U2 A2 U3 U4");
    log.push(boundary("b2", &["S1"], &["U4"]));
    assert_eq!(ids(active_view(log.clone()).unwrap().events()), "S1 U4", "what it doesn't name is gone");
    log.push(message("U5"));
    log.push(boundary("b3", &[], &["U1", "A1"]));
    assert_eq!(
        ids(active_view(log.clone()).unwrap().events()),
        "U1 A1",
        "nor does it have to agree with older ones"
    );
    log.push(boundary("b4", &[], &[]));
    assert_eq!(ids(active_view(log.clone()).unwrap().events()), "", "an empty view is one");
    assert_eq!(check_log(&log), Ok(()));
}

/// log.view
#[test]
fn the_order_of_the_view_is_the_boundarys() {
    let mut log = view("U A S T U");
    log.push(boundary("b1", &["T1", "S1"], &["U2", "A1"]));
    log.extend([half("b1", Role::User, "?"), half("b1", Role::Assistant, "so"), message("U3")]);
    assert_eq!(ids(active_view(log).unwrap().events()), "T1 S1 b1.user b1.assistant U2 A1 U3");
}

/// log.view
#[test]
fn a_boundarys_summary_is_the_run_behind_it_that_names_it() {
    let of = |behind: &[Event]| {
        let log = [view("U U"), vec![boundary("b1", &[], &["U2"])], behind.to_vec()].concat();
        ids(active_view(log).unwrap().events())
    };
    let halves = [half("b1", Role::User, "?"), half("b1", Role::Assistant, "so")];
    assert_eq!(of(&halves), "b1.user b1.assistant U2");
    assert_eq!(of(&[other("x"), halves[0].clone()]), "U2 b1.user", "an event between ends the run");
    assert_eq!(of(&[message("U3"), halves[0].clone()]), "U2 U3 b1.user");
    assert_eq!(of(&[half("b0", Role::User, "?")]), "U2 b0.user", "another boundary's is a message like any");
    assert_eq!(of(&[message("a").synthetic()]), "U2 a", "so is a synthetic message without a boundary");
    let mut typed = message("U3");
    typed.metadata.set(Event::BOUNDARY, "b1");
    assert_eq!(of(&[typed]), "U2 U3", "and a message that no compaction wrote, whatever it names");
}

/// log.mid-turn
#[test]
fn preserved_ids_that_start_mid_turn_are_read_as_they_stand() {
    let mut log = log_of([view("U A T U A"), vec![boundary("b0", &[], &["T1", "U2", "A2"])]].concat());
    assert_eq!(shown(&mut log), "T1 U2 A2");
    let Ok(_) = log.append(message("U3"));
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp()).unwrap();
    assert_eq!(
        written(done).covered,
        ["U2", "A2"].map(Into::into),
        "the result before the first turn is preamble"
    );
    assert_eq!(shown(&mut log), "T1 U3");
}

/// log.foreign-types
#[test]
fn other_event_types_are_not_read() {
    let mut events = view("S U A(t) T A U A");
    for (at, id) in [(7, "x7"), (6, "x6"), (3, "x3"), (1, "x1"), (0, "x0")] {
        events.insert(at, other(id));
    }
    let mut log = log_of(events.clone());
    assert_eq!(shown(&mut log), "S1 U1 A1 T1 A2 U2 A3");
    for (window, covered) in
        [(Window::last_events(6).unwrap(), None), (Window::last_events(5).unwrap(), Some(4))]
    {
        let mut log = log_of(events.clone());
        let handed = |request: &SummaryRequest<'_, Event>| {
            assert_eq!(ids(request.events.iter().copied()), "U1 A1 T1 A2");
            Ok::<_, Infallible>(Some(Summary { text: "so".into(), tokens: 1 }))
        };
        let done =
            compact(&mut log, &Trigger::Always, &mut Strategy::new(window).summarizing(handed), &stamp());
        match (done.unwrap(), covered) {
            (Compacted::Written(done), Some(covered)) => assert_eq!(done.covered.len(), covered),
            (done, covered) => assert_eq!((done, covered), (Compacted::Unchanged(Unchanged::Fits), None)),
        }
        assert_eq!(stored(&mut log).1[..events.len()], events);
    }
    let Ok(_) = log.append(other("later"));
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp()).unwrap();
    assert_eq!(written(done).covered, ["U1", "A1", "T1", "A2"].map(Into::into));
    let Ok(_) = log.append(other("last"));
    assert_eq!(shown(&mut log), "S1 U2 A3");
}

/// log.repeat
#[test]
fn an_id_the_log_holds_adds_nothing() {
    let mut log = log_of(view("U A"));
    let before = stored(&mut log);
    for repeated in [view("U")[0].clone(), Event::message("A1", Role::System, "changed"), other("U1")] {
        assert_eq!(log.append(repeated), Ok(Added::Repeated(Version(2))));
        assert_eq!(stored(&mut log), before);
    }
    assert_eq!(log.append(message("new")), Ok(Added::Added(Version(3))));
}

/// log.duplicate, log.atomic
#[test]
fn a_batch_lands_whole_or_not_at_all() {
    let mut log = log_of(view("U A"));
    let before = stored(&mut log);
    let refused: [(Vec<Event>, Version, Refused, &str); 5] = [
        (
            vec![message("x"), message("A1")],
            Version(2),
            Refused::Duplicate("A1".into()),
            "id `A1` is in the log or twice in the batch, expected a new one",
        ),
        (
            vec![message("x"), message("y"), other("x")],
            Version(2),
            Refused::Duplicate("x".into()),
            "id `x` is in the log or twice in the batch, expected a new one",
        ),
        (
            vec![message("x")],
            Version(1),
            Refused::Stale { expected: Version(1), found: Version(2) },
            "the log is at version 2, expected 1: read it again",
        ),
        (
            vec![message("x")],
            Version(3),
            Refused::Stale { expected: Version(3), found: Version(2) },
            "the log is at version 2, expected 3: read it again",
        ),
        (
            vec![],
            Version(0),
            Refused::Stale { expected: Version(0), found: Version(2) },
            "the log is at version 2, expected 0: read it again",
        ),
    ];
    for (batch, expected, refusal, told) in refused {
        assert_eq!(refusal.to_string(), told);
        assert_eq!(log.append_batch(batch, expected), Ok(Err(refusal)));
        assert_eq!(stored(&mut log), before);
    }
    assert_eq!(log.append_batch(vec![], Version(2)), Ok(Ok(Version(2))), "nothing added, nothing moved");
    assert_eq!(log.append_batch(vec![message("x"), other("y")], Version(2)), Ok(Ok(Version(4))));
    assert_eq!(log.append(message("x")), Ok(Added::Repeated(Version(4))), "a batch's ids are known");
}

/// log.corrupt, each kind with its words.
#[test]
fn a_boundary_names_messages_logged_before_it_once() {
    let faults: [(&[&str], &[&str], &str, &str); 10] = [
        (&["nobody"], &[], "nobody", "unknown"),
        (&[], &["U1", "nobody"], "nobody", "unknown"),
        (&["later"], &[], "later", "logged after it"),
        (&[], &["later"], "later", "logged after it"),
        (&[], &["b1"], "b1", "logged after it"),
        (&["click"], &[], "click", "no message"),
        (&[], &["b0"], "b0", "no message"),
        (&["U1", "U1"], &[], "U1", "named twice"),
        (&[], &["U1", "A1", "U1"], "U1", "named twice"),
        (&["U1"], &["A1", "U1"], "U1", "named twice"),
    ];
    for (pinned, preserved, id, fault) in faults {
        let start = [view("U A"), vec![other("click"), boundary("b0", &[], &["U1"])]].concat();
        let log = [start, vec![boundary("b1", pinned, preserved), message("later")]].concat();
        let corruption = Corruption::Boundary { boundary: "b1".into(), id: id.into(), fault };
        assert_eq!(active_view(log.clone()).unwrap_err(), corruption);
        assert_eq!(check_log(&log), Err(corruption.clone()));
        assert_eq!(MemoryLog::open(log.clone()).unwrap_err(), corruption);
        assert_eq!(
            corruption.to_string(),
            format!(
                "boundary `b1` names `{id}`, which is {fault}; expected a message logged before it, named once"
            )
        );

        let newer = [log, vec![boundary("b2", &[], &["U1"])]].concat();
        assert_eq!(
            ids(active_view(newer.clone()).unwrap().events()),
            "U1",
            "a newer boundary alone defines the view"
        );
        assert_eq!(check_log(&newer), Err(corruption), "but the log is corrupt");
    }
}

/// log.corrupt
#[test]
fn a_corrupt_log_is_an_error_of_the_pass_and_nothing_is_written() {
    let mut log = log_of(view("U U"));
    let Ok(_) = log.append(boundary("b0", &[], &["nobody"]));
    let before = stored(&mut log);
    let corruption = Corruption::Boundary { boundary: "b0".into(), id: "nobody".into(), fault: "unknown" };
    let done =
        compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(says("so")), &stamp());
    assert_eq!(done, Err(CompactError::Log(corruption.clone())));
    assert_eq!(done.unwrap_err().to_string(), format!("the log is corrupt: {corruption}"));
    let unread = log.view().unwrap_err();
    assert_eq!((unread.to_string(), unread), (corruption.to_string(), CorruptLog::Log(corruption)));
    assert_eq!(stored(&mut log), before);
}

/// log.duplicate
#[test]
fn a_stored_log_has_every_id_once() {
    for twice in [message("U1"), other("U1"), boundary("U1", &[], &[])] {
        let log = [view("U A"), vec![twice]].concat();
        let duplicate = InvalidView::DuplicateId { id: "U1".into(), first: 0, second: 2 };
        assert_eq!(check_log(&log), Err(Corruption::View(duplicate.clone())));
        assert_eq!(active_view(log.clone()).unwrap_err(), Corruption::View(duplicate.clone()));
        assert_eq!(MemoryLog::open(log).unwrap_err().to_string(), duplicate.to_string());
    }
}

/// view.limits
#[test]
fn a_token_window_asks_for_every_weight_of_the_view() {
    let weightless = Event::message("none", Role::Assistant, "");
    let budget = Window::token_budget(9).unwrap();
    let mut log = log_of([view("U"), vec![weightless], view("A S"), vec![message("U2")]].concat());
    let before = stored(&mut log);
    let missing = InvalidView::MissingWeight { id: "none".into(), position: 1 };
    let done =
        compact(&mut log, &Trigger::Always, &mut Strategy::new(budget).summarizing(says("so")), &stamp());
    assert_eq!(done, Err(CompactError::View(missing.clone())));
    assert_eq!(done.unwrap_err().to_string(), format!("the view is invalid: {missing}"));
    let at_one = Trigger::tokens(1).unwrap();
    let done = compact(&mut log, &at_one, &mut Strategy::new(turns(1)), &stamp());
    assert_eq!(done, Err(CompactError::View(missing)), "a token trigger asks too");
    let never = Trigger::turns(9).unwrap();
    let done = compact(&mut log, &never, &mut Strategy::new(budget), &stamp());
    assert_eq!(done, Ok(Compacted::NotTriggered), "nobody weighs what isn't compacted");
    assert_eq!(stored(&mut log), before);
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)), &stamp());
    assert_eq!(
        written(done.unwrap()).covered,
        ["U1", "none", "A1"].map(Into::into),
        "other windows weigh nothing"
    );
    let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(budget), &Stamped::new("b2", 0));
    assert_eq!(done, Ok(Compacted::Unchanged(Unchanged::SingleTurn)), "nor does a message outside the view");
}

/// Whether a trigger lets a pass run over a log.
fn fires(trigger: &Trigger, letters: &str) -> bool {
    let mut log = log_of(view(letters));
    let mut called = false;
    let declines = |_: &SummaryRequest<'_, Event>| {
        called = true;
        Ok::<_, Infallible>(None)
    };
    let done = compact(&mut log, trigger, &mut Strategy::new(turns(1)).summarizing(declines), &stamp());
    let fired = done != Ok(Compacted::NotTriggered);
    assert!(fired || !called, "trigger.gate: the strategy isn't run");
    assert_eq!(trigger.fires(&log.view().unwrap()), Ok(fired));
    fired
}

/// trigger.turns
#[test]
fn a_turn_trigger_fires_at_more_than_its_size() {
    let two = Trigger::turns(2).unwrap();
    assert!(!fires(&two, "S A U A U A T"));
    assert!(fires(&two, "S A U A U A U"));
    assert!(!fires(&two, "U U u S A"), "a synthetic user message starts no turn");
}

/// trigger.tokens
#[test]
fn a_token_trigger_fires_at_its_size_of_the_whole_view() {
    let ten = Trigger::tokens(10).unwrap();
    assert!(!fires(&ten, "U:4 A:4 U:1"));
    assert!(fires(&ten, "U:4 A:5 U:1"));
    assert!(fires(&ten, "S:3 S:3 M:3 U:1"), "system and synthetic messages included");
    assert!(!fires(&Trigger::tokens(MAX_SIZE).unwrap(), "U:4294967295 U:4294967295"));
}

/// trigger.any
#[test]
fn a_set_fires_when_one_of_it_does() {
    let any = |triggers: &[&Trigger]| {
        Trigger::any(triggers.iter().map(|&trigger| trigger.clone()).collect()).unwrap()
    };
    let (two_turns, ten_tokens) = (Trigger::turns(2).unwrap(), Trigger::tokens(10).unwrap());
    for set in [any(&[&two_turns, &ten_tokens]), any(&[&ten_tokens, &any(&[&two_turns])])] {
        assert!(!fires(&set, "U:1 U:8"));
        assert!(fires(&set, "U:1 U:9"), "tokens alone");
        assert!(fires(&set, "U:1 U:1 U:1"), "turns alone");
        assert!(fires(&set, "U:9 U:9 U:9"), "both");
    }
    assert!(Trigger::any(vec![]).is_err());
}

/// trigger.gate: what counts is the view, not the log.
#[test]
fn a_trigger_reads_the_view_not_the_log() {
    let mut log = log_of(view("U:9 U:9 U:9"));
    let mut strategy = Strategy::new(turns(1));
    let done = compact(&mut log, &Trigger::turns(2).unwrap(), &mut strategy, &stamp()).unwrap();
    assert_eq!(written(done).covered.len(), 2);
    for trigger in [Trigger::turns(1).unwrap(), Trigger::tokens(10).unwrap()] {
        assert_eq!(compact(&mut log, &trigger, &mut strategy, &stamp()), Ok(Compacted::NotTriggered));
    }
}

#[test]
fn a_log_opens_where_it_was_left() {
    let mut log = log_of(view("S U A U"));
    let done =
        compact(&mut log, &Trigger::Always, &mut Strategy::new(turns(1)).summarizing(says("so")), &stamp());
    assert!(matches!(done, Ok(Compacted::Written(_))));
    let mut opened = log_of(stored(&mut log).1);
    assert_eq!(stored(&mut opened), stored(&mut log));
    assert_eq!(opened.view().unwrap().events(), log.view().unwrap().events());
    assert_eq!(opened.append(message("b1.user")), Ok(Added::Repeated(Version(7))), "it knows its ids");
}

#[cfg(feature = "std")]
mod locked {
    //! The same log behind a lock.

    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        sync::{Mutex, MutexGuard, PoisonError},
        thread,
    };

    use super::*;

    #[test]
    fn an_append_while_the_summarizer_runs_is_a_lost_race() {
        is_raced(&Mutex::new(log_of(view("U A U"))));
    }

    #[test]
    fn a_shared_log_asks_the_log_itself() {
        let log = Mutex::new(Watched::over("U U"));
        let mut shared = &log;
        assert_eq!(ids(shared.view().unwrap().events()), "U1 U2");
        assert_eq!(shared.version(), Ok(Version(2)));
        assert_eq!(shared.append(message("e")), Ok(Added::Added(Version(3))));
        assert_eq!(shared.append_batch(vec![message("f")], Version(3)), Ok(Ok(Version(4))));
        assert_eq!(shared.events().unwrap().len(), 4);
        assert_eq!(log.lock().unwrap().asked, ["view", "version", "append", "append_batch", "events"]);
    }

    #[test]
    fn a_poisoned_lock_is_used_all_the_same() {
        let log = Mutex::new(log_of(view("U A U")));
        let poisoned = catch_unwind(AssertUnwindSafe(|| {
            let _held: MutexGuard<'_, MemoryLog> = log.lock().unwrap();
            std::panic::resume_unwind(Box::new("a thread died"));
        }));
        assert!(poisoned.is_err() && log.is_poisoned());
        assert_eq!(stored(&mut &log), (Version(3), view("U A U")));
        is_raced(&log);
        assert_eq!(log.lock().unwrap_or_else(PoisonError::into_inner).view().unwrap().events().len(), 3);
    }

    /// Many threads append and compact: nothing is lost, and whoever lost a race wrote nothing.
    #[test]
    fn threads_lose_nothing() {
        const WRITERS: usize = 4;
        const EACH: usize = 100;
        let log = Mutex::new(MemoryLog::new());
        let passes: usize = thread::scope(|scope| {
            let workers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let mut log = &log;
                    scope.spawn(move || {
                        let mut passes = 0;
                        for n in 0..EACH {
                            let Ok(_) = log.append(message(&format!("{writer}-{n}")));
                            let stamp = Stamped::new(format!("b{writer}-{n}"), 0);
                            let mut strategy = Strategy::new(turns(2)).summarizing(says("so"));
                            let done = compact(&mut log, &Trigger::turns(5).unwrap(), &mut strategy, &stamp);
                            passes += usize::from(matches!(done.unwrap(), Compacted::Written(_)));
                        }
                        passes
                    })
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        let (version, events) = stored(&mut &log);
        assert_eq!(events.len(), WRITERS * EACH + 3 * passes);
        assert_eq!(version, Version(events.len() as u64));
        assert_eq!(check_log(&events), Ok(()));
        assert!(passes > 0);
    }
}
