//! The statuses to exit with.

/// A benchmark could not be run.
pub(crate) const FAILED: u8 = 1;
/// The arguments or the names are wrong.
pub(crate) const WRONG_USE: u8 = 2;

/// Reports what went wrong on stderr, for people, even if a driver is told too; returns the status to
/// exit with.
pub(crate) fn complain(status: u8, message: &str) -> u8 {
    eprintln!("{}: {message}", env!("CARGO_PKG_NAME"));
    status
}
