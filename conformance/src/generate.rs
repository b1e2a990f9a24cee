//! Strategies: scripts by family, made by proptest and driven by its runner, so that a seed makes the same cases.
//!
//! They construct and filter nothing: whatever a family is about is in every case it makes. A Rust user can take them
//! and the [properties](crate::rules) into tests of their own:
//!
//! ```
//! use proptest::prelude::*;
//! use turnfold_conformance::{generate::Family, reference::Reference, rules::{Judgement, Seen, properties}, run::run};
//!
//! proptest!(ProptestConfig::with_cases(20), |(script in Family::Pass.scripts())| {
//!     let transcript = run(&mut Reference::default(), &script).unwrap();
//!     let seen = Seen::passes(&transcript);
//!     for property in properties() {
//!         prop_assert!(!matches!(property.judge(&transcript, &seen), Judgement::Breaks(_)));
//!     }
//! });
//! ```

use proptest::{prelude::*, sample::Index, strategy::Union};
use serde_json::json;
use turnfold_core::{
    Boundary, Content, Event, EventId, EventType, MAX_SIZE, Object, Role, ToolCall, ToolResponse, Value,
    Window, session::Trigger,
};

use crate::{
    protocol::{Checked, Said},
    script::{Op, Pass, Script, SessionPass},
    words::Words,
};

/// What a script is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// One pass over a view
    Pass,
    /// A pass, and the same again on what it left
    Again,
    /// The same view under a smaller window and a larger one
    Wider,
    /// The same view under other names, times, texts and, where nothing counts them, weights
    Blind,
    /// The same view with other old turns, or without them
    Suffix,
    /// Windows, views and batches that have to be refused
    Refused,
    /// The life of a session
    Session,
    /// A session that starts from a stored log
    Stored,
    /// Somebody appends while a summarizer runs
    Raced,
    /// Somebody appends between the pass's reads
    Held,
}

impl Family {
    /// Every family, with its share of the cases.
    pub const SHARES: [(Self, u32); 10] = [
        (Self::Pass, 8),
        (Self::Again, 2),
        (Self::Wider, 2),
        (Self::Blind, 2),
        (Self::Suffix, 2),
        (Self::Refused, 1),
        (Self::Session, 4),
        (Self::Stored, 2),
        (Self::Raced, 1),
        (Self::Held, 1),
    ];

    /// Its scripts.
    pub fn scripts(self) -> BoxedStrategy<Script> {
        match self {
            Self::Pass => pass().prop_map(|pass| Script(vec![Op::Pass(pass)])).boxed(),
            Self::Again => pass().prop_map(|pass| Script(vec![Op::Pass(pass), Op::Again])).boxed(),
            Self::Wider => wider().boxed(),
            Self::Blind => blind().boxed(),
            Self::Suffix => suffix().boxed(),
            Self::Refused => refused().boxed(),
            Self::Session => session().boxed(),
            Self::Stored => stored().boxed(),
            Self::Raced => raced().boxed(),
            Self::Held => held().boxed(),
        }
    }
}

/// A message before it has a name.
#[derive(Clone, Debug)]
struct Cell {
    letter: char,
    weight: u32,
    text: Text,
    extras: bool,
}

/// What a text is made of.
#[derive(Clone, Copy, Debug)]
enum Text {
    Name,
    Empty,
    Blank,
    Odd,
    Long,
}

/// What a number of a range stands for, by shares. One draw and a look-up instead of a union of strategies: proptest
/// prepares every branch of a union, and a case has dozens of cells.
fn by_share<T: Copy>(shares: &[(u8, T)], mut number: u8, otherwise: T) -> T {
    for &(share, value) in shares {
        if number < share {
            return value;
        }
        number -= share;
    }
    otherwise
}

const LETTERS: [(u8, char); 10] =
    [(10, 'U'), (8, 'A'), (5, 'T'), (4, 'S'), (3, 'M'), (1, 's'), (1, 'u'), (1, 'a'), (1, 't'), (1, '!')];

const TEXTS: [(u8, Text); 5] =
    [(8, Text::Name), (1, Text::Empty), (1, Text::Blank), (1, Text::Odd), (1, Text::Long)];

