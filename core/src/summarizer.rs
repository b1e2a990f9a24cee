//! Summarizers: what they are handed, and the three things they can say.

use alloc::{string::String, vec::Vec};
use core::convert::Infallible;

use crate::window::Window;

/// What a summarizer is handed: everything that leaves the view, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRequest<'v, E> {
    /// The text of the prior summary; `Some` exactly when the view has one, possibly empty
    pub prior: Option<String>,
    /// The covered events of the body, whole, in view order
    pub events: Vec<&'v E>,
}

/// A text that stands in for what it was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The text
    pub text: String,
    /// The token cost of the whole summary turn
    pub tokens: u32,
}

/// Condenses what leaves the view.
///
/// Its three results: `Ok(Some(text))`; `Ok(None)`, *declined*, which leaves the view as it is, as a blank text does;
/// `Err`, *failed*, which reaches the caller of the pass. Closures are summarizers.
pub trait Summarizer<E> {
    /// Why it failed
    type Error;

    /// Condenses one request. A pass calls it once when it cuts, else never.
    ///
    /// # Errors
    ///
    /// Whatever kept it from answering; nothing is written then.
    fn summarize(&mut self, request: &SummaryRequest<'_, E>) -> Result<Option<Summary>, Self::Error>;
}

impl<E, F, X> Summarizer<E> for F
where
    F: FnMut(&SummaryRequest<'_, E>) -> Result<Option<Summary>, X>,
{
    type Error = X;

    fn summarize(&mut self, request: &SummaryRequest<'_, E>) -> Result<Option<Summary>, X> {
        self(request)
    }
}

/// The summarizer of a strategy that has none; no value of it exists.
#[derive(Clone, Copy, Debug)]
pub enum NoSummarizer {}

impl<E> Summarizer<E> for NoSummarizer {
    type Error = Infallible;

    fn summarize(&mut self, _: &SummaryRequest<'_, E>) -> Result<Option<Summary>, Infallible> {
        match *self {}
    }
}

/// How a pass compacts: a window, and a summarizer if what leaves shall be condensed.
#[derive(Clone, Debug)]
pub struct Strategy<S = NoSummarizer> {
    /// Written on the boundary and the summary
    pub name: String,
    /// How much stays
    pub window: Window,
    /// Condenses what leaves
    pub summarizer: Option<S>,
}

impl Strategy {
    /// A plain window, named `window`.
    pub fn new(window: Window) -> Self {
        Self { name: "window".into(), window, summarizer: None }
    }

    /// The same window with a summarizer.
    pub fn summarizing<S>(self, summarizer: S) -> Strategy<S> {
        Strategy { name: self.name, window: self.window, summarizer: Some(summarizer) }
    }
}
