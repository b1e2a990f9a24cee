//! A report for people: every rule on a line, and for each that is broken the smallest session that shows it.

use std::{fmt::Write, time::Duration};

use anstyle::{AnsiColor, Style};
use turnfold_conformance::{
    picture::{Cell, Fate, Picture},
    protocol::Implementation,
    report::{Broken, Failure, Report, RuleReport, Status, Verdict},
    text::shorten,
};
use turnfold_spec::Standing;
use unicode_width::UnicodeWidthStr;

use crate::verify::Replay;

const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();
const SOFT: Style = AnsiColor::Yellow.on_default();
const DIM: Style = Style::new().dimmed();
const STRONG: Style = Style::new().bold();

const LEGEND: &str = "P pinned  K preserved  · covered  = unchanged  ! in no part, or in two  ? no such answer  │ a turn starts";

/// A text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// The whole report.
pub(crate) fn report(report: &Report, replay: &Replay<'_>, took: Duration) -> String {
    let mut text = String::new();
    let front = if replay.command.is_empty() { "in this process" } else { "as a program" };
    line(&mut text, &format!("{}, {front}", paint(STRONG, subject(&report.subject))));
    line(&mut text, &paint(DIM, format!("suite {}, seed {}", report.suite, report.seed)));
    let mut family = "";
    for rule in &report.rules {
        let own = rule.id.split('.').next().unwrap_or_default();
        if own != family {
            family = own;
            text.push('\n');
        }
        line(&mut text, &rule_line(report, rule));
    }
    let broken = |counts: bool| {
        report.rules.iter().filter_map(move |rule| match &rule.status {
            Status::Failed(failure) if report.counts(rule) == counts => Some((rule, failure)),
            _ => None,
        })
    };
    if broken(true).any(|(_, failure)| failure.picture.is_some()) {
        text.push('\n');
        line(&mut text, &paint(DIM, LEGEND));
    }
    for (rule, failure) in broken(true) {
        text.push('\n');
        text.push_str(&failed(rule, failure, replay));
    }
    if broken(false).next().is_some() {
        text.push('\n');
        line(
            &mut text,
            &paint(DIM, "Chosen rules, which the source leaves open and this subject reads otherwise:"),
        );
    }
    for (rule, failure) in broken(false) {
        text.push('\n');
        text.push_str(&otherwise(rule, failure, replay));
    }
    for fault in &report.faults {
        text.push('\n');
        text.push_str(&faulty(fault));
    }
    text.push('\n');
    text.push_str(&verdict(report, took));
    text
}

fn line(text: &mut String, content: &str) {
    text.push_str(content.trim_end());
    text.push('\n');
}

fn subject(implementation: &Implementation) -> String {
    let version = implementation.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let language =
        implementation.language.as_deref().map(|language| format!(" ({language})")).unwrap_or_default();
    shorten(&format!("{}{version}{language}", implementation.name), 120)
}

fn rule_line(report: &Report, rule: &RuleReport) -> String {
    let (mark, note) = match &rule.status {
        Status::Passed => (paint(GOOD, "✓"), format!("{} checks", grouped(rule.checks))),
        Status::Failed(_) if !report.counts(rule) => (paint(SOFT, "~"), "read otherwise".into()),
        Status::Failed(_) => (paint(BAD, "✗"), paint(BAD, "broken")),
        Status::Vacuous => (paint(BAD, "∅"), "never judged: more --cases, or other capabilities".into()),
        Status::NotApplicable(lacks) => (paint(DIM, "-"), format!("not applicable: {lacks}")),
    };
    format!("  {mark} {:<24} {:<11} {}", rule.id, rule.standing.as_str(), paint(DIM, note))
}

