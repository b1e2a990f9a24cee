//! The version of the contract, and the rule by which an older and a newer side read each other's structs.
#![expect(unsafe_code, reason = "reads the structs of the other side through its pointers")]

use core::{ffi::CStr, fmt, mem::MaybeUninit, ptr};

/// The major version: the `_v1` of the entry symbol. Another major is another symbol.
pub const ABI_MAJOR: u32 = 1;

/// The minor version of this crate. A minor only appends fields, flags and codes.
pub const ABI_MINOR: u32 = 0;

/// The `magic` of every descriptor: `TFS1` in the memory of a little-endian machine.
pub const MAGIC: u32 = 0x3153_4654;

/// The one symbol that a plugin exports; its type is [`EntryFn`](crate::EntryFn).
pub const ENTRY_SYMBOL: &CStr = c"turnfold_summarizer_v1";

/// The largest size that a struct may claim, in bytes; whoever claims more wrote no size there.
pub const MAX_STRUCT_SIZE: usize = 64 * 1024;

/// The number of bytes to read of a struct that claims `struct_size` bytes, given its size in each minor known here,
/// oldest first. `None`: it is shorter than its first minor or longer than [`MAX_STRUCT_SIZE`], and must be refused.
///
/// It is the size of the newest known minor that the claim covers: what a newer side appended isn't looked at, what an
/// older side never had isn't touched, and a size that ends inside a field doesn't read half of it.
///
/// ```
/// use turnfold_summarizer::readable;
///
/// let minors = [40, 56, 64]; // sizes in 1.0, 1.1 and 1.2
/// assert_eq!(readable(64, &minors), Some(64)); // as new as we are
/// assert_eq!(readable(96, &minors), Some(64)); // newer
/// assert_eq!(readable(40, &minors), Some(40)); // older
/// assert_eq!(readable(50, &minors), Some(40)); // ends inside a field of 1.1
/// assert_eq!(readable(39, &minors), None);     // no minor of this major
/// ```
pub const fn readable(struct_size: u32, minors: &[usize]) -> Option<usize> {
    let claimed = struct_size as usize;
    if claimed > MAX_STRUCT_SIZE {
        return None;
    }
    let mut covered = None;
    let mut rest = minors;
    while let [size, newer @ ..] = rest {
        if *size > claimed {
            break;
        }
        covered = Some(*size);
        rest = newer;
    }
    covered
}

/// A struct of the contract that a later minor may append to.
///
/// # Safety
///
/// It is `repr(C)` without padding, and all fields zero is a value of it.
pub unsafe trait Grows: Copy + sealed::Sealed {
    /// What it is called in messages
    const NAME: &'static str;
    /// Its size in each minor known here, oldest first
    const MINORS: &'static [usize];
}

/// A struct that travels alone and therefore begins with its own `struct_size`.
///
/// # Safety
///
/// Its first field is a `u32`, the number of bytes that whoever made it has there.
pub unsafe trait Table: Grows {}

pub(crate) mod sealed {
    //! Keeps the set of structs closed: each is part of the contract.

    /// Implemented by the structs of this crate only.
    #[expect(unnameable_types, reason = "seals `Grows`")]
    pub trait Sealed {}
}

/// Copies a struct of the other side, as far as both sides know it; what the other side doesn't have is zero.
///
/// # Errors
///
/// A null or misaligned pointer, or a `struct_size` that no minor of this major has.
///
/// # Safety
///
/// A pointer that is neither null nor misaligned leads to `struct_size` readable bytes, the first four of which are
/// that size, and to fields that are what the contract says for as long as the lifetimes in `T` last.
pub unsafe fn read_table<T: Table>(table: *const T) -> Result<T, Mismatch> {
    check_pointer(table)?;
    // SAFETY: not null, aligned, and a table begins with its size, as the caller promises.
    let struct_size = unsafe { table.cast::<u32>().read() };
    let size = readable_of::<T>(struct_size)?;
    // SAFETY: `size` is at most `struct_size`, so that many bytes are readable; the fields are the caller's promise.
    Ok(unsafe { read_prefix(table, size) })
}