fn cell() -> impl Strategy<Value = Cell> + Clone {
    (0..35_u8, 0..40_u32, 0..12_u8, 0..10_u8).prop_map(|(letter, weight, text, extras)| Cell {
        letter: by_share(&LETTERS, letter, 'U'),
        weight: match weight {
            0..30 => weight % 6,
            30..36 => 0,
            _ => u32::MAX - weight % 3,
        },
        text: by_share(&TEXTS, text, Text::Name),
        extras: extras == 9,
    })
}

/// Views in which a turn starts at every few events, so that several turns are sure to be.
fn busy() -> impl Strategy<Value = Vec<Event>> {
    (prop::collection::vec(cell(), 6..14), 0..3_usize, 2..4_usize)
        .prop_map(|(cells, first, stride)| named(&with_turns(cells, first, stride)))
}

fn with_turns(mut cells: Vec<Cell>, first: usize, stride: usize) -> Vec<Cell> {
    for cell in cells.iter_mut().skip(first).step_by(stride) {
        cell.letter = 'U';
    }
    cells
}

/// Views of any kind, half of them busy.
pub fn views() -> impl Strategy<Value = Vec<Event>> {
    (prop::collection::vec(cell(), 0..14), 0..3_usize, 2..5_usize, any::<bool>()).prop_map(
        |(cells, first, stride, busy)| named(&if busy { with_turns(cells, first, stride) } else { cells }),
    )
}

/// Names cells by letter and count, as the notation does, and pairs calls with responses.
fn named(cells: &[Cell]) -> Vec<Event> {
    let mut counts = std::collections::HashMap::new();
    let mut events = Vec::with_capacity(cells.len());
    let mut open_call: Option<String> = None;
    for cell in cells {
        let letter = if cell.letter == '!' { 'U' } else { cell.letter };
        let count = counts.entry(letter).and_modify(|count: &mut u32| *count += 1).or_insert(1);
        let name = format!("{letter}{count}");
        match letter {
            'M' => {
                events.push(half(&format!("{name}.u"), Role::User, "And before?", 0));
                events.push(half(
                    &format!("{name}.a"),
                    Role::Assistant,
                    &text(cell.text, &name),
                    cell.weight,
                ));
            }
            _ => events.push(speech(cell, letter, &name, &mut open_call)),
        }
    }
    events
}

fn text(kind: Text, name: &str) -> String {
    match kind {
        Text::Name => name.into(),
        Text::Empty => String::new(),
        Text::Blank => " \t\r\n".into(),
        Text::Odd => format!("{name} \u{1F4E5} \u{202E}n\u{0301} \"\\\u{0} \u{FEFF}"),
        Text::Long => name.repeat(40),
    }
}

fn half(id: &str, role: Role, text: &str, tokens: u32) -> Event {
    let mut event = Event::message(id, role, text).weighing(tokens).synthetic();
    event.metadata.set(Event::STRATEGY, "window");
    event
}

fn speech(cell: &Cell, letter: char, name: &str, open_call: &mut Option<String>) -> Event {
    let role = match letter.to_ascii_uppercase() {
        'S' => Role::System,
        'U' => Role::User,
        'A' => Role::Assistant,
        _ => Role::Tool,
    };
    let mut event = Event::message(name, role, text(cell.text, name)).weighing(cell.weight);
    if letter.is_ascii_lowercase() {
        event = event.synthetic();
    }
    if cell.letter == '!' {
        event.metadata.set(Event::SYNTHETIC, "true");
    }
    if cell.extras {
        event.time_ms = Some(i64::from(cell.weight) - 3);
        event.metadata.set("source", name);
        event.extra.set("later", Value::Array(vec![Value::Null, 7.into()]));
    }
    if let Content::Message(message) = &mut event.content {
        match role {
            Role::Assistant => {
                let id = format!("call-{name}");
                message.tool_calls = vec![ToolCall {
                    id: id.clone(),
                    name: "look".into(),
                    arguments: "{\"at\": 1}".into(),
                    extra: Object::new(),
                }];
                *open_call = Some(id);
            }
            Role::Tool => {
                let id = open_call.take().unwrap_or_else(|| "call-lost".into());
                message.tool_responses = vec![ToolResponse {
                    id,
                    name: "look".into(),
                    text: text(cell.text, name),
                    extra: Object::new(),
                }];
            }
            Role::System | Role::User => {}
        }
    }
    event
}