/// One rule that is broken: its sentence, the smallest session, expected and found, why, and how to see it again.
fn failed(rule: &RuleReport, failure: &Failure, replay: &Replay<'_>) -> String {
    let mut text = String::new();
    let mark = paint(BAD, "✗");
    line(
        &mut text,
        &format!(
            "{mark} {}  {}",
            paint(STRONG, &rule.id),
            paint(DIM, format!("{} · {}", rule.standing, rule.source))
        ),
    );
    for row in wrapped(&rule.sentence, 96) {
        line(&mut text, &format!("  {row}"));
    }
    text.push('\n');
    for (nth, step) in failure.steps.iter().enumerate() {
        let (expected, found) = (answer(&failure.expected, nth), answer(&failure.found, nth));
        line(&mut text, &format!("    {}", paint(STRONG, step)));
        if expected == found {
            for row in found {
                line(&mut text, &format!("      {}", paint(DIM, row)));
            }
        } else {
            text.push_str(&side_by_side(expected, found));
        }
    }
    if let Some(picture) = &failure.picture {
        text.push('\n');
        text.push_str(&strip(picture));
    }
    text.push('\n');
    for row in wrapped(&failure.why, 86) {
        line(&mut text, &format!("    {row}"));
    }
    let found_by =
        format!("found by {}; {} in the session", failure.oracle.as_str(), counted(failure.events, "event"));
    line(&mut text, &paint(DIM, format!("    {found_by}")));
    if !failure.reproduced {
        line(
            &mut text,
            &paint(SOFT, "    asked the same once more it answered otherwise: it is not deterministic"),
        );
    }
    line(&mut text, &format!("    {}", paint(DIM, again(rule, failure, replay))));
    text
}

/// A chosen rule that is read otherwise: enough to see how.
fn otherwise(rule: &RuleReport, failure: &Failure, replay: &Replay<'_>) -> String {
    let mut text = String::new();
    line(
        &mut text,
        &format!("{} {}  {}", paint(SOFT, "~"), paint(STRONG, &rule.id), failure.steps.join("; ")),
    );
    for row in wrapped(&failure.why, 92) {
        line(&mut text, &format!("    {row}"));
    }
    line(&mut text, &format!("    {}", paint(DIM, again(rule, failure, replay))));
    text
}

fn answer(answers: &[Vec<String>], nth: usize) -> &[String] {
    answers.get(nth).map_or(&[], Vec::as_slice)
}

/// The right answer and the one found, row by row.
fn side_by_side(expected: &[String], found: &[String]) -> String {
    let width = expected.iter().map(|row| row.width()).max().unwrap_or(0).max("expected".len()) + 4;
    let mut text = String::new();
    line(
        &mut text,
        &format!("      {}{}found", paint(DIM, "expected"), " ".repeat(width - "expected".len())),
    );
    for nth in 0..expected.len().max(found.len()) {
        let left = expected.get(nth).map_or("", String::as_str);
        let right = found.get(nth).map_or("", String::as_str);
        let gap = " ".repeat(width.saturating_sub(left.width()));
        let (left_style, right_style) = if left == right { (DIM, DIM) } else { (GOOD, BAD) };
        line(
            &mut text,
            &format!("      {}{gap}{}", paint(left_style, left), paint(right_style, shorten(right, 120))),
        );
    }
    text
}

/// The view as a strip: one column an event, a bar before each turn.
fn strip(picture: &Picture) -> String {
    let mut rows = [String::new(), String::new(), String::new()];
    for cell in &picture.cells {
        let width = cell.name.width().max(1);
        let bar = if cell.starts_turn { "│" } else { " " };
        let columns = [
            (paint(STRONG, shorten(&cell.name, 40)), cell.name.width()),
            (fate(cell.expected, cell, true), 1),
            (fate(cell.found, cell, false), 1),
        ];
        for (row, (shown, taken)) in rows.iter_mut().zip(columns) {
            let _ = write!(row, "{}{shown}{}", paint(DIM, bar), " ".repeat(width.saturating_sub(taken) + 1));
        }
    }
    let [names, expected, found] = rows;
    let next =
        |view: &[String]| if view.is_empty() { "(empty)".into() } else { shorten(&view.join(" "), 100) };
    let mut text = String::new();
    line(&mut text, &format!("    view     {names}"));
    line(&mut text, &format!("    expected {expected}  → {}", next(&picture.expected)));
    let found_view = picture.found.as_deref().map_or_else(|| "no view".into(), next);
    line(&mut text, &format!("    found    {found}  → {found_view}"));
    text
}

