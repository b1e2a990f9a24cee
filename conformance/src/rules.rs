//! The properties: for every rule of the spec, a check of its own sentence on what was seen.
//!
//! A property reads a transcript and never an implementation's inside, so that whatever one implementation can prove
//! another can prove. It says nothing of what the rule says nothing of: a case may be silent about a rule.

mod cut;
mod log;
mod pass;
mod pin;
mod result;
mod summary;
mod synthetic;
mod trigger;
mod turn;
mod view;
mod window;
mod write;

use turnfold_core::{Event, Window};

use crate::{
    protocol::{Answer, Call, Capabilities, ErrorClass, Said, WindowKind},
    run::{Change, Effect, Moment, Transcript},
    words::{Charges, Words},
};

/// What a case says of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Nothing: the rule does not speak of it
    Silent,
    /// It holds
    Holds,
    /// It doesn't, and why
    Breaks(String),
}

impl Judgement {
    /// Holds, or breaks for a reason.
    fn check(holds: bool, why: impl FnOnce() -> String) -> Self {
        if holds { Self::Holds } else { Self::Breaks(why()) }
    }

    /// The first break, else whether something held.
    fn all(judgements: impl IntoIterator<Item = Self>) -> Self {
        let mut sum = Self::Silent;
        for judgement in judgements {
            match judgement {
                Self::Breaks(_) => return judgement,
                Self::Holds => sum = Self::Holds,
                Self::Silent => {}
            }
        }
        sum
    }
}

/// What an implementation must be able to do before a rule applies to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    Slots,
    Tokens,
    Summarizer,
    Session,
    Race,
    Store,
}

/// The check of one rule.
#[derive(Clone, Copy, Debug)]
pub struct Property {
    /// The rule's id
    pub rule: &'static str,
    needs: Needs,
    judge: Judge,
}

#[derive(Clone, Copy, Debug)]
enum Judge {
    /// On every pass that was seen, of a view or of a session
    Pass(fn(&Seen<'_>) -> Judgement),
    /// On a whole transcript
    Script(fn(&Transcript) -> Judgement),
}

impl Property {
    const fn pass(rule: &'static str, judge: fn(&Seen<'_>) -> Judgement) -> Self {
        Self { rule, needs: Needs::Nothing, judge: Judge::Pass(judge) }
    }

    const fn script(rule: &'static str, judge: fn(&Transcript) -> Judgement) -> Self {
        Self { rule, needs: Needs::Nothing, judge: Judge::Script(judge) }
    }

    const fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// What an implementation lacks for the rule to apply to it.
    pub fn lacks(&self, can: &Capabilities) -> Option<&'static str> {
        let has = |kind| can.windows.contains(&kind);
        let (met, lack) = match self.needs {
            Needs::Nothing => (!can.windows.is_empty(), "no window"),
            Needs::Slots => (has(WindowKind::Events) || has(WindowKind::Turns), "no event or turn window"),
            Needs::Tokens => (has(WindowKind::Tokens), "no token window"),
            Needs::Summarizer => (can.summarizer.is_some(), "no summarizer"),
            Needs::Session => (can.session, "no session"),
            Needs::Race => (can.session && can.race && can.summarizer.is_some(), "no request while it waits"),
            Needs::Store => (can.store.is_some(), "no log held by the suite"),
        };
        (!met).then_some(lack)
    }

    /// What an answer may leave out, so that the rule is never judged.
    pub fn may_leave_out(&self) -> Option<&'static str> {
        match self.rule {
            "result.saved" | "result.saved-signed" => Some("no tokens saved are told"),
            "result.overshoot" => Some("no overshoot is told"),
            "result.covered-order" => Some("no covered events are told"),
            _ => None,
        }
    }

    /// Judges one run: all passes seen in it, or the whole.
    pub fn judge(&self, transcript: &Transcript, seen: &[Seen<'_>]) -> Judgement {
        match self.judge {
            Judge::Pass(judge) => Judgement::all(seen.iter().map(judge)),
            Judge::Script(judge) => judge(transcript),
        }
    }
}

/// Every property, in the order of the spec.
pub fn properties() -> impl Iterator<Item = &'static Property> {
    [
        pin::PROPERTIES,
        synthetic::PROPERTIES,
        turn::PROPERTIES,
        window::PROPERTIES,
        cut::PROPERTIES,
        summary::PROPERTIES,
        write::PROPERTIES,
        result::PROPERTIES,
        pass::PROPERTIES,
        log::PROPERTIES,
        view::PROPERTIES,
        trigger::PROPERTIES,
    ]
    .into_iter()
    .flatten()
}

/// One pass that was asked for rightly, with its view's words.
#[derive(Debug)]
pub struct Seen<'t> {
    moment: &'t Moment,
    words: Words<'t>,
    window: Window,
    says: Option<&'t Said>,
    /// Where the spec cuts the view; `None` without a turn
    cut: Option<usize>,
}

impl<'t> Seen<'t> {
    /// The passes of a transcript whose question was right: a window that can be made, a view that is one, a trigger
    /// that fires.
    pub fn passes(transcript: &'t Transcript) -> Vec<Self> {
        transcript.0.iter().filter_map(Self::of).collect()
    }

