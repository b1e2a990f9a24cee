//! One writer at a time: an exclusive lock on the log file, waited for within bounds.

use alloc::sync::Arc;
use core::time::Duration;
use std::{fs::File, io, thread, time::Instant};

use fs4::{FileExt, TryLockError};

use crate::jsonl::fault::Fault;

/// The lock; it is given back when this value goes, or its process.
#[derive(Debug)]
pub(super) struct Lock(Arc<File>);

impl Lock {
    /// Takes the lock, waiting for others at most that long.
    pub(super) fn take(file: &Arc<File>, wait: Duration) -> Result<Self, Fault> {
        patiently(wait, || match FileExt::try_lock(&**file) {
            Ok(()) => Ok(Some(Self(Arc::clone(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(Fault::System { done: "locked", source }),
        })?
        .ok_or(Fault::Locked { waited: wait })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that can't be given back goes with the file's handle.
        let _ = FileExt::unlock(&*self.0);
    }
}

/// Tries until there is something, or the time is over.
fn patiently<T, E>(
    wait: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    const LONGEST: Duration = Duration::from_millis(20);
    let start = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        if let Some(found) = attempt()? {
            return Ok(Some(found));
        }
        let left = wait.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left));
        pause = pause.saturating_mul(2).min(LONGEST);
    }
}

/// A log file being read. Where a lock keeps readers out as well, as on Windows, they wait for the writer.
#[derive(Debug)]
pub(super) struct Reading<'f> {
    pub(super) file: &'f File,
    pub(super) wait: Duration,
}

impl io::Read for Reading<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut refused = io::Error::from(io::ErrorKind::TimedOut);
        let read = patiently(self.wait, || match self.file.read(bytes) {
            Err(error) if is_kept_out(&error) => {
                refused = error;
                Ok(None)
            }
            read => read.map(Some),
        })?;
        read.ok_or(refused)
    }
}

impl io::Seek for Reading<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn is_kept_out(error: &io::Error) -> bool {
    const ERROR_LOCK_VIOLATION: i32 = 33;
    cfg!(windows) && error.raw_os_error() == Some(ERROR_LOCK_VIOLATION)
}
