//! The session's log: append-only, one boundary a pass, nothing lost in a race.

use turnfold_core::{Content, Event, EventId};

use super::{Judgement, Needs, Property, Seen, contains, has_repeated_id, ids, list};
use crate::{
    protocol::{Answer, ErrorClass, Said},
    run::{Change, Effect, Moment, State, Transcript},
    script::{Op, SessionPass},
    words::{Charges, Words},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::script("log.append-only", append_only).needs(Needs::Session),
    Property::script("log.boundary", boundary).needs(Needs::Session),
    Property::script("log.boundary-ids", boundary_ids).needs(Needs::Session),
    Property::script("log.atomic", atomic).needs(Needs::Session),
    Property::script("log.version-first", version_first).needs(Needs::Store),
    Property::script("log.race", race).needs(Needs::Race),
    Property::script("log.race-told", race_told).needs(Needs::Race),
    Property::script("log.newest-boundary", newest_boundary).needs(Needs::Session),
    Property::script("log.view", view).needs(Needs::Session),
    Property::script("log.mid-turn", mid_turn).needs(Needs::Session),
    Property::script("log.foreign-types", foreign_types).needs(Needs::Session),
    Property::script("log.repeat", repeat).needs(Needs::Session),
    Property::script("log.duplicate", duplicate),
    Property::script("log.corrupt", corrupt).needs(Needs::Session),
];

fn each(transcript: &Transcript, judge: impl Fn(&Moment) -> Judgement) -> Judgement {
    Judgement::all(transcript.0.iter().map(judge))
}

fn states(moment: &Moment) -> Option<(&State, &State)> {
    Some((moment.before.as_ref()?, moment.after.as_ref()?))
}

/// What an operation added to the log, if the log still begins with what it held.
fn added(moment: &Moment) -> Option<&[Event]> {
    let (before, after) = states(moment)?;
    after.log.strip_prefix(before.log.as_slice())
}

fn append_only(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| match (states(moment), &moment.op) {
        (None, _) | (_, Op::Open(_)) => Judgement::Silent,
        (Some((before, after)), _) => Judgement::check(after.log.starts_with(&before.log), || {
            let changed = before.log.iter().zip(&after.log).find(|(one, other)| one != other);
            match changed {
                Some((one, other)) => format!("`{}` of the log became `{}`, or changed", one.id, other.id),
                None => format!("the log held {} and holds {}", list(&before.log), list(&after.log)),
            }
        }),
    })
}

/// A session's pass that cut and won.
fn cutting(moment: &Moment) -> Option<(&SessionPass, &Change)> {
    match (&moment.op, &moment.result) {
        (Op::Compact(compact), Effect::Changed(change)) => Some((compact, change)),
        _ => None,
    }
}

fn boundary(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let Some((compact, _)) = cutting(moment) else { return Judgement::Silent };
        let Some(added) = added(moment) else { return Judgement::Silent };
        let own: Vec<&Event> = added.iter().filter(|event| !is_somebodys(compact, event)).collect();
        let [boundary, summary @ ..] = own.as_slice() else {
            return Judgement::Breaks("the pass cut, and nothing was appended".into());
        };
        let Some(names) = boundary.as_boundary() else {
            return Judgement::Breaks(format!(
                "the pass appended {} first, expected its COMPACTION",
                list(own)
            ));
        };
        if let Some(other) = summary.iter().find(|event| !crate::words::is_synthetic(event)) {
            return Judgement::Breaks(format!(
                "`{}` stands behind the boundary, expected its summary",
                other.id
            ));
        }
        let named: Vec<&str> = names
            .pinned
            .iter()
            .map(EventId::as_str)
            .chain(ids(summary.iter().copied()))
            .chain(names.preserved.iter().map(EventId::as_str))
            .collect();
        match moment.after.as_ref().map(|after| &after.view) {
            Some(Ok(view)) => Judgement::check(ids(view).starts_with(&named), || {
                format!("the boundary and its summary name {named:?}, the view is {}", list(view))
            }),
            _ => Judgement::Breaks("the session shows no view after the pass".into()),
        }
    })
}

