//! How much stays: what each window counts, and what it charges for.

use turnfold_core::Window;

use super::{Judgement, Needs, Property, Seen, contains};
use crate::{
    protocol::{Answer, ErrorClass, Said},
    run::{Effect, Transcript},
    script::Op,
    words::{Charges, Words, weigh},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("window.events", events).needs(Needs::Slots),
    Property::pass("window.turns", turns).needs(Needs::Slots),
    Property::pass("window.tokens", tokens).needs(Needs::Tokens),
    Property::pass("window.pinned-free", pinned_free).needs(Needs::Slots),
    Property::pass("window.pinned-first", pinned_first).needs(Needs::Tokens),
    Property::pass("window.overdrawn", overdrawn).needs(Needs::Tokens),
    Property::pass("window.negative", negative).needs(Needs::Tokens),
    Property::pass("window.inclusive", inclusive).needs(Needs::Tokens),
    Property::pass("window.superseded-free", superseded_free),
    Property::pass("window.prior-uncharged", prior_uncharged).needs(Needs::Tokens),
    Property::pass("window.summary-uncharged", summary_uncharged).needs(Needs::Summarizer),
    Property::script("window.positive", positive),
];

/// The kept suffix fits or is the newest turn alone, and with one turn more it would not fit.
fn longest(seen: &Seen<'_>, what: &str) -> Judgement {
    if seen.stays_by_summarizer() || seen.words.turn_starts.len() < 2 {
        return Judgement::Silent;
    }
    let Some(cut) = seen.actual_cut() else { return Judgement::Silent };
    let charges = Charges::default();
    let cost = |start| seen.words.cost(start, seen.window, seen.summarizing(), charges);
    let fits = |start| seen.words.fits(start, seen.window, seen.summarizing(), charges);
    if !fits(cut) && seen.words.newest().is_some_and(|newest| cut < newest) {
        let (cost, allowed) = cost(cut);
        return Judgement::Breaks(format!("{cost} {what} stayed, the window allows {allowed}"));
    }
    let older = seen.words.turn_starts.iter().rev().find(|&&start| start < cut).copied();
    match older {
        Some(older) if fits(older) => {
            let (cost, allowed) = cost(older);
            let event = seen.words.view.get(older).map(|event| event.id.as_str()).unwrap_or_default();
            Judgement::Breaks(format!(
                "the turn of `{event}` left, though with it {cost} {what} would stay and the window allows {allowed}"
            ))
        }
        _ => Judgement::Holds,
    }
}

fn events(seen: &Seen<'_>) -> Judgement {
    if matches!(seen.window, Window::Events(_)) { longest(seen, "body events") } else { Judgement::Silent }
}

fn turns(seen: &Seen<'_>) -> Judgement {
    if matches!(seen.window, Window::Turns(_)) { longest(seen, "turns") } else { Judgement::Silent }
}

/// Contiguous: whatever stayed, nothing newer than it left.
fn tokens(seen: &Seen<'_>) -> Judgement {
    if !matches!(seen.window, Window::Tokens(_)) {
        return Judgement::Silent;
    }
    if let (Some(change), Some(cut)) = (seen.change(), seen.kept_from()) {
        let gap = seen.words.events(|words, at| at >= cut && words.is_body(at));
        if let Some(event) = gap.iter().find(|event| !contains(&change.preserved, event)) {
            return Judgement::Breaks(format!("`{}` left from between events that stayed", event.id));
        }
    }
    longest(seen, "tokens of body")
}

/// Where it tells: taking slots for pinned events would move the cut.
fn pinned_free(seen: &Seen<'_>) -> Judgement {
    if matches!(seen.window, Window::Tokens(_)) {
        return Judgement::Silent;
    }
    let taking = seen.cut_charging(Charges { pinned_slots: true, ..Charges::default() });
    match seen.cut {
        Some(cut) if taking != Some(cut) => seen.cuts_at(cut, || "pinned events use no slot".into()),
        _ => Judgement::Silent,
    }
}

fn pinned_first(seen: &Seen<'_>) -> Judgement {
    let Window::Tokens(budget) = seen.window else { return Judgement::Silent };
    let pinned = seen.words.pinned_weight(seen.summarizing());
    if pinned == 0 || seen.words.turn_starts.len() < 2 || seen.stays_by_summarizer() {
        return Judgement::Silent;
    }
    let Some(cut) = seen.actual_cut() else { return Judgement::Silent };
    let kept = weigh(seen.words.events(|words, at| at >= cut && words.is_body(at)));
    let newest = seen.words.newest() == Some(cut);
    Judgement::check(newest || kept + pinned <= budget.get().into(), || {
        format!(
            "pinned events weigh {pinned} and {kept} tokens of turns stayed, over the budget of {}",
            budget.get()
        )
    })
}

