//! Colours and numbers of the picture. Everything is painted; what a stream can't show, the stream leaves out.

use std::fmt::Display;

use anstyle::{AnsiColor, Color, Style};
use turnfold_core::{Role, ViewEvent};

use crate::compact::compaction::Weighed;

/// Who speaks in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// A system message
    System,
    /// A turn start
    User,
    /// The model
    Assistant,
    /// Tools
    Tool,
    /// A summary's half
    Summary,
}

impl Speaker {
    /// All, in the legend's order.
    pub(crate) const ALL: [Self; 5] = [Self::System, Self::User, Self::Assistant, Self::Tool, Self::Summary];

    /// Of an event.
    pub(crate) fn of(event: &Weighed<'_>) -> Self {
        match event.role() {
            _ if event.is_synthetic() => Self::Summary,
            Role::System => Self::System,
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
        }
    }

    /// The letter of a cell.
    pub(crate) const fn letter(self) -> char {
        match self {
            Self::System => 'S',
            Self::User => 'U',
            Self::Assistant => 'A',
            Self::Tool => 'T',
            Self::Summary => 'M',
        }
    }

    /// The name in a legend.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Summary => "summary",
        }
    }

    /// The colour.
    pub(crate) const fn style(self) -> Style {
        plain(match self {
            Self::System => AnsiColor::Magenta,
            Self::User => AnsiColor::BrightBlue,
            Self::Assistant => AnsiColor::Green,
            Self::Tool => AnsiColor::Yellow,
            Self::Summary => AnsiColor::Cyan,
        })
    }
}

const fn plain(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// What is covered, and whatever stands back.
pub(crate) const FAINT: Style = plain(AnsiColor::BrightBlack);
/// What is pinned.
pub(crate) const PINNED: Style = plain(AnsiColor::Magenta);
/// What is preserved.
pub(crate) const PRESERVED: Style = plain(AnsiColor::Green);
/// The cut.
pub(crate) const CUT: Style = plain(AnsiColor::BrightRed).bold();
/// A heading.
pub(crate) const BOLD: Style = Style::new().bold();
/// A warning.
pub(crate) const WARNING: Style = plain(AnsiColor::Yellow);

/// A text in a style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A number with commas.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len().saturating_mul(2));
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count and its noun, which takes an `s` unless there is one of it.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count as u64), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
        assert_eq!((counted(1, "turn"), counted(0, "turn")), ("1 turn".into(), "0 turns".into()));
    }
}
