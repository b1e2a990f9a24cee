//! Window compaction of an agent session: whole turns leave the view a model sees, whole turns stay, the system
//! prompt and the preamble are pinned, a summary may stand in, and a pass that has nothing to say writes nothing.
//!
//! The rules are numbered by name in the spec (`turnfold-spec`); `// rule: id` marks the line that makes one true.
//!
//! # The pass
//!
//! [`plan`] is pure: it reads roles, flags and weights of *your* message type ([`ViewEvent`]) and copies nothing.
//! Between [`Plan::request`] and [`Plan::conclude`] the caller asks its summarizer, blocking or not.
//!
//! ```
//! use turnfold_core::{Event, Role, Window, plan};
//!
//! let view = [
//!     Event::message("e1", Role::System, "be brief"),
//!     Event::message("e2", Role::User, "hi"),
//!     Event::message("e3", Role::Assistant, "hello"),
//!     Event::message("e4", Role::User, "bye"),
//! ];
//! let outcome = plan(&view, Window::last_turns(1)?, false).conclude(&view, None);
//! let ids = |events: &[&Event]| events.iter().map(|e| e.id.to_string()).collect::<Vec<_>>();
//! assert_eq!(ids(&outcome.pinned), ["e1"]);
//! assert_eq!(ids(&outcome.covered), ["e2", "e3"]);
//! assert_eq!(ids(&outcome.preserved), ["e4"]);
//! # Ok::<(), turnfold_core::InvalidWindow>(())
//! ```
//!
//! A [`View`] keeps an index and plans in O(log turns); [`compact`] is the blocking convenience over both.
//!
//! # The session
//!
//! [`session`] keeps the log append-only: a pass is recorded as a boundary and its summary, in one batch, only if
//! nobody appended meanwhile.
//!
//! # Features
//!
//! None is needed. `serde` is the wire form of the spec, `std` implements [`SessionLog`](session::SessionLog) for a
//! locked log, `jsonl` is the file log.
//!
//! # What this crate is not
//!
//! It knows no tokenizer, clock, random number, model or plugin, and repairs no broken history.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod cut;
mod event;
#[cfg(feature = "jsonl")]
pub mod jsonl;
mod layout;
mod pass;
pub mod session;
mod summarizer;
mod value;
mod view;
mod window;
#[cfg(feature = "serde")]
mod wire;

pub use event::{
    Boundary, Content, Event, EventId, EventType, InvalidEventType, Message, Role, ToolCall, ToolResponse,
    UnknownRole, ViewEvent,
};
pub use layout::Place;
pub use pass::{Cut, Outcome, Plan, Unchanged, compact, plan};
pub use summarizer::{NoSummarizer, Strategy, Summarizer, Summary, SummaryRequest};
pub use value::{Object, Value};
pub use view::{Identified, InvalidView, View, require_weights};
pub use window::{InvalidWindow, MAX_SIZE, Size, Window};
