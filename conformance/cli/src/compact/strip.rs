//! The picture of one dialogue: a strip of cells, what of it stays, and the numbers.
//!
//! Three rows of cells, a column of them an event or a few: how much it weighs, who speaks, and where it goes. A letter
//! is a capital where the event stays; the ruler below is hatched where it is covered, solid where it stays, double where
//! it is pinned; the cut runs through all rows. So the characters alone tell all, and the colours tell it sooner.

mod balance;
mod cells;
mod overview;

use anstyle::Style;
use unicode_width::UnicodeWidthStr;

pub(crate) use balance::balance;
pub(crate) use overview::overview;

use crate::compact::{
    compaction::Compaction,
    paint::{BOLD, CUT, FAINT, PINNED, PRESERVED, Speaker, counted, paint},
    strip::cells::{Cell, Cells, Group, Scale, State},
};

/// Rows of the skyline.
const STOREYS: u64 = 2;

/// Blanks before every row.
pub(crate) const MARGIN: &str = "  ";

/// The lines of a strip in a terminal of so many columns.
pub(crate) fn strip(compaction: &Compaction<'_>, columns: usize) -> Vec<String> {
    if compaction.view.is_empty() {
        return vec![format!("{MARGIN}{}", paint(FAINT, "no events"))];
    }
    let room = columns.saturating_sub(MARGIN.len().saturating_mul(2)).max(20);
    let cells = Cells::fitting(compaction, room);
    let heaviest =
        cells.groups.iter().flat_map(|group| &group.cells).map(|cell| cell.tokens).max().unwrap_or(0);
    let mut rows = vec![labels(compaction, &cells, room)];
    for floor in (0..STOREYS).rev() {
        let cut = if floor.saturating_add(1) == STOREYS { '╷' } else { '│' };
        rows.push(row(&cells, cut, |cell| skyline(cell, heaviest, floor)));
    }
    if let Scale::Events(events) = cells.scale {
        rows.push(row(&cells, '│', |cell| lettered(cell, events == 1)));
    }
    rows.push(row(&cells, '╵', ruled));
    rows.extend(legend(compaction, &cells, room));
    rows.iter().filter(|row| !row.is_empty()).map(|row| format!("{MARGIN}{row}")).collect()
}

/// How a cell is drawn in one row: a character, and what leads to the next cell of its group.
struct Mark {
    style: Style,
    drawn: char,
    fill: char,
}

impl Mark {
    fn text(&self, drawn: char, columns: usize) -> String {
        let text: String = std::iter::repeat_n(drawn, columns).collect();
        if drawn == ' ' && !is_tile(self.style) { text } else { paint(self.style, text) }
    }
}

fn is_tile(style: Style) -> bool {
    style.get_effects().contains(anstyle::Effects::INVERT)
}

/// One row: every cell drawn, the cut between the turns it separates.
fn row(cells: &Cells, cut: char, draw: impl Fn(&Cell) -> Mark) -> String {
    let mut row = String::new();
    let mut before: Option<&Group> = None;
    for group in &cells.groups {
        let blanks = " ".repeat(cells.columns_between(before, group));
        row.push_str(&if group.after_cut {
            blanks.replacen("   ", &format!(" {} ", paint(CUT, cut)), 1)
        } else {
            blanks
        });
        for (at, cell) in group.cells.iter().enumerate() {
            let mark = draw(cell);
            row.push_str(&mark.text(mark.drawn, 1));
            if at.saturating_add(1) < group.cells.len() {
                row.push_str(&mark.text(mark.fill, cells.cell_columns.saturating_sub(1)));
            }
        }
        row.push_str(&" ".repeat(cells.columns_of(group).saturating_sub(cells.drawn_columns(group))));
        before = Some(group);
    }
    row.trim_end().into()
}

fn skyline(cell: &Cell, heaviest: u64, floor: u64) -> Mark {
    let style = if cell.state == State::Covered { FAINT } else { cell.speaker.style() };
    Mark { style, drawn: bar(cell.tokens, heaviest, floor), fill: ' ' }
}

fn lettered(cell: &Cell, is_single: bool) -> Mark {
    let style = match cell {
        Cell { state: State::Covered, .. } => FAINT,
        Cell { starts_turn: true, .. } => Speaker::User.style().bold().invert(),
        cell => cell.speaker.style().bold().invert(),
    };
    Mark { style, drawn: letter(cell, is_single), fill: ' ' }
}

