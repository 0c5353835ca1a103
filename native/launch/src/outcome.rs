//! How the wait for a target went.

use crate::covariates::{Reading, Schedule};
use std::io;

/// Why the server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The driver is gone.
    Driver,
    /// This signal arrived.
    Signal(i32),
}

/// How the wait for one target went.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The clock at the wake-up, or just after the end if that came between two wake-ups.
    pub end_ns: u64,
    /// How long the server then had to wait for a CPU, although the target had ended.
    pub late_ns: u64,
    /// The machine's counters at that time.
    pub after: Reading,
    /// What the scheduler had counted for the target by then. If the partner goes on, the rest of the target's death
    /// may have to wait for it, and that time is not before the end.
    pub schedule: Option<Schedule>,
    /// The target ran too long and was killed.
    pub timed_out: bool,
    /// The target was stopped by this signal, did not go on, and was killed.
    pub stopped: Option<i32>,
    /// The driver cancelled, and the target was killed.
    pub cancelled: bool,
    /// The server is to end; the target was killed.
    pub stop: Option<Stop>,
    /// The target was not executed, for this reason.
    pub not_executed: Option<io::Error>,
    /// The target was to be killed and goes on, for this reason.
    pub survived: Option<io::Error>,
}

impl Outcome {
    /// Whether the target was executed, and not killed.
    #[must_use]
    pub const fn ended_by_itself(&self) -> bool {
        let killed =
            self.timed_out || self.cancelled || self.stopped.is_some() || self.stop.is_some();
        !killed && self.not_executed.is_none()
    }
}

/// When the end of a target was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The clock, not before the end.
    pub end_ns: u64,
    /// How long the server then had to wait for a CPU.
    pub late_ns: u64,
}
