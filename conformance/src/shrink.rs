//! The shrinker: from a session that breaks a rule to the smallest one that still does.
//!
//! It works on scripts, not on the random choices behind them, because leaving out whole turns is what makes a session
//! small. First turns go, then events, operations, then the window and the summarizer grow plain, then names and
//! texts.

use std::{collections::HashMap, ops::Range};

use turnfold_core::{Content, Event, EventId, Window};

use crate::{
    notation,
    protocol::{Checked, Said},
    script::{Op, Script},
    words::Words,
};

/// Makes a script as small as it gets while `still` holds, within so many tries.
pub fn shrink(script: Script, mut tries: u32, mut still: impl FnMut(&Script) -> bool) -> Script {
    let mut smallest = script;
    'again: loop {
        for candidate in candidates(&smallest) {
            if tries == 0 {
                return smallest;
            }
            if candidate == smallest {
                continue;
            }
            tries -= 1;
            if still(&candidate) {
                smallest = candidate;
                continue 'again;
            }
        }
        return smallest;
    }
}

/// Smaller scripts, the boldest first.
fn candidates(script: &Script) -> impl Iterator<Item = Script> + use<> {
    let (drop_ops, drop_turns) = (without_ops(script), without_turns(script));
    let (drop_events, plain) = (without_events(script), plainer(script));
    drop_ops
        .into_iter()
        .chain(drop_turns)
        .chain(drop_events)
        .chain(plain)
        .filter(|smaller| !smaller.0.is_empty())
}

fn without_ops(script: &Script) -> Vec<Script> {
    (0..script.0.len())
        .map(|at| {
            let mut ops = script.0.clone();
            ops.remove(at);
            Script(ops)
        })
        .collect()
}

/// The events that each operation holds as a list.
fn lists(script: &Script) -> Vec<&Vec<Event>> {
    script.0.iter().filter_map(list).collect()
}

fn list(op: &Op) -> Option<&Vec<Event>> {
    match op {
        Op::Pass(pass) => pass.view.get().ok(),
        Op::Open(log) => log.get().ok(),
        Op::Batch(events) | Op::StaleBatch(events) => Some(events),
        Op::Compact(compact) => {
            Some(if compact.during.is_empty() { &compact.between } else { &compact.during })
        }
        Op::Append(_) | Op::Again | Op::View | Op::Log => None,
    }
}

fn without_turns(script: &Script) -> Vec<Script> {
    let Some(first) = lists(script).into_iter().max_by_key(|events| events.len()) else { return Vec::new() };
    let words = Words::of(first);
    words.turns().into_iter().map(|turn| without(script, first, &turn)).collect()
}

fn without_events(script: &Script) -> Vec<Script> {
    let Some(first) = lists(script).into_iter().max_by_key(|events| events.len()) else { return Vec::new() };
    let pairs = (0..first.len().saturating_sub(1)).map(|at| at..at + 2);
    pairs.chain((0..first.len()).map(|at| at..at + 1)).map(|range| without(script, first, &range)).collect()
}

/// The script without some events of one list: without the same places in lists as long, and without the same names
/// in others and in boundaries.
fn without(script: &Script, of: &[Event], range: &Range<usize>) -> Script {
    let gone: Vec<&str> =
        of.get(range.clone()).unwrap_or_default().iter().map(|event| event.id.as_str()).collect();
    let keep = |events: &[Event]| -> Vec<Event> {
        let by_place = events.len() == of.len();
        events
            .iter()
            .enumerate()
            .filter(
                |(at, event)| if by_place { !range.contains(at) } else { !gone.contains(&event.id.as_str()) },
            )
            .map(|(_, event)| {
                let mut event = event.clone();
                if let Content::Boundary(names) = &mut event.content {
                    names.pinned.retain(|id| !gone.contains(&id.as_str()));
                    names.preserved.retain(|id| !gone.contains(&id.as_str()));
                }
                event
            })
            .collect()
    };
    map(script, |op| match op {
        Op::Pass(pass) => {
            if let Ok(view) = pass.view.get() {
                pass.view = keep(view).into();
            }
        }
        Op::Open(log) => {
            if let Ok(events) = log.get() {
                *log = keep(events).into();
            }
        }
        Op::Batch(events) | Op::StaleBatch(events) => *events = keep(events),
        Op::Compact(compact) => {
            compact.during = keep(&compact.during);
            compact.between = keep(&compact.between);
        }
        Op::Append(_) | Op::Again | Op::View | Op::Log => {}
    })
}

fn map(script: &Script, mut change: impl FnMut(&mut Op)) -> Script {
    let mut script = script.clone();
    script.0.iter_mut().for_each(&mut change);
    script
}

