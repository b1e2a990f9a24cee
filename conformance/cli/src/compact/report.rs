//! A compaction as JSON: the numbers, and every event with its place.

use serde::Serialize;
use turnfold_core::{Event, Window};

use crate::compact::{
    compaction::{Compaction, Size, Weighed, place_name},
    dialogue::Format,
    explain::Reason,
    log::Record,
};

/// One dialogue's report.
#[derive(Debug, Serialize)]
pub(crate) struct Report<'c> {
    /// Its place in the file, from 1
    dialogue: usize,
    format: &'static str,
    window: Window,
    tokenizer: &'static str,
    /// Why nothing changed, or null
    unchanged: Option<&'static str>,
    before: Size,
    after: Size,
    saved: u64,
    overshoot: u64,
    pinned: Vec<Entry<'c>>,
    covered: Vec<Entry<'c>>,
    preserved: Vec<Entry<'c>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<Reason>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'c Record>,
}

/// An event of the view.
#[derive(Debug, Serialize)]
struct Entry<'c> {
    /// Its position in the view, from 1
    position: usize,
    place: &'static str,
    tokens: u32,
    event: &'c Event,
}

impl<'c> Report<'c> {
    /// Of a compaction.
    pub(crate) fn of(
        compaction: &'c Compaction<'_>,
        format: Format,
        explanation: Option<Vec<Reason>>,
        written: Option<&'c Record>,
    ) -> Self {
        let entry = |(at, event): (usize, &'c Weighed<'_>)| Entry {
            position: at.saturating_add(1),
            place: compaction.places.get(at).map_or("", |place| place_name(*place)),
            tokens: event.tokens,
            event: event.event,
        };
        Self {
            dialogue: compaction.dialogue.number,
            format: format.as_str(),
            window: compaction.window,
            tokenizer: compaction.tokenizer.as_str(),
            unchanged: compaction.unchanged.map(turnfold_core::Unchanged::as_str),
            before: compaction.before(),
            after: compaction.after(),
            saved: compaction.covered_size().tokens,
            overshoot: compaction.overshoot,
            pinned: compaction.pinned().map(entry).collect(),
            covered: compaction.covered().map(entry).collect(),
            preserved: compaction.preserved().map(entry).collect(),
            explanation,
            written,
        }
    }
}
