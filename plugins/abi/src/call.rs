//! One call of the host, while it is going on: where its text and its error go, and whether to stop.
#![expect(unsafe_code, reason = "calls back through pointers that the host hands over")]

use core::{ffi::c_void, mem::offset_of};

use crate::{
    slice::Str,
    status::Status,
    version::{Grows, Table, own_size, sealed::Sealed},
};

/// Appends to the summary; may be called any number of times, and may end inside a character.
///
/// Returns [`Status::OK`], or a failure that the plugin should return soon: [`CANCELLED`](Status::CANCELLED),
/// [`DEADLINE`](Status::DEADLINE), [`TOO_LARGE`](Status::TOO_LARGE) past the request's limit,
/// [`INVALID`](Status::INVALID) for a null pointer with a length, a length past `isize::MAX`, or while an instance is
/// being created. Once it has refused, the call has failed, whatever the plugin returns: a truncated text is no summary.
///
/// *Threads*: `[call]`. Two emits at once are each whole, in either order. *Ownership*: the bytes are copied before it
/// returns. `user_data` is the call's, passed on unread. *Unwinding*: never.
pub type EmitFn = unsafe extern "C" fn(user_data: *mut c_void, bytes: *const u8, len: usize) -> Status;

/// Says why the call is going to fail; the last one wins. Ignored if the call doesn't fail.
///
/// *Threads*: `[call]`. *Ownership*: the text is copied before it returns; it needn't be UTF-8, as a host reads it
/// lossily, without control characters and cut to [`MAX_ERROR_BYTES`]. `user_data` is the call's, passed on unread.
/// *Unwinding*: never.
pub type SetErrorFn = unsafe extern "C" fn(user_data: *mut c_void, text: *const u8, len: usize);

/// Asks whether to go on: [`Status::OK`], or [`CANCELLED`](Status::CANCELLED) or [`DEADLINE`](Status::DEADLINE), which
/// the plugin should return soon. Cheap; meant to be asked in every loop.
///
/// *Threads*: `[call]`. *Ownership*: none crosses. `user_data` is the call's, passed on unread. *Unwinding*: never.
pub type PollFn = unsafe extern "C" fn(user_data: *mut c_void) -> Status;

/// Writes the whole event of an index as JSON, with metadata and parts that the struct has no field for; made on demand.
///
/// Returns [`Status::OK`] and fills `out`; [`INVALID`](Status::INVALID) for an index out of range or a null `out`;
/// [`UNSUPPORTED`](Status::UNSUPPORTED) if the host has no more than the struct shows, or while an instance is being
/// created.
///
/// *Threads*: `[call]`. *Ownership*: `out` is the plugin's and written once; the text it leads to is the host's,
/// borrowed until the call returns. `user_data` is the call's, passed on unread. *Unwinding*: never.
pub type EventJsonFn =
    unsafe extern "C" fn(user_data: *mut c_void, index: usize, out: *mut Str<'_>) -> Status;

/// The most bytes of an error's text that a host keeps.
pub const MAX_ERROR_BYTES: usize = 1024;

/// One call of [`CreateFn`](crate::CreateFn) or [`SummarizeFn`](crate::SummarizeFn). Borrowed until that returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Call {
    /// The size of this struct at whoever made it, in bytes
    pub struct_size: u32,
    /// None in this minor: 0; ignore unknown ones
    pub flags: u32,
    /// The host's own; pass it to the functions, don't follow it
    pub user_data: *mut c_void,
    /// Appends to the summary; never null
    pub emit: Option<EmitFn>,
    /// Says why the call fails; never null
    pub set_error: Option<SetErrorFn>,
    /// Asks whether to go on; never null
    pub poll: Option<PollFn>,
    /// Writes a whole event as JSON; never null
    pub event_json: Option<EventJsonFn>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(offset_of!(Call, struct_size) == 0);
    assert!(offset_of!(Call, flags) == 4);
    assert!(offset_of!(Call, user_data) == 8);
    assert!(offset_of!(Call, emit) == 8 + P);
    assert!(offset_of!(Call, set_error) == 8 + 2 * P);
    assert!(offset_of!(Call, poll) == 8 + 3 * P);
    assert!(offset_of!(Call, event_json) == 8 + 4 * P);
    assert!(size_of::<Call>() == 8 + 5 * P);
    assert!(align_of::<Call>() == P);
};

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Call>() == 48);

// SAFETY: the contract lets every thread use a call while it is going on, so `user_data` is made for that; nothing here
// follows it.
unsafe impl Send for Call {}
// SAFETY: as above.
unsafe impl Sync for Call {}

impl Sealed for Call {}
// SAFETY: no padding by the assertions above; zero is a pointer, a number or no function in each field.
unsafe impl Grows for Call {
    const NAME: &'static str = "call";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}
// SAFETY: it begins with its size.
unsafe impl Table for Call {}

/// The methods of a function's name call it. Where a host breaks the contract by leaving one out, the answer is
/// [`Status::UNSUPPORTED`].
impl Call {
    /// A call with the four functions of this minor.
    pub const fn new(
        user_data: *mut c_void,
        emit: EmitFn,
        set_error: SetErrorFn,
        poll: PollFn,
        event_json: EventJsonFn,
    ) -> Self {
        Self {
            struct_size: own_size::<Self>(),
            flags: 0,
            user_data,
            emit: Some(emit),
            set_error: Some(set_error),
            poll: Some(poll),
            event_json: Some(event_json),
        }
    }

    /// Appends to the summary.
    ///
    /// # Errors
    ///
    /// The status to return soon, see [`EmitFn`].
    ///
    /// # Safety
    ///
    /// The call is what the contract says and going on.
    pub unsafe fn emit(&self, text: &str) -> Result<(), Status> {
        let emit = self.emit.ok_or(Status::UNSUPPORTED)?;
        // SAFETY: the call's own function with its own data, and bytes that live until it returns.
        unsafe { emit(self.user_data, text.as_ptr(), text.len()) }.ok()
    }

    /// Says why the call is going to fail.
    ///
    /// # Safety
    ///
    /// The call is what the contract says and going on.
    pub unsafe fn set_error(&self, text: &str) {
        if let Some(set_error) = self.set_error {
            // SAFETY: the call's own function with its own data, and bytes that live until it returns.
            unsafe { set_error(self.user_data, text.as_ptr(), text.len()) }
        }
    }

    /// Asks whether to go on.
    ///
    /// # Errors
    ///
    /// The status to return soon, see [`PollFn`].
    ///
    /// # Safety
    ///
    /// The call is what the contract says and going on.
    pub unsafe fn poll(&self) -> Result<(), Status> {
        let poll = self.poll.ok_or(Status::UNSUPPORTED)?;
        // SAFETY: the call's own function with its own data.
        unsafe { poll(self.user_data) }.ok()
    }

    /// The whole event of an index as JSON; borrowed until the call returns.
    ///
    /// # Errors
    ///
    /// The host's status, see [`EventJsonFn`].
    ///
    /// # Safety
    ///
    /// The call is what the contract says, and going on for as long as the text is read.
    pub unsafe fn event_json(&self, index: usize) -> Result<Str<'_>, Status> {
        let event_json = self.event_json.ok_or(Status::UNSUPPORTED)?;
        let mut out = Str::EMPTY;
        // SAFETY: the call's own function with its own data, and a place of ours to write to.
        unsafe { event_json(self.user_data, index, &raw mut out) }.ok()?;
        Ok(out)
    }
}
