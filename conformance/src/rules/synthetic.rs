//! What is synthetic, and what follows from it.

use turnfold_core::{Role, Value};

use super::{Judgement, Property, Seen, contains, list};
use crate::words::{Words, is_synthetic};

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("synthetic.flag", flag),
    Property::pass("synthetic.over-role", over_role),
    Property::pass("synthetic.all", all),
];

/// An event flagged with anything but `true` is a message like any other: in the body it leaves or stays with its
/// turn, and it is no prior summary.
fn flag(seen: &Seen<'_>) -> Judgement {
    let flagged = |event: &turnfold_core::Event| {
        event.metadata.get("synthetic").is_some_and(|value| *value != Value::Bool(true))
    };
    let odd = seen.words.events(|words, at| words.view.get(at).is_some_and(flagged) && words.is_body(at));
    if odd.is_empty() {
        return Judgement::Silent;
    }
    if seen.calls().iter().any(|call| call.prior.is_some()) && seen.words.prior_text().is_none() {
        return Judgement::Breaks(format!("{} was handed over as prior summary", list(odd.iter().copied())));
    }
    let Some(change) = seen.cutting() else {
        return match seen.planned() {
            Some(cut) => {
                seen.cuts_at(cut, || "an event flagged with something else than `true` counts".into())
            }
            None => Judgement::Silent,
        };
    };
    match odd.iter().find(|event| contains(&change.pinned, event)) {
        Some(event) => {
            Judgement::Breaks(format!("`{}` was pinned, though its flag is not boolean `true`", event.id))
        }
        None => Judgement::Holds,
    }
}

fn over_role(seen: &Seen<'_>) -> Judgement {
    let system = |event: &turnfold_core::Event| {
        is_synthetic(event) && event.as_message().is_some_and(|message| message.role == Role::System)
    };
    let synthetic = seen.words.events(|words, at| words.view.get(at).is_some_and(system));
    let Some(change) = seen.cutting().filter(|_| !synthetic.is_empty()) else { return Judgement::Silent };
    let wrong = |event: &&&turnfold_core::Event| {
        if seen.summarizing() { !contains(&change.covered, event) } else { !contains(&change.pinned, event) }
    };
    match synthetic.iter().find(wrong) {
        Some(event) => Judgement::Breaks(format!(
            "`{}` is part of the prior summary, but it went where a system message goes",
            event.id
        )),
        None => Judgement::Holds,
    }
}

fn all(seen: &Seen<'_>) -> Judgement {
    let prior = seen.words.events(Words::is_prior);
    let Some(change) = seen.cutting().filter(|_| !prior.is_empty()) else { return Judgement::Silent };
    let (place, name) =
        if seen.summarizing() { (&change.covered, "covered") } else { (&change.pinned, "pinned") };
    match prior.iter().find(|event| !contains(place, event)) {
        Some(event) => {
            Judgement::Breaks(format!("`{}` is part of the prior summary and is not {name}", event.id))
        }
        None => Judgement::Holds,
    }
}
