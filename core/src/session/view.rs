//! The view a log defines: from its newest boundary if it has one, else every message.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::ToString,
    vec::Vec,
};
use core::fmt;

use crate::{
    event::{Content, Event, EventId, ViewEvent},
    value::Value,
    view::{InvalidView, View},
};

/// The view of a whole log: the newest boundary's pinned events, the summary of its batch, its preserved events, then
/// the messages logged after that batch. Without a boundary, every message.
///
/// # Errors
///
/// A log that no view can be read from; see [`Corruption`].
pub fn active_view(log: Vec<Event>) -> Result<View<Event>, Corruption> {
    let known = index(&log)?;
    let Some(at) = log.iter().rposition(|event| event.as_boundary().is_some()) else {
        return from_events(log.into_iter().filter(|event| event.as_message().is_some())); // rule: log.foreign-types
    };
    // rule: log.newest-boundary rule: log.view
    let named = named(&log, at, &known)?;
    let after = after_boundary(&log, at);
    let order: Vec<usize> =
        named.pinned.into_iter().chain(after.summary).chain(named.preserved).chain(after.messages).collect(); // rule: log.mid-turn
    let mut events: Vec<Option<Event>> = log.into_iter().map(Some).collect();
    from_events(order.into_iter().filter_map(|at| events.get_mut(at)?.take()))
}

/// Checks every boundary of a log, not only the newest, and every id.
///
/// # Errors
///
/// The first fault, oldest first.
pub fn check_log(log: &[Event]) -> Result<(), Corruption> {
    let known = index(log)?;
    for (at, event) in log.iter().enumerate() {
        if event.as_boundary().is_some() {
            named(log, at, &known)?;
        }
    }
    Ok(())
}

fn index(log: &[Event]) -> Result<BTreeMap<&str, usize>, Corruption> {
    let mut known = BTreeMap::new();
    for (position, event) in log.iter().enumerate() {
        if let Some(first) = known.insert(event.id.as_str(), position) {
            return Err(Corruption::View(InvalidView::DuplicateId {
                id: event.id.clone(),
                first,
                second: position,
            }));
        }
    }
    Ok(known)
}

struct Named {
    pinned: Vec<usize>,
    preserved: Vec<usize>,
}

/// rule: log.corrupt
fn named(log: &[Event], at: usize, known: &BTreeMap<&str, usize>) -> Result<Named, Corruption> {
    let Some((event, boundary)) = log.get(at).and_then(|event| Some((event, event.as_boundary()?))) else {
        return Ok(Named { pinned: Vec::new(), preserved: Vec::new() });
    };
    let mut seen = BTreeSet::new();
    let mut find = |id: &EventId| {
        let fault = |fault| Corruption::Boundary { boundary: event.id.clone(), id: id.clone(), fault };
        let position = *known.get(id.as_str()).ok_or_else(|| fault("unknown"))?;
        if position >= at {
            return Err(fault("logged after it"));
        }
        if log.get(position).is_none_or(|event| event.as_message().is_none()) {
            return Err(fault("no message"));
        }
        if seen.insert(position) { Ok(position) } else { Err(fault("named twice")) }
    };
    Ok(Named {
        pinned: boundary.pinned.iter().map(&mut find).collect::<Result<_, _>>()?,
        preserved: boundary.preserved.iter().map(&mut find).collect::<Result<_, _>>()?,
    })
}

struct AfterBoundary {
    summary: Vec<usize>,
    messages: Vec<usize>,
}

/// The summary is the run of synthetic messages right behind the boundary that name it as theirs.
fn after_boundary(log: &[Event], at: usize) -> AfterBoundary {
    let id = log.get(at).map(|event| event.id.to_string());
    let first = at.saturating_add(1);
    let own = |event: &&Event| match event.metadata.get(Event::BOUNDARY) {
        Some(Value::String(boundary)) => {
            event.as_message().is_some() && event.is_synthetic() && Some(boundary) == id.as_ref()
        }
        _ => false,
    };
    let summary = first..first.saturating_add(log.iter().skip(first).take_while(own).count());
    let messages = (summary.end..log.len())
        .filter(|&at| log.get(at).is_some_and(|event| matches!(event.content, Content::Message(_))));
    AfterBoundary { summary: summary.collect(), messages: messages.collect() }
}

fn from_events(events: impl Iterator<Item = Event>) -> Result<View<Event>, Corruption> {
    View::from_events(events.collect()).map_err(Corruption::View)
}

/// Why a log defines no view. Nothing is guessed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Corruption {
    /// A boundary names an event it can't have named
    Boundary {
        /// The boundary
        boundary: EventId,
        /// The id it names
        id: EventId,
        /// What is wrong with it, in a word or two
        fault: &'static str,
    },
    /// The events make no view
    View(InvalidView),
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boundary { boundary, id, fault } => write!(
                f,
                "boundary `{boundary}` names `{id}`, which is {fault}; expected a message logged before it, named once"
            ),
            Self::View(invalid) => invalid.fmt(f),
        }
    }
}

impl core::error::Error for Corruption {}

/// Why a view couldn't be read from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorruptLog<E> {
    /// The store failed
    Store(E),
    /// The store's log defines no view
    Log(Corruption),
}

impl<E: fmt::Display> fmt::Display for CorruptLog<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Log(corruption) => corruption.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> core::error::Error for CorruptLog<E> {}
