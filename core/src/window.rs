//! Windows: how much of the body a pass keeps. A size below 1 can't be made.

use core::fmt;

/// The largest size: what every JSON reader holds exactly.
pub const MAX_SIZE: u64 = (1 << 53) - 1;

/// A window's size: 1 to [`MAX_SIZE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(u64);

impl Size {
    /// Checks and makes a size.
    ///
    /// # Errors
    ///
    /// A number below 1 or over [`MAX_SIZE`].
    pub const fn new(size: u64) -> Result<Self, InvalidWindow> {
        // rule: window.positive
        if size >= 1 && size <= MAX_SIZE { Ok(Self(size)) } else { Err(InvalidWindow(size)) }
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// How much of the body stays. There is no default: a program decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// The last so many events of the body
    Events(Size),
    /// The last so many turns
    Turns(Size),
    /// The longest suffix of the body within a budget of tokens, pinned events taken off first
    Tokens(Size),
}

impl Window {
    /// The last `n` events.
    ///
    /// # Errors
    ///
    /// `n` below 1 or over [`MAX_SIZE`].
    pub fn last_events(n: u64) -> Result<Self, InvalidWindow> {
        Size::new(n).map(Self::Events)
    }

    /// The last `n` turns.
    ///
    /// # Errors
    ///
    /// `n` below 1 or over [`MAX_SIZE`].
    pub fn last_turns(n: u64) -> Result<Self, InvalidWindow> {
        Size::new(n).map(Self::Turns)
    }

    /// A budget of `n` tokens.
    ///
    /// # Errors
    ///
    /// `n` below 1 or over [`MAX_SIZE`].
    pub fn token_budget(n: u64) -> Result<Self, InvalidWindow> {
        Size::new(n).map(Self::Tokens)
    }

    /// The size, whatever it counts.
    pub const fn size(self) -> u64 {
        match self {
            Self::Events(size) | Self::Turns(size) | Self::Tokens(size) => size.get(),
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, size) = match self {
            Self::Events(size) => ("events", size),
            Self::Turns(size) => ("turns", size),
            Self::Tokens(size) => ("tokens", size),
        };
        write!(f, "{what} {}", size.get())
    }
}

/// A size that no window can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidWindow(pub u64);

impl fmt::Display for InvalidWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "window size `{}` is out of range, expected 1 to {MAX_SIZE}", self.0)
    }
}

impl core::error::Error for InvalidWindow {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_both_ends() {
        for make in [Window::last_events, Window::last_turns, Window::token_budget] {
            assert_eq!(make(0), Err(InvalidWindow(0)));
            assert_eq!(make(1).unwrap().size(), 1);
            assert_eq!(make(MAX_SIZE).unwrap().size(), MAX_SIZE);
            assert_eq!(make(MAX_SIZE + 1), Err(InvalidWindow(MAX_SIZE + 1)));
        }
    }
}
