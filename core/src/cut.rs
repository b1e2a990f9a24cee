//! The cut among the turns, twice: by the source's steps, for the product, and by its definition, as the check.
//! That both agree is proved over every small view in `tests/cut.rs`.

use crate::{
    event::{Role, ViewEvent},
    layout::Kind,
    window::Window,
};

/// What a window allows once the pinned events are paid for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowance {
    Events(u64),
    Turns(u64),
    Tokens(u64),
    /// Pinned weight over the budget: fits nothing, not even weight 0.
    Overdrawn,
}

impl Allowance {
    pub(crate) fn of(window: Window, pinned_tokens: impl FnOnce() -> u64) -> Self {
        match window {
            Window::Events(size) => Self::Events(size.get()), // rule: window.pinned-free
            Window::Turns(size) => Self::Turns(size.get()),
            Window::Tokens(size) => match size.get().checked_sub(pinned_tokens()) {
                Some(rest) => Self::Tokens(rest), // rule: window.pinned-first
                None => Self::Overdrawn,          // rule: window.negative
            },
        }
    }
}

/// The raw cut: the oldest body event of the longest suffix that the allowance pays for, walked from the newest back;
/// `view.len()` when it pays for none.
pub(crate) fn raw<E: ViewEvent>(view: &[E], first_turn: usize, allowance: Allowance) -> usize {
    let mut left = match allowance {
        Allowance::Events(rest) | Allowance::Turns(rest) | Allowance::Tokens(rest) => rest,
        Allowance::Overdrawn => return view.len(), // rule: window.overdrawn
    };
    let mut cut = view.len();
    for (position, event) in view.iter().enumerate().skip(first_turn).rev() {
        let kind = Kind::of(event);
        if !kind.is_plain() {
            continue; // rule: window.superseded-free
        }
        let cost = match allowance {
            Allowance::Events(_) => 1,                                 // rule: window.events
            Allowance::Turns(_) => u64::from(kind == Kind::TurnStart), // rule: window.turns
            Allowance::Tokens(_) => event.weight().into(),             // rule: window.tokens
            Allowance::Overdrawn => return view.len(),
        };
        match left.checked_sub(cost) {
            Some(rest) => left = rest, // rule: window.inclusive rule: pass.monotone
            None => break,             // rule: pass.suffix-only
        }
        cut = position;
    }
    cut
}

/// The first turn start from the raw cut on.
pub(crate) fn forward<E: ViewEvent>(view: &[E], raw: usize) -> Option<usize> {
    view.iter().enumerate().skip(raw).find(|(_, event)| Kind::of(*event) == Kind::TurnStart).map(|(at, _)| at)
}

/// The cut by the source's steps: raw, forward to a turn start, back to the newest turn.
pub(crate) fn by_steps<E: ViewEvent>(
    view: &[E],
    first_turn: usize,
    newest_turn: usize,
    allowance: Allowance,
) -> usize {
    let raw = raw(view, first_turn, allowance);
    forward(view, raw) // rule: cut.forward
        .unwrap_or(newest_turn) // rule: cut.newest
}

/// The cut by its definition: the smallest turn start whose suffix fits the window, else the last turn start; `None`
/// without a turn. Quadratic and plain on purpose, it shares nothing with the product but the event's trait.
///
/// ```
/// use turnfold_core::{Event, Role, Window, cut};
///
/// let view: Vec<_> =
///     [Role::User, Role::Assistant, Role::User].iter().map(|&role| Event::message("e", role, "")).collect();
/// assert_eq!(cut::by_definition(&view, Window::last_events(2)?, false), Some(2));
/// # Ok::<(), turnfold_core::InvalidWindow>(())
/// ```
pub fn by_definition<E: ViewEvent>(view: &[E], window: Window, summarizing: bool) -> Option<usize> {
    let system = |e: &E| e.role() == Role::System && !e.is_synthetic();
    let plain = |e: &E| e.role() != Role::System && !e.is_synthetic();
    let starts: alloc::vec::Vec<usize> =
        view.iter().enumerate().filter(|(_, e)| plain(e) && e.starts_turn()).map(|(at, _)| at).collect();
    let first = *starts.first()?;
    let weigh = |events: &mut dyn Iterator<Item = &E>| events.map(|e| i128::from(e.weight())).sum::<i128>();
    let pinned = weigh(&mut view.iter().filter(|e| system(e)).last().into_iter())
        + weigh(&mut view.iter().take(first).filter(|e| plain(e)))
        + if summarizing { 0 } else { weigh(&mut view.iter().filter(ViewEvent::is_synthetic)) };
    let fits = |start: usize| {
        let mut suffix = view.iter().skip(start).filter(|e| plain(e));
        match window {
            Window::Events(size) => suffix.count() as u64 <= size.get(),
            Window::Turns(size) => suffix.filter(ViewEvent::starts_turn).count() as u64 <= size.get(),
            Window::Tokens(size) => weigh(&mut suffix) <= i128::from(size.get()) - pinned,
        }
    };
    starts.iter().copied().find(|&start| fits(start)).or(starts.last().copied()) // rule: cut.smallest
}