/// A window for a view: sizes around what the view holds, where cuts are decided.
fn window_for(view: &[Event], kind: u8, at: Index) -> Window {
    let bounded = |limit: u64| 1 + at.index(usize::try_from(limit).unwrap_or(usize::MAX).max(1)) as u64;
    let made = match kind {
        0 => Window::last_events(bounded(view.len() as u64 + 2)),
        1 => Window::last_turns(bounded(Words::of(view).turn_starts.len() as u64 + 1)),
        _ => Window::token_budget(budget(view, at)),
    };
    made.unwrap_or_else(|_| unreachable!("a size of at least 1 and at most what a view can hold"))
}

/// A budget at, just under or just over what some suffix needs beside what is pinned.
fn budget(view: &[Event], at: Index) -> u64 {
    let words = Words::of(view);
    let mut sums: Vec<i128> = words
        .turn_starts
        .iter()
        .flat_map(|&start| {
            let (cost, allowed) =
                words.cost(start, Window::Tokens(ONE), false, crate::words::Charges::default());
            let pinned = 1 - allowed;
            [cost + pinned, cost + words.pinned_weight(true), cost]
        })
        .flat_map(|sum| [sum - 1, sum, sum + 1])
        .collect();
    sums.extend([1, 2, 5]);
    let sum = sums.get(at.index(sums.len())).copied().unwrap_or(1);
    u64::try_from(sum.max(1)).unwrap_or(MAX_SIZE).min(MAX_SIZE)
}

const ONE: turnfold_core::Size = match turnfold_core::Size::new(1) {
    Ok(one) => one,
    Err(_) => unreachable!(),
};

fn summarizers() -> impl Strategy<Value = Option<Said>> {
    (0..20_u8, answering()).prop_map(|(kind, answer)| match kind {
        0..8 => None,
        8..14 => Some(answer),
        14..16 => Some(Said::Declined),
        16..18 => {
            let blank =
                [" ", "", "\t", "\r\n"].into_iter().cycle().nth(answer_weight(&answer)).unwrap_or(" ");
            Some(Said::Text { text: blank.into(), tokens: 1 })
        }
        _ => Some(Said::Failed("out of order".into())),
    })
}

fn answer_weight(said: &Said) -> usize {
    match said {
        Said::Text { tokens, .. } => *tokens as usize % 4,
        Said::Declined | Said::Failed(_) => 0,
    }
}

/// A summarizer that always answers.
fn answering() -> impl Strategy<Value = Said> {
    (0..4_u8, 0..50_u32).prop_map(|(text, tokens)| Said::Text {
        text: if text == 3 { "\u{1F4E5} in\nshort ".into() } else { "in short".into() },
        tokens: match tokens {
            0..30 => tokens % 4,
            30..45 => tokens - 26,
            _ => u32::MAX,
        },
    })
}

/// Passes of any kind.
pub fn pass() -> impl Strategy<Value = Pass> {
    (views(), 0..3_u8, any::<Index>(), summarizers()).prop_map(|(view, kind, at, summarizer)| {
        let window = window_for(&view, kind, at).into();
        Pass { view: view.into(), window, summarizer }
    })
}

/// Passes over a view that can be cut, with no summarizer or one that answers.
fn relating() -> impl Strategy<Value = (Vec<Event>, Window, Option<Said>)> {
    (busy(), 0..3_u8, any::<Index>(), prop::option::of(answering())).prop_map(
        |(view, kind, at, summarizer)| {
            let window = window_for(&view, kind, at);
            (view, window, summarizer)
        },
    )
}

fn two(one: (Vec<Event>, Window), other: (Vec<Event>, Window), summarizer: Option<&Said>) -> Script {
    let op = |(view, window): (Vec<Event>, Window)| {
        Op::Pass(Pass { view: view.into(), window: window.into(), summarizer: summarizer.cloned() })
    };
    Script(vec![op(one), op(other)])
}

fn wider() -> impl Strategy<Value = Script> {
    (relating(), 1..6_u64).prop_map(|((view, window, summarizer), more)| {
        let size = window.size().saturating_add(more).min(MAX_SIZE);
        let larger = match window {
            Window::Events(_) => Window::last_events(size),
            Window::Turns(_) => Window::last_turns(size),
            Window::Tokens(_) => Window::token_budget(size),
        };
        two((view.clone(), window), (view, larger.unwrap_or(window)), summarizer.as_ref())
    })
}

