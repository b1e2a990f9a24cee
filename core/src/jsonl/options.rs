//! How a log file is opened or created.

use alloc::{sync::Arc, vec::Vec};
use core::time::Duration;
use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{self, Path},
};

use crate::jsonl::{Durability::Always, Fault, HEADER, JsonlError, JsonlLog, Ledger, lock::Lock};

/// When an append has reached the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before it returns: what was appended outlives the machine's failure
    #[default]
    Always,
    /// When the system sees fit: what was appended outlives the program, and after a failure of the machine the log
    /// may have lost its newest batches or be damaged
    Never,
}

/// How a log file is opened.
///
/// ```
/// use std::time::Duration;
/// use turnfold_core::jsonl::{Durability, Options};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("session.jsonl");
/// let options = Options::new().durability(Durability::Never).lock_wait(Duration::from_secs(1));
/// let log = options.open_or_create(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) durability: Durability,
    pub(super) lock_wait: Duration,
    read_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { durability: Durability::default(), lock_wait: Duration::from_secs(10), read_only: false }
    }
}

impl Options {
    /// Durable always, waiting for other writers for ten seconds.
    pub fn new() -> Self {
        Self::default()
    }

    /// When an append has reached the disk.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// How long to wait for other writers before an append fails; zero tries once.
    #[must_use]
    pub fn lock_wait(self, lock_wait: Duration) -> Self {
        Self { lock_wait, ..self }
    }

    /// Opens for reading only: every append fails. A file that may not be written is opened so by itself.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Opens a log that exists. A torn tail is left as it is until the first append.
    ///
    /// # Errors
    ///
    /// No file there, no log in it, or damage at its end.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<JsonlLog, JsonlError> {
        let path = path.as_ref();
        let error = |fault| JsonlError { path: path.into(), fault };
        let (file, writable) = self.open_file(path).map_err(error)?;
        let log = self.log(path, file, writable).map_err(error)?;
        log.look(JsonlLog::tail)?;
        Ok(log)
    }

    /// Creates an empty log: a file with a header.
    ///
    /// # Errors
    ///
    /// A file that exists, a folder that doesn't, or whatever the system refuses.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<JsonlLog, JsonlError> {
        let path = path.as_ref();
        let error = |fault| JsonlError { path: path.into(), fault };
        let created = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = created.map_err(|source| {
            error(match source.kind() {
                io::ErrorKind::AlreadyExists => Fault::Exists,
                io::ErrorKind::NotFound => Fault::NoFolder,
                _ => Fault::System { done: "created", source },
            })
        })?;
        let log = self.log(path, file, true).map_err(error)?;
        log.write_header().map_err(error)?;
        Ok(log)
    }

    /// Opens a log, or creates it where there is no file.
    ///
    /// # Errors
    ///
    /// Those of [`Options::open`] and [`Options::create`].
    pub fn open_or_create(&self, path: impl AsRef<Path>) -> Result<JsonlLog, JsonlError> {
        let path = path.as_ref();
        match self.open(path) {
            Err(JsonlError { fault: Fault::Missing, .. }) if !self.read_only => match self.create(path) {
                Err(JsonlError { fault: Fault::Exists, .. }) => self.open(path),
                created => created,
            },
            opened => opened,
        }
    }

    fn log(&self, path: &Path, file: File, writable: bool) -> Result<JsonlLog, Fault> {
        let absolute = path::absolute(path).map_err(|source| Fault::System { done: "opened", source })?;
        Ok(JsonlLog {
            path: path.into(),
            absolute,
            file: Arc::new(file),
            options: self.clone(),
            writable,
            ledger: Ledger::default(),
            notices: Vec::new(),
        })
    }

    /// The file, and whether it may be written.
    fn open_file(&self, path: &Path) -> Result<(File, bool), Fault> {
        let refused = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => Fault::Missing,
            _ => Fault::System { done: "opened", source },
        };
        // Asked first: to open a pipe would wait for its other end.
        if !fs::metadata(path).map_err(refused)?.is_file() {
            return Err(Fault::NoFile);
        }
        let mut options = OpenOptions::new();
        options.read(true);
        if self.read_only {
            return Ok((options.open(path).map_err(refused)?, false));
        }
        match options.clone().write(true).open(path) {
            Ok(file) => Ok((file, true)),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Ok((options.open(path).map_err(refused)?, false))
            }
            Err(error) => Err(refused(error)),
        }
    }
}

impl JsonlLog {
    /// Writes the header into an empty file, if nobody else did meanwhile.
    fn write_header(&self) -> Result<(), Fault> {
        let refused = |source| Fault::System { done: "created", source };
        let _lock = Lock::take(&self.file, self.options.lock_wait)?;
        if self.file.metadata().map_err(refused)?.len() > 0 {
            return Ok(());
        }
        self.write_at(0, HEADER).map_err(refused)?;
        if self.options.durability == Always {
            sync_folder(&self.path).map_err(refused)?;
        }
        Ok(())
    }
}

/// Makes a new file's name durable.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    File::open(folder)?.sync_all()
}

/// Elsewhere the system keeps names durable by itself.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Event, Role},
        session::SessionLog,
    };

    #[test]
    fn a_header_is_not_written_over_what_another_writer_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        fs::write(&path, "").unwrap();
        let mut log = JsonlLog::open(&path).unwrap();
        log.append(Event::message("e1", Role::User, "first")).unwrap();
        let written = fs::read(&path).unwrap();
        log.write_header().unwrap();
        assert_eq!(fs::read(&path).unwrap(), written);
    }
}
