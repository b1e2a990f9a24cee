//! Verifies any implementation of window compaction, in any language, against every rule of the spec, and shows the
//! smallest session that breaks one.
#![forbid(unsafe_code)]

pub mod example;
pub mod generate;
mod line;
pub mod notation;
pub mod picture;
pub mod program;
pub mod protocol;
pub mod reference;
pub mod report;
pub mod rules;
pub mod run;
pub mod script;
pub mod serve;
pub mod shrink;
pub mod snapshot;
pub mod subject;
pub mod text;
pub mod vector;
pub mod verify;
pub mod words;

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}