fn blind() -> impl Strategy<Value = Script> {
    (relating(), any::<u16>()).prop_map(|((view, window, summarizer), salt)| {
        let weighed = matches!(window, Window::Tokens(_));
        let renamed = view.iter().enumerate().map(|(at, event)| {
            let mut event = event.clone();
            event.id = EventId::from(format!("other-{}", usize::from(salt).wrapping_add(view.len() - at)));
            event.time_ms = Some(i64::from(salt) - i64::try_from(at).unwrap_or(0));
            if let Content::Message(message) = &mut event.content {
                message.text = format!("{salt} {at}");
                if !weighed {
                    message.tokens =
                        Some(u32::from(salt).wrapping_mul(u32::try_from(at).unwrap_or(0) + 1) % 7);
                }
            }
            event
        });
        let renamed = renamed.collect();
        two((view, window), (renamed, window), summarizer.as_ref())
    })
}

fn suffix() -> impl Strategy<Value = Script> {
    (relating(), any::<bool>(), any::<u8>()).prop_map(|((view, window, summarizer), gone, salt)| {
        let words = Words::of(&view);
        let summarizing = summarizer.is_some();
        let body = words.positions(Words::is_body);
        let fits = |at: usize| words.fits(at, window, summarizing, crate::words::Charges::default());
        let misfit = body.into_iter().rev().find(|&at| !fits(at));
        let from = misfit.and_then(|at| words.turn_starts.iter().rev().find(|&&start| start <= at)).copied();
        let other = view.iter().enumerate().filter_map(|(at, event)| {
            let old = words.is_body(at) && from.is_some_and(|from| at < from);
            if old && gone {
                return None;
            }
            let mut event = event.clone();
            if let (true, Content::Message(message)) = (old, &mut event.content) {
                message.text = format!("another {salt}");
                message.tokens = Some(u32::from(salt) % 9);
            }
            Some(event)
        });
        let other = other.collect();
        two((view.clone(), window), (other, window), summarizer.as_ref())
    })
}

/// What has to be refused, or to be taken though it looks as if it had.
fn refused() -> impl Strategy<Value = Script> {
    let wrong_window = (busy(), prop_oneof![Just("events"), Just("turns"), Just("tokens")], -1..1_i64)
        .prop_map(|(view, kind, size)| Pass {
            view: view.into(),
            window: Checked::raw(json!({ kind: size })),
            summarizer: None,
        });
    let wrong_view = (busy(), any::<Index>(), 0..4_u8, 0..3_u8, any::<Index>()).prop_map(
        |(mut view, at, how, kind, size)| {
            let window = window_for(&view, if how == 0 { 2 } else { kind }, size);
            let at = at.index(view.len());
            let again = view.get(at).cloned();
            let view: Checked<Vec<Event>> = match (how, again) {
                (0, _) => {
                    if let Some(Content::Message(message)) = view.get_mut(at).map(|event| &mut event.content)
                    {
                        message.tokens = None;
                    }
                    view.into()
                }
                (1, Some(again)) => {
                    view.push(again);
                    view.into()
                }
                (how, _) => {
                    let mut values = json!(view);
                    if let Some(fields) = values.get_mut(at).and_then(serde_json::Value::as_object_mut) {
                        let (name, wrong) = if how == 2 {
                            ("tokens", json!(4_294_967_296_u64))
                        } else {
                            ("role", json!("narrator"))
                        };
                        fields.insert(name.into(), wrong);
                    }
                    Checked::raw(values)
                }
            };
            Pass { view, window: window.into(), summarizer: None }
        },
    );
    prop_oneof![wrong_window.boxed(), wrong_view.boxed()].prop_map(|pass| Script(vec![Op::Pass(pass)]))
}

fn foreign(nth: usize) -> Event {
    let kind = EventType::new("APP.NOTE").unwrap_or_else(|_| unreachable!("the name is well formed"));
    Event::new(format!("X{nth}"), Content::Other(kind, Value::from("note")))
}

