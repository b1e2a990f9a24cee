//! Where the cut falls: forward to a turn start, back to the newest turn.

use super::{Judgement, Property, Seen, ids, list, window::raw_cut};
use crate::words::Words;

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("cut.forward", forward),
    Property::pass("cut.newest", newest),
    Property::pass("cut.smallest", smallest),
    Property::pass("cut.leaves", leaves),
];

/// Where it tells: the raw cut falls inside a turn that isn't the newest.
fn forward(seen: &Seen<'_>) -> Judgement {
    let raw = raw_cut(seen);
    let next = seen.words.turn_starts.iter().find(|&&start| start >= raw);
    match (seen.planned(), next) {
        (Some(_), Some(&next)) if next > raw => seen.cuts_at(next, || {
            let event = seen.words.view.get(raw).map(|event| event.id.as_str()).unwrap_or_default();
            format!("the raw cut falls on `{event}`, inside a turn")
        }),
        _ => Judgement::Silent,
    }
}

/// Where it tells: from the raw cut on, no turn starts.
fn newest(seen: &Seen<'_>) -> Judgement {
    let raw = raw_cut(seen);
    match (seen.planned(), seen.words.newest()) {
        (Some(_), Some(newest)) if newest < raw => {
            seen.cuts_at(newest, || "the cut would cover everything".into())
        }
        _ => Judgement::Silent,
    }
}

fn smallest(seen: &Seen<'_>) -> Judgement {
    match seen.cut {
        Some(cut) if seen.words.turn_starts.len() > 1 => {
            seen.cuts_at(cut, || "the smallest turn start whose suffix fits, else the last one".into())
        }
        _ => Judgement::Silent,
    }
}

fn leaves(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.cutting() else { return Judgement::Silent };
    let cut = seen.kept_from().unwrap_or(seen.words.view.len());
    let turns = seen.words.turn_starts.contains(&cut);
    let must = seen.words.events(|words: &Words<'_>, at| {
        words.is_superseded(at) || words.is_body(at) && at < cut || words.is_prior(at) && seen.summarizing()
    });
    let sorted = |mut ids: Vec<&str>| {
        ids.sort_unstable();
        ids.join(" ")
    };
    let same = sorted(ids(&change.covered)) == sorted(ids(must.iter().copied()));
    Judgement::check(turns && same, || {
        if turns {
            format!("{} must leave, {} left", list(must), list(&change.covered))
        } else {
            format!("{} left, which is not whole turns beside what leaves with them", list(&change.covered))
        }
    })
}
