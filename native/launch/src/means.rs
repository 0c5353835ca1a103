//! The server's resources that every launch uses.

use crate::covariates::Gauges;
use crate::switches::Switches;
use crate::sys::{Changed, SignalFd};

/// The server's resources that every launch uses.
pub struct Means {
    /// The machine's counters.
    pub gauges: Gauges,
    /// The signals that end the server.
    pub signals: SignalFd,
    /// SIGCHLD.
    pub child_signal: SignalFd,
    /// The scheduler's records, where they are available.
    pub switches: Option<Switches>,
    /// Whether to watch through pidfds.
    pub pidfd: bool,
    /// What has changed in this process and is restored for targets.
    pub changed: Changed,
}
