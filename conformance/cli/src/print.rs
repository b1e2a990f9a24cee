//! Standard output: written whole, and a reader that has seen enough isn't a failure.

use std::io::{self, Write};

use crate::failure::Failure;

/// Prints a text, without its colours where the output is no terminal.
///
/// # Errors
///
/// An output that can't be written, unless its reader went away.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("standard output can't be written: {error}")))
        }
        _ => Ok(()),
    }
}
