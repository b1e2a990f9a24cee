//! When a pass has nothing to say.

use super::{Judgement, Property, Seen, list};

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("write.fits", fits),
    Property::pass("write.no-turn", no_turn),
    Property::pass("write.single-turn", single_turn),
];

fn unchanged(seen: &Seen<'_>, why: &str) -> Judgement {
    let untouched = match (&seen.moment.before, &seen.moment.after) {
        (Some(before), Some(after)) => before == after,
        _ => true,
    };
    Judgement::check(seen.is_unchanged() && untouched, || match seen.change() {
        Some(change) => format!("{why}, yet {} left", list(&change.covered)),
        None => format!("{why}, yet the pass ended with {:?}", seen.moment.result),
    })
}

fn fits(seen: &Seen<'_>) -> Judgement {
    match (seen.words.turn_starts.first(), seen.cut) {
        (Some(first), Some(cut)) if cut == *first && seen.words.turn_starts.len() > 1 => {
            unchanged(seen, "the turns fit the window")
        }
        _ => Judgement::Silent,
    }
}

fn no_turn(seen: &Seen<'_>) -> Judgement {
    if seen.words.turn_starts.is_empty() {
        unchanged(seen, "no turn starts in the view")
    } else {
        Judgement::Silent
    }
}

fn single_turn(seen: &Seen<'_>) -> Judgement {
    if seen.words.turn_starts.len() == 1 {
        unchanged(seen, "the view has one turn")
    } else {
        Judgement::Silent
    }
}
