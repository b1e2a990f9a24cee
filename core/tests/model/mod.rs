//! The pass written down from the spec's sentences, event by event, with no thought for speed: what the tests hold the
//! product against.

use turnfold_core::{Event, Role, ViewEvent, Window, cut};

/// Where a cutting pass puts the events of a view, as positions.
pub(crate) struct Places {
    pub(crate) pinned: Vec<usize>,
    pub(crate) covered: Vec<usize>,
    pub(crate) preserved: Vec<usize>,
}

/// The places, or `None` where the pass doesn't cut. `cut.rs` proves the definition of the cut it takes.
pub(crate) fn places(view: &[Event], window: Window, summarizing: bool) -> Option<Places> {
    let starts: Vec<usize> =
        (0..view.len()).filter(|&at| view[at].role() == Role::User && !view[at].is_synthetic()).collect();
    let cut = cut::by_definition(view, window, summarizing)?;
    let first = *starts.first()?;
    if cut == first {
        return None;
    }
    let among = |want: &dyn Fn(usize, &Event) -> bool| -> Vec<usize> {
        (0..view.len()).filter(|&at| want(at, &view[at])).collect()
    };
    let system = |event: &Event| event.role() == Role::System && !event.is_synthetic();
    let plain = |event: &Event| event.role() != Role::System && !event.is_synthetic();
    let prompt = (0..view.len()).rfind(|&at| system(&view[at]));
    let preamble = among(&|at, event| at < first && plain(event));
    let carried = among(&|_, event| event.is_synthetic() && !summarizing);
    Some(Places {
        pinned: prompt.into_iter().chain(preamble).chain(carried).collect(),
        covered: among(&|at, event| {
            (system(event) && Some(at) != prompt)
                || (plain(event) && first <= at && at < cut)
                || (summarizing && event.is_synthetic())
        }),
        preserved: among(&|at, event| cut <= at && plain(event)),
    })
}
