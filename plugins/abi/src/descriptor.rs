//! What a plugin exports: who it is, and its three functions.
#![expect(unsafe_code, reason = "reads the descriptor of a plugin through its pointer")]

use core::{fmt, marker::PhantomData, marker::PhantomPinned, mem::offset_of};

use crate::{
    call::Call,
    config::Config,
    host::Host,
    request::Request,
    slice::{InvalidSlice, Str},
    status::Status,
    version::{ABI_MAJOR, ABI_MINOR, Grows, MAGIC, Mismatch, Table, own_size, read_table, sealed::Sealed},
};

/// The most bytes of a plugin's id or version.
pub const MAX_NAME_BYTES: usize = 255;

/// A plugin's own data of one instance, opaque to the host. A plugin casts its pointer to this one.
#[repr(C)]
#[derive(Debug)]
pub struct Instance {
    opaque: [u8; 0],
    nobody_owns_or_moves_it: PhantomData<(*mut u8, PhantomPinned)>,
}

/// The type of the one exported symbol, [`ENTRY_SYMBOL`](crate::ENTRY_SYMBOL). Returns the descriptor, or null if this
/// host isn't acceptable (it may say why in the host's log).
///
/// Called at least once in a process before anything else, and again by each further host in the same process; does no
/// work, keeps nothing of the host and returns at once, the same descriptor each time.
///
/// *Threads*: `[loading]`. *Ownership*: `host` is borrowed until it returns; the descriptor and its texts are the
/// plugin's, unchanged until the process ends. *Unwinding*: forbidden; if it happens, the process aborts.
pub type EntryFn = unsafe extern "C-unwind" fn(host: *const Host<'_>) -> *const Descriptor;

/// Makes an instance and writes it to `out`, which holds null before. Returns [`Status::OK`] with an instance that isn't
/// null, or a failure with a message by [`SetErrorFn`](crate::SetErrorFn) and nothing in `out`.
///
/// A plugin without data of its own points `out` at any static: null with OK is a breach, since it is what forgetting
/// to write it looks like. Of `call`, only `set_error` and `poll` do anything here.
///
/// *Threads*: `[instance]`. *Ownership*: `config` and `call` are borrowed until it returns, `host` until `destroy` of
/// this instance returns; what `out` leads to stays the plugin's. *Unwinding*: forbidden; if it happens, the process
/// aborts.
pub type CreateFn = unsafe extern "C-unwind" fn(
    host: *const Host<'_>,
    config: *const Config<'_>,
    call: *const Call,
    out: *mut *mut Instance,
) -> Status;

/// Condenses one request: emits the summary and returns [`Status::OK`]; or returns [`Status::DECLINED`]; or a failure,
/// with a message by [`SetErrorFn`](crate::SetErrorFn). See [`Answer`](crate::Answer) for what becomes of each.
///
/// It should poll, and return soon once told to. A host may stop waiting for it at the deadline, but can end it only by
/// ending the process it runs in.
///
/// *Threads*: `[instance]`. *Ownership*: `request`, all it leads to, and `call` are borrowed until it returns, even past
/// the deadline. *Unwinding*: forbidden; if it happens, the process aborts.
pub type SummarizeFn = unsafe extern "C-unwind" fn(
    instance: *mut Instance,
    request: *const Request<'_>,
    call: *const Call,
) -> Status;

/// Ends an instance and frees what it owns; the instance's own threads have ended when it returns. Called at most once
/// for an instance: a host leaves it out while a call of the instance has not returned, and may after
/// [`Status::PANIC`].
///
/// *Threads*: `[instance]`, the last call of it. *Ownership*: `instance` is the plugin's to free; the host of its
/// `create` is borrowed until this returns. *Unwinding*: forbidden; if it happens, the process aborts.
pub type DestroyFn = unsafe extern "C-unwind" fn(instance: *mut Instance);

/// A plugin: static memory in it, unchanged until the process ends.
///
/// ```
/// use turnfold_summarizer::{Call, Config, Descriptor, Host, Instance, Refusal, Request, Status};
///
/// unsafe extern "C-unwind" fn create(
///     _: *const Host<'_>, _: *const Config<'_>, _: *const Call, _: *mut *mut Instance,
/// ) -> Status {
///     Status::UNSUPPORTED
/// }
/// unsafe extern "C-unwind" fn summarize(_: *mut Instance, _: *const Request<'_>, _: *const Call) -> Status {
///     Status::DECLINED
/// }
/// unsafe extern "C-unwind" fn destroy(_: *mut Instance) {}
///
/// static GOOD: Descriptor = Descriptor::new("org.example.none", "1.0.0", create, summarize, destroy);
/// static NAMELESS: Descriptor = Descriptor::new("", "1.0.0", create, summarize, destroy);
///
/// // SAFETY: both are whole and static.
/// assert!(unsafe { Descriptor::read(&raw const GOOD) }.is_ok());
/// // SAFETY: the same.
/// let refused = unsafe { Descriptor::read(&raw const NAMELESS) };
/// assert!(matches!(refused, Err(Refusal::Name { field: "id", .. })));
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// The size of this struct at whoever made it, in bytes
    pub struct_size: u32,
    /// [`MAGIC`](crate::MAGIC)
    pub magic: u32,
    /// [`ABI_MAJOR`](crate::ABI_MAJOR); the symbol says it too
    pub abi_major: u32,
    /// The minor version the plugin was built with; says nothing that `struct_size` doesn't
    pub abi_minor: u32,
    /// Its name in configurations: 1 to 255 ASCII letters, digits, `.`, `-` and `_`, first a letter or digit
    pub id: Str<'static>,
    /// Its own version: 1 to 255 visible ASCII characters
    pub version: Str<'static>,
    /// Makes an instance; never null
    pub create: Option<CreateFn>,
    /// Condenses a request; never null
    pub summarize: Option<SummarizeFn>,
    /// Ends an instance; never null
    pub destroy: Option<DestroyFn>,
}