fn overdrawn(seen: &Seen<'_>) -> Judgement {
    let (Window::Tokens(budget), Some(newest)) = (seen.window, seen.words.newest()) else {
        return Judgement::Silent;
    };
    let pinned = seen.words.pinned_weight(seen.summarizing());
    let newest_weight = weigh(seen.words.events(|words, at| at >= newest && words.is_body(at)));
    if pinned <= budget.get().into() || newest_weight == 0 || seen.planned().is_none() {
        return Judgement::Silent;
    }
    if let Effect::Answered(answer @ Answer::Error(failed)) = &seen.moment.result {
        return if failed.class == ErrorClass::Summarizer {
            Judgement::Silent
        } else {
            Judgement::Breaks(format!("pinned events over the budget were an error: {answer:?}"))
        };
    }
    seen.cuts_at(newest, || format!("pinned events weigh {pinned}, over the budget of {}", budget.get()))
}

/// Where it tells: with nothing allowed, instead of less than nothing, more would stay.
fn negative(seen: &Seen<'_>) -> Judgement {
    let clamped = seen.cut_charging(Charges { clamped: true, ..Charges::default() });
    match seen.planned() {
        Some(cut) if clamped != Some(cut) => seen.cuts_at(cut, || "a negative allowance fits nothing".into()),
        _ => Judgement::Silent,
    }
}

/// Where it tells: a suffix weighs exactly what is allowed.
fn inclusive(seen: &Seen<'_>) -> Judgement {
    if !matches!(seen.window, Window::Tokens(_)) {
        return Judgement::Silent;
    }
    let exclusive = seen.cut_charging(Charges { exclusive: true, ..Charges::default() });
    match seen.cut {
        Some(cut) if exclusive != Some(cut) => {
            seen.cuts_at(cut, || "a suffix of exactly the allowance fits".into())
        }
        _ => Judgement::Silent,
    }
}

fn superseded_free(seen: &Seen<'_>) -> Judgement {
    let charged = seen.cut_charging(Charges { superseded: true, ..Charges::default() });
    match seen.cut {
        Some(cut) if charged != Some(cut) => {
            seen.cuts_at(cut, || "superseded system messages are free".into())
        }
        _ => Judgement::Silent,
    }
}

fn prior_uncharged(seen: &Seen<'_>) -> Judgement {
    let charged = seen.cut_charging(Charges { prior: true, ..Charges::default() });
    match seen.cut {
        Some(cut) if charged != Some(cut) => {
            seen.cuts_at(cut, || "the prior summary will be replaced".into())
        }
        _ => Judgement::Silent,
    }
}

/// Where it tells: in a token window, a weight that would move the cut; in the others, any summary at all.
fn summary_uncharged(seen: &Seen<'_>) -> Judgement {
    let Some(Said::Text { tokens, .. }) = seen.says else { return Judgement::Silent };
    let charged = seen.cut_charging(Charges { summary: *tokens, ..Charges::default() });
    let tells = !matches!(seen.window, Window::Tokens(_)) || charged != seen.cut;
    match seen.planned() {
        Some(cut) if tells => {
            seen.cuts_at(cut, || format!("the new summary of {tokens} tokens moves no cut"))
        }
        _ => Judgement::Silent,
    }
}

fn positive(transcript: &Transcript) -> Judgement {
    Judgement::all(transcript.0.iter().map(|moment| {
        let window = match &moment.op {
            Op::Pass(pass) => &pass.window,
            Op::Compact(compact) => &compact.window,
            _ => return Judgement::Silent,
        };
        let Err(why) = window.get() else { return Judgement::Silent };
        let refused = matches!(
            &moment.result,
            Effect::Answered(Answer::Error(failed)) if failed.class == ErrorClass::InvalidWindow
        );
        Judgement::check(refused, || format!("the window was not refused: {why}"))
    }))
}

/// The raw cut: the oldest body event of the longest suffix that fits, walked event by event; the view's end if none
/// does.
pub(super) fn raw_cut(seen: &Seen<'_>) -> usize {
    let summarizing = seen.summarizing();
    let mut raw = seen.words.view.len();
    for at in seen.words.positions(Words::is_body).into_iter().rev() {
        if !seen.words.fits(at, seen.window, summarizing, Charges::default()) {
            break;
        }
        raw = at;
    }
    raw
}