fn boundary_ids(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let Some((_, change)) = cutting(moment) else { return Judgement::Silent };
        let Some(names) = added(moment).and_then(|added| added.iter().find_map(Event::as_boundary)) else {
            return Judgement::Silent;
        };
        let named = |ids: &[EventId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        let same =
            named(&names.pinned) == ids(&change.pinned) && named(&names.preserved) == ids(&change.preserved);
        Judgement::check(same, || {
            format!(
                "pinned {} and preserved {} are recorded as {:?} and {:?}",
                list(&change.pinned),
                list(&change.preserved),
                named(&names.pinned),
                named(&names.preserved)
            )
        })
    })
}

fn is_somebodys(compact: &SessionPass, event: &Event) -> bool {
    contains(&compact.during, event) || contains(&compact.between, event)
}

/// Whether the log moved on between the read and the write.
fn lost(moment: &Moment) -> bool {
    match (&moment.op, states(moment)) {
        (Op::Compact(compact), Some((before, _))) => {
            compact.during.iter().any(|event| !contains(&before.log, event)) && !moment.calls.is_empty()
        }
        _ => false,
    }
}

fn atomic(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let (Op::Compact(compact), Some(added)) = (&moment.op, added(moment)) else {
            return Judgement::Silent;
        };
        let own: Vec<&Event> = added.iter().filter(|event| !is_somebodys(compact, event)).collect();
        let boundaries = own.iter().filter(|event| event.as_boundary().is_some()).count();
        let answers = matches!(&compact.summarizer, Some(Said::Text { text, .. }) if !text.trim().is_empty());
        let whole = own.is_empty() || boundaries == 1 && (own.len() > 1) == answers;
        if !whole {
            return Judgement::Breaks(format!(
                "the pass left {} in the log, expected a boundary and its summary or nothing",
                list(own)
            ));
        }
        let moved = states(moment).is_some_and(|(before, after)| before.version == after.version);
        if own.is_empty() && added.is_empty() {
            return Judgement::check(moved, || "the pass wrote nothing, yet the version moved".into());
        }
        Judgement::check(!lost(moment) || own.is_empty(), || {
            format!("the log had moved on, and the pass still wrote {}", list(own))
        })
    })
}

/// Whatever was appended between the reads is either in the view, or the attempt wrote nothing.
fn version_first(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let (Op::Compact(compact), Some((_, after))) = (&moment.op, states(moment)) else {
            return Judgement::Silent;
        };
        if compact.between.is_empty() {
            return Judgement::Silent;
        }
        let Ok(view) = &after.view else {
            return Judgement::Breaks("the session shows no view after the pass".into());
        };
        let missing = compact.between.iter().find(|event| {
            event.as_message().is_some() && contains(&after.log, event) && !contains(view, event)
        });
        match missing {
            Some(event) if !covered(moment, event) => Judgement::Breaks(format!(
                "`{}` was appended between the reads and is in no view: the events were read before the version",
                event.id
            )),
            _ => Judgement::Holds,
        }
    })
}

fn covered(moment: &Moment, event: &Event) -> bool {
    matches!(&moment.result, Effect::Changed(change) if contains(&change.covered, event))
}

fn race(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let (Op::Compact(compact), true, Some((before, after))) = (&moment.op, lost(moment), states(moment))
        else {
            return Judgement::Silent;
        };
        let news = compact.during.iter().filter(|event| !contains(&before.log, event));
        let must: Vec<&str> = ids(before.log.iter().chain(news));
        Judgement::check(ids(&after.log) == must, || {
            format!("the log holds {}, expected what the winner wrote: {must:?}", list(&after.log))
        })
    })
}

