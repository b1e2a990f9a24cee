//! The snapshots: for every rule, sessions with the right answers, reviewed through insta and compared with whatever
//! subject is verified. What the reference answers is reviewed once; a subject never writes one.

use include_dir::{Dir, include_dir};

use crate::notation::{self, Step};

static SNAPSHOTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/snapshots");

/// The sessions of a snapshot file, without insta's header; a blank line ends a session.
pub fn sessions(file: &str) -> Vec<Vec<Step>> {
    let body =
        file.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(file, |(_, body)| body);
    body.split("\n\n")
        .filter_map(|session| notation::read(session).ok())
        .filter(|steps| !steps.is_empty())
        .collect()
}

/// Every session of every snapshot, with the rule it is a snapshot of.
pub fn all() -> Vec<(String, Vec<Step>)> {
    let mut files: Vec<(&str, &str)> = SNAPSHOTS
        .files()
        .filter_map(|file| Some((file.path().file_stem()?.to_str()?, file.contents_utf8()?)))
        .collect();
    files.sort_unstable();
    files
        .into_iter()
        .flat_map(|(rule, file)| sessions(file).into_iter().map(|steps| (rule.to_owned(), steps)))
        .collect()
}
