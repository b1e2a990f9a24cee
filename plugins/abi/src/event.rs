//! Events as a summarizer sees them.
#![expect(unsafe_code, reason = "promises that its structs are plain memory")]

use core::mem::offset_of;

use crate::{
    slice::{Slice, Str},
    version::{Grows, sealed::Sealed},
};

/// Who speaks.
///
/// An integer and no enum, as a newer host may know more roles: read an unknown one as [`OTHER`](Self::OTHER).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Role(pub u32);

impl Role {
    /// None of the following.
    pub const OTHER: Self = Self(0);
    /// Instructions to the model.
    pub const SYSTEM: Self = Self(1);
    /// The person, or whatever asks on its behalf.
    pub const USER: Self = Self(2);
    /// The model.
    pub const ASSISTANT: Self = Self(3);
    /// Results of tool calls.
    pub const TOOL: Self = Self(4);

    /// The same role, an unknown one as [`OTHER`](Self::OTHER).
    #[must_use]
    pub const fn known(self) -> Self {
        if self.0 > Self::TOOL.0 { Self::OTHER } else { self }
    }

    /// Its name; `other` if it is unknown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SYSTEM => "system",
            Self::USER => "user",
            Self::ASSISTANT => "assistant",
            Self::TOOL => "tool",
            Self(_) => "other",
        }
    }
}

/// A call the model made to a tool. Appended to by minors: step by `tool_call_stride`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolCall<'a> {
    /// Joins the call with its response
    pub id: Str<'a>,
    /// The tool
    pub name: Str<'a>,
    /// Its arguments, as the model wrote them; usually JSON, never checked
    pub arguments: Str<'a>,
}

/// What a tool answered. Appended to by minors: step by `tool_response_stride`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolResponse<'a> {
    /// The call it answers
    pub id: Str<'a>,
    /// The tool
    pub name: Str<'a>,
    /// The answer
    pub text: Str<'a>,
}

