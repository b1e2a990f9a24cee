//! Why each event of a view is pinned, covered or kept, by the rules' ids.

use turnfold_core::{Place, Unchanged, Window};

use crate::compact::{
    compaction::{Compaction, Size, Weighed, why_unchanged},
    paint::{BOLD, CUT, FAINT, PINNED, PRESERVED, counted, paint, thousands},
    strip::MARGIN,
};

/// A group of events with one fate, or the cut, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Reason {
    /// `pinned`, `covered`, `preserved` or `cut`
    pub(crate) fate: &'static str,
    /// What the events are
    pub(crate) what: String,
    /// Where they stand, from 1
    pub(crate) positions: String,
    /// How many events
    pub(crate) events: usize,
    /// What they weigh
    pub(crate) tokens: u64,
    /// Why
    pub(crate) why: String,
    /// The rules that say so
    pub(crate) rules: Vec<&'static str>,
}

/// The reasons, in the order of the next view: what is pinned, what is covered, the cut, what is preserved.
pub(crate) fn reasons(compaction: &Compaction<'_>) -> Vec<Reason> {
    if let Some(reason) = compaction.unchanged {
        return unchanged(compaction, reason);
    }
    let before = |fate, place, what, why: &str, rules: &[&'static str]| {
        let events = compaction.placed().filter(|(_, _, at)| *at == place);
        group(fate, what, events.map(|(at, event, _)| (at, event)), why, rules)
    };
    let covered = counted(compaction.covered_size().turns, "turn");
    let first = compaction.covered_size().turns.saturating_add(1);
    let preserved = turn_numbers(first, compaction.before().turns);
    let mut reasons: Vec<Reason> = [
        before(
            "pinned",
            Place::SystemPrompt,
            "the system prompt".into(),
            "the latest system message stands first and is never covered",
            &["pin.system-prompt"],
        ),
        before(
            "pinned",
            Place::Preamble,
            "the preamble".into(),
            "what precedes the first turn is no turn and is never cut",
            &["pin.preamble"],
        ),
        before(
            "pinned",
            Place::CarriedSummary,
            "the prior summary".into(),
            "an earlier compaction wrote it, and without a summarizer nothing replaces it",
            &["pin.summary-carried", "synthetic.all"],
        ),
        before(
            "covered",
            Place::Superseded,
            "superseded system messages".into(),
            "a later system message took their place",
            &["pin.superseded-leaves"],
        ),
        before(
            "covered",
            Place::Covered,
            turn_numbers(1, compaction.covered_size().turns),
            &format!("the cut leaves {covered} behind as a whole"),
            &["cut.leaves", "turn.whole"],
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    reasons.extend(cut(compaction));
    reasons.extend(before(
        "preserved",
        Place::Preserved,
        preserved,
        "from the cut on nothing leaves; the newest turn stays in any case",
        &["result.suffix", "turn.newest"],
    ));
    reasons.extend(overshoot(compaction));
    reasons
}

fn group<'c, 'd: 'c>(
    fate: &'static str,
    what: String,
    events: impl Iterator<Item = (usize, &'c Weighed<'d>)>,
    why: &str,
    rules: &[&'static str],
) -> Option<Reason> {
    let (positions, events): (Vec<_>, Vec<_>) = events.unzip();
    if positions.is_empty() {
        return None;
    }
    let size = Size::of(events);
    Some(Reason {
        fate,
        what,
        positions: ranges(&positions),
        events: size.events,
        tokens: size.tokens,
        why: why.into(),
        rules: rules.to_vec(),
    })
}

fn unchanged(compaction: &Compaction<'_>, reason: Unchanged) -> Vec<Reason> {
    let all = compaction.placed().map(|(at, event, _)| (at, event));
    let rules: &[_] = match reason {
        Unchanged::NoTurn => &["write.no-turn"],
        Unchanged::SingleTurn => &["write.single-turn", "turn.newest"],
        Unchanged::Fits => &["write.fits"],
        Unchanged::Declined => &["summary.decline"],
    };
    let what = turn_numbers(1, compaction.before().turns);
    let mut reasons: Vec<Reason> =
        group("preserved", format!("everything, {what}"), all, why_unchanged(reason), rules)
            .into_iter()
            .collect();
    let mut systems: Vec<_> = compaction
        .placed()
        .filter(|(_, event, _)| event.is_system())
        .map(|(at, event, _)| (at, event))
        .collect();
    systems.pop();
    reasons.extend(group(
        "preserved",
        "superseded system messages".into(),
        systems.into_iter(),
        "they leave only with a pass that cuts",
        &["pin.superseded-stays"],
    ));
    reasons
}

fn turn_numbers(first: usize, last: usize) -> String {
    match last.checked_sub(first) {
        None => "no turn".into(),
        Some(0) => format!("turn {last}"),
        Some(_) => format!("turns {first}–{last}"),
    }
}

/// Positions from 0 as ranges from 1.
fn ranges(positions: &[usize]) -> String {
    const SHOWN: usize = 4;
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for at in positions {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) == *at => *last = *at,
            _ => ranges.push((*at, *at)),
        }
    }
    let text = |(first, last): &(usize, usize)| {
        if first == last { number(*first) } else { format!("{}–{}", number(*first), number(*last)) }
    };
    let mut texts: Vec<_> = ranges.iter().take(SHOWN).map(text).collect();
    if ranges.len() > SHOWN {
        texts.push("…".into());
    }
    texts.join(", ")
}

