//! The layout of a view: which event is the system prompt, where the turns begin, what a pass pins.
//! Where the cut falls among the turns is `cut`'s business.

use crate::{
    event::{Role, ViewEvent},
    pass::Unchanged,
};

/// What an event is by itself, whatever stands around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Written by a compaction
    Synthetic,
    /// A system message
    System,
    /// Begins a turn
    TurnStart,
    /// Anything else: preamble or inside a turn
    Other,
}

impl Kind {
    pub(crate) fn of<E: ViewEvent>(event: &E) -> Self {
        if event.is_synthetic() {
            Self::Synthetic // rule: synthetic.over-role
        } else if event.role() == Role::System {
            Self::System
        } else if event.starts_turn() {
            Self::TurnStart // rule: turn.consecutive
        } else {
            Self::Other
        }
    }

    /// Whether it stands in the preamble or the body.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::TurnStart | Self::Other)
    }
}

/// Where a cutting pass puts an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Pinned first: the latest system message
    SystemPrompt,
    /// Pinned after it: an event before the first turn
    Preamble,
    /// Pinned last: the prior summary, without a summarizer
    CarriedSummary,
    /// Covered: an earlier system message
    Superseded,
    /// Covered: the prior summary, with a summarizer
    HandedSummary,
    /// Covered: an event of a turn before the cut
    Covered,
    /// Preserved: an event of a turn after the cut
    Preserved,
}

/// What one look at a view tells.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) system_prompt: Option<usize>,
    pub(crate) first_turn: Option<usize>,
    pub(crate) newest_turn: usize,
    system_tokens: u64,
    preamble_tokens: u64,
    synthetic_tokens: u64,
}

impl Layout {
    /// Reads a view once, front to back.
    pub(crate) fn of<E: ViewEvent>(view: &[E]) -> Self {
        let mut layout = Self::default();
        for (position, event) in view.iter().enumerate() {
            layout.read(position, Kind::of(event), event);
        }
        layout
    }

    /// Takes in the next event.
    pub(crate) fn read<E: ViewEvent>(&mut self, position: usize, kind: Kind, event: &E) {
        match kind {
            Kind::TurnStart => {
                self.first_turn.get_or_insert(position);
                self.newest_turn = position;
            }
            Kind::System => {
                self.system_prompt = Some(position);
                self.system_tokens = event.weight().into();
            }
            // rule: synthetic.all
            Kind::Synthetic => {
                self.synthetic_tokens = self.synthetic_tokens.saturating_add(event.weight().into());
            }
            Kind::Other if self.first_turn.is_none() => {
                self.preamble_tokens = self.preamble_tokens.saturating_add(event.weight().into());
            }
            Kind::Other => {}
        }
    }

    /// The first turn start of a view that can be cut.
    pub(crate) fn first_of_many(&self) -> Result<usize, Unchanged> {
        match self.first_turn {
            None => Err(Unchanged::NoTurn), // rule: write.no-turn
            Some(only) if only == self.newest_turn => Err(Unchanged::SingleTurn), // rule: write.single-turn
            Some(first) => Ok(first),
        }
    }

    /// What the pinned events weigh. With a summarizer the prior summary isn't pinned.
    pub(crate) fn pinned_tokens(&self, summarizing: bool) -> u64 {
        let carried = if summarizing { 0 } else { self.synthetic_tokens }; // rule: window.prior-uncharged
        self.system_tokens.saturating_add(self.preamble_tokens).saturating_add(carried)
    }
}