/// The same events with plainer surroundings.
fn plainer(script: &Script) -> Vec<Script> {
    let mut candidates = Vec::new();
    let sizes: Vec<u64> = script.windows().map(Window::size).collect();
    if let Some(&size) = sizes.iter().min() {
        for less in [size.saturating_sub(1), size / 2, size.saturating_sub(size.min(2)), 1] {
            let by = size - less.min(size);
            candidates.push(map(script, |op| narrow(op, by)));
        }
    }
    candidates.push(map(script, |op| {
        if let Some(said) = summarizer(op) {
            *said = None;
        }
    }));
    candidates.push(map(script, |op| {
        if let Some(said @ Some(Said::Text { .. })) = summarizer(op) {
            *said = Some(Said::Text { text: "in short".into(), tokens: 1 });
        }
    }));
    candidates.push(map(script, |op| {
        if let Op::Compact(compact) = op {
            compact.trigger = None;
        }
    }));
    candidates.push(map(script, |op| {
        each_event(op, |event| {
            if let Content::Message(message) = &mut event.content {
                message.tokens = message.tokens.and(Some(1));
            }
        });
    }));
    candidates.extend(lighter(script));
    candidates.push(map(script, |op| each_event(op, bare)));
    for named in [renamed(script), script.clone()] {
        if let Ok(steps) = notation::read(&notation::write(&named)) {
            candidates.push(notation::script(&steps));
        }
    }
    candidates
}

/// The same events named by letter and count in the order they come, as a person would write them.
fn renamed(script: &Script) -> Script {
    let mut names: HashMap<EventId, EventId> = HashMap::new();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut next = |letter: &'static str| {
        let count = counts.entry(letter).and_modify(|count| *count += 1).or_insert(1);
        format!("{letter}{count}")
    };
    let mut lists: Vec<Vec<Event>> = Vec::new();
    let mut appended = Vec::new();
    for op in &script.0 {
        match op {
            Op::Append(event) => appended.push(event.clone()),
            other => lists.extend(list(other).cloned()),
        }
    }
    lists.push(appended);
    for events in &lists {
        let mut rest = events.as_slice();
        while let [event, after @ ..] = rest {
            rest = after;
            if names.contains_key(&event.id) {
                continue;
            }
            match after {
                [second, beyond @ ..] if notation::is_pair(event, second) => {
                    let name = next("M");
                    names.insert(event.id.clone(), EventId::from(format!("{name}.u")));
                    names.insert(second.id.clone(), EventId::from(format!("{name}.a")));
                    rest = beyond;
                }
                _ => {
                    let name = next(notation::letter(event));
                    names.insert(event.id.clone(), EventId::from(name));
                }
            }
        }
    }
    let rename = |id: &mut EventId| {
        if let Some(name) = names.get(id) {
            *id = name.clone();
        }
    };
    map(script, |op| {
        let mut all = |event: &mut Event| {
            rename(&mut event.id);
            if let Content::Boundary(boundary) = &mut event.content {
                boundary.pinned.iter_mut().chain(&mut boundary.preserved).for_each(rename);
            }
        };
        each_event(op, &mut all);
        if let Op::Compact(compact) = op {
            compact.during.iter_mut().chain(&mut compact.between).for_each(all);
        }
    })
}

/// One event at a time weighs less.
fn lighter(script: &Script) -> Vec<Script> {
    let events = lists(script).into_iter().map(Vec::len).max().unwrap_or(0);
    let mut candidates = Vec::new();
    for at in 0..events {
        for weight in [1, 2, 3] {
            candidates.push(map(script, |op| {
                let mut nth = 0;
                each_event(op, |event| {
                    if let (true, Content::Message(message)) = (nth == at, &mut event.content) {
                        message.tokens = message.tokens.map(|tokens| tokens.min(weight));
                    }
                    nth += 1;
                });
            }));
        }
    }
    candidates
}

fn narrow(op: &mut Op, by: u64) {
    let window = match op {
        Op::Pass(pass) => &mut pass.window,
        Op::Compact(compact) => &mut compact.window,
        _ => return,
    };
    let Ok(held) = window.get().copied() else { return };
    let size = held.size().saturating_sub(by).max(1);
    let made = match held {
        Window::Events(_) => Window::last_events(size),
        Window::Turns(_) => Window::last_turns(size),
        Window::Tokens(_) => Window::token_budget(size),
    };
    *window = Checked::from(made.unwrap_or(held));
}

fn summarizer(op: &mut Op) -> Option<&mut Option<Said>> {
    match op {
        Op::Pass(pass) => Some(&mut pass.summarizer),
        Op::Compact(compact) => Some(&mut compact.summarizer),
        _ => None,
    }
}

fn each_event(op: &mut Op, mut change: impl FnMut(&mut Event)) {
    match op {
        Op::Pass(pass) => {
            if let Ok(view) = pass.view.get() {
                let mut view = view.clone();
                view.iter_mut().for_each(change);
                pass.view = view.into();
            }
        }
        Op::Open(log) => {
            if let Ok(events) = log.get() {
                let mut events = events.clone();
                events.iter_mut().for_each(change);
                *log = events.into();
            }
        }
        Op::Append(event) => change(event),
        Op::Batch(events) | Op::StaleBatch(events) => events.iter_mut().for_each(change),
        Op::Compact(_) | Op::Again | Op::View | Op::Log => {}
    }
}

/// An event without anything that isn't its role, flag and weight.
fn bare(event: &mut Event) {
    event.time_ms = None;
    event.extra = turnfold_core::Object::new();
    if let Content::Message(message) = &mut event.content {
        message.text = event.id.to_string();
        message.tool_calls.clear();
        message.tool_responses.clear();
        message.parts.clear();
    }
}
