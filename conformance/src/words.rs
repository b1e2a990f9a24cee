//! The words of the spec over a view, each from its own sentence in the glossary. Properties speak in them; none of
//! it is shared with the implementation that `turnfold-core` is.

use std::{collections::HashMap, ops::Range};

use turnfold_core::{Event, Message, Role, Value, Window, session::Trigger};

/// Whether a compaction wrote an event: its flag is boolean `true`.
pub fn is_synthetic(event: &Event) -> bool {
    event.metadata.get("synthetic") == Some(&Value::Bool(true))
}

fn message(event: &Event) -> Option<&Message> {
    event.as_message()
}

/// What an event weighs, 0 where it has no weight.
pub fn weight(event: &Event) -> i128 {
    message(event).and_then(|message| message.tokens).unwrap_or(0).into()
}

/// What events weigh together.
pub fn weigh<'e>(events: impl IntoIterator<Item = &'e Event>) -> i128 {
    events.into_iter().map(weight).sum()
}

/// How a window charges. The default is the spec's reading; the others are the readings it could be confused with.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one reading, and readings combine")]
pub struct Charges {
    /// Superseded system messages take slots and tokens
    pub superseded: bool,
    /// The prior summary comes off a budget though a summarizer will replace it
    pub prior: bool,
    /// What the new summary weighs
    pub summary: u32,
    /// Pinned events take slots
    pub pinned_slots: bool,
    /// Only less than the size fits
    pub exclusive: bool,
    /// A negative allowance counts as none left, which weight 0 fits
    pub clamped: bool,
}

/// A view with its words.
#[derive(Clone, Debug)]
pub struct Words<'v> {
    /// The view
    pub view: &'v [Event],
    /// Where the system prompt stands
    pub system_prompt: Option<usize>,
    /// Where turns start
    pub turn_starts: Vec<usize>,
}

impl<'v> Words<'v> {
    /// Reads a view.
    pub fn of(view: &'v [Event]) -> Self {
        let mut words = Self { view, system_prompt: None, turn_starts: Vec::new() };
        for at in 0..view.len() {
            match words.role(at) {
                Some(Role::System) => words.system_prompt = Some(at),
                Some(Role::User) => words.turn_starts.push(at),
                Some(Role::Assistant | Role::Tool) | None => {}
            }
        }
        words
    }

    /// Who speaks at a position; `None` for a synthetic event, which speaks for nobody.
    fn role(&self, at: usize) -> Option<Role> {
        self.view.get(at).filter(|event| !is_synthetic(event)).and_then(message).map(|message| message.role)
    }

    /// Whether a system message stands there.
    pub fn is_system(&self, at: usize) -> bool {
        self.role(at) == Some(Role::System)
    }

    /// Whether a superseded system message stands there.
    pub fn is_superseded(&self, at: usize) -> bool {
        self.is_system(at) && self.system_prompt != Some(at)
    }

    /// Whether part of the prior summary stands there.
    pub fn is_prior(&self, at: usize) -> bool {
        self.view.get(at).is_some_and(is_synthetic)
    }

    fn is_plain(&self, at: usize) -> bool {
        at < self.view.len() && !self.is_system(at) && !self.is_prior(at)
    }

    /// Whether a body event stands there.
    pub fn is_body(&self, at: usize) -> bool {
        self.is_plain(at) && self.turn_starts.first().is_some_and(|&first| first <= at)
    }

    /// Whether a preamble event stands there.
    pub fn is_preamble(&self, at: usize) -> bool {
        self.is_plain(at) && !self.is_body(at)
    }

    /// The positions for which a word holds.
    pub fn positions(&self, word: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        (0..self.view.len()).filter(|&at| word(self, at)).collect()
    }

