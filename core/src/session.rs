//! The session: an append-only log, the view its newest boundary defines, and the pass over both.
//!
//! ```
//! use turnfold_core::session::{Compacted, MemoryLog, SessionLog, Stamped, Trigger, compact};
//! use turnfold_core::{Event, Role, Strategy, Window};
//!
//! let mut log = MemoryLog::new();
//! for (id, role) in [("e1", Role::User), ("e2", Role::Assistant), ("e3", Role::User)] {
//!     log.append(Event::message(id, role, "…"))?;
//! }
//! let stamp = Stamped::new("b1", 0);
//! let done = compact(&mut log, &Trigger::Always, &mut Strategy::new(Window::last_turns(1)?), &stamp)?;
//! assert!(matches!(done, Compacted::Written(_)));
//! assert_eq!(log.view()?.events().len(), 1); // the newest turn
//! assert_eq!(log.events()?.len(), 4); // nothing left the log
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attempt;
mod log;
mod memory;
mod trigger;
mod view;

pub use attempt::{Attempt, CompactError, Compacted, Stamped, Written, compact};
pub use log::{Added, Refused, SessionLog, Version};
pub use memory::MemoryLog;
pub use trigger::{InvalidTrigger, Trigger};
pub use view::{CorruptLog, Corruption, active_view, check_log};
