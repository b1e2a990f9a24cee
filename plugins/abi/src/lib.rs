//! The C contract between a host that compacts an agent's session and a plugin that summarizes what leaves, as Rust
//! types. Version 1, minor 0.
//!
//! A plugin is a shared library in any language that makes C functions. It exports one symbol and gets no Rust type: all
//! that crosses is `repr(C)`. This crate is the contract and nothing around it: it loads no library, starts no thread and
//! allocates nothing.
//!
//! # A plugin's life
//!
//! | step | host | plugin |
//! |---|---|---|
//! | load | calls [`turnfold_summarizer_v1`](EntryFn) | returns its [`Descriptor`], static, or null |
//! | check | copies it by [`Descriptor::read`] | |
//! | make | calls [`create`](CreateFn) with [`Host`], [`Config`] and [`Call`] | makes an [`Instance`] |
//! | ask | calls [`summarize`](SummarizeFn) with a [`Request`] and a [`Call`], any number of times | reads [`Event`]s, emits text, returns a [`Status`] |
//! | end | calls [`destroy`](DestroyFn) | frees the instance |
//!
//! A library stays loaded until the process ends.
//!
//! # What comes of a call
//!
//! | status | emitted | comes to |
//! |---|---|---|
//! | [`OK`](Status::OK) | UTF-8 that isn't blank | the summary |
//! | `OK` | nothing or white space | as declined, with a warning the first time |
//! | `OK` | not UTF-8 | a breach of the contract: a failure |
//! | `OK`, but an emit was refused | any | a failure with the status of the refusal |
//! | [`DECLINED`](Status::DECLINED) | any, ignored | declined: the view stays as it is |
//! | negative | any, ignored | a failure, with the text of [`SetErrorFn`]; an unknown code as [`FAILED`](Status::FAILED) |
//! | another positive | any, ignored | a breach of the contract: a failure |
//!
//! Only the first line writes anything. [`Answer::of`] is this table as a function.
//!
//! # Words for threads
//!
//! - `[loading]`: on the host's loading thread, never two at a time within one host.
//! - `[instance]`: on any thread of the host, never two at a time for one instance. The calls of an instance may come on
//!   different threads, those of different instances at once.
//! - `[call]`: on any thread, but only while the call it belongs to is going on.
//! - `[life]`: on any thread, from the start of `create` until `destroy` of that instance returns; in the entry function
//!   until that returns.
//!
//! # What a plugin must not do
//!
//! Unwind or `longjmp` out of its functions; exit, abort or fork; change signal handlers, locale, working directory,
//! umask or environment; write to standard output, where the host may speak a protocol; keep a pointer past its time;
//! use a [`Call`] after returning. A host can't catch a panic or an exception of a plugin, since each carries its own
//! runtime: catch it inside and return [`Status::PANIC`], as the example does.
//!
//! # Versions
//!
//! A minor appends fields to structs, flags to `flags`, and codes to [`Status`], [`Role`] and [`LogLevel`]; nothing
//! changes its meaning, place or alignment. All else is a new major with a new symbol, and one library may export both.
//! Each struct that travels alone begins with `struct_size`, each array is stepped by a stride, and [`readable`] says
//! how much of either to read: so an older plugin runs under a newer host and the other way round. [`read_table`] and
//! [`Slice::elements`] do so; fields that the other side doesn't have read as zero, which means "not there" in each.
//!
//! # Decisions
//!
//! - **One symbol, and it is a function.** A table of function pointers as data is beyond some languages, and a function
//!   can refuse a host. The major is in its name, so that a loader finds a plugin it can't use before any of it runs.
//! - **`struct_size` comes first everywhere**, before the magic and the version: it is what makes the rest readable. The
//!   magic behind it finds an entry function that returned another pointer.
//! - **Callbacks arrive with each call**, with their `user_data`, and a plugin keeps none. Were they handed over once at
//!   the entry, the plugin would have to keep them in a static; two hosts in one process share that static, and one
//!   would get the other's callbacks.
//! - **Nothing changes its owner.** Inputs are borrowed until the function returns, results are copied by [`EmitFn`] and
//!   [`SetErrorFn`]. Two allocators never meet, and no `free` function can be forgotten.
//! - **Structs, not JSON.** The author in C or Zig needs no parser, and reading is one to two orders cheaper. JSON is
//!   left for options, and for the whole event on demand ([`EventJsonFn`]).
//! - **Text is pointer and length, UTF-8, checked strictly.** A summary is stored, so nothing of it is repaired. Only an
//!   error's text, which is shown and forgotten, is read lossily.
//! - **Presence is a flag.** An empty prior summary, a weight of 0 and the time 0 are values.
//! - **Functions of a plugin are `extern "C-unwind"`**, so that an exception that escapes one is a defined abort;
//!   functions of a host are `extern "C"`, as it must not unwind into foreign code.
//! - **Only pointers and scalars cross by value.** No struct, no C enum, no `bool`, no bit field, no variable arguments:
//!   compilers disagree on how these travel. A status, a role and a level are integers, for any value may arrive.
//! - **Function pointers are `Option`s**: null is what a careless other side writes, and it must be found, not called.
//! - **No padding, and the same order of fields at every pointer width.** Every offset is a number plus a multiple of
//!   the pointer's size, asserted at build time. So 64-bit fields stand where they are aligned on all machines.
//! - **No deadline but a wish.** A plugin is told how long it has and may [poll](PollFn); a host that must be sure calls
//!   it in a process it can kill.
//! - **Ids are plain ASCII** that can be a file name and does nothing to a terminal.
//! - **Reading is `unsafe`, making is safe.** The structs are C's, with public fields; lifetimes keep a host from handing
//!   over what it has freed.
//!
//! # Example
//!
//! A plugin written by hand against the types, and a host that calls it in its own process. The plugin lists what the
//! user asked, a line a turn.
//!
//! ```
//! use std::{ffi::c_void, panic};
//! use turnfold_summarizer::{
//!     Answer, Bytes, Call, Config, Descriptor, Event, Host, Instance, LogLevel, Request, Role, Status, Str, read_table,
//! };
//!
//! // The plugin.
//!
//! struct Asked {
//!     bullet: char,
//! }
//!
//! /// # Safety
//! ///
//! /// As the contract of `SummarizeFn` says; the call is going on.
//! unsafe fn list(asked: &Asked, request: *const Request<'_>, call: &Call) -> Result<Status, Status> {
//!     let fail = |fault: &dyn std::error::Error| {
//!         // SAFETY: the call is going on.
//!         unsafe { call.set_error(&fault.to_string()) };
//!         Status::INVALID
//!     };
//!     // SAFETY: the host's request, borrowed until we return.
//!     let request = unsafe { read_table(request) }.map_err(|fault| fail(&fault))?;
//!     let mut answer = Status::DECLINED;
//!     if let Some(prior) = request.prior() {
//!         // SAFETY: the same.
//!         let prior = unsafe { prior.as_str() }.map_err(|fault| fail(&fault))?;
//!         // SAFETY: the call is going on.
//!         unsafe { call.emit(prior) }?;
//!     }
//!     // SAFETY: the host's request, borrowed until we return.
//!     for event in unsafe { request.events() }.map_err(|fault| fail(&fault))? {
//!         // SAFETY: the call is going on.
//!         unsafe { call.poll() }?;
//!         // SAFETY: the host's event, borrowed until we return.
//!         let text = unsafe { event.text.as_str() }.map_err(|fault| fail(&fault))?;
//!         if let Some(line) = text.lines().next().filter(|_| event.starts_turn()) {
//!             // SAFETY: the call is going on.
//!             unsafe { call.emit(&format!("{} {line}\n", asked.bullet)) }?;
//!             answer = Status::OK;
//!         }
//!     }
//!     Ok(answer)
//! }
//!
//! unsafe extern "C-unwind" fn create(
//!     _host: *const Host<'_>, _config: *const Config<'_>, _call: *const Call, out: *mut *mut Instance,
//! ) -> Status {
//!     // SAFETY: the host hands over a place to write to.
//!     unsafe { out.write(Box::into_raw(Box::new(Asked { bullet: '-' })).cast()) };
//!     Status::OK
//! }
//!
//! unsafe extern "C-unwind" fn summarize(
//!     instance: *mut Instance, request: *const Request<'_>, call: *const Call,
//! ) -> Status {
//!     panic::catch_unwind(|| {
//!         // SAFETY: made by `create`, not yet destroyed, and no other call of this instance is going on.
//!         let asked = unsafe { &*instance.cast::<Asked>() };
//!         // SAFETY: the host's call, which is going on.
//!         let Ok(call) = (unsafe { read_table(call) }) else { return Status::INVALID };
//!         // SAFETY: as the contract says.
//!         unsafe { list(asked, request, &call) }.unwrap_or_else(|status| status)
//!     })
//!     .unwrap_or(Status::PANIC)
//! }
//!
//! unsafe extern "C-unwind" fn destroy(instance: *mut Instance) {
//!     // SAFETY: made by `create` and destroyed once.
//!     drop(unsafe { Box::from_raw(instance.cast::<Asked>()) });
//! }
//!
//! static ASKED: Descriptor = Descriptor::new("org.example.asked", "1.0.0", create, summarize, destroy);
//!
//! #[unsafe(no_mangle)]
//! unsafe extern "C-unwind" fn turnfold_summarizer_v1(_host: *const Host<'_>) -> *const Descriptor {
//!     &raw const ASKED
//! }
//!
//! // The host. One thread calls, so its sink needs no lock; a real one must have it.
//!
//! #[derive(Default)]
//! struct Sink {
//!     emitted: Vec<u8>,
//!     error: String,
//! }
//!
//! unsafe extern "C" fn emit(sink: *mut c_void, bytes: *const u8, len: usize) -> Status {
//!     // SAFETY: our own sink, which nobody else uses.
//!     let sink = unsafe { &mut *sink.cast::<Sink>() };
//!     // SAFETY: the plugin's bytes, borrowed until we return.
//!     match unsafe { Bytes::from_raw(bytes, len).as_bytes() } {
//!         Ok(bytes) => sink.emitted.extend_from_slice(bytes),
//!         Err(_) => return Status::INVALID,
//!     }
//!     Status::OK
//! }
//! unsafe extern "C" fn set_error(sink: *mut c_void, text: *const u8, len: usize) {
//!     // SAFETY: our own sink, which nobody else uses.
//!     let sink = unsafe { &mut *sink.cast::<Sink>() };
//!     // SAFETY: the plugin's bytes, borrowed until we return.
//!     let text = unsafe { Bytes::from_raw(text, len).as_bytes() }.unwrap_or_default();
//!     sink.error = String::from_utf8_lossy(text).into_owned();
//! }
//! unsafe extern "C" fn poll(_sink: *mut c_void) -> Status {
//!     Status::OK
//! }
//! unsafe extern "C" fn event_json(_sink: *mut c_void, _index: usize, _out: *mut Str<'_>) -> Status {
//!     Status::UNSUPPORTED
//! }
//! unsafe extern "C" fn log(_: *mut c_void, _: LogLevel, _: *const u8, _: usize) {}
//!
//! let mut sink = Sink::default();
//! let call = Call::new((&raw mut sink).cast(), emit, set_error, poll, event_json);
//! let host = Host::new("example", "1.0.0", std::ptr::null_mut(), log);
//! let config = Config::new("");
//!
//! // SAFETY: the plugin above keeps the contract.
//! let plugin = unsafe { Descriptor::read(turnfold_summarizer_v1(&raw const host)) }?;
//! let (Some(create), Some(summarize), Some(destroy)) = (plugin.create, plugin.summarize, plugin.destroy) else {
//!     unreachable!("`read` has checked them");
//! };
//! let mut instance = std::ptr::null_mut();
//! // SAFETY: the host outlives the instance, the rest the call.
//! let made = unsafe { create(&raw const host, &raw const config, &raw const call, &raw mut instance) };
//! assert_eq!(made, Status::OK);
//!
//! let events = [
//!     Event::new("e1", Role::USER, "is it raining?").starting_turn(),
//!     Event::new("e2", Role::ASSISTANT, "yes, since noon"),
//!     Event::new("e3", Role::USER, "and tomorrow?\nI want to go out").starting_turn(),
//! ];
//! let request = Request::new(&events).with_prior("They talk of the weather.\n");
//! // SAFETY: the request outlives the call.
//! let status = unsafe { summarize(instance, &raw const request, &raw const call) };
//! let expected = "They talk of the weather.\n- is it raining?\n- and tomorrow?\n";
//! assert_eq!(Answer::of(status, &sink.emitted), Answer::Text(expected), "{}", sink.error);
//!
//! // SAFETY: the last call of this instance.
//! unsafe { destroy(instance) };
//! # Ok::<(), turnfold_summarizer::Refusal>(())
//! ```
#![no_std]

#[cfg(test)]
extern crate std;

mod answer;
mod call;
mod config;
mod descriptor;
mod event;
mod host;
mod request;
mod slice;
mod status;
mod version;

pub use answer::{Answer, Violation};
pub use call::{Call, EmitFn, EventJsonFn, MAX_ERROR_BYTES, PollFn, SetErrorFn};
pub use config::Config;
pub use descriptor::{
    CreateFn, Descriptor, DestroyFn, EntryFn, Instance, MAX_NAME_BYTES, Refusal, SummarizeFn,
};
pub use event::{Event, Role, ToolCall, ToolResponse};
pub use host::{Host, LogFn, LogLevel};
pub use request::Request;
pub use slice::{Bytes, Elements, InvalidSlice, Slice, Str};
pub use status::Status;
pub use version::{
    ABI_MAJOR, ABI_MINOR, ENTRY_SYMBOL, Grows, MAGIC, MAX_STRUCT_SIZE, Mismatch, Table, read_table, readable,
};
