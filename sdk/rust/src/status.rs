//! The statuses to exit with.

/// A benchmark could not be run.
pub(crate) const FAILED: u8 = 1;
/// The arguments or the names are wrong.
pub(crate) const WRONG_USE: u8 = 2;

/// Says on stderr what went wrong; the status to exit with. A driver is told as well, but whoever
/// looks for the reason looks here.
pub(crate) fn complain(status: u8, message: &str) -> u8 {
    eprintln!("{}: {message}", env!("CARGO_PKG_NAME"));
    status
}
