//! One pass: a plan over a view, and the outcome it concludes to once a summarizer has spoken.
//! The whole file is pure; what a pass writes is `session`'s business.

use alloc::{string::String, vec::Vec};

use crate::{
    cut::{self, Allowance},
    event::{Role, ViewEvent},
    layout::{Kind, Layout, Place},
    summarizer::{Strategy, Summarizer, Summary, SummaryRequest},
    window::Window,
};

/// Why a pass leaves a view as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unchanged {
    /// No turn to cut at
    NoTurn,
    /// The newest turn is the only one
    SingleTurn,
    /// The turns fit the window
    Fits,
    /// The summarizer returned nothing
    Declined,
}

impl Unchanged {
    /// The reason in a word, as on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoTurn => "no-turn",
            Self::SingleTurn => "single-turn",
            Self::Fits => "fits",
            Self::Declined => "declined",
        }
    }
}

/// What a pass would do, as positions in the view it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Plan {
    /// Nothing
    Unchanged(Unchanged),
    /// Cut
    Cut(Cut),
}

/// A plan that cuts: every event of the view has one [`Place`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    system_prompt: Option<usize>,
    first_turn: usize,
    at: usize,
    window: Window,
    summarizing: bool,
}

/// Plans a pass over a view in one look at its roles and flags; weights are read for a token window alone.
///
/// It allocates nothing and can't fail. `summarizing` says whether a summarizer will be asked.
///
/// ```
/// use turnfold_core::{Event, Plan, Role, Unchanged, Window, plan};
///
/// let view = [Event::message("e1", Role::User, "hi")];
/// assert_eq!(plan(&view, Window::last_turns(1)?, false), Plan::Unchanged(Unchanged::SingleTurn));
/// # Ok::<(), turnfold_core::InvalidWindow>(())
/// ```
pub fn plan<E: ViewEvent>(view: &[E], window: Window, summarizing: bool) -> Plan {
    let layout = Layout::of(view); // rule: pass.blind
    Plan::of(&layout, window, summarizing, |first_turn, allowance| {
        cut::by_steps(view, first_turn, layout.newest_turn, allowance)
    })
}

impl Plan {
    /// The plan of a layout; `cut_at` finds the cut from the first turn and what the window allows.
    pub(crate) fn of(
        layout: &Layout,
        window: Window,
        summarizing: bool,
        cut_at: impl FnOnce(usize, Allowance) -> usize,
    ) -> Self {
        let first_turn = match layout.first_of_many() {
            Ok(first_turn) => first_turn,
            Err(unchanged) => return Self::Unchanged(unchanged), // rule: pin.superseded-stays
        };
        let at = cut_at(first_turn, Allowance::of(window, || layout.pinned_tokens(summarizing)));
        if at == first_turn {
            return Self::Unchanged(Unchanged::Fits); // rule: write.fits rule: pass.idempotent
        }
        Self::Cut(Cut { system_prompt: layout.system_prompt, first_turn, at, window, summarizing })
    }

    /// What the summarizer is to be handed; `None` when none is to be called.
    pub fn request<'v, E: ViewEvent>(&self, view: &'v [E]) -> Option<SummaryRequest<'v, E>> {
        match self {
            Self::Cut(cut) if cut.summarizing => Some(cut.request(view)), // rule: summary.once
            Self::Cut(_) | Self::Unchanged(_) => None,
        }
    }

    /// The outcome. `reply` is what the summarizer returned; it is only read where [`Plan::request`] asked for one.
    ///
    /// `view` must be the view the plan was made for; with another one the places are that one's, without a panic.
    pub fn conclude<'v, E: ViewEvent>(&self, view: &'v [E], reply: Option<Summary>) -> Outcome<'v, E> {
        match self {
            Self::Unchanged(reason) => Outcome::unchanged(view, *reason),
            Self::Cut(cut) => cut.conclude(view, reply),
        }
    }
}

impl Cut {
    /// Where an event of the view goes.
    pub fn place<E: ViewEvent>(&self, position: usize, event: &E) -> Place {
        match Kind::of(event) {
            Kind::Synthetic if self.summarizing => Place::HandedSummary, // rule: summary.prior-handed
            Kind::Synthetic => Place::CarriedSummary,                    // rule: pin.summary-carried
            Kind::System if self.system_prompt == Some(position) => Place::SystemPrompt, // rule: pin.system-prompt
            Kind::System => Place::Superseded, // rule: pin.superseded-leaves
            _ if position < self.first_turn => Place::Preamble, // rule: pin.preamble
            _ if position < self.at => Place::Covered, // rule: cut.leaves
            _ => Place::Preserved,             // rule: turn.newest rule: turn.whole rule: result.suffix
        }
    }

    /// The first position that stays with its turn.
    pub const fn at(&self) -> usize {
        self.at
    }