/// The number of bytes to read of a `T` that claims `struct_size` bytes.
pub(crate) fn readable_of<T: Grows>(struct_size: u32) -> Result<usize, Mismatch> {
    readable(struct_size, T::MINORS).ok_or(Mismatch::Size {
        what: T::NAME,
        found: struct_size,
        least: T::MINORS.first().copied().unwrap_or_default(),
    })
}

/// Refuses what can't even be looked at.
pub(crate) fn check_pointer<T: Grows>(pointer: *const T) -> Result<(), Mismatch> {
    if pointer.is_null() {
        return Err(Mismatch::Null { what: T::NAME });
    }
    if !pointer.is_aligned() {
        return Err(Mismatch::Misaligned { what: T::NAME, alignment: align_of::<T>() });
    }
    Ok(())
}

/// Copies the first `size` bytes of a struct, the rest zero.
///
/// # Safety
///
/// `size` is one of `T::MINORS`, `source` leads to that many readable bytes, and they are the first fields of a `T`.
pub(crate) unsafe fn read_prefix<T: Grows>(source: *const T, size: usize) -> T {
    const { assert!(matches!(T::MINORS, [.., newest] if *newest == size_of::<T>())) };
    let mut copy = MaybeUninit::<T>::zeroed();
    // SAFETY: both sides have `size` bytes, as it is at most the newest minor's, and a local can't overlap.
    unsafe { ptr::copy_nonoverlapping(source.cast::<u8>(), copy.as_mut_ptr().cast::<u8>(), size) };
    // SAFETY: the first fields are a `T`'s, as the caller promises; the others are zero, which `Grows` allows.
    unsafe { copy.assume_init() }
}

/// The `struct_size` or stride of a `T` made here.
pub(crate) const fn own_size<T: Grows>() -> u32 {
    const { assert!(size_of::<T>() <= MAX_STRUCT_SIZE) };
    #[expect(clippy::cast_possible_truncation, reason = "at most 64 KiB")]
    let size = size_of::<T>() as u32;
    size
}

/// A struct or array that isn't what the contract says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// A null pointer where something has to be
    Null {
        /// The struct
        what: &'static str,
    },
    /// A pointer or a stride that leads to a misaligned struct
    Misaligned {
        /// The struct
        what: &'static str,
        /// The alignment it needs, in bytes
        alignment: usize,
    },
    /// A size that the struct has in no minor of this major
    Size {
        /// The struct
        what: &'static str,
        /// The size it claims, in bytes
        found: u32,
        /// Its size in the first minor, in bytes
        least: usize,
    },
    /// An array longer than memory
    Span {
        /// The struct
        what: &'static str,
        /// How many are claimed
        count: usize,
        /// Bytes from one to the next
        stride: u32,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null { what } => write!(f, "the pointer to the {what} is null, expected a {what}"),
            Self::Misaligned { what, alignment } => {
                write!(f, "the {what} is misaligned, expected a multiple of {alignment} bytes")
            }
            Self::Size { what, found, least } => write!(
                f,
                "the size of the {what} is `{found}`, expected {least} to {MAX_STRUCT_SIZE} bytes as in ABI \
                 {ABI_MAJOR}; build both sides for the same major"
            ),
            Self::Span { what, count, stride } => write!(
                f,
                "`{count}` times the {what} at a stride of `{stride}` bytes is more than memory holds; expected the \
                 number of elements"
            ),
        }
    }
}

