//! What a summarize call comes to: its status and what it emitted, judged together.

use core::{
    fmt,
    str::{self, Utf8Error},
};

use crate::status::Status;

/// The outcome of a summarize call. Only [`Text`](Self::Text) writes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// The summary
    Text(&'a str),
    /// No summary; what was emitted is ignored
    Declined,
    /// OK with nothing, or nothing but white space: to be treated as declined, with a warning the first time
    Blank,
    /// A failure; its message came by [`SetErrorFn`](crate::SetErrorFn), what was emitted is ignored
    Failed(Status),
    /// The plugin broke the contract: a failure, and a reason to stop asking it
    Violation(Violation),
}

impl<'a> Answer<'a> {
    /// Judges a status and all that was emitted before it.
    ///
    /// A host that refused an emit passes the status of its refusal in place of OK, so that a truncated text is never
    /// taken for a summary.
    ///
    /// ```
    /// use turnfold_summarizer::{Answer, Status};
    ///
    /// assert_eq!(Answer::of(Status::OK, b"they agreed"), Answer::Text("they agreed"));
    /// assert_eq!(Answer::of(Status::OK, b" \n"), Answer::Blank);
    /// assert_eq!(Answer::of(Status::DECLINED, b"half a tex"), Answer::Declined);
    /// assert!(matches!(Answer::of(Status::OK, b"\xff"), Answer::Violation(_)));
    /// ```
    pub fn of(status: Status, emitted: &'a [u8]) -> Self {
        match status {
            Status::OK => match str::from_utf8(emitted) {
                Ok(text) if text.trim().is_empty() => Self::Blank,
                Ok(text) => Self::Text(text),
                Err(fault) => Self::Violation(Violation::NotUtf8(fault)),
            },
            Status::DECLINED => Self::Declined,
            status if status.is_failure() => Self::Failed(status),
            status => Self::Violation(Violation::UnknownStatus(status)),
        }
    }

    /// The summary, if there is one.
    pub const fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Declined | Self::Blank | Self::Failed(_) | Self::Violation(_) => None,
        }
    }
}

/// How a plugin broke the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// It said OK to bytes that aren't UTF-8
    NotUtf8(Utf8Error),
    /// It returned a positive status that this contract doesn't know
    UnknownStatus(Status),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8(fault) => write!(
                f,
                "the summary is not UTF-8 from byte {} on, expected UTF-8 without fault",
                fault.valid_up_to()
            ),
            Self::UnknownStatus(status) => write!(
                f,
                "the plugin returned `{}`, expected `0` (a text), `1` (declined) or a negative status",
                status.0
            ),
        }
    }
}

impl core::error::Error for Violation {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotUtf8(fault) => Some(fault),
            Self::UnknownStatus(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn only_ok_with_text_writes() {
        let texts: [&[u8]; 4] = [b"", b" \t\r\n", b"text", b"\xff"];
        for emitted in texts {
            for code in -999..=99 {
                let answer = Answer::of(Status(code), emitted);
                assert_eq!(answer.text().is_some(), code == 0 && emitted == b"text", "{code} {emitted:?}");
                assert_eq!(matches!(answer, Answer::Failed(_)), code < 0);
                assert_eq!(answer == Answer::Declined, code == 1);
            }
        }
    }

    #[test]
    fn blank_is_what_the_pass_calls_blank() {
        for blank in ["", " ", "\t", "\r\n", "\u{a0}\u{2003}"] {
            assert_eq!(Answer::of(Status::OK, blank.as_bytes()), Answer::Blank, "{blank:?}");
        }
        for text in ["\0", ".", " a ", "\u{200b}"] {
            assert_eq!(Answer::of(Status::OK, text.as_bytes()), Answer::Text(text), "{text:?}");
        }
    }

    #[test]
    fn violations_say_what_was_expected() {
        let told = |status, emitted| match Answer::of(status, emitted) {
            Answer::Violation(violation) => violation.to_string(),
            other => panic!("{other:?} is no violation"),
        };
        let utf8 = "the summary is not UTF-8 from byte 2 on, expected UTF-8 without fault";
        assert_eq!(told(Status::OK, b"ab\xffcd"), utf8);
        let status = "the plugin returned `77`, expected `0` (a text), `1` (declined) or a negative status";
        assert_eq!(told(Status(77), b"text"), status);
    }
}
