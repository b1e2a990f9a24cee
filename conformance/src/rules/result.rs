//! What a pass answers: the places, the next view, the numbers.

use turnfold_core::{Event, Window};

use super::{Judgement, Needs, Property, Seen, contains, ids, list};
use crate::{
    protocol::Said,
    run::Change,
    words::{Words, weigh, weight},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("result.partition", partition),
    Property::pass("result.covered-order", covered_order),
    Property::pass("result.next-view", next_view),
    Property::pass("result.suffix", suffix),
    Property::pass("result.verbatim", verbatim),
    Property::pass("result.saved", saved),
    Property::pass("result.saved-signed", saved_signed),
    Property::pass("result.overshoot", overshoot).needs(Needs::Tokens),
];

fn partition(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change() else { return Judgement::Silent };
    let mut placed = ids([&change.pinned, &change.covered, &change.preserved].into_iter().flatten());
    let mut view = ids(seen.words.view);
    placed.sort_unstable();
    view.sort_unstable();
    if placed != view {
        let missing: Vec<&&str> = view.iter().filter(|id| !placed.contains(id)).collect();
        return Judgement::Breaks(format!(
            "the view holds {view:?}; pinned, covered and preserved together are {placed:?}, without {missing:?}"
        ));
    }
    let in_order = |events: &[Event], of: &dyn Fn(usize) -> bool| {
        let places: Vec<usize> =
            events.iter().filter_map(|event| seen.position(event)).filter(|&at| of(at)).collect();
        places.is_sorted()
    };
    let words = &seen.words;
    let ordered = in_order(&change.preserved, &|_| true)
        && in_order(&change.pinned, &|at| words.is_preamble(at))
        && in_order(&change.pinned, &|at| words.is_prior(at));
    Judgement::check(ordered, || {
        format!(
            "pinned {} or preserved {} left the view's order",
            list(&change.pinned),
            list(&change.preserved)
        )
    })
}

fn covered_order(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change().filter(|change| !change.derived) else { return Judgement::Silent };
    let sorted = change.covered.iter().map(|event| seen.position(event)).is_sorted();
    Judgement::check(sorted, || format!("covered is {}, not in view order", list(&change.covered)))
}

/// Where it can be seen: a session shows its next view, and so does a subject that answers nothing else.
fn next_view(seen: &Seen<'_>) -> Judgement {
    let concatenated = |change: &Change| {
        [&change.pinned, &change.summary, &change.preserved].into_iter().flatten().cloned().collect()
    };
    let must: Vec<Event> = match seen.change() {
        Some(change) => concatenated(change),
        None if seen.is_unchanged() => seen.words.view.to_vec(),
        None => return Judgement::Silent,
    };
    let shown = match (seen.after(), seen.change()) {
        (Some(after), _) => match &after.view {
            Ok(view) => view,
            Err(failed) => {
                return Judgement::Breaks(format!("the next view can't be read: {}", failed.message));
            }
        },
        (None, Some(change)) if change.derived => &change.view,
        (None, Some(change)) if change.covered.is_empty() => {
            return Judgement::Breaks(format!(
                "nothing is covered, yet the pass answered an outcome with saved {:?}",
                change.saved
            ));
        }
        (None, _) => return Judgement::Holds,
    };
    Judgement::check(ids(shown) == ids(&must), || {
        format!("the next view is {}, expected {}", list(shown), list(&must))
    })
}

fn suffix(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.cutting() else { return Judgement::Silent };
    let body = seen.words.events(Words::is_body);
    let is_suffix =
        ids(&change.preserved).iter().rev().zip(ids(body.iter().copied()).iter().rev()).all(|(a, b)| a == b)
            && change.preserved.len() <= body.len();
    let starts = change.preserved.first().and_then(|event| seen.position(event));
    let at_start = starts.is_some_and(|at| seen.words.turn_starts.contains(&at));
    Judgement::check(is_suffix && at_start, || {
        format!(
            "preserved is {}, expected the end of the body {} from a turn start on",
            list(&change.preserved),
            list(body)
        )
    })
}

fn verbatim(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change() else { return Judgement::Silent };
    let altered = change.pinned.iter().chain(&change.preserved).find(|event| {
        seen.position(event).and_then(|at| seen.words.view.get(at)).is_some_and(|given| given != *event)
    });
    match altered {
        Some(event) => Judgement::Breaks(format!("`{}` was kept, but not as it came", event.id)),
        None => Judgement::Holds,
    }
}

/// What was saved: the weight of what left less that of the summary turn.
fn must_save(seen: &Seen<'_>, change: &Change) -> Option<(i64, i64)> {
    let told = change.saved?;
    let covered = weigh(seen.words.view.iter().filter(|event| contains(&change.covered, event)));
    let summary = match seen.says {
        Some(Said::Text { tokens, .. }) => i128::from(*tokens),
        _ => 0,
    };
    Some((told, i64::try_from(covered - summary).unwrap_or(i64::MAX)))
}

fn saved(seen: &Seen<'_>) -> Judgement {
    match seen.change().and_then(|change| must_save(seen, change)) {
        Some((told, must)) if must >= 0 => {
            Judgement::check(told == must, || format!("{told} tokens are said to be saved, expected {must}"))
        }
        _ => Judgement::Silent,
    }
}

fn saved_signed(seen: &Seen<'_>) -> Judgement {
    match seen.change().and_then(|change| must_save(seen, change)) {
        Some((told, must)) if must < 0 => {
            Judgement::check(told == must, || format!("{told} tokens are said to be saved, expected {must}"))
        }
        _ => Judgement::Silent,
    }
}

fn overshoot(seen: &Seen<'_>) -> Judgement {
    let Some((change, told)) = seen.change().and_then(|change| Some((change, change.overshoot?))) else {
        return Judgement::Silent;
    };
    let kept: i128 = change.pinned.iter().chain(&change.preserved).map(weight).sum();
    let summary = match seen.says {
        Some(Said::Text { tokens, .. }) => i128::from(*tokens),
        _ => 0,
    };
    let must = match seen.window {
        Window::Tokens(budget) => (kept + summary - i128::from(budget.get())).max(0),
        Window::Events(_) | Window::Turns(_) => 0,
    };
    Judgement::check(i128::from(told) == must, || format!("an overshoot of {told} is told, expected {must}"))
}
