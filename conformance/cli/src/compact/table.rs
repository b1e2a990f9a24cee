//! A dialogue as a table: a row an event.

use anstyle::Style;
use turnfold_core::{Event, Place};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::compact::{
    compaction::{Compaction, Weighed, is_covered, is_pinned, place_name},
    content::part_type,
    paint::{BOLD, CUT, FAINT, PINNED, PRESERVED, Speaker, paint, thousands},
};

const HEADS: [&str; 6] = ["#", "id", "role", "tokens", "place", "first words"];
/// The widest an id is shown.
const ID_COLUMNS: usize = 16;

/// The rows of a compaction, so many columns wide, and the cut between them.
pub(crate) fn table(compaction: &Compaction<'_>, columns: usize) -> Vec<String> {
    let rows: Vec<(usize, Place, &Weighed<'_>, [String; 5])> =
        compaction.placed().map(|(at, event, place)| (at, place, event, cells(at, event, place))).collect();
    let mut widths = [0_usize; 5];
    let heads = HEADS.map(String::from);
    for row in rows.iter().map(|(_, _, _, row)| row.as_slice()).chain([heads.as_slice()]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let taken = widths.iter().fold(0_usize, |sum, width| sum.saturating_add(*width).saturating_add(2));
    let room = columns.saturating_sub(taken).max(12);
    let mut lines = vec![set(&heads, widths, "first words", [BOLD; 6])];
    for (at, place, event, row) in &rows {
        if compaction.cut == Some(*at) {
            lines.push(paint(CUT, format!("{} cut", "─".repeat(columns.saturating_sub(4).min(76)))));
        }
        lines.push(set(row, widths, &clipped(&first_words(event.event), room), styles(event, *place)));
    }
    lines
}

fn cells(at: usize, event: &Weighed<'_>, place: Place) -> [String; 5] {
    let role = event.event.as_message().map_or("", |message| message.role.as_str());
    [
        at.saturating_add(1).to_string(),
        clipped(event.event.id.as_str(), ID_COLUMNS),
        role.into(),
        thousands(event.tokens.into()),
        place_name(place).into(),
    ]
}

/// Cells in columns, numbers to the right, each painted by its column; then the words.
fn set(row: &[String], widths: [usize; 5], words: &str, styles: [Style; 6]) -> String {
    let [.., words_style] = styles;
    let cell = |(at, ((cell, width), style)): (usize, ((&String, &usize), Style))| {
        let blanks = " ".repeat(width.saturating_sub(cell.width()));
        let painted = if style == Style::new() { cell.clone() } else { paint(style, cell) };
        if matches!(at, 0 | 3) { format!("{blanks}{painted}  ") } else { format!("{painted}{blanks}  ") }
    };
    let cells: String = row.iter().zip(&widths).zip(styles).enumerate().map(cell).collect();
    if words.is_empty() { cells.trim_end().into() } else { cells + &paint(words_style, words) }
}

fn styles(event: &Weighed<'_>, place: Place) -> [Style; 6] {
    let (plain, fate) = (Style::new(), if is_pinned(place) { PINNED } else { PRESERVED });
    if is_covered(place) {
        [FAINT; 6]
    } else {
        [FAINT, FAINT, Speaker::of(event).style(), plain, fate, plain]
    }
}

/// What an event says first: its text, else its calls, its responses, its parts.
fn first_words(event: &Event) -> String {
    let Some(message) = event.as_message() else { return String::new() };
    let text = Some(&message.text).filter(|text| !text.trim().is_empty()).cloned();
    let calls = message.tool_calls.iter().map(|call| format!("→ {} {}", call.name, call.arguments));
    let responses = message.tool_responses.iter().map(|response| format!("← {}", response.text));
    let parts = message.parts.iter().map(|part| format!("[{}]", part_type(part)));
    text.into_iter().chain(calls).chain(responses).chain(parts).collect::<Vec<_>>().join("  ")
}

/// A text on one line of at most so many columns.
fn clipped(text: &str, columns: usize) -> String {
    let mut line = String::new();
    let mut taken = 0_usize;
    let mut blank = true;
    for letter in text.chars() {
        let letter = if letter.is_whitespace() || letter.is_control() { ' ' } else { letter };
        if letter == ' ' && blank {
            continue;
        }
        blank = letter == ' ';
        let width = letter.width().unwrap_or(0);
        if taken.saturating_add(width) > columns {
            while taken.saturating_add(1) > columns {
                taken =
                    taken.saturating_sub(line.pop().and_then(UnicodeWidthChar::width).unwrap_or(1).max(1));
            }
            line.push('…');
            return line;
        }
        taken = taken.saturating_add(width);
        line.push(letter);
    }
    line.trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_clipped_by_columns() {
        for (text, columns, line) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            (" a\n\t b ", 9, "a b"),
            ("日本語", 6, "日本語"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("", 3, ""),
            ("abc", 1, "…"),
        ] {
            assert_eq!(clipped(text, columns), line, "{text:?} {columns}");
            assert!(line.width() <= columns);
        }
    }
}
