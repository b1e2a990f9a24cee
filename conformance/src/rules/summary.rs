//! What a summarizer is handed, how often, and what its three results do.

use turnfold_core::{Event, Role, Value};

use super::{Judgement, Needs, Property, Seen, contains, ids, list};
use crate::{
    protocol::{Call, ErrorClass, Said},
    words::{Words, belongs_to, is_synthetic},
};

pub(super) const PROPERTIES: &[Property] = &[
    Property::pass("summary.prior-handed", prior_handed).needs(Needs::Summarizer),
    Property::pass("summary.input", input).needs(Needs::Summarizer),
    Property::pass("summary.input-only", input_only).needs(Needs::Summarizer),
    Property::pass("summary.system-free", system_free).needs(Needs::Summarizer),
    Property::pass("summary.prior-text", prior_text).needs(Needs::Summarizer),
    Property::pass("summary.stands-in", stands_in).needs(Needs::Summarizer),
    Property::pass("summary.shape", shape).needs(Needs::Summarizer),
    Property::pass("summary.same-time", same_time).needs(Needs::Summarizer),
    Property::pass("summary.decline", decline).needs(Needs::Summarizer),
    Property::pass("summary.blank", blank).needs(Needs::Summarizer),
    Property::pass("summary.failure", failure).needs(Needs::Summarizer),
    Property::pass("summary.once", once).needs(Needs::Summarizer),
];

fn each_call<'t>(seen: &Seen<'t>, judge: impl Fn(&'t Call) -> Judgement) -> Judgement {
    Judgement::all(seen.calls().iter().map(judge))
}

fn prior_handed(seen: &Seen<'_>) -> Judgement {
    let prior = seen.words.events(Words::is_prior);
    if prior.is_empty() {
        return Judgement::Silent;
    }
    let handed = each_call(seen, |call| match call.events.iter().find(|event| is_synthetic(event)) {
        Some(event) => {
            Judgement::Breaks(format!("`{}` of the prior summary was handed over as an event", event.id))
        }
        None => Judgement::check(call.prior.is_some(), || "the prior summary was not handed over".into()),
    });
    let covered = match seen.change() {
        Some(change) if seen.summarizing() => {
            let kept =
                prior.iter().find(|event| !contains(&change.covered, event) || contains(&change.view, event));
            match kept {
                Some(event) => {
                    Judgement::Breaks(format!("`{}` stayed beside the summary that replaces it", event.id))
                }
                None => Judgement::Holds,
            }
        }
        _ => Judgement::Silent,
    };
    Judgement::all([handed, covered])
}

fn input(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change() else { return Judgement::Silent };
    let must: Vec<&Event> =
        seen.words.events(Words::is_body).into_iter().filter(|e| contains(&change.covered, e)).collect();
    each_call(seen, |call| {
        let handed: Vec<&Event> =
            call.events.iter().filter(|event| must.iter().any(|covered| covered.id == event.id)).collect();
        if ids(handed.iter().copied()) != ids(must.iter().copied()) {
            return Judgement::Breaks(format!(
                "the covered turns are {}; handed over of them was {}",
                list(must.iter().copied()),
                list(handed)
            ));
        }
        let altered = must.iter().zip(&handed).find(|(must, handed)| must != handed);
        match altered {
            Some((event, _)) => Judgement::Breaks(format!("`{}` was handed over altered", event.id)),
            None => Judgement::Holds,
        }
    })
}

fn input_only(seen: &Seen<'_>) -> Judgement {
    let body = seen.words.positions(Words::is_body);
    let cut = seen.planned().unwrap_or(0);
    each_call(seen, |call| {
        let stranger = call.events.iter().find(|event| match seen.position(event) {
            Some(at) => seen.words.is_preamble(at) || body.contains(&at) && at >= cut,
            None => true,
        });
        match stranger {
            Some(event) => Judgement::Breaks(format!("`{}` was handed over and does not leave", event.id)),
            None => Judgement::Holds,
        }
    })
}

fn system_free(seen: &Seen<'_>) -> Judgement {
    if seen.words.events(Words::is_superseded).is_empty() {
        return Judgement::Silent;
    }
    each_call(seen, |call| {
        let system = call
            .events
            .iter()
            .find(|event| seen.position(event).is_some_and(|at| seen.words.is_superseded(at)));
        match system {
            Some(event) => Judgement::Breaks(format!("superseded `{}` was handed over", event.id)),
            None => Judgement::Holds,
        }
    })
}

fn prior_text(seen: &Seen<'_>) -> Judgement {
    let must = seen.words.prior_text();
    each_call(seen, |call| {
        Judgement::check(call.prior == must, || {
            format!("the prior is {must:?}, handed over was {:?}", call.prior)
        })
    })
}