fn fate(fate: Fate, cell: &Cell, right: bool) -> String {
    let letter = match fate {
        Fate::Pinned => "P",
        Fate::Covered => "·",
        Fate::Preserved => "K",
        Fate::Unchanged => "=",
        Fate::Lost => "!",
        Fate::Untold => "?",
    };
    let style = match (right, cell.expected == cell.found) {
        (_, true) => DIM,
        (true, false) => GOOD,
        (false, false) => BAD,
    };
    paint(style, letter)
}

/// The one command that shows it again.
fn again(rule: &RuleReport, failure: &Failure, replay: &Replay<'_>) -> String {
    let program: Vec<String> = replay.command.iter().map(|word| quoted(&word.to_string_lossy())).collect();
    let program = if program.is_empty() { String::new() } else { format!(" -- {}", program.join(" ")) };
    if failure.replays {
        format!("turnfold replay {} --rule {}{program}", quoted(&failure.steps.join("; ")), rule.id)
    } else {
        format!("turnfold verify --rule {} --seed {} --cases {}{program}", rule.id, replay.seed, replay.cases)
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn faulty(fault: &Broken) -> String {
    let mut text = String::new();
    let kind = match fault.kind {
        turnfold_conformance::subject::FaultKind::Crash => "it ended instead of answering",
        turnfold_conformance::subject::FaultKind::Timeout => "it did not answer in time",
        turnfold_conformance::subject::FaultKind::Protocol => "it does not keep the protocol",
        turnfold_conformance::subject::FaultKind::Refused => "it refuses what it declares",
        turnfold_conformance::subject::FaultKind::Start => "it can't be started",
    };
    line(&mut text, &format!("{} {}", paint(BAD, "✗"), paint(STRONG, kind)));
    for row in wrapped(&shorten(&fault.message, 1200), 96) {
        line(&mut text, &format!("  {row}"));
    }
    text.push('\n');
    for step in fault.script.lines() {
        line(&mut text, &format!("    {}", paint(STRONG, shorten(step, 160))));
    }
    text
}

fn verdict(report: &Report, took: Duration) -> String {
    let mut text = String::new();
    let (style, word) = match report.verdict() {
        Verdict::Conforms => (GOOD, "conforms"),
        Verdict::Fails => (BAD, "fails"),
        Verdict::NoVerdict => (SOFT, "no verdict: nothing could be judged"),
        Verdict::Fault => (BAD, "no verdict: the program does not keep the protocol"),
    };
    line(
        &mut text,
        &format!(
            "{}  {}",
            paint(style, word),
            paint(
                DIM,
                format!(
                    "{} cases with {} passes in {:.1} s, {} passes a second",
                    grouped(report.cases),
                    grouped(report.passes),
                    took.as_secs_f64(),
                    grouped(per_second(report.passes, took))
                )
            )
        ),
    );
    let otherwise = report.read_otherwise();
    if otherwise > 0 {
        line(
            &mut text,
            &paint(
                SOFT,
                format!(
                    "{} read otherwise, which counts under --strict alone",
                    counted(otherwise, "chosen rule")
                ),
            ),
        );
    }
    let skipped = report.not_applicable() + otherwise;
    let skipped = if skipped > 0 { format!(", {skipped} skipped") } else { String::new() };
    line(&mut text, &format!("{} passed, {} failed{skipped}", report.passed(), report.failed()));
    text
}

fn per_second(count: u64, took: Duration) -> u64 {
    let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX).max(1);
    count.saturating_mul(1000) / millis
}

/// A number with a comma between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A text in rows of at most so many columns, broken at spaces.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split_whitespace() {
        match rows.last_mut() {
            Some(row) if row.is_empty() => row.push_str(word),
            Some(row) if row.width() + 1 + word.width() <= columns => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.into()),
        }
    }
    rows
}

/// The colour of a standing.
pub(crate) fn standing(standing: Standing) -> String {
    match standing {
        Standing::Documented => paint(STRONG, standing),
        Standing::Derived => standing.to_string(),
        Standing::Chosen => paint(DIM, standing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("a/b-c.py"), "a/b-c.py");
        assert_eq!(quoted("pass U1 | turns 1"), "'pass U1 | turns 1'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn rows_break_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("", 7), [""]);
    }
}