/// What a session is made of, before its events have names.
#[derive(Clone, Debug)]
enum Act {
    Append(Vec<Cell>),
    Foreign,
    Repeat(Index),
    Batch(Vec<Cell>, Option<Index>),
    Compact { kind: u8, at: Index, summarizer: Option<Said>, trigger: Choice },
}

/// A trigger, by how far it is from what the view holds.
#[derive(Clone, Debug)]
enum Choice {
    Always,
    Turns(i64),
    Tokens(i64),
    Any(i64, i64),
}

fn act() -> impl Strategy<Value = Act> {
    let cells = prop::collection::vec(cell(), 1..5);
    (0..13_u8, cells, any::<Index>(), 0..3_u8, summarizers(), 0..8_u8, -1..2_i64, -1..2_i64).prop_map(
        |(what, mut cells, at, kind, summarizer, trigger, turns, tokens)| match what {
            0..6 => {
                cells.iter_mut().take(1).for_each(|cell| cell.letter = 'U');
                Act::Append(cells)
            }
            6 => Act::Foreign,
            7 => Act::Repeat(at),
            8 => {
                cells.truncate(2);
                Act::Batch(cells, (kind == 0).then_some(at))
            }
            _ => {
                let trigger = match trigger {
                    0..3 => Choice::Always,
                    3..5 => Choice::Turns(turns),
                    5..7 => Choice::Tokens(tokens),
                    _ => Choice::Any(turns, tokens),
                };
                Act::Compact { kind, at, summarizer, trigger }
            }
        },
    )
}

/// Gives the cells of all acts their names together, then plays the acts.
fn play(acts: Vec<Act>) -> Script {
    let cells: Vec<Cell> = acts
        .iter()
        .flat_map(|act| match act {
            Act::Append(cells) | Act::Batch(cells, _) => cells.clone(),
            _ => Vec::new(),
        })
        .collect();
    let mut fresh = named(&cells).into_iter();
    let width =
        |cells: &[Cell]| cells.iter().map(|cell| if cell.letter == 'M' { 2 } else { 1 }).sum::<usize>();
    let mut known: Vec<Event> = Vec::new();
    let mut ops = Vec::new();
    for act in acts {
        match act {
            Act::Append(cells) => {
                let new: Vec<Event> = fresh.by_ref().take(width(&cells)).collect();
                known.extend(new.iter().cloned());
                ops.extend(new.into_iter().map(Op::Append));
            }
            Act::Foreign => {
                let event = foreign(known.len() + 1);
                known.push(event.clone());
                ops.push(Op::Append(event));
            }
            Act::Repeat(at) => {
                if !known.is_empty() {
                    ops.extend(known.get(at.index(known.len())).cloned().map(Op::Append));
                }
            }
            Act::Batch(cells, repeated) => {
                let mut batch: Vec<Event> = fresh.by_ref().take(width(&cells)).collect();
                match repeated.filter(|_| !known.is_empty()) {
                    Some(at) => batch.extend(known.get(at.index(known.len())).cloned()),
                    None => known.extend(batch.iter().cloned()),
                }
                ops.push(Op::Batch(batch));
            }
            Act::Compact { kind, at, summarizer, trigger } => {
                ops.push(Op::Compact(compact(&known, kind, at, summarizer, &trigger)));
            }
        }
    }
    Script(ops)
}

fn compact(known: &[Event], kind: u8, at: Index, summarizer: Option<Said>, trigger: &Choice) -> SessionPass {
    let messages: Vec<Event> = known.iter().filter(|event| event.as_message().is_some()).cloned().collect();
    let words = Words::of(&messages);
    let near = |count: i128, by: i64| {
        u64::try_from(count.saturating_add(by.into()).max(1)).unwrap_or(1).min(MAX_SIZE)
    };
    let turns = |by: i64| Trigger::turns(near(words.turn_starts.len() as i128, by));
    let tokens = |by: i64| Trigger::tokens(near(crate::words::weigh(&messages), by));
    let trigger = match *trigger {
        Choice::Always => None,
        Choice::Turns(by) => turns(by).ok(),
        Choice::Tokens(by) => tokens(by).ok(),
        Choice::Any(by, by_tokens) => {
            Trigger::any([turns(by), tokens(by_tokens)].into_iter().flatten().collect()).ok()
        }
    };
    SessionPass {
        window: window_for(&messages, kind, at).into(),
        trigger: trigger.map(Checked::from),
        summarizer,
        during: Vec::new(),
        between: Vec::new(),
        stamp: None,
    }
}

