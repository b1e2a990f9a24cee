//! The other documents of the spec, as they are written: the protocol, the log file, their schemas and the vectors.
//!
//! A program that speaks the protocol or keeps logs, or checks what another one does, finds all of them here and
//! needs no file of this project at hand.
//!
//! ```
//! use turnfold_spec::documents;
//!
//! assert!(documents::PROTOCOL.starts_with("# Protocol 1"));
//! let (_, request) = documents::schemas().iter().find(|(name, _)| *name == "request.json").expect("it is one");
//! assert!(request.contains("https://turnfold.dev/schema/request.json"));
//! ```

use include_dir::{Dir, include_dir};

/// The protocol between a suite and a subject, `protocol.md`.
pub const PROTOCOL: &str = include_str!("../protocol.md");

static VECTORS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/vectors");

/// Every vector of `vectors/`, by name, in the order of the names.
pub fn vectors() -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut files: Vec<(&str, &str)> = VECTORS
        .files()
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "json"))
        .filter_map(|file| Some((file.path().file_stem()?.to_str()?, file.contents_utf8()?)))
        .collect();
    files.sort_unstable();
    files.into_iter()
}

/// The log file, `log-format.md`.
pub const LOG_FORMAT: &str = include_str!("../log-format.md");

/// Where the schemas' `$id`s begin; the file's name follows.
pub const SCHEMA_BASE: &str = "https://turnfold.dev/schema/";

/// Every schema of `schema/`, by file name.
pub fn schemas() -> &'static [(&'static str, &'static str)] {
    &[
        ("answer.json", include_str!("../schema/answer.json")),
        ("event.json", include_str!("../schema/event.json")),
        ("log-record.json", include_str!("../schema/log-record.json")),
        ("request.json", include_str!("../schema/request.json")),
        ("trigger.json", include_str!("../schema/trigger.json")),
        ("vector.json", include_str!("../schema/vector.json")),
        ("window.json", include_str!("../schema/window.json")),
    ]
}
