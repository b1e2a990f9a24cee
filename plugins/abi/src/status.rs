//! Status codes: one integer says how a call ended.

use core::fmt;

/// How a call ended: 0 and above by intent, below 0 by failure.
///
/// An integer and no enum, as the other side may write any value: an unknown negative one is read as
/// [`FAILED`](Self::FAILED), an unknown positive one breaks the contract.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub struct Status(pub i32);

const _: () = assert!(size_of::<Status>() == 4);

impl Status {
    /// Done. Of a summarize call: what was emitted is the summary.
    pub const OK: Self = Self(0);
    /// No summary; the host writes nothing. Only a summarize call may say so.
    pub const DECLINED: Self = Self(1);
    /// It failed, for a reason with no code of its own.
    pub const FAILED: Self = Self(-1);
    /// An argument or the configuration is wrong.
    pub const INVALID: Self = Self(-2);
    /// The host asked to stop.
    pub const CANCELLED: Self = Self(-3);
    /// The time is over.
    pub const DEADLINE: Self = Self(-4);
    /// Memory ran out.
    pub const NO_MEMORY: Self = Self(-5);
    /// Transient: a later pass may succeed.
    pub const RETRY: Self = Self(-6);
    /// The input or the output is larger than the receiver takes.
    pub const TOO_LARGE: Self = Self(-7);
    /// A panic or an exception was caught inside the plugin.
    pub const PANIC: Self = Self(-8);
    /// Asked for what this side doesn't offer.
    pub const UNSUPPORTED: Self = Self(-9);

    /// Whether it says failure.
    pub const fn is_failure(self) -> bool {
        self.0 < 0
    }

    /// The same code, an unknown negative one as [`FAILED`](Self::FAILED).
    pub const fn known(self) -> Self {
        if self.0 < Self::UNSUPPORTED.0 { Self::FAILED } else { self }
    }

    /// `Ok` for [`OK`](Self::OK), so that a plugin can write `?` behind an emit.
    ///
    /// # Errors
    ///
    /// Every other code, as it is.
    pub const fn ok(self) -> Result<(), Self> {
        match self {
            Self::OK => Ok(()),
            other => Err(other),
        }
    }

    const fn meaning(self) -> &'static str {
        match self.known() {
            Self::OK => "done",
            Self::DECLINED => "declined",
            Self::FAILED => "failed",
            Self::INVALID => "an argument or the configuration is invalid",
            Self::CANCELLED => "cancelled",
            Self::DEADLINE => "the time is over",
            Self::NO_MEMORY => "out of memory",
            Self::RETRY => "failed for now, a later pass may succeed",
            Self::TOO_LARGE => "too large",
            Self::PANIC => "a panic or an exception was caught inside the plugin",
            Self::UNSUPPORTED => "unsupported",
            Self(_) => "unknown",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "status `{}`: {}", self.0, self.meaning())
    }
}

impl core::error::Error for Status {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn unknown_negative_codes_are_failures() {
        for code in -9..=1 {
            assert_eq!(Status(code).known(), Status(code));
            assert_eq!(Status(code).is_failure(), code < 0);
        }
        for code in [-10, -999, i32::MIN] {
            assert_eq!(Status(code).known(), Status::FAILED);
        }
        assert_eq!(Status(2).known(), Status(2));
    }

    #[test]
    fn only_ok_is_ok() {
        assert_eq!(Status::OK.ok(), Ok(()));
        for status in [Status::DECLINED, Status::CANCELLED, Status(77)] {
            assert_eq!(status.ok(), Err(status));
        }
    }

    #[test]
    fn a_status_says_its_number_and_meaning() {
        assert_eq!(Status::RETRY.to_string(), "status `-6`: failed for now, a later pass may succeed");
        assert_eq!(Status(-999).to_string(), "status `-999`: failed");
        assert_eq!(Status(77).to_string(), "status `77`: unknown");
    }
}