fn stands_in(seen: &Seen<'_>) -> Judgement {
    let (Some(change), Some(Said::Text { text, .. })) = (seen.change(), seen.says) else {
        return Judgement::Silent;
    };
    if text.trim().is_empty() {
        return Judgement::Silent;
    }
    let said =
        change.summary.iter().any(|event| event.as_message().is_some_and(|m| m.text.contains(text.as_str())));
    if !said {
        return Judgement::Breaks(format!("no summary event holds the summarizer's text {text:?}"));
    }
    let place = |events: &[Event]| -> Vec<usize> {
        change
            .view
            .iter()
            .enumerate()
            .filter(|(_, event)| contains(events, event))
            .map(|(at, _)| at)
            .collect()
    };
    let (pinned, summary, preserved) =
        (place(&change.pinned), place(&change.summary), place(&change.preserved));
    let before = |one: &[usize], other: &[usize]| match (one.last(), other.first()) {
        (Some(last), Some(first)) => last < first,
        _ => true,
    };
    Judgement::check(before(&pinned, &summary) && before(&summary, &preserved) && !summary.is_empty(), || {
        format!("the summary {} stands out of its place in {}", list(&change.summary), list(&change.view))
    })
}

fn shape(seen: &Seen<'_>) -> Judgement {
    let Some(change) = seen.change().filter(|change| !change.summary.is_empty()) else {
        return Judgement::Silent;
    };
    let roles: Vec<Option<Role>> = change.summary.iter().map(|e| e.as_message().map(|m| m.role)).collect();
    if roles != [Some(Role::User), Some(Role::Assistant)] {
        return Judgement::Breaks(format!(
            "the summary is {roles:?}, expected a user and an assistant message"
        ));
    }
    if let Some(event) = change.summary.iter().find(|event| !is_synthetic(event)) {
        return Judgement::Breaks(format!("`{}` of the summary is not flagged synthetic", event.id));
    }
    let strategy = |event: &Event| match event.metadata.get("strategy") {
        Some(Value::String(name)) if !name.is_empty() => Some(name.clone()),
        _ => None,
    };
    let names: Vec<Option<String>> = change.summary.iter().map(strategy).collect();
    if names.iter().any(Option::is_none) {
        return Judgement::Breaks("the summary does not name its strategy".into());
    }
    let boundary = seen.after().and_then(|after| after.log.iter().rev().find(|e| e.as_boundary().is_some()));
    match boundary {
        Some(boundary) if !change.summary.iter().all(|event| belongs_to(event, boundary.id.as_str())) => {
            Judgement::Breaks(format!("the summary does not name its boundary `{}`", boundary.id))
        }
        _ => Judgement::Holds,
    }
}

fn same_time(seen: &Seen<'_>) -> Judgement {
    match seen.change().map(|change| change.summary.as_slice()) {
        Some([user, assistant]) => Judgement::check(user.time_ms == assistant.time_ms, || {
            format!("the halves of the summary are of {:?} and {:?}", user.time_ms, assistant.time_ms)
        }),
        _ => Judgement::Silent,
    }
}

/// Nothing changed, and of a session nothing was written.
fn left_alone(seen: &Seen<'_>) -> Judgement {
    if !seen.is_unchanged() {
        return Judgement::Breaks(format!("expected an unchanged view, found {}", told(seen)));
    }
    written_nothing(seen)
}

fn written_nothing(seen: &Seen<'_>) -> Judgement {
    match (&seen.moment.before, &seen.moment.after) {
        (Some(before), Some(after)) => Judgement::check(before == after, || {
            format!("the log held {} before and {} after", list(&before.log), list(&after.log))
        }),
        _ => Judgement::Holds,
    }
}

fn told(seen: &Seen<'_>) -> String {
    match seen.change() {
        Some(change) => format!("a view of {}", list(&change.view)),
        None => format!("{:?}", seen.moment.result),
    }
}

/// With one turn, whether there is a pass at all is itself a chosen rule.
fn was_asked(seen: &Seen<'_>) -> bool {
    !seen.calls().is_empty() && seen.planned().is_some()
}

fn decline(seen: &Seen<'_>) -> Judgement {
    match seen.says {
        Some(Said::Declined) if was_asked(seen) => left_alone(seen),
        _ => Judgement::Silent,
    }
}

fn blank(seen: &Seen<'_>) -> Judgement {
    match seen.says {
        Some(Said::Text { text, .. }) if text.trim().is_empty() && was_asked(seen) => left_alone(seen),
        _ => Judgement::Silent,
    }
}

fn failure(seen: &Seen<'_>) -> Judgement {
    match seen.says {
        Some(Said::Failed(_)) if was_asked(seen) => {
            if seen.failed(ErrorClass::Summarizer) {
                written_nothing(seen)
            } else {
                Judgement::Breaks(format!("expected the summarizer's error, found {}", told(seen)))
            }
        }
        _ => Judgement::Silent,
    }
}

fn once(seen: &Seen<'_>) -> Judgement {
    let must = usize::from(seen.summarizing() && seen.planned().is_some());
    let calls = seen.calls().len();
    Judgement::check(calls == must, || format!("the summarizer was called {calls} times, expected {must}"))
}
