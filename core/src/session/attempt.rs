//! One attempt to compact a session: read, plan, ask, write if nobody appended meanwhile.

use alloc::{vec, vec::Vec};
use core::fmt;

use crate::{
    event::{Boundary, Content, Event, EventId, Role},
    pass::{Outcome, Plan, Unchanged},
    session::{
        log::{Refused, SessionLog, Version},
        trigger::Trigger,
        view::{CorruptLog, Corruption},
    },
    summarizer::{Strategy, Summarizer, Summary, SummaryRequest},
    view::{InvalidView, View, require_weights},
    window::Window,
};

/// The ids and the time a pass writes with: an input, so that a session can be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The boundary's id; the two halves of the summary are named after it
    pub boundary: EventId,
    /// The time of all three, in milliseconds since 1970-01-01T00:00:00Z
    pub time_ms: i64,
}

impl Stamped {
    /// A stamp. `boundary` must be new to the log, and so must `boundary.user` and `boundary.assistant`.
    pub fn new(boundary: impl Into<EventId>, time_ms: i64) -> Self {
        Self { boundary: boundary.into(), time_ms }
    }
}

/// A pass under way: it holds what was read, and nothing of the log, so that others may append.
///
/// The steps are apart for a caller that awaits its model: [`Attempt::begin`], [`Attempt::request`], the model,
/// [`Attempt::commit`]. [`compact`] is all of them, blocking.
#[derive(Clone, Debug)]
pub struct Attempt {
    version: Version,
    view: View<Event>,
    plan: Option<Plan>,
}

impl Attempt {
    /// Reads the log and plans.
    ///
    /// # Errors
    ///
    /// The store's, a corrupt log, or a message without weight where tokens are counted.
    pub fn begin<L: SessionLog>(
        log: &mut L,
        trigger: &Trigger,
        window: Window,
        summarizing: bool,
    ) -> Result<Self, CompactError<L::Error>> {
        let version = log.version().map_err(CompactError::Store)?; // rule: log.version-first
        let view = log.view().map_err(CompactError::from)?;
        let plan = if trigger.fires(&view).map_err(CompactError::View)? {
            if matches!(window, Window::Tokens(_)) {
                require_weights(view.events()).map_err(CompactError::View)?;
            }
            Some(view.plan(window, summarizing))
        } else {
            None // rule: trigger.gate
        };
        Ok(Self { version, view, plan })
    }

    /// The view that was read.
    pub fn view(&self) -> &View<Event> {
        &self.view
    }

    /// Whether the trigger fired.
    pub fn fired(&self) -> bool {
        self.plan.is_some()
    }

    /// What the summarizer is to be handed; `None` when none is to be called.
    pub fn request(&self) -> Option<SummaryRequest<'_, Event>> {
        self.plan?.request(self.view.events())
    }

    /// What the pass does with the view that was read; `None` when the trigger didn't fire.
    pub fn outcome(&self, reply: Option<Summary>) -> Option<Outcome<'_, Event>> {
        Some(self.plan?.conclude(self.view.events(), reply))
    }

    /// Writes what the pass did, if it did something and the log still is at the version read.
    ///
    /// # Errors
    ///
    /// The store's, or a stamp whose ids the log holds.
    pub fn commit<L: SessionLog>(
        &self,
        log: &mut L,
        reply: Option<Summary>,
        strategy: &str,
        stamp: &Stamped,
    ) -> Result<Compacted, CompactError<L::Error>> {
        let Some(outcome) = self.outcome(reply) else { return Ok(Compacted::NotTriggered) };
        if let Some(reason) = outcome.unchanged {
            return Ok(Compacted::Unchanged(reason));
        }
        let batch = batch(&outcome, strategy, stamp);
        let written = |version| Written {
            version,
            boundary: stamp.boundary.clone(),
            covered: ids(&outcome.covered),
            saved: outcome.saved,
            overshoot: outcome.overshoot,
        };
        match log.append_batch(batch, self.version).map_err(CompactError::Store)? {
            Ok(version) => Ok(Compacted::Written(written(version))),
            Err(Refused::Stale { .. }) => Ok(Compacted::Raced), // rule: log.race rule: log.race-told
            Err(Refused::Duplicate(id)) => Err(CompactError::StampUsed(id)),
        }
    }
}

