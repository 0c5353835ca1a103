//! What the server lends to every launch.

use crate::covariates::Gauges;
use crate::switches::Switches;
use crate::sys::{Changed, SignalFd};

/// What the server lends to every launch.
pub struct Means {
    /// The machine's counters.
    pub gauges: Gauges,
    /// The signals that end the server.
    pub signals: SignalFd,
    /// SIGCHLD.
    pub child_signal: SignalFd,
    /// The scheduler's records, where they are to be had.
    pub switches: Option<Switches>,
    /// Whether to watch through pidfds.
    pub pidfd: bool,
    /// What a target is not to find as it is here.
    pub changed: Changed,
}
