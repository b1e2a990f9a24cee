//! What is pinned, and in which order.

use super::{Judgement, Property, Seen, contains, ids, list};
use crate::words::Words;

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("pin.system-prompt", system_prompt),
    Property::pass("pin.superseded-leaves", superseded_leaves),
    Property::pass("pin.superseded-stays", superseded_stays),
    Property::pass("pin.preamble", preamble),
    Property::pass("pin.summary-carried", summary_carried),
    Property::pass("pin.order", order),
];

fn system_prompt(seen: &Seen<'_>) -> Judgement {
    let Some(prompt) = seen.words.system_prompt.and_then(|at| seen.words.view.get(at)) else {
        return Judgement::Silent;
    };
    let handed = seen.calls().iter().any(|call| contains(&call.events, prompt));
    if handed {
        return Judgement::Breaks(format!("the system prompt `{}` was handed to the summarizer", prompt.id));
    }
    let Some(change) = seen.cutting() else { return Judgement::Silent };
    let first = change.view.first().is_some_and(|event| event.id == prompt.id);
    if contains(&change.covered, prompt) {
        return Judgement::Breaks(format!("the system prompt `{}` left the view", prompt.id));
    }
    Judgement::check(first, || {
        format!(
            "`{}` is the latest system message; the view begins with {}",
            prompt.id,
            list(change.view.first())
        )
    })
}

fn superseded_leaves(seen: &Seen<'_>) -> Judgement {
    let superseded = seen.words.events(Words::is_superseded);
    let Some(change) = seen.cutting().filter(|_| !superseded.is_empty()) else { return Judgement::Silent };
    match superseded.iter().find(|event| contains(&change.view, event) || !contains(&change.covered, event)) {
        Some(event) => {
            Judgement::Breaks(format!("`{}` is superseded and the pass cut, yet it is not covered", event.id))
        }
        None => Judgement::Holds,
    }
}

/// Where the spec does not cut. With one turn that is itself a chosen rule, so this one is silent there.
fn superseded_stays(seen: &Seen<'_>) -> Judgement {
    let superseded = seen.words.events(Words::is_superseded);
    if superseded.is_empty() || seen.words.turn_starts.len() == 1 {
        return Judgement::Silent;
    }
    let turn_left = |change: &crate::run::Change| {
        seen.words.events(Words::is_body).iter().any(|event| contains(&change.covered, event))
    };
    match seen.change() {
        Some(change) if turn_left(change) => Judgement::Silent,
        Some(change) => match superseded.iter().find(|event| contains(&change.covered, event)) {
            Some(event) => Judgement::Breaks(format!("no turn left the view, yet `{}` did", event.id)),
            None => Judgement::Holds,
        },
        None if seen.is_unchanged() => Judgement::Holds,
        None => Judgement::Silent,
    }
}

fn preamble(seen: &Seen<'_>) -> Judgement {
    let preamble = seen.words.events(Words::is_preamble);
    let Some(change) = seen.cutting().filter(|_| !preamble.is_empty()) else { return Judgement::Silent };
    let kept: Vec<&str> =
        ids(change.pinned.iter().filter(|event| preamble.contains(event) || named(&preamble, event)));
    Judgement::check(kept == ids(preamble.iter().copied()), || {
        format!(
            "the preamble is {}, pinned of it is {}",
            list(preamble.iter().copied()),
            list(change.pinned.iter().filter(|event| named(&preamble, event)),)
        )
    })
}

fn named(events: &[&turnfold_core::Event], event: &turnfold_core::Event) -> bool {
    events.iter().any(|other| other.id == event.id)
}

fn summary_carried(seen: &Seen<'_>) -> Judgement {
    let prior = seen.words.events(Words::is_prior);
    let Some(change) = seen.cutting().filter(|_| !prior.is_empty() && !seen.summarizing()) else {
        return Judgement::Silent;
    };
    let carried: Vec<_> = change.pinned.iter().filter(|event| named(&prior, event)).collect();
    Judgement::check(carried == prior, || {
        format!(
            "the prior summary is {}, pinned unchanged of it is {}",
            list(prior.iter().copied()),
            list(carried.into_iter().filter(|event| prior.contains(event)))
        )
    })
}

fn order(seen: &Seen<'_>) -> Judgement {
    let (preamble, prior) = (seen.words.events(Words::is_preamble), seen.words.events(Words::is_prior));
    let Some(change) =
        seen.cutting().filter(|_| !preamble.is_empty() && !prior.is_empty() && !seen.summarizing())
    else {
        return Judgement::Silent;
    };
    let last_preamble = change.view.iter().rposition(|event| named(&preamble, event));
    let first_prior = change.view.iter().position(|event| named(&prior, event));
    match (last_preamble, first_prior) {
        (Some(last), Some(first)) => Judgement::check(last < first, || {
            format!("the summary stands before the preamble: {}", list(&change.view))
        }),
        _ => Judgement::Silent,
    }
}
