//! Waiting for the target's end, and killing it when the time is over or the driver says so.

use crate::channel::Channel;
use crate::spawn::{Captures, Started};
use crate::sys::{self, SignalFd};
use crate::tail::Capture;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Why the server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The driver is gone.
    Driver,
    /// This signal arrived.
    Signal(i32),
}

/// How the wait went.
#[derive(Debug)]
pub struct Outcome {
    /// The clock at the wake-up.
    pub end_ns: u64,
    /// The target ran too long and was killed.
    pub timed_out: bool,
    /// The driver cancelled, and the target was killed.
    pub cancelled: bool,
    /// The server is to end; the target was killed.
    pub stop: Option<Stop>,
}

/// What wakes us at the target's end.
pub enum EndWatch<'a> {
    /// The target's own descriptor.
    Pidfd(OwnedFd),
    /// SIGCHLD, which any child may cause: for kernels and filters without pidfds.
    ChildSignal(&'a SignalFd),
}

impl<'a> EndWatch<'a> {
    /// Watches `pid`, through a pidfd if that is wanted and can be had.
    #[must_use]
    pub fn new(pid: i32, pidfd: bool, child_signal: &'a SignalFd) -> Self {
        if pidfd {
            if let Ok(fd) = sys::pidfd_open(pid) {
                return Self::Pidfd(fd);
            }
        }
        Self::ChildSignal(child_signal)
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Pidfd(fd) => fd.as_fd(),
            Self::ChildSignal(signals) => signals.as_fd(),
        }
    }

    /// Whether the wake-up was indeed for the target's end.
    fn has_ended(&self, pid: i32) -> io::Result<bool> {
        match self {
            Self::Pidfd(_) => sys::exit_is_pending(pid, true),
            Self::ChildSignal(signals) => {
                while signals.take().is_some() {}
                sys::exit_is_pending(pid, false)
            }
        }
    }
}

/// Waits until the target has ended. It is not reaped. Without a capture or a timeout this
/// sleeps through: a waking server would be noise on the machine that it measures.
///
/// # Errors
/// If the system refuses to wait; the target has then been killed.
pub fn for_end(
    started: Started,
    timeout_ns: Option<u64>,
    watch: &EndWatch<'_>,
    captures: &mut Captures,
    channel: &mut Channel,
    signals: &SignalFd,
) -> io::Result<Outcome> {
    let pid = started.pid;
    let mut deadline = timeout_ns.map(|timeout| started.start_ns.saturating_add(timeout));
    let mut outcome = Outcome {
        end_ns: 0,
        timed_out: false,
        cancelled: false,
        stop: None,
    };
    loop {
        // Before the first sleep, too: a cancel may have come in one piece with its request.
        if channel.take_cancel() {
            outcome.cancelled = true;
            kill_target(pid);
        }
        let left = deadline.map(|deadline| deadline.saturating_sub(sys::now_ns()));
        let listen = outcome.stop.is_none();
        let woken = sys::poll(
            [
                sys::poll_entry(Some(watch.as_fd())),
                sys::poll_entry(listen.then(|| channel.as_fd())),
                sys::poll_entry(listen.then(|| signals.as_fd())),
                sys::poll_entry(captures.out.as_ref().and_then(Capture::as_fd)),
                sys::poll_entry(captures.err.as_ref().and_then(Capture::as_fd)),
                sys::poll_entry(captures.results.as_ref().and_then(Capture::as_fd)),
            ],
            left,
        );
        let now_ns = sys::now_ns();
        let [end, socket, signal, out, err, results] = woken.map_err(|error| {
            kill_target(pid);
            error
        })?;
        if end && watch.has_ended(pid)? {
            outcome.end_ns = now_ns;
            return Ok(outcome);
        }
        if deadline.is_some_and(|deadline| now_ns >= deadline) {
            deadline = None;
            outcome.timed_out = true;
            kill_target(pid);
        }
        if socket {
            channel.receive();
        }
        if !channel.is_open() {
            outcome.stop = Some(Stop::Driver);
        } else if signal {
            outcome.stop = signals.take().map(Stop::Signal);
        }
        if outcome.stop.is_some() {
            kill_target(pid);
        }
        receive(out, &mut captures.out);
        receive(err, &mut captures.err);
        receive(results, &mut captures.results);
    }
}

fn receive(ready: bool, capture: &mut Option<Capture>) {
    if let (true, Some(capture)) = (ready, capture) {
        capture.receive();
    }
}

/// Kills the target with its group, and the target itself should it have changed its group. As
/// it has not been reaped its number cannot belong to another process yet.
pub fn kill_target(pid: i32) {
    sys::kill_group(pid);
    sys::kill(pid);
}