impl core::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{boxed::Box, string::ToString};

    /// A table that got a field in minor 1 and another in minor 2.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    struct Grown {
        struct_size: u32,
        first: u32,
        second: Option<extern "C" fn()>,
        third: [u32; 2],
    }
    const SECOND: usize = 8 + size_of::<usize>();
    impl sealed::Sealed for Grown {}
    // SAFETY: no padding, and zero is a value of each field.
    unsafe impl Grows for Grown {
        const NAME: &'static str = "grown table";
        const MINORS: &'static [usize] = &[8, SECOND, size_of::<Self>()];
    }
    // SAFETY: it begins with its size.
    unsafe impl Table for Grown {}

    extern "C" fn nothing() {}

    fn grown(struct_size: usize) -> Grown {
        let struct_size = u32::try_from(struct_size).unwrap();
        Grown { struct_size, first: 7, second: Some(nothing), third: [8, 9] }
    }

    #[test]
    fn a_size_reads_the_newest_minor_that_it_covers() {
        let minors = [40, 56, 64];
        for claimed in 0..=MAX_STRUCT_SIZE + 2 {
            let expected = match claimed {
                40..56 => Some(40),
                56..64 => Some(56),
                64..=MAX_STRUCT_SIZE => Some(64),
                _ => None,
            };
            assert_eq!(readable(u32::try_from(claimed).unwrap(), &minors), expected, "{claimed}");
        }
        assert_eq!(readable(u32::MAX, &minors), None);
        assert_eq!(readable(64, &[]), None);
    }

    #[test]
    fn what_an_older_side_does_not_have_is_zero_and_not_looked_at() {
        // Eight bytes are there and no more, so that reading on is out of bounds.
        #[repr(C, align(8))]
        struct Oldest([u32; 2]);
        let memory = Box::new(Oldest([8, 7]));
        // SAFETY: eight bytes, the first four of which say so.
        let read = unsafe { read_table((&raw const *memory).cast::<Grown>()) }.unwrap();
        assert_eq!((read.struct_size, read.first, read.second.is_some(), read.third), (8, 7, false, [0, 0]));
    }

    #[test]
    fn a_size_inside_a_field_does_not_read_half_of_it() {
        for (struct_size, second, third) in [
            (8, false, [0, 0]),
            (SECOND - 1, false, [0, 0]),
            (SECOND, true, [0, 0]),
            (SECOND + 4, true, [0, 0]),
            (size_of::<Grown>(), true, [8, 9]),
            (size_of::<Grown>() + 100, true, [8, 9]),
        ] {
            let table = grown(struct_size);
            // SAFETY: a whole table; the size it claims beyond its end isn't read, which is what this test is for.
            let read = unsafe { read_table(&raw const table) }.unwrap();
            assert_eq!((read.first, read.second.is_some(), read.third), (7, second, third), "{struct_size}");
        }
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (struct_size, found) in [(0, 0), (7, 7), (MAX_STRUCT_SIZE + 1, 65_537)] {
            let table = grown(struct_size);
            // SAFETY: a whole table, whatever size it claims.
            let refused = unsafe { read_table(&raw const table) }.unwrap_err();
            assert_eq!(refused, Mismatch::Size { what: "grown table", found, least: 8 });
        }
        // SAFETY: null isn't followed.
        let refused = unsafe { read_table(ptr::null::<Grown>()) }.unwrap_err();
        assert_eq!(refused, Mismatch::Null { what: "grown table" });
        let table = grown(8);
        // SAFETY: a misaligned pointer isn't followed.
        let refused = unsafe { read_table((&raw const table).wrapping_byte_add(1)) }.unwrap_err();
        assert_eq!(refused, Mismatch::Misaligned { what: "grown table", alignment: align_of::<usize>() });
    }

    #[test]
    fn messages_say_what_was_found_and_expected() {
        let size = Mismatch::Size { what: "request", found: 12, least: 72 };
        let expected = "the size of the request is `12`, expected 72 to 65536 bytes as in ABI 1; build both sides for \
                        the same major";
        assert_eq!(size.to_string(), expected);
    }

    #[test]
    fn the_symbol_carries_the_major() {
        let name = ENTRY_SYMBOL.to_str().unwrap();
        assert_eq!(name.rsplit_once("_v"), Some(("turnfold_summarizer", ABI_MAJOR.to_string().as_str())));
        assert_eq!(MAGIC.to_le_bytes(), *b"TFS1");
    }
}
