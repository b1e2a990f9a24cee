//! The host, as long as an instance lives: who it is, and its log.
#![expect(unsafe_code, reason = "calls back through pointers that the host hands over")]

use core::{ffi::c_void, mem::offset_of};

use crate::{
    slice::Str,
    version::{ABI_MINOR, Grows, Table, own_size, sealed::Sealed},
};

/// How much a line of the log matters. Read an unknown one as [`TRACE`](Self::TRACE).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogLevel(pub i32);

impl LogLevel {
    /// Something failed.
    pub const ERROR: Self = Self(0);
    /// Something is odd.
    pub const WARN: Self = Self(1);
    /// Worth knowing.
    pub const INFO: Self = Self(2);
    /// For whoever mends the plugin.
    pub const DEBUG: Self = Self(3);
    /// Every step.
    pub const TRACE: Self = Self(4);
}

/// Writes one line to the host's log.
///
/// *Threads*: `[life]`. *Ownership*: the text is copied before it returns; it needn't be UTF-8, as a host reads it
/// lossily and without control characters. `user_data` is the host's, passed on unread. *Unwinding*: never.
pub type LogFn = unsafe extern "C" fn(user_data: *mut c_void, level: LogLevel, text: *const u8, len: usize);

/// The host. Borrowed until [`EntryFn`](crate::EntryFn) returns, and, when passed to [`CreateFn`](crate::CreateFn),
/// until [`DestroyFn`](crate::DestroyFn) of that instance returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Host<'a> {
    /// The size of this struct at whoever made it, in bytes
    pub struct_size: u32,
    /// The minor version the host was built with
    pub abi_minor: u32,
    /// The host's name
    pub name: Str<'a>,
    /// The host's version
    pub version: Str<'a>,
    /// The host's own; pass it to `log`, don't follow it
    pub user_data: *mut c_void,
    /// Its log; never null
    pub log: Option<LogFn>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(size_of::<LogLevel>() == 4);
    assert!(offset_of!(Host<'_>, struct_size) == 0);
    assert!(offset_of!(Host<'_>, abi_minor) == 4);
    assert!(offset_of!(Host<'_>, name) == 8);
    assert!(offset_of!(Host<'_>, version) == 8 + 2 * P);
    assert!(offset_of!(Host<'_>, user_data) == 8 + 4 * P);
    assert!(offset_of!(Host<'_>, log) == 8 + 5 * P);
    assert!(size_of::<Host<'_>>() == 8 + 6 * P);
    assert!(align_of::<Host<'_>>() == P);
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(Host<'_>, user_data) == 40);
    assert!(size_of::<Host<'_>>() == 56);
};

// SAFETY: the contract lets every thread log, so `user_data` is made for that; nothing here follows it.
unsafe impl Send for Host<'_> {}
// SAFETY: as above.
unsafe impl Sync for Host<'_> {}

impl Sealed for Host<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer, a number or no function in each field.
unsafe impl Grows for Host<'_> {
    const NAME: &'static str = "host";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}
// SAFETY: it begins with its size.
unsafe impl Table for Host<'_> {}

impl<'a> Host<'a> {
    /// A host of this crate's minor.
    pub const fn new(name: &'a str, version: &'a str, user_data: *mut c_void, log: LogFn) -> Self {
        Self {
            struct_size: own_size::<Self>(),
            abi_minor: ABI_MINOR,
            name: Str::new(name),
            version: Str::new(version),
            user_data,
            log: Some(log),
        }
    }

    /// Writes one line to the log; a host that breaks the contract by having none logs nothing.
    ///
    /// # Safety
    ///
    /// The host is what the contract says and still borrowed.
    pub unsafe fn log(&self, level: LogLevel, text: &str) {
        if let Some(log) = self.log {
            // SAFETY: the host's own function with its own data, and a text that lives until it returns.
            unsafe { log(self.user_data, level, text.as_ptr(), text.len()) }
        }
    }
}