fn ruled(cell: &Cell) -> Mark {
    let (style, drawn) = match cell.state {
        State::Pinned => (PINNED, '═'),
        State::Covered => (FAINT, '░'),
        State::Preserved => (PRESERVED, '━'),
        State::Mixed => (PRESERVED, '▒'),
    };
    Mark { style, drawn, fill: drawn }
}

/// What of a weight shows on a floor, from 0. Heights go by the square root, so that a long answer doesn't flatten all
/// others; the least is an eighth of a row.
fn bar(tokens: u64, heaviest: u64, floor: u64) -> char {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = STOREYS.saturating_mul(8);
    let square = tokens.saturating_mul(most).saturating_mul(most).checked_div(heaviest).unwrap_or(0);
    let eighths = square.isqrt().max(1).saturating_sub(floor.saturating_mul(8)).min(8);
    usize::try_from(eighths).ok().and_then(|eighths| BARS.get(eighths)).copied().unwrap_or(' ')
}

fn letter(cell: &Cell, is_single: bool) -> char {
    let letter = match cell {
        Cell { starts_turn: true, .. } => Speaker::User.letter(),
        cell if is_single => cell.speaker.letter(),
        cell if matches!(cell.speaker, Speaker::System | Speaker::Summary) => cell.speaker.letter(),
        _ => '·',
    };
    if cell.state == State::Covered { letter.to_ascii_lowercase() } else { letter }
}

/// A label and the columns it would begin at.
struct Label {
    at: usize,
    style: Style,
    texts: Vec<String>,
}

/// What the parts of the strip are, above them, as far as there is room.
fn labels(compaction: &Compaction<'_>, cells: &Cells, columns: usize) -> String {
    let mut labels = Vec::new();
    let mut at = 0_usize;
    let mut before: Option<&Group> = None;
    for group in &cells.groups {
        at = at.saturating_add(cells.columns_between(before, group));
        labels.extend(label(compaction, group, before, at));
        at = at.saturating_add(cells.columns_of(group));
        before = Some(group);
    }
    set(labels, columns)
}

fn label(compaction: &Compaction<'_>, group: &Group, before: Option<&Group>, at: usize) -> Option<Label> {
    let first = before.is_none_or(|before| before.is_head);
    let turns =
        |turns: usize, what: &str| vec![format!("{what} {}", counted(turns, "turn")), what.to_owned()];
    if group.is_head {
        let pinned = group.cells.iter().any(|cell| cell.state == State::Pinned);
        return pinned.then(|| Label { at, style: PINNED, texts: vec!["pinned".into()] });
    }
    if group.after_cut {
        let texts = turns(compaction.after().turns, "preserved");
        return Some(Label { at, style: PRESERVED, texts });
    }
    if !first {
        return None;
    }
    Some(if compaction.cut.is_some() {
        Label { at, style: FAINT, texts: turns(compaction.covered_size().turns, "covered") }
    } else {
        Label { at, style: PRESERVED, texts: turns(compaction.before().turns, "unchanged") }
    })
}

/// Sets labels from the right, each in its longest form that leaves room, the last one shifted left where it must be.
fn set(labels: Vec<Label>, columns: usize) -> String {
    let mut limit = columns;
    let mut placed = Vec::new();
    for (nth, label) in labels.into_iter().rev().enumerate() {
        let fits = |text: &&String| label.at.saturating_add(text.width()) <= limit;
        let at = |text: &String| {
            if nth == 0 { label.at.min(limit.saturating_sub(text.width())) } else { label.at }
        };
        let shifted = |text: &&String| nth == 0 && text.width() <= columns;
        let text = label.texts.iter().find(|text| fits(text) || shifted(text));
        if let Some(text) = text {
            let at = at(text);
            limit = at.saturating_sub(1);
            placed.push((at, label.style, text.clone()));
        }
    }
    let mut row = String::new();
    let mut end = 0_usize;
    for (at, style, text) in placed.into_iter().rev() {
        row.push_str(&" ".repeat(at.saturating_sub(end)));
        row.push_str(&paint(style, &text));
        end = at.saturating_add(text.width());
    }
    row
}

