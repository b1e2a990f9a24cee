//! Text, bytes and arrays as they cross the line: a pointer and a length, borrowed and never owned.
#![expect(unsafe_code, reason = "follows pointers that the other side hands over")]

use core::{
    fmt,
    marker::PhantomData,
    mem::offset_of,
    ptr, slice,
    str::{self, Utf8Error},
};

use crate::version::{Grows, Mismatch, check_pointer, own_size, read_prefix, readable_of};

/// UTF-8 text, not NUL-terminated; it may hold NUL.
///
/// The pointer may be null, or lead nowhere, exactly when the length is 0. C sees `struct { const char *ptr; size_t len; }`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Str<'a> {
    /// The first byte
    pub ptr: *const u8,
    /// How many bytes
    pub len: usize,
    borrowed: PhantomData<&'a str>,
}

/// Bytes that nobody has called text yet, as [`EmitFn`](crate::EmitFn) takes them: an emit may end inside a character,
/// so only the whole is checked.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes<'a> {
    /// The first byte
    pub ptr: *const u8,
    /// How many bytes
    pub len: usize,
    borrowed: PhantomData<&'a [u8]>,
}

/// An array of structs that a later minor may append to: step by the stride that the request names, never by the size
/// of `T`.
///
/// The pointer may be null, or lead nowhere, exactly when the length is 0.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a, T> {
    /// The first element
    pub ptr: *const T,
    /// How many elements
    pub len: usize,
    borrowed: PhantomData<&'a [T]>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(offset_of!(Str<'_>, ptr) == 0);
    assert!(offset_of!(Str<'_>, len) == P);
    assert!(size_of::<Str<'_>>() == 2 * P);
    assert!(align_of::<Str<'_>>() == P);
    assert!(offset_of!(Bytes<'_>, ptr) == 0);
    assert!(offset_of!(Bytes<'_>, len) == P);
    assert!(size_of::<Bytes<'_>>() == 2 * P);
    assert!(align_of::<Bytes<'_>>() == P);
    assert!(offset_of!(Slice<'_, u64>, ptr) == 0);
    assert!(offset_of!(Slice<'_, u64>, len) == P);
    assert!(size_of::<Slice<'_, u64>>() == 2 * P);
    assert!(align_of::<Slice<'_, u64>>() == P);
};

// SAFETY: it is a `&str` whose reading is unsafe.
unsafe impl Send for Str<'_> {}
// SAFETY: as above.
unsafe impl Sync for Str<'_> {}
// SAFETY: it is a `&[u8]` whose reading is unsafe.
unsafe impl Send for Bytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for Bytes<'_> {}
// SAFETY: it is a `&[T]` whose reading is unsafe.
unsafe impl<T: Sync> Send for Slice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Slice<'_, T> {}

impl<'a> Str<'a> {
    /// No text.
    pub const EMPTY: Self = Self::from_raw(ptr::null(), 0);

    /// Borrows a text.
    pub const fn new(text: &'a str) -> Self {
        Self::from_raw(text.as_ptr(), text.len())
    }

    /// Takes a pointer and a length as they are; reading them is where the promise is due.
    pub const fn from_raw(ptr: *const u8, len: usize) -> Self {
        Self { ptr, len, borrowed: PhantomData }
    }

    /// The same bytes, not called text.
    pub const fn bytes(self) -> Bytes<'a> {
        Bytes::from_raw(self.ptr, self.len)
    }

    /// Reads the text. UTF-8 is checked strictly: nothing is repaired.
    ///
    /// # Errors
    ///
    /// A null pointer with a length, a length beyond `isize::MAX`, or bytes that aren't UTF-8.
    ///
    /// # Safety
    ///
    /// A pointer that isn't null leads to `len` readable bytes that don't change during `'a`.
    pub unsafe fn as_str(self) -> Result<&'a str, InvalidSlice> {
        // SAFETY: the same promise.
        let bytes = unsafe { self.bytes().as_bytes() }?;
        str::from_utf8(bytes).map_err(InvalidSlice::NotUtf8)
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self::new(text)
    }
}

impl Default for Str<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a> Bytes<'a> {
    /// No bytes.
    pub const EMPTY: Self = Self::from_raw(ptr::null(), 0);

    /// Borrows bytes.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self::from_raw(bytes.as_ptr(), bytes.len())
    }

    /// Takes a pointer and a length as they are; reading them is where the promise is due.
    pub const fn from_raw(ptr: *const u8, len: usize) -> Self {
        Self { ptr, len, borrowed: PhantomData }
    }

    /// Reads the bytes.
    ///
    /// # Errors
    ///
    /// A null pointer with a length, or a length beyond `isize::MAX`.
    ///
    /// # Safety
    ///
    /// A pointer that isn't null leads to `len` readable bytes that don't change during `'a`.
    pub unsafe fn as_bytes(self) -> Result<&'a [u8], InvalidSlice> {
        if self.len == 0 {
            return Ok(&[]);
        }
        if self.ptr.is_null() {
            return Err(InvalidSlice::Null { len: self.len });
        }
        if self.len > isize::MAX.unsigned_abs() {
            return Err(InvalidSlice::TooLong { len: self.len });
        }
        // SAFETY: not null, not longer than a slice may be; the rest is the caller's promise.
        Ok(unsafe { slice::from_raw_parts(self.ptr, self.len) })
    }
}

impl<'a> From<&'a [u8]> for Bytes<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::new(bytes)
    }
}

impl Default for Bytes<'_> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<'a, T> Slice<'a, T> {
    /// No elements.
    pub const EMPTY: Self = Self::from_raw(ptr::null(), 0);

    /// Borrows elements; their stride is the size of `T`.
    pub const fn new(elements: &'a [T]) -> Self {
        Self::from_raw(elements.as_ptr(), elements.len())
    }

    /// Takes a pointer and a length as they are; reading them is where the promise is due.
    pub const fn from_raw(ptr: *const T, len: usize) -> Self {
        Self { ptr, len, borrowed: PhantomData }
    }
}

impl<'a, T: Grows> Slice<'a, T> {
    /// The stride of an array made with [`Slice::new`], in bytes.
    pub const STRIDE: u32 = own_size::<T>();

    /// Walks the elements, `stride` bytes apart. Of nothing, no stride is wrong.
    ///
    /// # Errors
    ///
    /// A null or misaligned pointer with a length, a stride shorter than the first minor's element or not a multiple of
    /// its alignment, or more bytes than memory holds.
    ///
    /// # Safety
    ///
    /// A pointer that is neither null nor misaligned leads to `len` elements, `stride` readable bytes each, that are
    /// what the contract says and don't change during `'a`.
    pub unsafe fn elements(self, stride: u32) -> Result<Elements<'a, T>, Mismatch> {
        if self.len == 0 {
            return Ok(Elements { first: self.ptr, len: 0, stride: 0, size: 0, borrowed: PhantomData });
        }
        check_pointer(self.ptr)?;
        let size = readable_of::<T>(stride)?;
        let step = stride as usize;
        if !step.is_multiple_of(align_of::<T>()) {
            return Err(Mismatch::Misaligned { what: T::NAME, alignment: align_of::<T>() });
        }
        if self.len > isize::MAX.unsigned_abs() / step {
            return Err(Mismatch::Span { what: T::NAME, count: self.len, stride });
        }
        Ok(Elements { first: self.ptr, len: self.len, stride: step, size, borrowed: PhantomData })
    }
}

impl<T> Default for Slice<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

/// The elements of a [`Slice`], each copied as far as both sides know it.
#[derive(Clone, Debug)]
pub struct Elements<'a, T> {
    first: *const T,
    len: usize,
    stride: usize,
    size: usize,
    borrowed: PhantomData<&'a [T]>,
}

impl<T: Grows> Elements<'_, T> {
    /// The element at an index, counted from the next one.
    pub fn get(&self, index: usize) -> Option<T> {
        if index >= self.len {
            return None;
        }
        // SAFETY: `Slice::elements` was promised this many strides and found that they fit in memory.
        let element = unsafe { self.first.byte_add(index * self.stride) };
        // SAFETY: the stride covers `size`, a size of one of the minors; the fields are what was promised.
        Some(unsafe { read_prefix(element, self.size) })
    }
}

impl<T: Grows> Iterator for Elements<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let element = self.get(0)?;
        self.first = self.first.wrapping_byte_add(self.stride);
        self.len -= 1;
        Some(element)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T: Grows> ExactSizeIterator for Elements<'_, T> {}

/// A pointer and a length that are no text or no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSlice {
    /// A null pointer with a length
    Null {
        /// The length
        len: usize,
    },
    /// More than `isize::MAX` bytes
    TooLong {
        /// The length
        len: usize,
    },
    /// Bytes that aren't UTF-8
    NotUtf8(Utf8Error),
}

impl fmt::Display for InvalidSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { len } => write!(f, "the pointer is null and the length `{len}`, expected length 0"),
            Self::TooLong { len } => {
                write!(f, "the length is `{len}`, expected at most {} bytes", isize::MAX)
            }
            Self::NotUtf8(fault) => write!(
                f,
                "the text is not UTF-8 from byte {} on, expected UTF-8 without fault",
                fault.valid_up_to()
            ),
        }
    }
}