/// The boundary, then the summary.
fn batch(outcome: &Outcome<'_, Event>, strategy: &str, stamp: &Stamped) -> Vec<Event> {
    let boundary = Boundary {
        strategy: strategy.into(),
        pinned: ids(&outcome.pinned),
        preserved: ids(&outcome.preserved), // rule: log.boundary-ids
        ..Boundary::default()
    };
    let mut event = Event::new(stamp.boundary.clone(), Content::Boundary(boundary)); // rule: log.boundary
    event.time_ms = Some(stamp.time_ms);
    let mut batch = vec![event];
    if let Some(summary) = &outcome.summary {
        batch.extend(summary.turn(strategy, stamp)); // rule: summary.stands-in
    }
    batch
}

impl Summary {
    /// The text of the user half of a summary turn, which weighs nothing.
    pub const OPENING: &'static str = "What happened in this conversation before?";

    /// The summary turn as events: user, then assistant.
    pub fn turn(&self, strategy: &str, stamp: &Stamped) -> [Event; 2] {
        let half = |role: Role, text: &str, tokens| {
            let id = alloc::format!("{}.{role}", stamp.boundary);
            let mut event = Event::message(id, role, text).weighing(tokens).synthetic();
            event.metadata.set(Event::STRATEGY, strategy);
            event.metadata.set(Event::BOUNDARY, stamp.boundary.as_str());
            event.time_ms = Some(stamp.time_ms); // rule: summary.same-time
            event
        };
        [half(Role::User, Self::OPENING, 0), half(Role::Assistant, &self.text, self.tokens)] // rule: summary.shape
    }
}

fn ids(events: &[&Event]) -> Vec<EventId> {
    events.iter().map(|event| event.id.clone()).collect()
}

/// What a cutting pass wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The log's version now
    pub version: Version,
    /// The boundary's id
    pub boundary: EventId,
    /// What left the view, in view order
    pub covered: Vec<EventId>,
    /// Tokens that left less tokens that came
    pub saved: i64,
    /// By how much the next view outweighs a token budget
    pub overshoot: u64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Compacted {
    /// A boundary was written
    Written(Written),
    /// The pass had nothing to say
    Unchanged(Unchanged),
    /// The trigger didn't fire; the strategy wasn't run
    NotTriggered,
    /// Somebody appended meanwhile; nothing was written, and trying again is the caller's decision
    Raced,
}

/// Runs one attempt, blocking on the summarizer, which may be called once.
///
/// # Errors
///
/// See [`CompactError`]. Nothing is written then.
pub fn compact<L: SessionLog, S: Summarizer<Event>>(
    log: &mut L,
    trigger: &Trigger,
    strategy: &mut Strategy<S>,
    stamp: &Stamped,
) -> Result<Compacted, CompactError<L::Error, S::Error>> {
    let attempt = Attempt::begin(log, trigger, strategy.window, strategy.summarizer.is_some())
        .map_err(CompactError::with_summarizer)?;
    let reply = match (attempt.request(), &mut strategy.summarizer) {
        (Some(request), Some(summarizer)) => {
            summarizer.summarize(&request).map_err(CompactError::Summarizer)?
        }
        _ => None,
    };
    attempt.commit(log, reply, &strategy.name, stamp).map_err(CompactError::with_summarizer)
}

/// Why an attempt failed. The log is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompactError<E, S = core::convert::Infallible> {
    /// The store failed
    Store(E),
    /// The log defines no view
    Log(Corruption),
    /// The view can't be weighed
    View(InvalidView),
    /// The summarizer failed
    Summarizer(S),
    /// An id of the stamp is in the log already
    StampUsed(EventId),
}

impl<E> CompactError<E> {
    fn with_summarizer<S>(self) -> CompactError<E, S> {
        match self {
            Self::Store(error) => CompactError::Store(error),
            Self::Log(corruption) => CompactError::Log(corruption),
            Self::View(invalid) => CompactError::View(invalid),
            Self::Summarizer(never) => match never {},
            Self::StampUsed(id) => CompactError::StampUsed(id),
        }
    }
}

impl<E> From<CorruptLog<E>> for CompactError<E> {
    fn from(error: CorruptLog<E>) -> Self {
        match error {
            CorruptLog::Store(error) => Self::Store(error),
            CorruptLog::Log(corruption) => Self::Log(corruption),
        }
    }
}

impl<E: fmt::Display, S: fmt::Display> fmt::Display for CompactError<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => write!(f, "the log can't be used: {error}"),
            Self::Log(corruption) => write!(f, "the log is corrupt: {corruption}"),
            Self::View(invalid) => write!(f, "the view is invalid: {invalid}"),
            Self::Summarizer(error) => write!(f, "the summarizer failed: {error}"),
            Self::StampUsed(id) => {
                write!(f, "id `{id}` of the stamp is in the log already, expected a new one")
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display, S: fmt::Debug + fmt::Display> core::error::Error for CompactError<E, S> {}
