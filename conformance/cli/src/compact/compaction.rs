//! One dialogue compacted: where each event went, and the numbers before and after.

use std::borrow::Cow;

use turnfold_core::{
    Event, Identified, InvalidView, Outcome, Place, Plan, Role, Unchanged, View, ViewEvent, Window,
};

use crate::compact::{dialogue::Dialogue, weigh::Tokenizer};

/// An event as it came, with the weight it is judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed<'d> {
    /// The event
    pub(crate) event: &'d Event,
    /// Its weight
    pub(crate) tokens: u32,
}

impl ViewEvent for Weighed<'_> {
    fn role(&self) -> Role {
        self.event.role()
    }
    fn is_synthetic(&self) -> bool {
        self.event.is_synthetic()
    }
    fn weight(&self) -> u32 {
        self.tokens
    }
    fn text(&self) -> Cow<'_, str> {
        self.event.text()
    }
}

impl Identified for Weighed<'_> {
    fn id(&self) -> &str {
        self.event.id()
    }
}

impl Weighed<'_> {
    /// Whether a turn starts here.
    pub(crate) fn is_turn_start(&self) -> bool {
        !self.is_synthetic() && self.role() == Role::User
    }

    /// Whether it is a system message, and not a summary's half.
    pub(crate) fn is_system(&self) -> bool {
        !self.is_synthetic() && self.role() == Role::System
    }

    /// Whether it is of the preamble or the body.
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_synthetic() && self.role() != Role::System
    }
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Size {
    /// Turns
    pub(crate) turns: usize,
    /// Events
    pub(crate) events: usize,
    /// Weight
    pub(crate) tokens: u64,
}

impl Size {
    /// Of these events.
    pub(crate) fn of<'e, 'd: 'e>(events: impl IntoIterator<Item = &'e Weighed<'d>>) -> Self {
        let mut size = Self::default();
        for event in events {
            size.turns = size.turns.saturating_add(usize::from(event.is_turn_start()));
            size.events = size.events.saturating_add(1);
            size.tokens = size.tokens.saturating_add(event.tokens.into());
        }
        size
    }

    /// Both together.
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            events: self.events.saturating_add(other.events),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

/// A dialogue and what a pass does with it.
#[derive(Debug)]
pub(crate) struct Compaction<'d> {
    /// The dialogue
    pub(crate) dialogue: &'d Dialogue,
    /// What weighs events that carry no weight
    pub(crate) tokenizer: Tokenizer,
    /// The window
    pub(crate) window: Window,
    /// The view before
    pub(crate) view: Vec<Weighed<'d>>,
    /// Where each event of it goes; preserved, all of them, when nothing changes
    pub(crate) places: Vec<Place>,
    /// The position of the first event that stays with its turn, where the pass cuts
    pub(crate) cut: Option<usize>,
    /// Why nothing changes, where it doesn't
    pub(crate) unchanged: Option<Unchanged>,
    /// By how much the next view outweighs the budget
    pub(crate) overshoot: u64,
    pinned: Vec<usize>,
}

impl<'d> Compaction<'d> {
    /// Weighs a dialogue and compacts it.
    ///
    /// # Errors
    ///
    /// A view that none can be: an id twice, or too heavy.
    pub(crate) fn of(
        dialogue: &'d Dialogue,
        tokenizer: Tokenizer,
        window: Window,
    ) -> Result<Self, InvalidView> {
        let weighed = |event: &'d Event| Weighed { event, tokens: tokenizer.weigh(event) };
        let view = View::from_events(dialogue.events.iter().map(weighed).collect())?;
        let plan = view.plan(window, false);
        let view = view.into_events();
        let outcome = plan.conclude(&view, None);
        let (cut, places) = match plan {
            Plan::Cut(cut) => {
                (Some(cut.at()), view.iter().enumerate().map(|(at, event)| cut.place(at, event)).collect())
            }
            Plan::Unchanged(_) => (None, vec![Place::Preserved; view.len()]),
        };
        let (unchanged, overshoot) = (outcome.unchanged, outcome.overshoot);
        let pinned = positions(&view, &outcome);
        Ok(Self { dialogue, tokenizer, window, view, places, cut, unchanged, overshoot, pinned })
    }

    /// Each event with its position from 0 and its place.
    pub(crate) fn placed(&self) -> impl Iterator<Item = (usize, &Weighed<'d>, Place)> {
        self.view.iter().zip(&self.places).enumerate().map(|(at, (event, place))| (at, event, *place))
    }

    /// The pinned events in the order of the next view, with their positions.
    pub(crate) fn pinned(&self) -> impl Iterator<Item = (usize, &Weighed<'d>)> {
        self.pinned.iter().filter_map(|at| Some((*at, self.view.get(*at)?)))
    }

    /// The covered events in the order of the view, with their positions.
    pub(crate) fn covered(&self) -> impl Iterator<Item = (usize, &Weighed<'d>)> {
        self.placed().filter(|(_, _, place)| is_covered(*place)).map(|(at, event, _)| (at, event))
    }

    /// The preserved events, with their positions.
    pub(crate) fn preserved(&self) -> impl Iterator<Item = (usize, &Weighed<'d>)> {
        self.placed().filter(|(_, _, place)| *place == Place::Preserved).map(|(at, event, _)| (at, event))
    }

    /// The next view.
    pub(crate) fn next_view(&self) -> impl Iterator<Item = &Weighed<'d>> {
        self.pinned().chain(self.preserved()).map(|(_, event)| event)
    }

    /// How much there was.
    pub(crate) fn before(&self) -> Size {
        Size::of(&self.view)
    }

    /// How much there is in the next view.
    pub(crate) fn after(&self) -> Size {
        Size::of(self.next_view())
    }

    /// How much is covered.
    pub(crate) fn covered_size(&self) -> Size {
        Size::of(self.covered().map(|(_, event)| event))
    }
}

/// Where the pinned events of an outcome stand in its view.
fn positions(view: &[Weighed<'_>], outcome: &Outcome<'_, Weighed<'_>>) -> Vec<usize> {
    let at = |pinned: &&Weighed<'_>| view.iter().position(|event| std::ptr::eq(event, *pinned));
    outcome.pinned.iter().filter_map(at).collect()
}

/// Whether an event of this place leaves the view.
pub(crate) fn is_covered(place: Place) -> bool {
    matches!(place, Place::Covered | Place::Superseded | Place::HandedSummary)
}

/// Whether an event of this place is pinned.
pub(crate) fn is_pinned(place: Place) -> bool {
    matches!(place, Place::SystemPrompt | Place::Preamble | Place::CarriedSummary)
}

/// The place in words.
pub(crate) const fn place_name(place: Place) -> &'static str {
    match place {
        Place::SystemPrompt => "pinned: system prompt",
        Place::Preamble => "pinned: preamble",
        Place::CarriedSummary => "pinned: prior summary",
        Place::Superseded => "covered: superseded",
        Place::HandedSummary => "covered: prior summary",
        Place::Covered => "covered",
        Place::Preserved => "preserved",
    }
}

/// Why a pass leaves a view as it is, in words.
pub(crate) const fn why_unchanged(reason: Unchanged) -> &'static str {
    match reason {
        Unchanged::NoTurn => "no user message starts a turn, so there is nothing to cut at",
        Unchanged::SingleTurn => "there is one turn, and the newest turn always stays",
        Unchanged::Fits => "the turns fit the window",
        Unchanged::Declined => "the summarizer returned nothing",
    }
}