impl core::error::Error for InvalidSlice {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotUtf8(fault) => Some(fault),
            Self::Null { .. } | Self::TooLong { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ToolCall;
    use std::{string::ToString, vec::Vec};

    fn read(ptr: *const u8, len: usize) -> Result<&'static str, InvalidSlice> {
        // SAFETY: the tests hand constants over, or pointers that must not be followed.
        unsafe { Str::from_raw(ptr, len).as_str() }
    }

    #[test]
    fn text_is_read_as_it_is() {
        for text in ["", "a", "nul \0 inside", "\u{feff}größe 😀"] {
            // SAFETY: borrowed from a constant.
            assert_eq!(unsafe { Str::new(text).as_str() }, Ok(text));
            // SAFETY: the same.
            assert_eq!(unsafe { Bytes::new(text.as_bytes()).as_bytes() }, Ok(text.as_bytes()));
        }
    }

    #[test]
    fn without_a_length_no_pointer_is_followed() {
        for ptr in [ptr::null(), ptr::dangling(), ptr::without_provenance(usize::MAX)] {
            assert_eq!(read(ptr, 0), Ok(""));
        }
        // SAFETY: nothing is there to read.
        let none = unsafe { Slice::<ToolCall<'_>>::from_raw(ptr::null(), 0).elements(0) }.unwrap();
        assert_eq!(none.count(), 0);
    }

    #[test]
    fn what_cannot_be_a_slice_is_refused_unread() {
        assert_eq!(read(ptr::null(), 5), Err(InvalidSlice::Null { len: 5 }));
        let beyond = isize::MAX.unsigned_abs() + 1;
        for len in [beyond, usize::MAX] {
            assert_eq!(read(b"abc".as_ptr(), len), Err(InvalidSlice::TooLong { len }));
        }
        let told = InvalidSlice::Null { len: 5 }.to_string();
        assert_eq!(told, "the pointer is null and the length `5`, expected length 0");
    }

    #[test]
    fn utf8_is_checked_strictly() {
        let faults: [(&[u8], usize); 6] = [
            (b"ab\xff", 2),
            (b"\xc0\x80", 0),             // NUL spelt in two bytes
            (b"a\xed\xa0\x80", 1),        // half of a surrogate pair
            (b"\xf4\x90\x80\x80", 0),     // beyond U+10FFFF
            (b"gr\xc3", 2),               // cut inside a character
            (b"caf\xe9 in latin one", 3), // another encoding
        ];
        for (bytes, valid) in faults {
            let Err(InvalidSlice::NotUtf8(fault)) = read(bytes.as_ptr(), bytes.len()) else {
                panic!("{bytes:?} passed");
            };
            assert_eq!(fault.valid_up_to(), valid, "{bytes:?}");
        }
        let told = read(b"ab\xff".as_ptr(), 3).unwrap_err().to_string();
        assert_eq!(told, "the text is not UTF-8 from byte 2 on, expected UTF-8 without fault");
    }

    #[test]
    fn elements_are_walked_by_their_stride() {
        let calls = [ToolCall::new("c1", "read", "{}"), ToolCall::new("c2", "write", "[]")];
        // SAFETY: borrowed from the array above.
        let mut elements = unsafe { Slice::new(&calls).elements(Slice::<ToolCall<'_>>::STRIDE) }.unwrap();
        assert_eq!(elements.len(), 2);
        // SAFETY: texts are constants, here and below.
        let id = |call: ToolCall<'static>| unsafe { call.id.as_str() }.unwrap();
        assert_eq!(elements.get(1).map(id), Some("c2"));
        assert!(elements.get(2).is_none());
        assert_eq!(elements.next().map(id), Some("c1"));
        assert_eq!(elements.get(0).map(id), Some("c2"));
        assert_eq!(elements.map(id).collect::<Vec<_>>(), ["c2"]);
    }

    #[test]
    fn an_array_that_cannot_be_one_is_refused() {
        const SIZE: u32 = Slice::<ToolCall<'_>>::STRIDE;
        let calls = [ToolCall::new("c1", "read", "{}")];
        let refused = |ptr, len, stride| {
            // SAFETY: each of these must be refused without a look.
            unsafe { Slice::<ToolCall<'_>>::from_raw(ptr, len).elements(stride) }.unwrap_err()
        };
        let what = "tool call";
        let alignment = align_of::<usize>();
        assert_eq!(refused(ptr::null(), 1, SIZE), Mismatch::Null { what });
        let crooked = calls.as_ptr().wrapping_byte_add(1);
        assert_eq!(refused(crooked, 1, SIZE), Mismatch::Misaligned { what, alignment });
        assert_eq!(refused(calls.as_ptr(), 1, SIZE + 1), Mismatch::Misaligned { what, alignment });
        let least = size_of::<ToolCall<'_>>();
        assert_eq!(refused(calls.as_ptr(), 1, SIZE - 8), Mismatch::Size { what, found: SIZE - 8, least });
        assert_eq!(refused(calls.as_ptr(), 1, 0), Mismatch::Size { what, found: 0, least });
        let count = usize::MAX / 2;
        assert_eq!(refused(calls.as_ptr(), count, SIZE), Mismatch::Span { what, count, stride: SIZE });
    }
}
