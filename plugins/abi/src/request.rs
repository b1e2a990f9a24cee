//! What a summarizer is asked.
#![expect(unsafe_code, reason = "walks the arrays that the host hands over")]

use core::mem::offset_of;

use crate::{
    event::{Event, ToolCall, ToolResponse},
    slice::{Elements, Slice, Str},
    version::{Grows, Mismatch, Table, own_size, sealed::Sealed},
};

/// Everything that leaves the view, and nothing else. It and all it leads to is borrowed until
/// [`SummarizeFn`](crate::SummarizeFn) returns, even past the deadline.
///
/// ```
/// use turnfold_summarizer::{Event, Request, Role};
///
/// let events = [
///     Event::new("e1", Role::USER, "is it raining?").starting_turn().with_tokens(4),
///     Event::new("e2", Role::ASSISTANT, "yes").with_tokens(1),
/// ];
/// let mut request = Request::new(&events).with_prior("they talk of the weather");
/// request.target_tokens = 100;
/// request.time_left_ms = 30_000;
/// assert_eq!(request.event_stride as usize, size_of::<Event>());
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The size of this struct at whoever made it, in bytes
    pub struct_size: u32,
    /// Flags of this struct; ignore unknown ones
    pub flags: u32,
    /// Bytes from one event to the next
    pub event_stride: u32,
    /// Bytes from one tool call to the next, in every event
    pub tool_call_stride: u32,
    /// Bytes from one tool response to the next, in every event
    pub tool_response_stride: u32,
    /// The size to aim at, in tokens; a wish, never a limit; 0: none
    pub target_tokens: u32,
    /// Time left when called, in milliseconds; 0: no deadline
    pub time_left_ms: u64,
    /// The most bytes that [`EmitFn`](crate::EmitFn) takes in all; 0: no limit
    pub max_text_bytes: u64,
    /// The text of the prior summary, if flagged; possibly empty even then
    pub prior: Str<'a>,
    /// The covered events, whole, oldest first
    pub events: Slice<'a, Event<'a>>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(offset_of!(Request<'_>, struct_size) == 0);
    assert!(offset_of!(Request<'_>, flags) == 4);
    assert!(offset_of!(Request<'_>, event_stride) == 8);
    assert!(offset_of!(Request<'_>, tool_call_stride) == 12);
    assert!(offset_of!(Request<'_>, tool_response_stride) == 16);
    assert!(offset_of!(Request<'_>, target_tokens) == 20);
    assert!(offset_of!(Request<'_>, time_left_ms) == 24);
    assert!(offset_of!(Request<'_>, max_text_bytes) == 32);
    assert!(offset_of!(Request<'_>, prior) == 40);
    assert!(offset_of!(Request<'_>, events) == 40 + 2 * P);
    assert!(size_of::<Request<'_>>() == 40 + 4 * P);
    assert!(align_of::<Request<'_>>() == align_of::<u64>());
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(Request<'_>, events) == 56);
    assert!(size_of::<Request<'_>>() == 72);
};

impl Sealed for Request<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer or a number in each field.
unsafe impl Grows for Request<'_> {
    const NAME: &'static str = "request";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}
// SAFETY: it begins with its size.
unsafe impl Table for Request<'_> {}

impl<'a> Request<'a> {
    /// Flag: there is a prior summary.
    pub const HAS_PRIOR: u32 = 1;

    /// Borrows the covered events; no prior, no limits.
    pub const fn new(events: &'a [Event<'a>]) -> Self {
        Self {
            struct_size: own_size::<Self>(),
            flags: 0,
            event_stride: own_size::<Event<'_>>(),
            tool_call_stride: own_size::<ToolCall<'_>>(),
            tool_response_stride: own_size::<ToolResponse<'_>>(),
            target_tokens: 0,
            time_left_ms: 0,
            max_text_bytes: 0,
            prior: Str::EMPTY,
            events: Slice::new(events),
        }
    }

    /// The same request with the text of the prior summary, possibly empty.
    #[must_use]
    pub const fn with_prior(mut self, text: &'a str) -> Self {
        self.prior = Str::new(text);
        self.flags |= Self::HAS_PRIOR;
        self
    }

    /// The text of the prior summary, if there is one. Reading it is a promise of its own.
    pub const fn prior(&self) -> Option<Str<'a>> {
        if self.flags & Self::HAS_PRIOR != 0 { Some(self.prior) } else { None }
    }

    /// Walks the covered events.
    ///
    /// # Errors
    ///
    /// An array that can't be one, see [`Slice::elements`].
    ///
    /// # Safety
    ///
    /// The request is what the contract says and unchanged during `'a`.
    pub unsafe fn events(&self) -> Result<Elements<'a, Event<'a>>, Mismatch> {
        // SAFETY: the same promise.
        unsafe { self.events.elements(self.event_stride) }
    }

    /// Walks the tool calls of one of this request's events.
    ///
    /// # Errors
    ///
    /// An array that can't be one, see [`Slice::elements`].
    ///
    /// # Safety
    ///
    /// The event comes from this request, which is what the contract says and unchanged during `'a`.
    pub unsafe fn tool_calls(&self, event: &Event<'a>) -> Result<Elements<'a, ToolCall<'a>>, Mismatch> {
        // SAFETY: the same promise.
        unsafe { event.tool_calls.elements(self.tool_call_stride) }
    }

    /// Walks the tool responses of one of this request's events.
    ///
    /// # Errors
    ///
    /// An array that can't be one, see [`Slice::elements`].
    ///
    /// # Safety
    ///
    /// The event comes from this request, which is what the contract says and unchanged during `'a`.
    pub unsafe fn tool_responses(
        &self,
        event: &Event<'a>,
    ) -> Result<Elements<'a, ToolResponse<'a>>, Mismatch> {
        // SAFETY: the same promise.
        unsafe { event.tool_responses.elements(self.tool_response_stride) }
    }
}
