//! The configuration of one instance.
#![expect(unsafe_code, reason = "promises that its struct is plain memory")]

use core::mem::offset_of;

use crate::{
    slice::Str,
    version::{Grows, Table, own_size, sealed::Sealed},
};

/// What a plugin is configured with. Borrowed until [`CreateFn`](crate::CreateFn) returns.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Config<'a> {
    /// The size of this struct at whoever made it, in bytes
    pub struct_size: u32,
    /// None in this minor: 0; ignore unknown ones
    pub flags: u32,
    /// The user's options, a JSON object; empty if there are none. The one place where a plugin may have to read JSON
    pub options: Str<'a>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(offset_of!(Config<'_>, struct_size) == 0);
    assert!(offset_of!(Config<'_>, flags) == 4);
    assert!(offset_of!(Config<'_>, options) == 8);
    assert!(size_of::<Config<'_>>() == 8 + 2 * P);
    assert!(align_of::<Config<'_>>() == P);
};

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Config<'_>>() == 24);

impl Sealed for Config<'_> {}
// SAFETY: no padding by the assertions above; zero is a pointer or a number in each field.
unsafe impl Grows for Config<'_> {
    const NAME: &'static str = "configuration";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}
// SAFETY: it begins with its size.
unsafe impl Table for Config<'_> {}

impl<'a> Config<'a> {
    /// Borrows the options, a JSON object or nothing.
    pub const fn new(options: &'a str) -> Self {
        Self { struct_size: own_size::<Self>(), flags: 0, options: Str::new(options) }
    }
}