fn number(at: usize) -> String {
    format!("#{}", at.saturating_add(1))
}

/// The oldest event of the longest suffix of the body that the window pays for, and what that suffix weighs. Turns are
/// paid for as a whole, so that theirs is the cut itself.
fn raw_cut(compaction: &Compaction<'_>, tokens: Option<u64>) -> Option<(usize, u64)> {
    let mut left = match compaction.window {
        Window::Events(size) => size.get(),
        Window::Turns(_) => return Some((compaction.cut?, 0)),
        Window::Tokens(_) => tokens?,
    };
    let mut raw = None;
    let mut weight = 0_u64;
    let start = compaction.view.iter().position(Weighed::is_turn_start)?;
    for (at, event) in
        compaction.view.iter().enumerate().skip(start).rev().filter(|(_, event)| event.is_plain())
    {
        let cost = if matches!(compaction.window, Window::Events(_)) { 1 } else { event.tokens.into() };
        let Some(rest) = left.checked_sub(cost) else { break };
        left = rest;
        weight = weight.saturating_add(event.tokens.into());
        raw = Some((at, weight));
    }
    raw
}

/// How the cut was found.
fn cut(compaction: &Compaction<'_>) -> Option<Reason> {
    let cut = compaction.cut?;
    let pinned = Size::of(compaction.pinned().map(|(_, event)| event));
    let left = compaction.window.size().checked_sub(pinned.tokens);
    let raw = raw_cut(compaction, left);
    let (wanted, mut rules) = window_words(compaction, pinned, raw);
    let turn =
        compaction.view.iter().take(cut.saturating_add(1)).filter(|event| event.is_turn_start()).count();
    let found = match raw {
        Some((raw, _)) if raw == cut => format!(", where turn {turn} starts"),
        Some((raw, _)) if raw < cut => {
            rules.push("cut.forward");
            let inside = turn.saturating_sub(1);
            format!(", inside turn {inside}: forward to {}, where turn {turn} starts", number(cut))
        }
        _ => {
            rules.push("cut.newest");
            format!(": back to {}, where the newest turn starts", number(cut))
        }
    };
    let why = wanted + &found;
    if !matches!(compaction.window, Window::Tokens(_)) && pinned.events > 0 {
        rules.push("window.pinned-free");
    }
    if compaction.places.contains(&Place::Superseded) {
        rules.push("window.superseded-free");
    }
    Some(Reason {
        fate: "cut",
        what: format!("before turn {turn}"),
        positions: number(cut),
        events: 0,
        tokens: 0,
        why,
        rules,
    })
}