const _: () = {
    const P: usize = size_of::<usize>();
    assert!(offset_of!(Descriptor, struct_size) == 0);
    assert!(offset_of!(Descriptor, magic) == 4);
    assert!(offset_of!(Descriptor, abi_major) == 8);
    assert!(offset_of!(Descriptor, abi_minor) == 12);
    assert!(offset_of!(Descriptor, id) == 16);
    assert!(offset_of!(Descriptor, version) == 16 + 2 * P);
    assert!(offset_of!(Descriptor, create) == 16 + 4 * P);
    assert!(offset_of!(Descriptor, summarize) == 16 + 5 * P);
    assert!(offset_of!(Descriptor, destroy) == 16 + 6 * P);
    assert!(size_of::<Descriptor>() == 16 + 7 * P);
    assert!(align_of::<Descriptor>() == P);
};

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(offset_of!(Descriptor, create) == 48);
    assert!(size_of::<Descriptor>() == 72);
};

impl Sealed for Descriptor {}
// SAFETY: no padding by the assertions above; zero is a pointer, a number or no function in each field.
unsafe impl Grows for Descriptor {
    const NAME: &'static str = "descriptor";
    const MINORS: &'static [usize] = &[size_of::<Self>()];
}
// SAFETY: it begins with its size.
unsafe impl Table for Descriptor {}

impl Descriptor {
    /// A plugin of this crate's minor. Its names are checked where a host [reads](Self::read) it.
    pub const fn new(
        id: &'static str,
        version: &'static str,
        create: CreateFn,
        summarize: SummarizeFn,
        destroy: DestroyFn,
    ) -> Self {
        Self {
            struct_size: own_size::<Self>(),
            magic: MAGIC,
            abi_major: ABI_MAJOR,
            abi_minor: ABI_MINOR,
            id: Str::new(id),
            version: Str::new(version),
            create: Some(create),
            summarize: Some(summarize),
            destroy: Some(destroy),
        }
    }

