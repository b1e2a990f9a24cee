//! The picture of a pass: the view as a strip, one cell an event, and what became of each, expected and found.

use serde::Serialize;
use turnfold_core::{Event, Role};

use crate::{
    run::{Change, Effect, Moment, Transcript},
    words::{Words, is_synthetic},
};

/// A view and where its events went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Picture {
    /// The events, in view order
    pub cells: Vec<Cell>,
    /// The next view that is right
    pub expected: Vec<String>,
    /// The next view that was found; `None` if there is none
    pub found: Option<Vec<String>>,
}

/// One event of the strip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its name
    pub name: String,
    /// Its role, or `summary`
    pub role: &'static str,
    /// Whether a turn starts with it
    pub starts_turn: bool,
    /// What has to become of it
    pub expected: Fate,
    /// What became of it
    pub found: Fate,
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Pinned
    Pinned,
    /// Covered
    Covered,
    /// Preserved
    Preserved,
    /// Left where it is, by a pass that changes nothing
    Unchanged,
    /// In no part of the result, or in more than one
    Lost,
    /// Not told
    Untold,
}

/// The picture of the last pass in which the two transcripts differ, if there is one.
pub fn of(right: &Transcript, found: &Transcript) -> Option<Picture> {
    let pairs = right.0.iter().zip(&found.0);
    let passes = pairs.filter(|(one, _)| one.view.is_some() && !matches!(one.op, crate::script::Op::View));
    let (right, found) = passes
        .clone()
        .rfind(|(one, other)| one.result != other.result)
        .or_else(|| passes.clone().next_back())?;
    let view = found.view.as_ref()?;
    let words = Words::of(view);
    let cells = view
        .iter()
        .enumerate()
        .map(|(at, event)| Cell {
            name: event.id.to_string(),
            role: role(event),
            starts_turn: words.turn_starts.contains(&at),
            expected: fate(right, event),
            found: fate(found, event),
        })
        .collect();
    Some(Picture { cells, expected: next(right).unwrap_or_default(), found: next(found) })
}

fn role(event: &Event) -> &'static str {
    if is_synthetic(event) {
        return "summary";
    }
    event.as_message().map_or("other", |message| match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    })
}

fn fate(moment: &Moment, event: &Event) -> Fate {
    let Change { pinned, covered, preserved, .. } = match &moment.result {
        Effect::Changed(change) => &**change,
        Effect::Unchanged => return Fate::Unchanged,
        Effect::Answered(_) => return Fate::Untold,
    };
    let holds = |events: &[Event]| events.iter().filter(|other| other.id == event.id).count();
    match (holds(pinned), holds(covered), holds(preserved)) {
        (1, 0, 0) => Fate::Pinned,
        (0, 1, 0) => Fate::Covered,
        (0, 0, 1) => Fate::Preserved,
        _ => Fate::Lost,
    }
}

fn next(moment: &Moment) -> Option<Vec<String>> {
    let names = |events: &[Event]| events.iter().map(|event| event.id.to_string()).collect();
    match &moment.result {
        Effect::Changed(change) => Some(names(&change.view)),
        Effect::Unchanged => moment.view.as_deref().map(|view| names(view)),
        Effect::Answered(_) => None,
    }
}
