//! A script: what is asked of a subject, in order. Every case of the suite is one, be it a single pass, two passes
//! that have to agree, or the life of a session; [`notation`](crate::notation) writes it as text.

use turnfold_core::{Event, Window, session::Trigger};

use crate::protocol::{Checked, Said, Stamp};

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A pass over a view
    Pass(Pass),
    /// The same pass over the view that the last one left
    Again,
    /// Start the session from a stored log
    Open(Checked<Vec<Event>>),
    /// Append one event
    Append(Event),
    /// Append a batch at the version the log is at
    Batch(Vec<Event>),
    /// Append a batch at the version the log was opened at
    StaleBatch(Vec<Event>),
    /// Compact the session
    Compact(SessionPass),
    /// Look at the session's view
    View,
    /// Look at the session's log
    Log,
}

/// A pass over a view.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// The view
    pub view: Checked<Vec<Event>>,
    /// How much stays
    pub window: Checked<Window>,
    /// What the summarizer says, if there is one
    pub summarizer: Option<Said>,
}

/// A pass over the session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionPass {
    /// How much stays
    pub window: Checked<Window>,
    /// When it is run; always, if left out
    pub trigger: Option<Checked<Trigger>>,
    /// What the summarizer says, if there is one
    pub summarizer: Option<Said>,
    /// What somebody appends while the summarizer runs
    pub during: Vec<Event>,
    /// What somebody appends between the pass's first read and its second
    pub between: Vec<Event>,
    /// What it writes with; numbered by the run, if left out
    pub stamp: Option<Stamp>,
}

/// What is asked, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script(pub Vec<Op>);

impl Script {
    /// A script of one pass.
    pub fn pass(view: Vec<Event>, window: Window, summarizer: Option<Said>) -> Self {
        Self(vec![Op::Pass(Pass { view: view.into(), window: window.into(), summarizer })])
    }

    /// Whether it asks for a session.
    pub fn is_session(&self) -> bool {
        !self.0.iter().all(|op| matches!(op, Op::Pass(_) | Op::Again))
    }

    /// Whether the suite has to hold the log, to act between two reads.
    pub fn is_held(&self) -> bool {
        self.compacts().any(|compact| !compact.between.is_empty())
    }

    /// Whether somebody appends while a summarizer runs.
    pub fn is_raced(&self) -> bool {
        self.compacts().any(|compact| !compact.during.is_empty())
    }

    /// Whether a summarizer is asked for.
    pub fn is_summarizing(&self) -> bool {
        self.0.iter().any(|op| match op {
            Op::Pass(pass) => pass.summarizer.is_some(),
            Op::Compact(compact) => compact.summarizer.is_some(),
            _ => false,
        })
    }

    /// The windows asked for, as far as they can be made.
    pub fn windows(&self) -> impl Iterator<Item = Window> {
        self.0.iter().filter_map(|op| match op {
            Op::Pass(pass) => pass.window.get().ok().copied(),
            Op::Compact(compact) => compact.window.get().ok().copied(),
            _ => None,
        })
    }

    /// How many events it speaks of: the measure by which one counterexample is smaller than another.
    pub fn event_count(&self) -> usize {
        self.0.iter().map(Op::event_count).sum()
    }

    fn compacts(&self) -> impl Iterator<Item = &SessionPass> {
        self.0.iter().filter_map(|op| match op {
            Op::Compact(compact) => Some(compact),
            _ => None,
        })
    }
}

impl Op {
    fn event_count(&self) -> usize {
        match self {
            Self::Pass(pass) => pass.view.get().map_or(1, Vec::len),
            Self::Open(log) => log.get().map_or(1, Vec::len),
            Self::Append(_) => 1,
            Self::Batch(events) | Self::StaleBatch(events) => events.len(),
            Self::Compact(compact) => compact.during.len() + compact.between.len(),
            Self::Again | Self::View | Self::Log => 0,
        }
    }
}
