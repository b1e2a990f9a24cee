//! What a session asks of its store: read everything, know the version, append, append a batch if nobody did.

use alloc::vec::Vec;
use core::{cell::RefCell, fmt};

use crate::{
    event::{Event, EventId},
    session::view::{CorruptLog, active_view},
    view::View,
};

/// How much a log holds: it grows with every append that adds something, and says nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The events are in the log, which is at this version now
    Added(Version),
    /// The log held the id already: nothing was added, the version is the same
    Repeated(Version),
}

/// Why a batch was refused. Nothing of it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The log has moved on from the expected version
    Stale {
        /// The version the batch was made for
        expected: Version,
        /// The version the log is at
        found: Version,
    },
    /// An id that the batch repeats or the log holds
    Duplicate(EventId),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { expected, found } => {
                write!(f, "the log is at version {}, expected {}: read it again", found.0, expected.0)
            }
            Self::Duplicate(id) => {
                write!(f, "id `{id}` is in the log or twice in the batch, expected a new one")
            }
        }
    }
}

impl core::error::Error for Refused {}

/// An append-only store of one session. No operation changes or removes an event that is in it.
///
/// A log that others append to as well is shared behind a lock: the trait holds for `&RefCell<L>` and, with the `std`
/// feature, for `&Mutex<L>`, which lock for one call at a time, so that others append while a summarizer runs.
pub trait SessionLog {
    /// Why the store failed
    type Error;

    /// The present version.
    ///
    /// # Errors
    ///
    /// The store's own.
    fn version(&mut self) -> Result<Version, Self::Error>;

    /// Every event, oldest first.
    ///
    /// # Errors
    ///
    /// The store's own.
    fn events(&mut self) -> Result<Vec<Event>, Self::Error>;

    /// Appends one event; one whose id the log holds adds nothing.
    ///
    /// # Errors
    ///
    /// The store's own.
    fn append(&mut self, event: Event) -> Result<Added, Self::Error>;

    /// Appends events in order, all or none, if the log still is at `expected` and knows none of their ids.
    ///
    /// # Errors
    ///
    /// The store's own.
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Self::Error>;

    /// The view that the newest boundary defines. A store that can find it without reading everything overrides this.
    ///
    /// # Errors
    ///
    /// The store's own, or a log that defines no view.
    fn view(&mut self) -> Result<View<Event>, CorruptLog<Self::Error>> {
        active_view(self.events().map_err(CorruptLog::Store)?).map_err(CorruptLog::Log)
    }
}

impl<L: SessionLog> SessionLog for &RefCell<L> {
    type Error = L::Error;

    fn version(&mut self) -> Result<Version, Self::Error> {
        self.borrow_mut().version()
    }
    fn events(&mut self) -> Result<Vec<Event>, Self::Error> {
        self.borrow_mut().events()
    }
    fn append(&mut self, event: Event) -> Result<Added, Self::Error> {
        self.borrow_mut().append(event)
    }
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Self::Error> {
        self.borrow_mut().append_batch(batch, expected)
    }
    fn view(&mut self) -> Result<View<Event>, CorruptLog<Self::Error>> {
        self.borrow_mut().view()
    }
}

/// A poisoned lock is used all the same: a log is whole after every call.
#[cfg(feature = "std")]
impl<L: SessionLog> SessionLog for &std::sync::Mutex<L> {
    type Error = L::Error;

    fn version(&mut self) -> Result<Version, Self::Error> {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).version()
    }
    fn events(&mut self) -> Result<Vec<Event>, Self::Error> {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).events()
    }
    fn append(&mut self, event: Event) -> Result<Added, Self::Error> {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append(event)
    }
    fn append_batch(
        &mut self,
        batch: Vec<Event>,
        expected: Version,
    ) -> Result<Result<Version, Refused>, Self::Error> {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).append_batch(batch, expected)
    }
    fn view(&mut self) -> Result<View<Event>, CorruptLog<Self::Error>> {
        self.lock().unwrap_or_else(std::sync::PoisonError::into_inner).view()
    }
}