fn race_told(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        if !lost(moment) || !matches!(&moment.op, Op::Compact(pass) if writes(pass)) {
            return Judgement::Silent;
        }
        let told = matches!(&moment.result, Effect::Answered(Answer::Raced {}));
        Judgement::check(told && moment.calls.len() == 1, || match &moment.result {
            _ if moment.calls.len() > 1 => "the pass was silently run again".into(),
            Effect::Unchanged => "the lost race was told as unchanged".into(),
            Effect::Changed(_) => "the lost race was told as a cutting pass".into(),
            Effect::Answered(answer) => format!("the lost race was told as {answer:?}"),
        })
    })
}

/// Whether the pass would write, had it won.
fn writes(compact: &SessionPass) -> bool {
    matches!(&compact.summarizer, Some(Said::Text { text, .. }) if !text.trim().is_empty())
}

fn defined_view(transcript: &Transcript, boundaries: usize) -> Judgement {
    each(transcript, |moment| {
        let Some(after) = &moment.after else { return Judgement::Silent };
        if after.log.iter().filter(|event| event.as_boundary().is_some()).count() < boundaries {
            return Judgement::Silent;
        }
        match (Words::view_of(&after.log), &after.view) {
            (Ok(must), Ok(view)) => Judgement::check(ids(view) == ids(&must), || {
                format!("the view is {}, expected {}", list(view), list(&must))
            }),
            (Ok(_), Err(failed)) => Judgement::Breaks(format!("the view can't be read: {}", failed.message)),
            (Err(_), _) => Judgement::Silent,
        }
    })
}

/// Where it tells: an older boundary would define another view.
fn newest_boundary(transcript: &Transcript) -> Judgement {
    defined_view(transcript, 2)
}

fn view(transcript: &Transcript) -> Judgement {
    defined_view(transcript, 1)
}

/// Where it tells: the newest boundary's preserved events begin inside a turn.
fn mid_turn(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let Some((before, _)) = states(moment).filter(|_| matches!(moment.op, Op::Compact(_))) else {
            return Judgement::Silent;
        };
        let Some(names) = before.log.iter().rev().find_map(Event::as_boundary) else {
            return Judgement::Silent;
        };
        let Ok(view) = &before.view else { return Judgement::Silent };
        let words = Words::of(view);
        let first = names.preserved.first().and_then(|id| view.iter().position(|event| event.id == *id));
        let starts_mid_turn = first.is_some_and(|at| words.is_preamble(at));
        match &moment.result {
            Effect::Changed(change) if starts_mid_turn => {
                let preamble = words.events(Words::is_preamble);
                match preamble.iter().find(|event| !contains(&change.pinned, event)) {
                    Some(event) => Judgement::Breaks(format!(
                        "`{}` stands before the first turn start of the view and is not pinned",
                        event.id
                    )),
                    None => Judgement::Holds,
                }
            }
            _ => Judgement::Silent,
        }
    })
}

fn foreign_types(transcript: &Transcript) -> Judgement {
    let foreign = |event: &&Event| matches!(event.content, Content::Other(..));
    each(transcript, |moment| {
        let Some((before, after)) = states(moment) else { return Judgement::Silent };
        let Some(event) = before.log.iter().find(foreign) else { return Judgement::Silent };
        let (Op::Compact(_), Ok(view)) = (&moment.op, &after.view) else { return Judgement::Silent };
        if let Some(event) = before.log.iter().filter(foreign).find(|event| !contains(&after.log, event)) {
            return Judgement::Breaks(format!("`{}` of another type left the log", event.id));
        }
        if let Some(event) = view.iter().find(foreign) {
            return Judgement::Breaks(format!("`{}` of another type is in the view", event.id));
        }
        match &moment.result {
            Effect::Changed(change) => {
                let touched =
                    [&change.pinned, &change.covered, &change.preserved].into_iter().flatten().find(foreign);
                match touched {
                    Some(event) => {
                        Judgement::Breaks(format!("`{}` of another type was placed by the pass", event.id))
                    }
                    None => counts_without_it(moment, event),
                }
            }
            Effect::Unchanged => counts_without_it(moment, event),
            Effect::Answered(_) => Judgement::Silent,
        }
    })
}