    /// The events for which a word holds.
    pub fn events(&self, word: impl Fn(&Self, usize) -> bool) -> Vec<&'v Event> {
        self.positions(word).into_iter().filter_map(|at| self.view.get(at)).collect()
    }

    /// The turns, each from its start to the next one's; system and synthetic events in it aren't its own.
    pub fn turns(&self) -> Vec<Range<usize>> {
        let ends = self.turn_starts.iter().skip(1).copied().chain([self.view.len()]);
        self.turn_starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
    }

    /// The start of the newest turn.
    pub fn newest(&self) -> Option<usize> {
        self.turn_starts.last().copied()
    }

    /// What is pinned, in tokens.
    pub fn pinned_weight(&self, summarizing: bool) -> i128 {
        let prompt = self.system_prompt.and_then(|at| self.view.get(at)).map_or(0, weight);
        let carried = if summarizing { 0 } else { weigh(self.events(Self::is_prior)) };
        prompt + weigh(self.events(Self::is_preamble)) + carried
    }

    /// What the suffix from a turn start costs in a window, and how much the window allows.
    pub fn cost(&self, start: usize, window: Window, summarizing: bool, charges: Charges) -> (i128, i128) {
        let suffix = self.positions(|words, at| {
            at >= start && (words.is_body(at) || charges.superseded && words.is_superseded(at))
        });
        let pinned = |words: &Self| {
            words.positions(|words, at| {
                words.is_preamble(at) || words.system_prompt == Some(at) || !summarizing && words.is_prior(at)
            })
        };
        let slots = |count: usize| i128::try_from(count).unwrap_or(i128::MAX);
        let size = i128::from(window.size());
        match window {
            Window::Events(_) => {
                let taken = if charges.pinned_slots { pinned(self).len() } else { 0 };
                (slots(suffix.len()), size - slots(taken))
            }
            Window::Turns(_) => {
                let taken = if charges.pinned_slots { pinned(self).len().min(1) } else { 0 };
                (slots(self.turn_starts.iter().filter(|&&at| at >= start).count()), size - slots(taken))
            }
            Window::Tokens(_) => {
                let prior = if charges.prior && summarizing { weigh(self.events(Self::is_prior)) } else { 0 };
                let allowed = size - self.pinned_weight(summarizing) - prior - i128::from(charges.summary);
                let allowed = if charges.clamped { allowed.max(0) } else { allowed };
                (suffix.iter().filter_map(|&at| self.view.get(at)).map(weight).sum(), allowed)
            }
        }
    }

    /// Whether the suffix from a turn start fits.
    pub fn fits(&self, start: usize, window: Window, summarizing: bool, charges: Charges) -> bool {
        let (cost, allowed) = self.cost(start, window, summarizing, charges);
        if charges.exclusive { cost < allowed } else { cost <= allowed }
    }

    /// The cut: the smallest turn start whose suffix fits, else the newest turn's.
    pub fn cut(&self, window: Window, summarizing: bool, charges: Charges) -> Option<usize> {
        let fits = |&&start: &&usize| self.fits(start, window, summarizing, charges);
        self.turn_starts.iter().find(fits).copied().or_else(|| self.newest())
    }

    /// The text of the prior summary: of its non-user parts, in view order, a line each.
    pub fn prior_text(&self) -> Option<String> {
        let prior = self.events(Self::is_prior);
        let said = |event: &&&Event| message(event).is_some_and(|message| message.role != Role::User);
        let texts: Vec<&str> = prior
            .iter()
            .filter(said)
            .filter_map(|event| message(event))
            .map(|message| message.text.as_str())
            .collect();
        (!prior.is_empty()).then(|| texts.join("\n"))
    }

    /// Whether a trigger fires.
    pub fn fires(&self, trigger: &Trigger) -> bool {
        match trigger {
            Trigger::Always => true,
            Trigger::Turns(size) => self.turn_starts.len() as u64 > size.get(),
            Trigger::Tokens(size) => weigh(self.view) >= i128::from(size.get()),
            Trigger::Any(any) => any.triggers().iter().any(|trigger| self.fires(trigger)),
        }
    }

    /// The view that a log defines.
    ///
    /// # Errors
    ///
    /// What is wrong with its newest boundary.
    pub fn view_of(log: &[Event]) -> Result<Vec<Event>, String> {
        let at = log.iter().rposition(|event| event.as_boundary().is_some());
        let Some((at, boundary)) = at.and_then(|at| Some((at, log.get(at)?))) else {
            return Ok(log.iter().filter(|event| message(event).is_some()).cloned().collect());
        };
        let (before, after) = (log.get(..at).unwrap_or_default(), log.get(at + 1..).unwrap_or_default());
        let known: HashMap<&str, &Event> = before.iter().map(|event| (event.id.as_str(), event)).collect();
        let named = |ids: &[turnfold_core::EventId]| {
            ids.iter()
                .map(|id| match known.get(id.as_str()) {
                    Some(event) if message(event).is_some() => Ok((*event).clone()),
                    _ => Err(format!("`{}` names `{id}`, no message logged before it", boundary.id)),
                })
                .collect::<Result<Vec<Event>, String>>()
        };
        let (mut view, preserved) = match boundary.as_boundary() {
            Some(names) => (named(&names.pinned)?, named(&names.preserved)?),
            None => (Vec::new(), Vec::new()),
        };
        let own = |event: &&Event| is_synthetic(event) && belongs_to(event, boundary.id.as_str());
        let summary = after.iter().take_while(own).count();
        view.extend(after.iter().take(summary).cloned());
        view.extend(preserved);
        view.extend(after.iter().skip(summary).filter(|event| message(event).is_some()).cloned());
        Ok(view)
    }
}

/// Whether an event says it was written with a boundary.
pub fn belongs_to(event: &Event, boundary: &str) -> bool {
    matches!(event.metadata.get("boundary"), Some(Value::String(id)) if id == boundary)
}
