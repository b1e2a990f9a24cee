//! The spec of window compaction as text and as data.
//!
//! [`RULE_BOOK`] is the normative text, `rules.md`; [`RULES`] is what it says, rule by rule: id, standing,
//! source, sentence and example. Both are the same file, read once, so that a report, a tidy test or
//! another tool never quotes a rule that the book does not hold.
//!
//! ```
//! use turnfold_spec::{Rule, Standing};
//!
//! let rule = Rule::find("pin.preamble").expect("the book holds it");
//! assert_eq!(rule.standing, Standing::Documented);
//! assert_eq!(rule.family, "pin");
//! assert_eq!(rule.anchor, "pinpreamble");
//!
//! let meant = Rule::nearest("pin.preambel").expect("one is near");
//! assert_eq!(meant.id, "pin.preamble");
//! ```
//!
//! This crate checks the form of the book, not what its examples say: they are executed by the
//! conformance suite.

#![forbid(unsafe_code)]

pub mod book;
pub mod documents;
mod heading;
mod markdown;
mod nearest;
mod rule;

pub use heading::anchor;
pub use rule::{RULE_BOOK, RULES, Rule, Standing};
