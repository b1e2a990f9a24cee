//! What two passes have to do with one another.
//!
//! A relation is looked for between neighbouring passes of a script: the same view twice, a larger window, a view
//! that was renamed, a view whose old turns changed.

use turnfold_core::{Event, Window};

use super::{Judgement, Property, Seen, contains, ids, list};
use crate::{
    run::{Effect, Transcript},
    script::Op,
    words::{Charges, Words, weight},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::script("pass.idempotent", idempotent),
    Property::script("pass.monotone", monotone),
    Property::script("pass.blind", blind),
    Property::script("pass.suffix-only", suffix_only),
];

/// Judges each pair of passes that follow one another.
fn pairs(transcript: &Transcript, judge: impl Fn(&Seen<'_>, &Seen<'_>) -> Judgement) -> Judgement {
    let seen = Seen::passes(transcript);
    let is_pass = |seen: &Seen<'_>| matches!(seen.moment.op, Op::Pass(_));
    Judgement::all(seen.windows(2).map(|pair| match pair {
        [one, other] if is_pass(one) && is_pass(other) && always_answers(one, other) => judge(one, other),
        _ => Judgement::Silent,
    }))
}

/// Without a summarizer, or with one that answers both times.
fn always_answers(one: &Seen<'_>, other: &Seen<'_>) -> bool {
    one.summarizing() == other.summarizing() && !one.stays_by_summarizer() && !other.stays_by_summarizer()
}

fn idempotent(transcript: &Transcript) -> Judgement {
    let seen = Seen::passes(transcript);
    Judgement::all(seen.windows(2).map(|pair| match pair {
        [one, again] if again.moment.op == Op::Again && one.change().is_some() => {
            Judgement::check(again.is_unchanged(), || match again.change() {
                Some(change) => format!("the same pass again covered {}", list(&change.covered)),
                None => format!("the same pass again ended with {:?}", again.moment.result),
            })
        }
        _ => Judgement::Silent,
    }))
}

/// The body events that are in the next view.
fn kept<'t>(seen: &Seen<'t>) -> Option<Vec<&'t Event>> {
    let body = seen.words.events(Words::is_body);
    match &seen.moment.result {
        Effect::Unchanged => Some(body),
        Effect::Changed(change) => {
            Some(body.into_iter().filter(|event| contains(&change.view, event)).collect())
        }
        Effect::Answered(_) => None,
    }
}

fn monotone(transcript: &Transcript) -> Judgement {
    pairs(transcript, |one, other| {
        let same_kind = std::mem::discriminant(&one.window) == std::mem::discriminant(&other.window);
        if one.words.view != other.words.view || !same_kind || one.window.size() >= other.window.size() {
            return Judgement::Silent;
        }
        let (Some(smaller), Some(larger)) = (kept(one), kept(other)) else { return Judgement::Silent };
        match smaller.iter().find(|event| !larger.contains(event)) {
            Some(event) => Judgement::Breaks(format!(
                "`{}` stays with {} and leaves with {}",
                event.id, one.window, other.window
            )),
            None => Judgement::Holds,
        }
    })
}

/// Whether two views are alike to a pass: the same roles and flags, and weights where tokens are counted.
fn alike(one: &Seen<'_>, other: &Seen<'_>) -> bool {
    let same = |(a, b): (&Event, &Event)| {
        let role = |event: &Event| event.as_message().map(|message| message.role);
        role(a) == role(b)
            && crate::words::is_synthetic(a) == crate::words::is_synthetic(b)
            && (weight(a) == weight(b) || !matches!(one.window, Window::Tokens(_)))
    };
    one.words.view.len() == other.words.view.len() && one.words.view.iter().zip(other.words.view).all(same)
}

fn blind(transcript: &Transcript) -> Judgement {
    pairs(transcript, |one, other| {
        let renamed = one.words.view != other.words.view;
        if !renamed || one.window != other.window || !alike(one, other) {
            return Judgement::Silent;
        }
        let places = |seen: &Seen<'_>| -> Option<Vec<Vec<Option<usize>>>> {
            let change = seen.change()?;
            let at = |events: &[Event]| events.iter().map(|event| seen.position(event)).collect();
            Some(vec![at(&change.pinned), at(&change.preserved)])
        };
        let same = places(one) == places(other) && one.is_unchanged() == other.is_unchanged();
        Judgement::check(same, || {
            let kept = |seen: &Seen<'_>| kept(seen).map_or_else(|| "no view".into(), list);
            format!(
                "the same session under other names, times and texts kept {} and {}",
                kept(one),
                kept(other)
            )
        })
    })
}

/// The second view differs from the first only in whole turns older than the one that holds the first event that
/// doesn't fit.
fn suffix_only(transcript: &Transcript) -> Judgement {
    pairs(transcript, |one, other| {
        let Some(from) = first_misfit_turn(one) else { return Judgement::Silent };
        let tail = |seen: &Seen<'_>, from: usize| -> Vec<Event> {
            seen.words.events(|words, at| at >= from && words.is_body(at)).into_iter().cloned().collect()
        };
        let rest = |seen: &Seen<'_>| -> Vec<Event> {
            seen.words.events(|words, at| !words.is_body(at)).into_iter().cloned().collect()
        };
        let same_tail = tail(one, from);
        let body = tail(other, 0);
        let differs = one.words.view != other.words.view;
        let comparable = differs
            && one.window == other.window
            && body.ends_with(&same_tail)
            && other.words.turn_starts.len() > 1
            && rest(one) == rest(other);
        let (Some(first), Some(second)) = (kept(one), kept(other)) else { return Judgement::Silent };
        if !comparable || one.is_unchanged() {
            return Judgement::Silent;
        }
        Judgement::check(ids(first.iter().copied()) == ids(second.iter().copied()), || {
            format!(
                "turns that did not fit anyway changed, and kept is {} instead of {}",
                list(second),
                list(first)
            )
        })
    })
}

/// The start of the turn that holds the first event, from the newest back, that doesn't fit.
fn first_misfit_turn(seen: &Seen<'_>) -> Option<usize> {
    let body = seen.words.positions(Words::is_body);
    let misfit = body
        .into_iter()
        .rev()
        .find(|&at| !seen.words.fits(at, seen.window, seen.summarizing(), Charges::default()))?;
    seen.words.turn_starts.iter().rev().find(|&&start| start <= misfit).copied()
}