    /// Copies and checks what an entry function returned; afterwards no function is missing, and a host needs to look
    /// at the plugin's own memory for the two texts only.
    ///
    /// # Errors
    ///
    /// In this order: null, misaligned, a size of no minor, another magic or major, a missing function, an unfit id or
    /// version.
    ///
    /// # Safety
    ///
    /// A pointer that is neither null nor misaligned leads to as many readable bytes as the `u32` at its start says, and
    /// texts of it that aren't null to as many as their lengths say, unchanged until the process ends.
    pub unsafe fn read(descriptor: *const Self) -> Result<Self, Refusal> {
        if descriptor.is_null() {
            return Err(Refusal::ByPlugin);
        }
        // SAFETY: the same promise.
        let read = unsafe { read_table(descriptor) }.map_err(Refusal::Struct)?;
        read.check_header()?;
        // SAFETY: the caller promises the two texts.
        let id = unsafe { read.id.as_str() }.map_err(|fault| Refusal::Text { field: "id", fault })?;
        check_name("id", id, is_id)?;
        // SAFETY: as above.
        let version =
            unsafe { read.version.as_str() }.map_err(|fault| Refusal::Text { field: "version", fault })?;
        check_name("version", version, |text| text.bytes().all(|byte| byte.is_ascii_graphic()))?;
        Ok(read)
    }

    fn check_header(&self) -> Result<(), Refusal> {
        if self.magic != MAGIC {
            return Err(Refusal::Magic { found: self.magic });
        }
        if self.abi_major != ABI_MAJOR {
            return Err(Refusal::Major { found: self.abi_major });
        }
        let functions = [
            ("create", self.create.is_some()),
            ("summarize", self.summarize.is_some()),
            ("destroy", self.destroy.is_some()),
        ];
        match functions.iter().find(|(_, present)| !present) {
            Some(&(name, _)) => Err(Refusal::MissingFunction { name }),
            None => Ok(()),
        }
    }
}

fn is_id(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte))
}

fn check_name(field: &'static str, text: &str, form: impl Fn(&str) -> bool) -> Result<(), Refusal> {
    if text.is_empty() || text.len() > MAX_NAME_BYTES || !form(text) {
        return Err(Refusal::Name { field, len: text.len() });
    }
    Ok(())
}

/// Why a host doesn't take a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The plugin doesn't accept the host: its entry function returned null
    ByPlugin,
    /// What it returned is no descriptor of this major
    Struct(Mismatch),
    /// What it returned is no descriptor at all
    Magic {
        /// The value in the place of [`MAGIC`](crate::MAGIC)
        found: u32,
    },
    /// It was built for another major
    Major {
        /// The major it names
        found: u32,
    },
    /// A function is null
    MissingFunction {
        /// Its field
        name: &'static str,
    },
    /// Its id or version is no text
    Text {
        /// The field
        field: &'static str,
        /// What is wrong with it
        fault: InvalidSlice,
    },
    /// Its id or version has the wrong length or letters. The text isn't shown, as a terminal may obey it
    Name {
        /// The field
        field: &'static str,
        /// How many bytes it has
        len: usize,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ByPlugin => {
                f.write_str("the plugin returned no descriptor: it doesn't accept this host; see the log")
            }
            Self::Struct(mismatch) => mismatch.fmt(f),
            Self::Magic { found } => write!(
                f,
                "the magic of the descriptor is `{found:#010x}`, expected {MAGIC:#010x}: the entry function returned \
                 something else"
            ),
            Self::Major { found } => write!(
                f,
                "the plugin was built for ABI `{found}`, expected {ABI_MAJOR}; build it for the host's version"
            ),
            Self::MissingFunction { name } => {
                write!(f, "the function `{name}` of the descriptor is null, expected a function")
            }
            Self::Text { field, fault } => write!(f, "the `{field}` of the descriptor is no text: {fault}"),
            Self::Name { field: "id", len } => write!(
                f,
                "the `id` of the descriptor has `{len}` bytes and an unfit form, expected 1 to {MAX_NAME_BYTES} ASCII \
                 letters, digits, `.`, `-` and `_`, first a letter or digit"
            ),
            Self::Name { field, len } => write!(
                f,
                "the `{field}` of the descriptor has `{len}` bytes and an unfit form, expected 1 to {MAX_NAME_BYTES} \
                 visible ASCII characters"
            ),
        }
    }
}

impl core::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Struct(mismatch) => Some(mismatch),
            Self::Text { fault, .. } => Some(fault),
            _ => None,
        }
    }
}