/// One covered event. Appended to by minors: step by `event_stride`.
///
/// ```
/// use turnfold_summarizer::{Event, Role, ToolCall};
///
/// let calls = [ToolCall::new("c1", "read_file", r#"{"path":"a.txt"}"#)];
/// let event = Event::new("e2", Role::ASSISTANT, "").with_tool_calls(&calls).with_tokens(0);
/// assert_eq!(event.tokens(), Some(0)); // known to weigh nothing
/// assert_eq!(event.time_ms(), None); // not known
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Its name, unique in its session; may be empty where the host has none
    pub id: Str<'a>,
    /// Its text; may be empty
    pub text: Str<'a>,
    /// The calls it makes to tools
    pub tool_calls: Slice<'a, ToolCall<'a>>,
    /// The answers of tools it brings
    pub tool_responses: Slice<'a, ToolResponse<'a>>,
    /// Milliseconds since 1970-01-01T00:00:00Z, if flagged; order is the array's, never the time's
    pub time_ms: i64,
    /// Who speaks
    pub role: Role,
    /// Flags of this struct; ignore unknown ones
    pub flags: u32,
    /// The host's weight of it, in tokens, if flagged
    pub tokens: u32,
    /// 0; ignore it
    pub reserved: u32,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(size_of::<Role>() == 4);

    assert!(offset_of!(ToolCall<'_>, id) == 0);
    assert!(offset_of!(ToolCall<'_>, name) == 2 * P);
    assert!(offset_of!(ToolCall<'_>, arguments) == 4 * P);
    assert!(size_of::<ToolCall<'_>>() == 6 * P);
    assert!(align_of::<ToolCall<'_>>() == P);

    assert!(offset_of!(ToolResponse<'_>, id) == 0);
    assert!(offset_of!(ToolResponse<'_>, name) == 2 * P);
    assert!(offset_of!(ToolResponse<'_>, text) == 4 * P);
    assert!(size_of::<ToolResponse<'_>>() == 6 * P);
    assert!(align_of::<ToolResponse<'_>>() == P);

    assert!(offset_of!(Event<'_>, id) == 0);
    assert!(offset_of!(Event<'_>, text) == 2 * P);
    assert!(offset_of!(Event<'_>, tool_calls) == 4 * P);
    assert!(offset_of!(Event<'_>, tool_responses) == 6 * P);
    assert!(offset_of!(Event<'_>, time_ms) == 8 * P);
    assert!(offset_of!(Event<'_>, role) == 8 * P + 8);
    assert!(offset_of!(Event<'_>, flags) == 8 * P + 12);
    assert!(offset_of!(Event<'_>, tokens) == 8 * P + 16);
    assert!(offset_of!(Event<'_>, reserved) == 8 * P + 20);
    assert!(size_of::<Event<'_>>() == 8 * P + 24);
    assert!(align_of::<Event<'_>>() == align_of::<i64>());
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<ToolCall<'_>>() == 48);
    assert!(size_of::<ToolResponse<'_>>() == 48);
    assert!(offset_of!(Event<'_>, tool_calls) == 32);
    assert!(offset_of!(Event<'_>, time_ms) == 64);
    assert!(offset_of!(Event<'_>, role) == 72);
    assert!(size_of::<Event<'_>>() == 88);
};

impl Sealed for ToolCall<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer or a length in each field.
unsafe impl Grows for ToolCall<'_> {
    const NAME: &'static str = "tool call";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}

impl Sealed for ToolResponse<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer or a length in each field.
unsafe impl Grows for ToolResponse<'_> {
    const NAME: &'static str = "tool response";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}

impl Sealed for Event<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer or a number in each field.
unsafe impl Grows for Event<'_> {
    const NAME: &'static str = "event";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}

impl<'a> ToolCall<'a> {
    /// Borrows the texts of a call.
    pub const fn new(id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        Self { id: Str::new(id), name: Str::new(name), arguments: Str::new(arguments) }
    }
}

impl<'a> ToolResponse<'a> {
    /// Borrows the texts of an answer.
    pub const fn new(id: &'a str, name: &'a str, text: &'a str) -> Self {
        Self { id: Str::new(id), name: Str::new(name), text: Str::new(text) }
    }
}

impl<'a> Event<'a> {
    /// Flag: a compaction wrote it. Window compaction hands none over, as its prior summary travels apart.
    pub const SYNTHETIC: u32 = 1;
    /// Flag: a turn starts here, by the host's own rule for its events.
    pub const STARTS_TURN: u32 = 1 << 1;
    /// Flag: `time_ms` is known.
    pub const HAS_TIME: u32 = 1 << 2;
    /// Flag: `tokens` is known.
    pub const HAS_TOKENS: u32 = 1 << 3;

    /// Borrows an event of text, without tools, time and weight.
    pub const fn new(id: &'a str, role: Role, text: &'a str) -> Self {
        Self {
            id: Str::new(id),
            text: Str::new(text),
            tool_calls: Slice::EMPTY,
            tool_responses: Slice::EMPTY,
            time_ms: 0,
            role,
            flags: 0,
            tokens: 0,
            reserved: 0,
        }
    }

    /// The same event with calls to tools.
    #[must_use]
    pub const fn with_tool_calls(mut self, calls: &'a [ToolCall<'a>]) -> Self {
        self.tool_calls = Slice::new(calls);
        self
    }

    /// The same event with answers of tools.
    #[must_use]
    pub const fn with_tool_responses(mut self, responses: &'a [ToolResponse<'a>]) -> Self {
        self.tool_responses = Slice::new(responses);
        self
    }

    /// The same event with a time.
    #[must_use]
    pub const fn with_time_ms(mut self, time_ms: i64) -> Self {
        self.time_ms = time_ms;
        self.flags |= Self::HAS_TIME;
        self
    }

    /// The same event with a weight.
    #[must_use]
    pub const fn with_tokens(mut self, tokens: u32) -> Self {
        self.tokens = tokens;
        self.flags |= Self::HAS_TOKENS;
        self
    }

    /// The same event flagged as written by a compaction.
    #[must_use]
    pub const fn synthetic(mut self) -> Self {
        self.flags |= Self::SYNTHETIC;
        self
    }

    /// The same event flagged as the start of a turn.
    #[must_use]
    pub const fn starting_turn(mut self) -> Self {
        self.flags |= Self::STARTS_TURN;
        self
    }

    /// Whether a compaction wrote it.
    pub const fn is_synthetic(&self) -> bool {
        self.flags & Self::SYNTHETIC != 0
    }

    /// Whether a turn starts here.
    pub const fn starts_turn(&self) -> bool {
        self.flags & Self::STARTS_TURN != 0
    }

    /// Its time, where known.
    pub const fn time_ms(&self) -> Option<i64> {
        if self.flags & Self::HAS_TIME != 0 { Some(self.time_ms) } else { None }
    }

    /// Its weight in tokens, where known.
    pub const fn tokens(&self) -> Option<u32> {
        if self.flags & Self::HAS_TOKENS != 0 { Some(self.tokens) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_roles_are_other() {
        let names = ["other", "system", "user", "assistant", "tool"];
        for (number, name) in (0..).zip(names) {
            assert_eq!(Role(number).as_str(), name);
            assert_eq!(Role(number).known(), Role(number));
        }
        for number in [5, u32::MAX] {
            assert_eq!(Role(number).as_str(), "other");
            assert_eq!(Role(number).known(), Role::OTHER);
        }
    }

    #[test]
    fn each_flag_is_its_own() {
        let plain = Event::new("e", Role::USER, "");
        let seen = |event: Event<'_>| {
            (event.is_synthetic(), event.starts_turn(), event.time_ms(), event.tokens(), event.flags)
        };
        assert_eq!(seen(plain), (false, false, None, None, 0));
        assert_eq!(seen(plain.synthetic()), (true, false, None, None, 1));
        assert_eq!(seen(plain.starting_turn()), (false, true, None, None, 2));
        assert_eq!(seen(plain.with_time_ms(0)), (false, false, Some(0), None, 4));
        assert_eq!(seen(plain.with_tokens(0)), (false, false, None, Some(0), 8));
        let mut newer = plain.with_tokens(7);
        newer.flags |= 1 << 31;
        assert_eq!(newer.tokens(), Some(7));
    }
}
