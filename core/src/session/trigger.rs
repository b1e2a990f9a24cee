//! Triggers: when a session is compacted at all.

use alloc::vec::Vec;
use core::fmt;

use crate::{
    event::Event,
    view::{InvalidView, View, require_weights},
    window::{InvalidWindow, Size},
};

/// Decides from the view whether a strategy is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Fires always
    Always,
    /// Fires at more than so many turns
    Turns(Size),
    /// Fires at so many tokens of the whole view, or more
    Tokens(Size),
    /// Fires when one of them does; made by [`Trigger::any`], never empty
    Any(AnyOf),
}

/// A set of triggers that isn't empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyOf(Vec<Trigger>);

impl AnyOf {
    /// The triggers, one at least.
    pub fn triggers(&self) -> &[Trigger] {
        &self.0
    }
}

impl Trigger {
    /// Fires at more than `n` turns.
    ///
    /// # Errors
    ///
    /// `n` out of range for a [`Size`].
    pub fn turns(n: u64) -> Result<Self, InvalidTrigger> {
        Size::new(n).map(Self::Turns).map_err(InvalidTrigger::Size)
    }

    /// Fires at `n` tokens or more.
    ///
    /// # Errors
    ///
    /// `n` out of range for a [`Size`].
    pub fn tokens(n: u64) -> Result<Self, InvalidTrigger> {
        Size::new(n).map(Self::Tokens).map_err(InvalidTrigger::Size)
    }

    /// Fires when one of `triggers` does.
    ///
    /// # Errors
    ///
    /// An empty set.
    pub fn any(triggers: Vec<Self>) -> Result<Self, InvalidTrigger> {
        if triggers.is_empty() { Err(InvalidTrigger::Empty) } else { Ok(Self::Any(AnyOf(triggers))) }
    }

    /// Whether it fires on this view.
    ///
    /// # Errors
    ///
    /// A message without a weight, where tokens are counted.
    pub fn fires(&self, view: &View<Event>) -> Result<bool, InvalidView> {
        match self {
            Self::Always => Ok(true),
            Self::Turns(size) => Ok(view.turn_count() as u64 > size.get()), // rule: trigger.turns
            Self::Tokens(size) => {
                require_weights(view.events())?;
                Ok(view.tokens() >= size.get()) // rule: trigger.tokens
            }
            Self::Any(any) => {
                // Each is asked, so that a missing weight is told whatever the order.
                let fired: Vec<bool> =
                    any.0.iter().map(|trigger| trigger.fires(view)).collect::<Result<_, _>>()?;
                Ok(fired.contains(&true)) // rule: trigger.any
            }
        }
    }
}

/// A trigger that can't be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidTrigger {
    /// Out of range
    Size(InvalidWindow),
    /// No trigger in the set
    Empty,
}

impl fmt::Display for InvalidTrigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(InvalidWindow(size)) => {
                write!(f, "trigger size `{size}` is out of range, expected 1 to {}", crate::MAX_SIZE)
            }
            Self::Empty => {
                f.write_str("a trigger of an empty set never fires, expected one trigger at least")
            }
        }
    }
}

impl core::error::Error for InvalidTrigger {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Role;
    use alloc::{format, vec};

    fn turns(n: usize) -> View<Event> {
        let events = (0..n).map(|n| Event::message(format!("u{n}"), Role::User, "").weighing(2)).collect();
        View::from_events(events).unwrap()
    }

    #[test]
    fn turns_fire_beyond_tokens_at() {
        let (two_turns, four_tokens) = (Trigger::turns(2).unwrap(), Trigger::tokens(4).unwrap());
        assert_eq!([1, 2, 3].map(|n| two_turns.fires(&turns(n)).unwrap()), [false, false, true]);
        assert_eq!([1, 2, 3].map(|n| four_tokens.fires(&turns(n)).unwrap()), [false, true, true]);
        let either = Trigger::any(vec![two_turns, four_tokens]).unwrap();
        assert_eq!([1, 2, 3].map(|n| either.fires(&turns(n)).unwrap()), [false, true, true]);
    }

    #[test]
    fn an_empty_set_is_refused() {
        assert_eq!(Trigger::any(vec![]), Err(InvalidTrigger::Empty));
        assert!(Trigger::turns(0).is_err());
    }

    #[test]
    fn tokens_ask_for_weights() {
        let view = View::from_events(vec![Event::message("u", Role::User, "")]).unwrap();
        assert!(matches!(Trigger::tokens(1).unwrap().fires(&view), Err(InvalidView::MissingWeight { .. })));
        assert_eq!(Trigger::turns(1).unwrap().fires(&view), Ok(false));
        let tokens = || Trigger::tokens(1).unwrap();
        for either in [vec![Trigger::Always, tokens()], vec![tokens(), Trigger::Always]] {
            assert!(Trigger::any(either).unwrap().fires(&view).is_err(), "whatever the order");
        }
    }
}
