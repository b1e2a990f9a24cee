//! What a turn is, and that it is never split.

use turnfold_core::{Role, Window};

use super::{Judgement, Property, Seen, contains, list};
use crate::words::is_synthetic;

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("turn.start", start),
    Property::pass("turn.consecutive", consecutive),
    Property::pass("turn.whole", whole),
    Property::pass("turn.newest", newest),
];

fn start(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change() else {
        return if seen.words.turn_starts.is_empty() && seen.is_unchanged() {
            Judgement::Holds
        } else {
            Judgement::Silent
        };
    };
    let body = seen.words.view.iter().enumerate().filter(|(at, _)| seen.words.is_body(*at));
    let mut left = false;
    for (_, event) in body {
        let stays = contains(&change.preserved, event);
        let starts =
            event.as_message().is_some_and(|message| message.role == Role::User) && !is_synthetic(event);
        if left && stays && !starts {
            return Judgement::Breaks(format!("the cut falls before `{}`, which is no turn start", event.id));
        }
        left = !stays;
    }
    if seen.words.turn_starts.is_empty() {
        return Judgement::Breaks("the pass cut a view in which no turn starts".into());
    }
    Judgement::Holds
}

fn consecutive(seen: &Seen<'_>) -> Judgement {
    let starts = &seen.words.turn_starts;
    let adjacent = |pair: &[usize]| match pair {
        [one, other] => (*one + 1..*other).all(|at| !seen.words.is_body(at)),
        _ => false,
    };
    let (true, Window::Turns(size), Some(cut)) =
        (starts.windows(2).any(adjacent), seen.window, seen.planned())
    else {
        return Judgement::Silent;
    };
    seen.cuts_at(cut, || format!("two user messages in a row are two turns and {} stay", size.get()))
}

fn whole(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change() else { return Judgement::Silent };
    for turn in seen.words.turns() {
        let own =
            || turn.clone().filter(|&at| seen.words.is_body(at)).filter_map(|at| seen.words.view.get(at));
        let (covered, kept): (Vec<_>, Vec<_>) = own().partition(|event| !contains(&change.view, event));
        if let (Some(gone), Some(_)) = (covered.first(), kept.first()) {
            let (first, last) = (own().next(), own().next_back());
            return Judgement::Breaks(format!(
                "`{}` left the view and {} stayed, but they are one turn, {} to {}",
                gone.id,
                list(kept),
                list(first),
                list(last)
            ));
        }
    }
    Judgement::Holds
}

fn newest(seen: &Seen<'_>) -> Judgement {
    let (Some(change), Some(newest)) = (seen.change(), seen.words.newest()) else { return Judgement::Silent };
    let own = seen.words.events(|words, at| at >= newest && words.is_body(at));
    match own.iter().find(|event| !contains(&change.preserved, event)) {
        Some(event) => Judgement::Breaks(format!("`{}` of the newest turn was not preserved", event.id)),
        None => Judgement::Holds,
    }
}
