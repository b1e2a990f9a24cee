//! Before and after as bars of tokens, with the numbers beside them.

use anstyle::Style;

use crate::compact::{
    compaction::{Compaction, Size, why_unchanged},
    paint::{FAINT, PINNED, PRESERVED, WARNING, counted, paint, thousands},
    strip::MARGIN,
};

/// One segment of a bar.
struct Segment {
    tokens: u64,
    drawn: char,
    style: Style,
}

/// The bars and the numbers of one dialogue: before, what is covered, after; one bar where nothing changes.
pub(crate) fn balance(compaction: &Compaction<'_>, columns: usize) -> Vec<String> {
    let mut lines = Balance::of(std::slice::from_ref(compaction)).bars(columns);
    lines.extend(remarks(compaction).iter().map(|line| format!("{MARGIN}{:NAME_COLUMNS$} {line}", "")));
    lines
}

const NAME_COLUMNS: usize = 7;

/// What compactions pin, cover and preserve, all together.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    pinned: Size,
    covered: Size,
    preserved: Size,
    is_cut: bool,
}

impl Balance {
    /// The sum over compactions.
    pub(crate) fn of(compactions: &[Compaction<'_>]) -> Self {
        let mut balance = Self::default();
        for compaction in compactions {
            balance.pinned = balance.pinned.plus(Size::of(compaction.pinned().map(|(_, event)| event)));
            balance.covered = balance.covered.plus(compaction.covered_size());
            balance.preserved =
                balance.preserved.plus(Size::of(compaction.preserved().map(|(_, event)| event)));
            balance.is_cut |= compaction.cut.is_some();
        }
        balance
    }

    /// The bars, so many columns wide with their numbers.
    pub(crate) fn bars(&self, columns: usize) -> Vec<String> {
        let after = self.pinned.plus(self.preserved);
        let before = after.plus(self.covered);
        let pinned = || Segment { tokens: self.pinned.tokens, drawn: '▓', style: PINNED };
        let preserved = || Segment { tokens: self.preserved.tokens, drawn: '█', style: PRESERVED };
        let covered = || Segment { tokens: self.covered.tokens, drawn: '░', style: FAINT };
        let blank = || Segment { drawn: ' ', ..pinned() };
        let plain = Style::new();
        let rows = if self.is_cut {
            vec![
                ("before", plain, before, vec![pinned(), covered(), preserved()]),
                ("covered", FAINT, self.covered, vec![blank(), covered()]),
                ("after", plain, after, vec![pinned(), preserved()]),
            ]
        } else {
            vec![("view", plain, before, vec![preserved()])]
        };
        let numbers = numbers(&rows.iter().map(|(_, _, size, _)| *size).collect::<Vec<_>>());
        let taken = numbers.first().map_or(0, |line| line.chars().count());
        let taken = taken.saturating_add(NAME_COLUMNS).saturating_add(MARGIN.len().saturating_mul(3));
        let room = columns.saturating_sub(taken).min(60);
        let line = |((name, style, _, segments), numbers): ((&str, Style, Size, Vec<Segment>), String)| {
            let (bar, drawn) = bar(&segments, before.tokens, room);
            let blanks = " ".repeat(room.saturating_sub(drawn));
            let name = paint(style, format!("{name:<NAME_COLUMNS$}"));
            format!("{MARGIN}{name} {bar}{blanks}  {}", paint(style.bold(), numbers.trim_end()))
        };
        rows.into_iter().zip(numbers).map(line).collect()
    }
}

/// Turns, events and tokens in columns.
fn numbers(sizes: &[Size]) -> Vec<String> {
    let columns: Vec<[String; 3]> = sizes
        .iter()
        .map(|size| {
            [
                counted(size.turns, "turn"),
                counted(size.events, "event"),
                format!("{} token{}", thousands(size.tokens), if size.tokens == 1 { "" } else { "s" }),
            ]
        })
        .collect();
    let mut widths = [0_usize; 3];
    for row in &columns {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.trim_end_matches('s').len());
        }
    }
    let set = |row: &[String; 3]| {
        // A noun's `s` hangs over, so that the numbers stand under each other.
        let cell = |(text, width): (&String, &usize)| {
            let bare = text.trim_end_matches('s');
            let tail = if text.ends_with('s') { "s" } else { " " };
            format!("{bare:>width$}{tail}")
        };
        row.iter().zip(&widths).map(cell).collect::<Vec<_>>().join("  ")
    };
    columns.iter().map(set).collect()
}

/// A bar of segments, the longest of `whole` tokens as long as there is room; a segment that weighs shows.
fn bar(segments: &[Segment], whole: u64, room: usize) -> (String, usize) {
    let mut bar = String::new();
    let mut drawn = 0_usize;
    let mut tokens = 0_u64;
    for segment in segments {
        tokens = tokens.saturating_add(segment.tokens);
        let until =
            u128::from(tokens).saturating_mul(room as u128).checked_div(u128::from(whole)).unwrap_or(0);
        let until = usize::try_from(until).unwrap_or(room).min(room);
        let least = usize::from(segment.tokens > 0);
        let columns = until.saturating_sub(drawn).max(least);
        let text: String = std::iter::repeat_n(segment.drawn, columns).collect();
        bar.push_str(&paint(segment.style, text));
        drawn = drawn.saturating_add(columns);
    }
    (bar, drawn)
}

/// What else there is to say.
fn remarks(compaction: &Compaction<'_>) -> Vec<String> {
    let unchanged =
        compaction.unchanged.map(|reason| paint(FAINT, format!("unchanged: {}", why_unchanged(reason))));
    let over = (compaction.overshoot > 0).then(|| {
        let over = thousands(compaction.overshoot);
        paint(WARNING, format!("{over} over the budget: pinned events and the newest turn stay in any case"))
    });
    unchanged.into_iter().chain(over).collect()
}