fn session() -> impl Strategy<Value = Script> {
    prop::collection::vec(act(), 2..9).prop_map(play)
}

/// A stored log with boundaries, right or corrupt, then a pass.
fn stored() -> impl Strategy<Value = Script> {
    let faults = prop_oneof![
        8 => Just(None),
        4 => (0..4_u8).prop_map(Some),
    ];
    (
        busy(),
        busy(),
        any::<Index>(),
        any::<Index>(),
        faults,
        0..3_u8,
        any::<Index>(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(old, new, from, size, fault, kind, second, noted, summarized)| {
            let mut log = old;
            if noted {
                log.insert(log.len() / 2, foreign(0));
            }
            log.push(boundary("B1", &log, from, fault));
            if summarized {
                for (name, role) in [("M90.u", Role::User), ("M90.a", Role::Assistant)] {
                    let mut event = half(name, role, "M90", u32::from(role == Role::Assistant));
                    event.metadata.set(Event::BOUNDARY, "B1");
                    log.push(event);
                }
            }
            let fresh = new.into_iter().map(|mut event| {
                event.id = EventId::from(format!("N{}", event.id));
                event
            });
            log.extend(fresh);
            if fault.is_none() && kind == 1 {
                log.push(boundary("B2", &log, second, None));
            }
            let messages: Vec<Event> =
                log.iter().filter(|event| event.as_message().is_some()).cloned().collect();
            let window = window_for(&messages, kind, size).into();
            let compact = SessionPass {
                window,
                trigger: None,
                summarizer: None,
                during: Vec::new(),
                between: Vec::new(),
                stamp: None,
            };
            Script(vec![Op::Open(log.into()), Op::View, Op::Compact(compact)])
        })
}

/// A boundary that preserves the messages from anywhere on, mid-turn too.
fn boundary(id: &str, log: &[Event], from: Index, fault: Option<u8>) -> Event {
    let messages: Vec<&EventId> =
        log.iter().filter(|event| event.as_message().is_some()).map(|event| &event.id).collect();
    let from = from.index(messages.len().max(1));
    let mut preserved: Vec<EventId> = messages.iter().skip(from).map(|&id| id.clone()).collect();
    match fault {
        Some(0) => preserved.push(EventId::from("nobody")),
        Some(1) => preserved.extend(preserved.first().cloned()),
        Some(2) => preserved.push(EventId::from("NU1")),
        Some(_) => preserved.push(EventId::from(id)),
        None => {}
    }
    Event::new(
        id,
        Content::Boundary(Boundary {
            strategy: "window".into(),
            pinned: Vec::new(),
            preserved,
            extra: Object::new(),
        }),
    )
}

/// Events that somebody else appends, one to three.
fn news() -> impl Strategy<Value = Vec<Event>> {
    (1..4_usize).prop_map(|count| {
        (0..count).map(|nth| Event::message(format!("U9{nth}"), Role::User, "news").weighing(1)).collect()
    })
}

fn raced() -> impl Strategy<Value = Script> {
    (relating(), answering(), news()).prop_map(|((view, window, _), said, during)| {
        let mut ops: Vec<Op> = view.into_iter().map(Op::Append).collect();
        ops.push(Op::Compact(SessionPass {
            window: window.into(),
            trigger: None,
            summarizer: Some(said),
            during,
            between: Vec::new(),
            stamp: None,
        }));
        Script(ops)
    })
}

fn held() -> impl Strategy<Value = Script> {
    (relating(), news()).prop_map(|((view, window, summarizer), between)| {
        let mut ops: Vec<Op> = view.into_iter().map(Op::Append).collect();
        ops.push(Op::Compact(SessionPass {
            window: window.into(),
            trigger: None,
            summarizer,
            during: Vec::new(),
            between,
            stamp: None,
        }));
        Script(ops)
    })
}

/// Scripts of every family, by their shares.
pub fn scripts() -> impl Strategy<Value = Script> {
    Union::new_weighted(Family::SHARES.map(|(family, share)| (share, family.scripts())).to_vec())
}
