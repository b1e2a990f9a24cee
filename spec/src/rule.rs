//! A rule of the book as data, and the rules of the embedded book.

use std::fmt;
use std::sync::LazyLock;

use crate::{book, nearest};

/// The rule book, `rules.md`, as it was when this crate was built.
pub const RULE_BOOK: &str = include_str!("../rules.md");

/// The rules of [`RULE_BOOK`], in the book's order, read on first use.
///
/// # Panics
///
/// On first use, if the embedded book were malformed, which a test of this crate rules out.
#[expect(clippy::expect_used, reason = "the text is a constant, and a test reads it")]
pub static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| book::parse(RULE_BOOK).expect("the embedded rule book is well formed"));

/// One rule of window compaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The permanent id, such as `pin.preamble`.
    pub id: String,
    /// The part of the id before the first dot, such as `pin`.
    pub family: String,
    /// The rule itself: one sentence, its links replaced by their text.
    pub sentence: String,
    /// Where the rule comes from, and so whether breaking it fails an implementation.
    pub standing: Standing,
    /// Where the source says it, what it is derived from, or why it was chosen.
    pub source: String,
    /// The anchor of the rule's heading in the rendered book, such as `pinpreamble`.
    pub anchor: String,
    /// A remark that requires nothing, without its `Note:`, its links replaced by their text.
    pub note: Option<String>,
    /// The transcript that shows the rule, one operation or answer a line, without a newline at its end.
    pub example: String,
    /// The line of the rule's heading in the book, counted from 1.
    pub line: usize,
}

impl Rule {
    /// The rule with exactly this id.
    pub fn find(id: &str) -> Option<&'static Self> {
        RULES.iter().find(|rule| rule.id == id)
    }

    /// The rule whose id is most like a misspelt one, or none if no id is like it.
    ///
    /// An id without its family is compared with the rest of each id, so `preamble` finds
    /// `pin.preamble`. Of rules that are equally near, the first in the book is meant.
    pub fn nearest(misspelt: &str) -> Option<&'static Self> {
        nearest::nearest(misspelt, RULES.iter(), |rule| &rule.id)
    }
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// The source says it.
    Documented,
    /// It follows from documented rules.
    Derived,
    /// The source is silent and the book decided; another reading fails only under `--strict`.
    Chosen,
}

impl Standing {
    /// Every standing, the firmest first.
    pub const ALL: [Self; 3] = [Self::Documented, Self::Derived, Self::Chosen];

    /// The word by which the book writes this standing.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Documented => "documented",
            Self::Derived => "derived",
            Self::Chosen => "chosen",
        }
    }

    /// The standing that the book writes by this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|standing| standing.as_str() == word)
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_book_is_well_formed() {
        let rules = book::parse(RULE_BOOK).unwrap_or_else(|malformed| panic!("{malformed}"));
        assert_eq!(rules, *RULES);
    }

    #[test]
    fn every_id_finds_its_own_rule_and_no_other_text_does() {
        for rule in RULES.iter() {
            assert_eq!(Rule::find(&rule.id), Some(rule));
            assert_eq!(Rule::find(&rule.id.to_uppercase()), None);
            assert_eq!(Rule::find(&format!("{} ", rule.id)), None);
        }
        assert_eq!(Rule::find(""), None);
    }

    #[test]
    fn a_standing_is_named_by_the_word_it_displays() {
        for standing in Standing::ALL {
            assert_eq!(Standing::named(&standing.to_string()), Some(standing));
        }
        assert_eq!(Standing::named("Chosen"), None);
        assert_eq!(format!("{:<11}|", Standing::Derived), "derived    |");
    }
}