/// The pass cuts where it would if the log held no event of another type.
fn counts_without_it(moment: &Moment, foreign: &Event) -> Judgement {
    let before = moment.before.as_ref().map(|before| Words::view_of(&before.log));
    let Some(Ok(must)) = before else { return Judgement::Silent };
    let Some(Ok(shown)) = moment.before.as_ref().map(|before| &before.view) else { return Judgement::Silent };
    if ids(shown) != ids(&must) {
        return Judgement::Breaks(format!("with `{}` in the log the view is {}", foreign.id, list(shown)));
    }
    let Some(seen) = Seen::of(moment) else { return Judgement::Silent };
    match seen.words.cut(seen.window, seen.summarizing(), Charges::default()) {
        Some(cut) if seen.words.turn_starts.len() > 1 => {
            seen.cuts_at(cut, || format!("`{}` of another type counts for nothing", foreign.id))
        }
        _ => Judgement::Silent,
    }
}

fn repeat(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let (Op::Append(event), Some((before, after))) = (&moment.op, states(moment)) else {
            return Judgement::Silent;
        };
        if !contains(&before.log, event) {
            let grew = after.log.len() == before.log.len() + 1 && after.version > before.version;
            return Judgement::check(grew, || {
                format!("`{}` was appended, and the log did not grow", event.id)
            });
        }
        Judgement::check(before == after, || format!("`{}` was in the log and was appended again", event.id))
    })
}

fn duplicate(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| match &moment.op {
        Op::Pass(pass) => match pass.view.get() {
            Ok(view) if has_repeated_id(view) && pass.window.get().is_ok() => {
                let refused = matches!(
                    &moment.result,
                    Effect::Answered(Answer::Error(failed)) if failed.class == ErrorClass::InvalidView
                );
                Judgement::check(refused, || "a view with the same id twice was not refused".into())
            }
            _ => Judgement::Silent,
        },
        Op::Batch(batch) => {
            let Some((before, after)) = states(moment) else { return Judgement::Silent };
            if !has_repeated_id(batch) && !batch.iter().any(|event| contains(&before.log, event)) {
                return Judgement::Silent;
            }
            let refused = matches!(&moment.result, Effect::Answered(Answer::Refused { .. }));
            Judgement::check(refused && before == after, || {
                "a batch with a known or repeated id was written".into()
            })
        }
        _ => Judgement::Silent,
    })
}

fn corrupt(transcript: &Transcript) -> Judgement {
    each(transcript, |moment| {
        let Op::Open(log) = &moment.op else { return Judgement::Silent };
        let Ok(log) = log.get() else { return Judgement::Silent };
        let Some(fault) = fault_of(log) else {
            let opened = matches!(&moment.result, Effect::Answered(Answer::Opened { .. }));
            return Judgement::check(opened, || format!("a sound log was answered {:?}", moment.result));
        };
        let refused = matches!(
            &moment.result,
            Effect::Answered(Answer::Error(failed)) if failed.class == ErrorClass::CorruptLog
        );
        Judgement::check(refused, || format!("{fault}, and the log was opened"))
    })
}

/// What is wrong with a log: a repeated id, or a boundary that names what it can't have named.
fn fault_of(log: &[Event]) -> Option<String> {
    if has_repeated_id(log) {
        return Some("the log holds an id twice".into());
    }
    log.iter().enumerate().find_map(|(at, event)| {
        let names = event.as_boundary()?;
        let before = log.get(..at).unwrap_or_default();
        let named: Vec<&EventId> = names.pinned.iter().chain(&names.preserved).collect();
        named.iter().enumerate().find_map(|(nth, id)| {
            let known = before.iter().any(|event| event.id == **id && event.as_message().is_some());
            let again = named.iter().take(nth).any(|other| other == id);
            (!known || again)
                .then(|| format!("boundary `{}` names `{id}`, which it can't have named", event.id))
        })
    })
}