    fn of(moment: &'t Moment) -> Option<Self> {
        let window = moment.window()?;
        let view = moment.view.as_deref()?;
        let words = Words::of(view);
        if let crate::script::Op::Compact(compact) = &moment.op {
            let fires = compact
                .trigger
                .as_ref()
                .is_none_or(|trigger| trigger.get().is_ok_and(|trigger| words.fires(trigger)));
            // A pass that somebody else's append may have undone says nothing of the pass itself.
            if !fires || !compact.during.is_empty() || !compact.between.is_empty() {
                return None;
            }
        }
        let unweighed =
            matches!(window, Window::Tokens(_)) && view.iter().any(|event| event.tokens().is_none());
        if unweighed || has_repeated_id(view) {
            return None;
        }
        let says = moment.summarizer();
        let cut = words.cut(window, says.is_some(), Charges::default());
        Some(Self { moment, words, window, says, cut })
    }

    fn summarizing(&self) -> bool {
        self.says.is_some()
    }

    fn calls(&self) -> &'t [Call] {
        &self.moment.calls
    }

    /// What the pass changed, if it cut.
    fn change(&self) -> Option<&'t Change> {
        match &self.moment.result {
            Effect::Changed(change) => Some(change),
            Effect::Unchanged | Effect::Answered(_) => None,
        }
    }

    /// What a cutting pass changed: the spec cuts, and the subject did.
    fn cutting(&self) -> Option<&'t Change> {
        self.change().filter(|_| self.planned().is_some())
    }

    fn is_unchanged(&self) -> bool {
        self.moment.result == Effect::Unchanged
    }

    fn failed(&self, class: ErrorClass) -> bool {
        matches!(&self.moment.result, Effect::Answered(Answer::Error(failed)) if failed.class == class)
    }

    /// The cut, where the spec cuts: some turn is older than it.
    fn planned(&self) -> Option<usize> {
        self.cut.filter(|cut| self.words.turn_starts.first().is_some_and(|first| first < cut))
    }

    /// Where the spec would cut under other charges.
    fn cut_charging(&self, charges: Charges) -> Option<usize> {
        self.words.cut(self.window, self.summarizing(), charges)
    }

    /// The first body event that stayed, by the subject's own account.
    fn kept_from(&self) -> Option<usize> {
        let kept = self.change()?;
        kept.preserved
            .iter()
            .filter_map(|event| self.position(event))
            .filter(|&at| self.words.is_body(at))
            .min()
    }

    /// Where the subject cut: at its first kept body event, at the first turn if nothing changed.
    fn actual_cut(&self) -> Option<usize> {
        if self.is_unchanged() { self.words.turn_starts.first().copied() } else { self.kept_from() }
    }

    fn position(&self, event: &Event) -> Option<usize> {
        self.words.view.iter().position(|other| other.id == event.id)
    }

    /// Judges where the subject cut against where it must. A summarizer that says nothing leaves nothing to judge.
    fn cuts_at(&self, must: usize, why: impl FnOnce() -> String) -> Judgement {
        if self.stays_by_summarizer() {
            return Judgement::Silent;
        }
        let found = self.actual_cut();
        Judgement::check(found == Some(must), || {
            let name = |at: Option<usize>| {
                at.and_then(|at| self.words.view.get(at))
                    .map_or_else(|| "nothing".into(), |event| format!("`{}`", event.id))
            };
            format!(
                "{}: expected the kept turns to begin with {}, they begin with {}",
                why(),
                name(Some(must)),
                name(found)
            )
        })
    }

    /// Whether the pass has a summarizer that declines or fails.
    fn stays_by_summarizer(&self) -> bool {
        match self.says {
            None => false,
            Some(Said::Text { text, .. }) => text.trim().is_empty(),
            Some(Said::Declined | Said::Failed(_)) => true,
        }
    }

    fn after(&self) -> Option<&'t crate::run::State> {
        self.moment.after.as_ref()
    }
}

fn has_repeated_id(events: &[Event]) -> bool {
    let mut ids: Vec<&str> = events.iter().map(|event| event.id.as_str()).collect();
    ids.sort_unstable();
    ids.windows(2).any(|pair| matches!(pair, [one, other] if one == other))
}

fn ids<'e>(events: impl IntoIterator<Item = &'e Event>) -> Vec<&'e str> {
    events.into_iter().map(|event| event.id.as_str()).collect()
}

fn contains(events: &[Event], event: &Event) -> bool {
    events.iter().any(|other| other.id == event.id)
}

/// Ids in backticks, for a reason.
fn list<'e>(events: impl IntoIterator<Item = &'e Event>) -> String {
    let ids: Vec<String> = events.into_iter().map(|event| format!("`{}`", event.id)).collect();
    if ids.is_empty() { "nothing".into() } else { ids.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_one_property_in_the_order_of_the_spec() {
        let ours: Vec<&str> = properties().map(|property| property.rule).collect();
        let spec: Vec<&str> = turnfold_spec::RULES.iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ours, spec);
    }
}