/// The verb for so many.
const fn begin(count: u64) -> &'static str {
    if count == 1 { "begins" } else { "begin" }
}

/// What the window asks for and where that begins.
fn window_words(
    compaction: &Compaction<'_>,
    pinned: Size,
    raw: Option<(usize, u64)>,
) -> (String, Vec<&'static str>) {
    let at = raw.map_or(String::new(), |(raw, _)| number(raw));
    match compaction.window {
        Window::Events(size) => {
            let events = counted(usize::try_from(size.get()).unwrap_or(usize::MAX), "event");
            (format!("the last {events} of the turns {} at {at}", begin(size.get())), vec!["window.events"])
        }
        Window::Turns(size) => {
            let turns = counted(usize::try_from(size.get()).unwrap_or(usize::MAX), "turn");
            (format!("the last {turns} {} at {at}", begin(size.get())), vec!["window.turns"])
        }
        Window::Tokens(size) => {
            let (budget, taken) = (thousands(size.get()), thousands(pinned.tokens));
            match (size.get().checked_sub(pinned.tokens), raw) {
                (None, _) => (
                    format!(
                        "what is pinned weighs {taken}, more than the budget of {budget}, so nothing fits"
                    ),
                    vec!["window.pinned-first", "window.overdrawn", "window.negative"],
                ),
                (Some(left), None) => (
                    format!(
                        "of the budget of {budget}, {taken} go to what is pinned, and not even the newest event fits \
                         into the other {}",
                        thousands(left)
                    ),
                    vec!["window.pinned-first", "window.tokens"],
                ),
                (Some(left), Some((_, weight))) => (
                    format!(
                        "of the budget of {budget}, {taken} go to what is pinned; of the other {}, the newest events \
                         take {} and begin at {at}",
                        thousands(left),
                        thousands(weight)
                    ),
                    vec!["window.pinned-first", "window.tokens"],
                ),
            }
        }
    }
}

fn overshoot(compaction: &Compaction<'_>) -> Option<Reason> {
    if compaction.overshoot == 0 {
        return None;
    }
    let after = compaction.after();
    Some(Reason {
        fate: "preserved",
        what: "more than the budget".into(),
        positions: String::new(),
        events: 0,
        tokens: compaction.overshoot,
        why: format!(
            "the next view weighs {}, {} over the budget",
            thousands(after.tokens),
            thousands(compaction.overshoot)
        ),
        rules: vec!["result.overshoot"],
    })
}

/// The reasons as lines of so many columns.
pub(crate) fn lines(reasons: &[Reason], columns: usize) -> Vec<String> {
    const INDENT: usize = 13;
    let mut lines = Vec::new();
    for reason in reasons {
        let style = match reason.fate {
            "pinned" => PINNED,
            "covered" => FAINT,
            "cut" => CUT,
            _ => PRESERVED,
        };
        let size = format!("{}, {} tokens", counted(reason.events, "event"), thousands(reason.tokens));
        let head = [
            paint(style, format!("{:<9}", reason.fate)),
            paint(BOLD, &reason.what),
            reason.positions.clone(),
            if reason.events > 0 { paint(FAINT, size) } else { String::new() },
        ];
        lines.push(format!("{MARGIN}{}", head.join("  ").trim_end()));
        let why = wrapped(&reason.why, columns.saturating_sub(INDENT).max(30));
        lines.extend(why.iter().map(|line| format!("{:INDENT$}{line}", "")));
        let rules = wrapped(&reason.rules.join(" "), columns.saturating_sub(INDENT).max(30));
        lines.extend(rules.iter().map(|line| format!("{:INDENT$}{}", "", paint(FAINT, line))));
    }
    lines
}