fn legend(compaction: &Compaction<'_>, cells: &Cells, columns: usize) -> Vec<String> {
    let speaks = |speaker: &Speaker| compaction.view.iter().any(|event| Speaker::of(event) == *speaker);
    let letters: Vec<String> = match cells.scale {
        Scale::Events(1) => Speaker::ALL
            .into_iter()
            .filter(speaks)
            .map(|speaker| format!("{} {}", speaker.letter(), speaker.name()))
            .collect(),
        Scale::Events(events) => {
            vec![format!("a cell is up to {}", counted(events, "event")), "U starts a turn".into()]
        }
        Scale::Turns(turns) => vec![format!("a cell is up to {}", counted(turns, "turn"))],
    };
    let mut legend = letters;
    if matches!(cells.scale, Scale::Events(_)) && compaction.cut.is_some() {
        legend.push("small: covered".into());
    }
    if cells.groups.iter().flat_map(|group| &group.cells).any(|cell| cell.state == State::Mixed) {
        legend.push("▒ some covered".into());
    }
    legend.push("height: tokens".into());
    flowed(&legend, columns).into_iter().map(|line| paint(FAINT, line)).collect()
}

/// Items in lines of at most so many columns.
fn flowed(items: &[String], columns: usize) -> Vec<String> {
    const BETWEEN: &str = " · ";
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line)
                if line.width().saturating_add(BETWEEN.width()).saturating_add(item.width()) <= columns =>
            {
                line.push_str(BETWEEN);
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}

/// The line above the picture: what was read and what was asked.
pub(crate) fn heading(parts: &[String]) -> String {
    let mut parts = parts.iter();
    let first = paint(BOLD, parts.next().map_or("", String::as_str));
    let others: String = parts.map(|part| paint(FAINT, format!(" · {part}"))).collect();
    first + &others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::{
        dialogue::{Dialogue, Shell},
        weigh::Tokenizer,
    };
    use turnfold_core::{Event, Role, Window};

    /// A system prompt, then turns of so many events, each a thousand tokens or so.
    fn dialogue(turns: &[usize]) -> Dialogue {
        let mut events = vec![Event::message("s", Role::System, "").weighing(50)];
        for (turn, length) in turns.iter().enumerate() {
            for at in 0..*length {
                let role = match at {
                    0 => Role::User,
                    at if at % 2 == 1 => Role::Assistant,
                    _ => Role::Tool,
                };
                let tokens = u32::try_from((at * 37) % 1000).unwrap();
                events.push(Event::message(format!("e{turn}.{at}"), role, "").weighing(tokens));
            }
        }
        Dialogue { number: 1, events, shell: Shell::List }
    }

    fn plain(lines: &[String]) -> Vec<String> {
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn any_session_fits_any_terminal() {
        for turns in [
            vec![],
            vec![1],
            vec![3; 4],
            vec![2; 40],
            vec![7; 300],
            vec![900],
            vec![1; 5000],
            vec![1, 800, 2],
        ] {
            let dialogue = dialogue(&turns);
            for window in [Window::last_turns(1), Window::last_events(60), Window::token_budget(9000)] {
                let compaction = Compaction::of(&dialogue, Tokenizer::Chars, window.unwrap()).unwrap();
                for columns in [20, 40, 80, 120, 240] {
                    let lines = plain(&strip(&compaction, columns));
                    let widest = lines.iter().map(|line| line.width()).max().unwrap_or(0);
                    let legend = 32; // its longest item and the margins
                    assert!(widest <= columns.max(legend), "{widest} of {columns}: {lines:#?}");
                }
            }
        }
    }

    #[test]
    fn characters_alone_tell_what_stays() {
        let dialogue = dialogue(&[2, 3, 2]);
        let compaction = Compaction::of(&dialogue, Tokenizer::Chars, Window::last_turns(1).unwrap()).unwrap();
        let lines = plain(&strip(&compaction, 80));
        assert!(lines.contains(&"  S       u a  u a t │ U A".to_owned()), "{lines:#?}");
        assert!(lines.contains(&"  ═       ░░░  ░░░░░ ╵ ━━━".to_owned()), "{lines:#?}");
    }

    #[test]
    fn heights_rise_with_weight_and_never_vanish() {
        let height =
            |tokens, heaviest| (0..STOREYS).map(|floor| bar(tokens, heaviest, floor)).collect::<String>();
        assert_eq!(height(0, 100), "▁ ");
        assert_eq!(height(25, 100), "█ ");
        assert_eq!(height(100, 100), "██");
        assert_eq!(height(0, 0), "▁ ");
        assert_eq!(height(u64::from(u32::MAX), u64::from(u32::MAX)), "██");
    }
}
