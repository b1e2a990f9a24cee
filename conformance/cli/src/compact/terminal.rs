//! How wide the picture may be.

/// The columns of what isn't a terminal.
const DEFAULT_COLUMNS: usize = 80;
/// A picture wider than this is read no better.
const MOST_COLUMNS: usize = 240;

/// The terminal's columns; of anything else those that `COLUMNS` says, else 80.
pub(crate) fn columns() -> usize {
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    let own = terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    own.or_else(said).unwrap_or(DEFAULT_COLUMNS).clamp(20, MOST_COLUMNS)
}
