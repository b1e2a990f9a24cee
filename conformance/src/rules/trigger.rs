//! When a session is compacted at all.

use turnfold_core::session::Trigger;

use super::{Judgement, Needs, Property, list};
use crate::{
    protocol::Said,
    run::{Effect, Moment, Transcript},
    script::Op,
    words::{Charges, Words},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::script("trigger.turns", turns).needs(Needs::Session),
    Property::script("trigger.tokens", tokens).needs(Needs::Session),
    Property::script("trigger.any", any).needs(Needs::Session),
    Property::script("trigger.gate", gate).needs(Needs::Session),
];

/// Each triggered pass over a sound session, with the trigger and the view it looked at.
fn each(transcript: &Transcript, judge: impl Fn(&Trigger, &Moment, &Words<'_>) -> Judgement) -> Judgement {
    Judgement::all(transcript.0.iter().map(|moment| {
        let (Op::Compact(compact), Some(before)) = (&moment.op, &moment.before) else {
            return Judgement::Silent;
        };
        let (Some(Ok(trigger)), Ok(view)) = (compact.trigger.as_ref().map(|t| t.get()), &before.view) else {
            return Judgement::Silent;
        };
        if !compact.during.is_empty() || !compact.between.is_empty() {
            return Judgement::Silent;
        }
        judge(trigger, moment, &Words::of(view))
    }))
}

/// The pass was run exactly if the trigger fires; one that would change nothing anyway tells nothing.
fn fires(trigger: &Trigger, moment: &Moment, words: &Words<'_>) -> Judgement {
    let Op::Compact(compact) = &moment.op else { return Judgement::Silent };
    let Ok(window) = compact.window.get() else { return Judgement::Silent };
    let says = compact.summarizer.as_ref();
    let cut = words.cut(*window, says.is_some(), Charges::default());
    let cuts = cut.is_some() && cut != words.turn_starts.first().copied();
    let silent = match says {
        None => false,
        Some(Said::Text { text, .. }) => text.trim().is_empty(),
        Some(Said::Declined | Said::Failed(_)) => true,
    };
    if !cuts || silent {
        return Judgement::Silent;
    }
    let ran = matches!(moment.result, Effect::Changed(_));
    let fires = words.fires(trigger);
    Judgement::check(ran == fires, || {
        let (turns, tokens) = (words.turn_starts.len(), crate::words::weigh(words.view));
        let did = if ran { "was run" } else { "was not run" };
        format!("at {turns} turns and {tokens} tokens the pass {did}; the view is {}", list(words.view))
    })
}

fn turns(transcript: &Transcript) -> Judgement {
    each(transcript, |trigger, moment, words| match trigger {
        Trigger::Turns(_) => fires(trigger, moment, words),
        Trigger::Always | Trigger::Tokens(_) | Trigger::Any(_) => Judgement::Silent,
    })
}

fn tokens(transcript: &Transcript) -> Judgement {
    each(transcript, |trigger, moment, words| match trigger {
        Trigger::Tokens(_) => fires(trigger, moment, words),
        Trigger::Always | Trigger::Turns(_) | Trigger::Any(_) => Judgement::Silent,
    })
}

fn any(transcript: &Transcript) -> Judgement {
    each(transcript, |trigger, moment, words| match trigger {
        Trigger::Any(_) => fires(trigger, moment, words),
        Trigger::Always | Trigger::Turns(_) | Trigger::Tokens(_) => Judgement::Silent,
    })
}

/// Far from firing: whatever a reading counts at the threshold itself.
fn is_far(trigger: &Trigger, words: &Words<'_>) -> bool {
    match trigger {
        Trigger::Always => false,
        Trigger::Turns(size) => (words.turn_starts.len() as u64) < size.get(),
        Trigger::Tokens(size) => crate::words::weigh(words.view) < i128::from(size.get()),
        Trigger::Any(any) => any.triggers().iter().all(|trigger| is_far(trigger, words)),
    }
}

fn gate(transcript: &Transcript) -> Judgement {
    each(transcript, |trigger, moment, words| {
        if !is_far(trigger, words) {
            return Judgement::Silent;
        }
        if !moment.calls.is_empty() {
            return Judgement::Breaks("the trigger did not fire, yet the summarizer was called".into());
        }
        Judgement::check(moment.before == moment.after && moment.result == Effect::Unchanged, || {
            format!("the trigger did not fire, yet the pass ended with {:?}", moment.result)
        })
    })
}
