//! An indexed view: it refuses what no view may hold, and plans in O(log turns) however long the history is.

use alloc::{boxed::Box, collections::BTreeMap, vec::Vec};
use core::fmt;

use crate::{
    cut::Allowance,
    event::{Event, EventId, ViewEvent},
    layout::{Kind, Layout},
    pass::Plan,
    window::{MAX_SIZE, Window},
};

/// An event with a name. A pass never reads it; a view refuses the same name twice.
pub trait Identified {
    /// The name, unique in its log.
    fn id(&self) -> &str;
}

impl Identified for Event {
    fn id(&self) -> &str {
        self.id.as_str()
    }
}

/// Where a turn starts, and how many body events and tokens stand before it.
#[derive(Clone, Copy, Debug)]
struct TurnMark {
    start: usize,
    events_before: u64,
    tokens_before: u64,
}

/// The ordered messages a model sees, with an index of turns and weights.
///
/// ```
/// use turnfold_core::{Event, Role, View, Window};
///
/// let mut view = View::new();
/// view.push(Event::message("e1", Role::User, "hi"))?;
/// assert!(view.push(Event::message("e1", Role::User, "again")).is_err());
/// let _ = view.plan(Window::last_events(20)?, false);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<E> {
    events: Vec<E>,
    positions: BTreeMap<Box<str>, usize>,
    layout: Layout,
    turns: Vec<TurnMark>,
    body_events: u64,
    body_tokens: u64,
    tokens: u64,
}

impl<E> Default for View<E> {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            positions: BTreeMap::new(),
            layout: Layout::default(),
            turns: Vec::new(),
            body_events: 0,
            body_tokens: 0,
            tokens: 0,
        }
    }
}

impl<E: ViewEvent + Identified> View<E> {
    /// An empty view.
    pub fn new() -> Self {
        Self::default()
    }

    /// A view of these events in this order.
    ///
    /// # Errors
    ///
    /// The first event that [`View::push`] refuses.
    pub fn from_events(events: Vec<E>) -> Result<Self, InvalidView> {
        let mut view = Self::new();
        for event in events {
            view.push(event)?;
        }
        Ok(view)
    }

    /// Adds the newest event.
    ///
    /// # Errors
    ///
    /// An id the view holds already, or a weight that takes the view over [`MAX_SIZE`] tokens. The view stays as it is.
    pub fn push(&mut self, event: E) -> Result<(), InvalidView> {
        let position = self.events.len();
        if let Some(&first) = self.positions.get(event.id()) {
            // rule: log.duplicate
            return Err(InvalidView::DuplicateId { id: event.id().into(), first, second: position });
        }
        let weight = u64::from(event.weight());
        let tokens = self.tokens.saturating_add(weight);
        if tokens > MAX_SIZE {
            return Err(InvalidView::TooHeavy { id: event.id().into(), position, tokens }); // rule: view.limits
        }
        let kind = Kind::of(&event);
        self.layout.read(position, kind, &event);
        if kind == Kind::TurnStart {
            self.turns.push(TurnMark {
                start: position,
                events_before: self.body_events,
                tokens_before: self.body_tokens,
            });
        }
        if kind.is_plain() {
            self.body_events = self.body_events.saturating_add(1);
            self.body_tokens = self.body_tokens.saturating_add(weight);
        }
        self.tokens = tokens;
        self.positions.insert(event.id().into(), position);
        self.events.push(event);
        Ok(())
    }

    /// Plans a pass; the same plan as [`plan`](crate::plan) over the slice.
    pub fn plan(&self, window: Window, summarizing: bool) -> Plan {
        Plan::of(&self.layout, window, summarizing, |_, allowance| self.cut(allowance))
    }

    /// The smallest turn start whose suffix fits, else the last one. It gallops from the newest turn, so that it
    /// costs the logarithm of the turns kept, not of the history.
    fn cut(&self, allowance: Allowance) -> usize {
        let fits = |turn: &TurnMark| match allowance {
            Allowance::Events(left) => self.body_events.saturating_sub(turn.events_before) <= left,
            Allowance::Turns(_) | Allowance::Overdrawn => false,
            Allowance::Tokens(left) => self.body_tokens.saturating_sub(turn.tokens_before) <= left,
        };
        let last = self.turns.len().saturating_sub(1);
        let turn = match allowance {
            Allowance::Turns(count) => {
                self.turns.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX))
            }
            Allowance::Overdrawn => last,
            Allowance::Events(_) | Allowance::Tokens(_) => {
                let mut step = 1_usize;
                while step <= last && self.turns.get(last.saturating_sub(step)).is_some_and(fits) {
                    step = step.saturating_mul(2);
                }
                let from = last.saturating_sub(step);
                let tail = self.turns.get(from..).unwrap_or_default();
                from.saturating_add(tail.partition_point(|turn| !fits(turn))).min(last)
            }
        };
        self.turns.get(turn).map_or(0, |turn| turn.start)
    }

    /// The number of turns.
    pub fn turn_count(&self) -> usize {
        self.turns.len()
    }
}

impl<E> View<E> {
    /// The events in order.
    pub fn events(&self) -> &[E] {
        &self.events
    }

    /// Gives the events back.
    pub fn into_events(self) -> Vec<E> {
        self.events
    }

    /// Where the event of an id stands.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.positions.get(id).copied()
    }

    /// What the whole view weighs, in tokens, synthetic events included.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }
}

/// Refuses a view with a message that has no weight, where a budget has to be kept.
///
/// # Errors
///
/// The first such message.
pub fn require_weights(view: &[Event]) -> Result<(), InvalidView> {
    match view.iter().enumerate().find(|(_, event)| event.tokens().is_none()) {
        Some((position, event)) => Err(InvalidView::MissingWeight { id: event.id.clone(), position }),
        None => Ok(()),
    }
}

/// Why events make no view.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidView {
    /// The same id twice, at these positions
    DuplicateId {
        /// The id
        id: EventId,
        /// Where it stands first
        first: usize,
        /// Where it stands again
        second: usize,
    },
    /// A message without a weight under a budget
    MissingWeight {
        /// The event
        id: EventId,
        /// Its position
        position: usize,
    },
    /// More weight than can be summed exactly everywhere
    TooHeavy {
        /// The event that takes it over
        id: EventId,
        /// Its position
        position: usize,
        /// The sum with it
        tokens: u64,
    },
}

impl fmt::Display for InvalidView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateId { id, first, second } => {
                write!(
                    f,
                    "id `{id}` stands at position {first} and again at {second}, expected every id once"
                )
            }
            Self::MissingWeight { id, position } => {
                write!(
                    f,
                    "event `{id}` at position {position} has no weight, which a token budget needs: give it `tokens`"
                )
            }
            Self::TooHeavy { id, position, tokens } => write!(
                f,
                "event `{id}` at position {position} takes the view to {tokens} tokens, expected {MAX_SIZE} at most"
            ),
        }
    }
}

impl core::error::Error for InvalidView {}