/// Words in lines of at most so many columns.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line)
                if line.chars().count().saturating_add(1).saturating_add(word.chars().count()) <= columns =>
            {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::{
        dialogue::{Dialogue, Shell},
        weigh::Tokenizer,
    };
    use turnfold_core::{Event, Role, ViewEvent};
    use turnfold_spec::Rule;

    /// Every view of up to six events, each a system message, a summary, a turn start or an answer.
    fn dialogues() -> impl Iterator<Item = Dialogue> {
        (0..=6_u32).flat_map(|length| (0..4_u32.pow(length)).map(move |code| (length, code))).map(
            |(length, code)| {
                let event = |at: u32| {
                    let id = format!("e{at}");
                    let event = match code / 4_u32.pow(at) % 4 {
                        0 => Event::message(id, Role::System, ""),
                        1 => Event::message(id, Role::Assistant, "").synthetic(),
                        2 => Event::message(id, Role::User, ""),
                        _ => Event::message(id, Role::Assistant, ""),
                    };
                    event.weighing(at % 3)
                };
                Dialogue { number: 1, events: (0..length).map(event).collect(), shell: Shell::List }
            },
        )
    }

    fn windows() -> [Window; 6] {
        let make = |window: Result<Window, _>| window.unwrap();
        [
            make(Window::last_events(1)),
            make(Window::last_events(3)),
            make(Window::last_turns(1)),
            make(Window::last_turns(2)),
            make(Window::token_budget(1)),
            make(Window::token_budget(4)),
        ]
    }

    #[test]
    fn every_event_has_one_reason_and_every_rule_is_in_the_book() {
        for dialogue in dialogues() {
            for window in windows() {
                let compaction = Compaction::of(&dialogue, Tokenizer::Chars, window).unwrap();
                let reasons = reasons(&compaction);
                let stays = |reason: &&Reason| !reason.rules.contains(&"pin.superseded-stays");
                let explained: usize = reasons.iter().filter(stays).map(|reason| reason.events).sum();
                assert_eq!(explained, dialogue.events.len(), "{dialogue:?} {window}");
                for rule in reasons.iter().flat_map(|reason| &reason.rules) {
                    assert!(Rule::find(rule).is_some(), "{rule}");
                }
            }
        }
    }

    #[test]
    fn the_raw_cut_leads_to_the_cut() {
        let mut seen = std::collections::BTreeSet::new();
        for dialogue in dialogues() {
            for window in windows() {
                let compaction = Compaction::of(&dialogue, Tokenizer::Chars, window).unwrap();
                let Some(cut) = compaction.cut else { continue };
                let pinned: u64 = compaction.pinned().map(|(_, event)| u64::from(event.weight())).sum();
                let raw = raw_cut(&compaction, window.size().checked_sub(pinned)).map(|(raw, _)| raw);
                let starts: Vec<usize> = compaction
                    .view
                    .iter()
                    .enumerate()
                    .filter(|(_, event)| event.is_turn_start())
                    .map(|(at, _)| at)
                    .collect();
                let forward = raw.and_then(|raw| starts.iter().copied().find(|start| *start >= raw));
                assert_eq!(Some(cut), forward.or(starts.last().copied()), "{dialogue:?} {window}");
                let reasons = reasons(&compaction);
                let reason = reasons.iter().find(|reason| reason.fate == "cut").unwrap();
                seen.extend(reason.rules.iter().copied());
                assert_eq!(
                    reason.rules.contains(&"cut.forward"),
                    raw.is_some_and(|raw| raw < cut),
                    "{dialogue:?} {window}"
                );
            }
        }
        let reached: Vec<_> = seen.into_iter().collect();
        assert_eq!(
            reached,
            [
                "cut.forward",
                "cut.newest",
                "window.events",
                "window.negative",
                "window.overdrawn",
                "window.pinned-first",
                "window.pinned-free",
                "window.superseded-free",
                "window.tokens",
                "window.turns",
            ]
        );
    }

    #[test]
    fn positions_are_told_as_ranges() {
        assert_eq!(ranges(&[0]), "#1");
        assert_eq!(ranges(&[0, 1, 2, 5]), "#1–#3, #6");
        assert_eq!(ranges(&[0, 2, 4, 6, 8]), "#1, #3, #5, #7, …");
        assert_eq!((turn_numbers(1, 0), turn_numbers(2, 2)), ("no turn".into(), "turn 2".into()));
    }
}
