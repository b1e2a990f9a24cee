//! What a pass costs beside its floor: one look at the role and the flag of the same events, with nothing decided.
//!
//! Every view keeps its newest 40 events under every window, whatever it covers, so that only its length varies.

#![expect(clippy::unwrap_used, reason = "a benchmark of something else than it says must stop")]

use std::{borrow::Cow, convert::Infallible, hint::black_box, time::Duration};

use criterion::{
    BatchSize, BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime,
};
use turnfold_core::{
    Event, Identified, Plan, Role, Strategy, Summary, SummaryRequest, View, ViewEvent, Window, compact, plan,
};

const LENGTHS: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const KEPT_EVENTS: usize = 40;
const TURN_EVENTS: usize = 5;
const EVENT_TOKENS: u32 = 100;

/// A message as an application may hold it.
#[derive(Clone)]
struct Line {
    id: Box<str>,
    role: Role,
    synthetic: bool,
    tokens: u32,
    text: Box<str>,
}

impl ViewEvent for Line {
    fn role(&self) -> Role {
        self.role
    }
    fn is_synthetic(&self) -> bool {
        self.synthetic
    }
    fn weight(&self) -> u32 {
        self.tokens
    }
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.text)
    }
}

impl Identified for Line {
    fn id(&self) -> &str {
        &self.id
    }
}

/// A session of a given length: a system prompt, the summary of an earlier pass, then turns of five events.
fn session<E>(length: usize, message: impl Fn(usize, Role, bool) -> E) -> Vec<E> {
    let event = |n: usize| match n {
        0 => message(n, Role::System, false),
        1 => message(n, Role::User, true),
        2 => message(n, Role::Assistant, true),
        _ => match (length - n) % TURN_EVENTS {
            0 => message(n, Role::User, false),
            2 | 4 => message(n, Role::Assistant, false),
            _ => message(n, Role::Tool, false),
        },
    };
    (0..length).map(event).collect()
}

fn line(n: usize, role: Role, synthetic: bool) -> Line {
    Line { id: format!("e{n}").into(), role, synthetic, tokens: EVENT_TOKENS, text: "a line of text".into() }
}

fn event(n: usize, role: Role, synthetic: bool) -> Event {
    let event = Event::message(format!("e{n}"), role, "a line of text").weighing(EVENT_TOKENS);
    if synthetic { event.synthetic() } else { event }
}

/// The windows that keep the newest 40 events. The budget pays for what is pinned as well: the system prompt, the
/// preamble of a session that doesn't begin with a turn, and without a summarizer the prior summary.
fn windows<E: ViewEvent>(view: &[E]) -> [(&'static str, Window); 3] {
    let first = view.iter().position(|event| event.role() == Role::User && !event.is_synthetic()).unwrap();
    let budget = u64::from(EVENT_TOKENS) * (first + KEPT_EVENTS) as u64;
    let windows = [
        ("events", Window::last_events(KEPT_EVENTS as u64).unwrap()),
        ("turns", Window::last_turns((KEPT_EVENTS / TURN_EVENTS) as u64).unwrap()),
        ("tokens", Window::token_budget(budget).unwrap()),
    ];
    for (name, window) in windows {
        for summarizing in [false, true] {
            let reply = summarizing.then(summary);
            let kept = plan(view, window, summarizing).conclude(view, reply).preserved.len();
            assert_eq!(kept, KEPT_EVENTS, "a window of {name}");
        }
    }
    windows
}

/// The floor of a plan over a slice: what it can't know without looking.
fn bare_pass<E: ViewEvent>(view: &[E]) -> usize {
    view.iter().filter(|event| event.role() == Role::User && !event.is_synthetic()).count()
}

fn summary() -> Summary {
    Summary { text: "what was".into(), tokens: EVENT_TOKENS }
}

fn group<'c>(criterion: &'c mut Criterion, name: &str, length: usize) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(format!("{name}/{length}"));
    group.throughput(Throughput::Elements(length as u64));
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.sample_size(if length > 100_000 { 10 } else { 50 });
    group
}

/// The floor, the plans and the whole pass over one view, in one group, so that a ratio compares like with like.
fn measure_pass<E: ViewEvent + Identified + Clone>(
    criterion: &mut Criterion,
    name: &str,
    length: usize,
    message: fn(usize, Role, bool) -> E,
) {
    let view = session(length, message);
    let windows = windows(&view);
    let mut group = group(criterion, name, length);
    group.bench_function("bare pass", |bencher| bencher.iter(|| bare_pass(black_box(&view))));
    for (window_name, window) in windows {
        group.bench_function(format!("plan/slice/{window_name}"), |bencher| {
            bencher.iter(|| plan(black_box(&view), black_box(window), false));
        });
    }
    let indexed = View::from_events(view.clone()).unwrap();
    for (window_name, window) in windows {
        assert_eq!(indexed.plan(window, false), plan(&view, window, false));
        assert!(matches!(indexed.plan(window, false), Plan::Cut(_)));
        group.bench_function(format!("plan/view/{window_name}"), |bencher| {
            bencher.iter(|| black_box(&indexed).plan(black_box(window), false));
        });
    }
    for (window_name, window) in windows {
        let mut strategy = Strategy::new(window)
            .summarizing(|_: &SummaryRequest<'_, E>| Ok::<_, Infallible>(Some(summary())));
        group.bench_function(format!("compact/{window_name}"), |bencher| {
            bencher.iter(|| compact(black_box(&view), &mut strategy));
        });
    }
    group.finish();
}

fn passes(criterion: &mut Criterion) {
    for length in LENGTHS {
        measure_pass(criterion, "pass", length, line);
    }
}

/// The same over the crate's own event, whose flag stands in open metadata.
fn passes_over_events(criterion: &mut Criterion) {
    for length in [1_000, 10_000, 100_000] {
        measure_pass(criterion, "pass over Event", length, event);
    }
}

/// A view grown from nothing, event by event.
fn pushes(criterion: &mut Criterion) {
    for length in LENGTHS {
        let events = session(length, line);
        let mut group = group(criterion, "view", length);
        group.bench_function("push", |bencher| {
            bencher.iter_batched(
                || events.clone(),
                |events| View::from_events(events).unwrap(),
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, passes, passes_over_events, pushes);
criterion_main!(benches);
