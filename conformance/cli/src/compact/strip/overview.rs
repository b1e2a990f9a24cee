//! Many dialogues at a glance: a line each, drawn to one scale, then the totals.

use turnfold_core::Place;

use crate::compact::{
    compaction::{Compaction, is_covered, is_pinned},
    paint::{CUT, FAINT, PINNED, PRESERVED, counted, paint, thousands},
    strip::{MARGIN, balance::Balance},
};

/// A line for each dialogue, and the lines of the totals.
pub(crate) fn overview(compactions: &[Compaction<'_>], columns: usize) -> Vec<String> {
    const HEADS: [&str; 3] = ["#", "turns", "tokens"];
    let rows: Vec<[String; 3]> = compactions.iter().map(numbers).collect();
    let mut widths = HEADS.map(str::len);
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.chars().count());
        }
    }
    let taken = widths.iter().fold(MARGIN.len().saturating_mul(5), |sum, width| sum.saturating_add(*width));
    let room = columns.saturating_sub(taken).clamp(10, 72);
    let longest = compactions.iter().map(|compaction| compaction.view.len()).max().unwrap_or(0);
    let events = longest.div_ceil(room.saturating_sub(2)).max(1);
    let line = |[number, turns, tokens]: [&str; 3], bar: &str, drawn: usize| {
        let [number_width, turns_width, tokens_width] = widths;
        let blanks = " ".repeat(room.saturating_sub(drawn));
        format!("{number:>number_width$}  {bar}{blanks}  {turns:>turns_width$}  {tokens:>tokens_width$}")
    };
    let mut lines = vec![format!("{MARGIN}{}", paint(FAINT, line(HEADS, "", 0)))];
    for (compaction, row) in compactions.iter().zip(&rows) {
        let (bar, drawn) = bar(compaction, events);
        lines.push(format!("{MARGIN}{}", line(row.each_ref().map(String::as_str), &bar, drawn)));
    }
    lines.extend([String::new(), format!("{MARGIN}{}", paint(FAINT, legend(events))), String::new()]);
    lines.extend(Balance::of(compactions).bars(columns));
    let cut = compactions.iter().filter(|compaction| compaction.cut.is_some()).count();
    let all = counted(compactions.len(), "dialogue");
    lines.push(format!("{MARGIN}{}", paint(FAINT, format!("{cut} of {all} cut, the others unchanged"))));
    lines
}

/// The dialogue's number, its turns and its tokens, before and after where they differ.
fn numbers(compaction: &Compaction<'_>) -> [String; 3] {
    let (before, after) = (compaction.before(), compaction.after());
    let change = |before: u64, after: u64| match compaction.unchanged {
        Some(_) => thousands(before),
        None => format!("{} → {}", thousands(before), thousands(after)),
    };
    [
        compaction.dialogue.number.to_string(),
        change(before.turns as u64, after.turns as u64),
        change(before.tokens, after.tokens),
    ]
}

/// A dialogue as blocks, so many events each, never across the cut, and its length.
fn bar(compaction: &Compaction<'_>, events: usize) -> (String, usize) {
    let cut = compaction.cut.unwrap_or(0);
    let (before, after) = compaction.places.split_at_checked(cut).unwrap_or((&[], &compaction.places));
    let mut bar = String::new();
    let mut drawn = 0_usize;
    for (zone, places) in [before, after].into_iter().enumerate() {
        if zone == 1 && compaction.cut.is_some() {
            bar.push_str(&paint(CUT, '│'));
            drawn = drawn.saturating_add(1);
        }
        for chunk in places.chunks(events) {
            let (block, style) = block(chunk);
            bar.push_str(&paint(style, block));
            drawn = drawn.saturating_add(1);
        }
    }
    (bar, drawn)
}

fn block(places: &[Place]) -> (char, anstyle::Style) {
    if places.iter().any(|place| is_pinned(*place)) {
        ('▓', PINNED)
    } else if places.iter().all(|place| is_covered(*place)) {
        ('░', FAINT)
    } else {
        ('█', PRESERVED)
    }
}

fn legend(events: usize) -> String {
    let cell =
        if events == 1 { "a cell is an event".into() } else { format!("a cell is up to {events} events") };
    format!("▓ pinned · ░ covered · │ cut · █ preserved · {cell}")
}