    fn placed<'v, E: ViewEvent>(&self, view: &'v [E], place: Place) -> impl Iterator<Item = &'v E> {
        let cut = *self;
        view.iter()
            .enumerate()
            .filter(move |(at, event)| cut.place(*at, *event) == place)
            .map(|(_, event)| event)
    }

    fn request<'v, E: ViewEvent>(&self, view: &'v [E]) -> SummaryRequest<'v, E> {
        // rule: summary.input rule: summary.input-only rule: summary.system-free
        SummaryRequest { prior: self.prior_text(view), events: self.placed(view, Place::Covered).collect() }
    }

    /// rule: summary.prior-text
    fn prior_text<E: ViewEvent>(&self, view: &[E]) -> Option<String> {
        let mut prior = self.placed(view, Place::HandedSummary).peekable();
        prior.peek()?;
        let texts: Vec<_> = prior.filter(|event| event.role() != Role::User).map(ViewEvent::text).collect();
        Some(texts.join("\n"))
    }

    fn conclude<'v, E: ViewEvent>(&self, view: &'v [E], reply: Option<Summary>) -> Outcome<'v, E> {
        let summary = reply.filter(|_| self.summarizing).filter(|summary| !summary.text.trim().is_empty()); // rule: summary.blank
        if self.summarizing && summary.is_none() {
            return Outcome::unchanged(view, Unchanged::Declined); // rule: summary.decline
        }
        let (mut pinned, mut carried, mut covered, mut preserved) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (position, event) in view.iter().enumerate() {
            // rule: result.partition
            match self.place(position, event) {
                Place::SystemPrompt => pinned.insert(0, event), // there is one, wherever it stood
                Place::Preamble => pinned.push(event),
                Place::CarriedSummary => carried.push(event),
                Place::Superseded | Place::HandedSummary | Place::Covered => covered.push(event), // rule: result.covered-order
                Place::Preserved => preserved.push(event),
            }
        }
        pinned.append(&mut carried); // rule: pin.order
        let summary_tokens = summary.as_ref().map_or(0, |summary| u64::from(summary.tokens)); // rule: window.summary-uncharged
        let kept = weight(&pinned).saturating_add(summary_tokens).saturating_add(weight(&preserved));
        let overshoot = match self.window {
            Window::Tokens(budget) => kept.saturating_sub(budget.get()), // rule: result.overshoot
            Window::Events(_) | Window::Turns(_) => 0,
        };
        let saved = signed(weight(&covered)).saturating_sub(signed(summary_tokens)); // rule: result.saved rule: result.saved-signed
        Outcome { pinned, covered, preserved, summary, saved, overshoot, unchanged: None }
    }
}

/// What a pass did. The next view is pinned, then the summary turn, then preserved.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Outcome<'v, E> {
    /// First in the next view: system prompt, preamble, carried summary
    pub pinned: Vec<&'v E>,
    /// What left the view, in view order
    pub covered: Vec<&'v E>,
    /// Last in the next view; the whole view when unchanged
    pub preserved: Vec<&'v E>,
    /// Stands between them
    pub summary: Option<Summary>,
    /// Weight of the covered events less that of the summary turn; below zero for a summary that outweighs them
    pub saved: i64,
    /// By how much the next view outweighs the budget of a token window
    pub overshoot: u64,
    /// Why nothing changed; `None` after a cutting pass
    pub unchanged: Option<Unchanged>,
}

impl<'v, E> Outcome<'v, E> {
    fn unchanged(view: &'v [E], reason: Unchanged) -> Self {
        Self {
            pinned: Vec::new(),
            covered: Vec::new(),
            preserved: view.iter().collect(), // rule: result.next-view rule: result.verbatim
            summary: None,
            saved: 0,
            overshoot: 0,
            unchanged: Some(reason),
        }
    }
}

fn weight<E: ViewEvent>(events: &[&E]) -> u64 {
    events.iter().fold(0, |sum, event| sum.saturating_add(event.weight().into()))
}

fn signed(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX)
}

/// Runs a pass: plans, asks the summarizer if the plan cuts, concludes.
///
/// # Errors
///
/// The summarizer's own, and nothing else.
///
/// ```
/// use turnfold_core::{Event, Role, Strategy, Summary, SummaryRequest, Window, compact};
///
/// let view: Vec<_> = (1..=4).map(|n| Event::message(format!("e{n}"), Role::User, format!("q{n}"))).collect();
/// let count = |request: &SummaryRequest<'_, Event>| {
///     Ok::<_, std::io::Error>(Some(Summary { text: format!("{} questions", request.events.len()), tokens: 2 }))
/// };
/// let outcome = compact(&view, &mut Strategy::new(Window::last_turns(1)?).summarizing(count))?;
/// assert_eq!(outcome.summary.unwrap().text, "3 questions");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compact<'v, E: ViewEvent, S: Summarizer<E>>(
    view: &'v [E],
    strategy: &mut Strategy<S>,
) -> Result<Outcome<'v, E>, S::Error> {
    let plan = plan(view, strategy.window, strategy.summarizer.is_some());
    let reply = match (plan.request(view), &mut strategy.summarizer) {
        (Some(request), Some(summarizer)) => summarizer.summarize(&request)?, // rule: summary.failure
        _ => None,
    };
    Ok(plan.conclude(view, reply))
}
