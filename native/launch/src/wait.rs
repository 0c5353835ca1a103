//! Waiting for the target's end, and killing it when the time is over or the driver says so.

use crate::channel::Channel;
use crate::spawn::{Captures, Started};
use crate::sys::{self, SignalFd, State};
use crate::tail::Capture;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Why the server is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The driver is gone.
    Driver,
    /// This signal arrived.
    Signal(i32),
}

/// How long a target may be stopped. Job control, or a debugger, may have one go on at once.
const LONGEST_STOP_NS: u64 = 2_000_000_000;

/// How long a killed target may take to end: what waits for a disk ends only when that answers.
const LONGEST_DEATH_NS: u64 = 20_000_000_000;

/// How the wait went.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The clock at the wake-up.
    pub end_ns: u64,
    /// The target ran too long and was killed.
    pub timed_out: bool,
    /// The target was stopped by this signal, did not go on, and was killed.
    pub stopped: Option<i32>,
    /// The driver cancelled, and the target was killed.
    pub cancelled: bool,
    /// The server is to end; the target was killed.
    pub stop: Option<Stop>,
    /// The target was to be killed and goes on, for this reason.
    pub survived: Option<io::Error>,
}

/// What wakes us when something becomes of the target.
pub struct EndWatch<'a> {
    pid: i32,
    /// The target's own descriptor; not on kernels and behind filters that have none.
    pidfd: Option<OwnedFd>,
    /// SIGCHLD, which any child may cause, and which tells of a target that is stopped.
    child_signal: &'a SignalFd,
}

impl<'a> EndWatch<'a> {
    /// Watches `pid`, through a pidfd if that is wanted and can be had.
    #[must_use]
    pub fn new(pid: i32, pidfd: bool, child_signal: &'a SignalFd) -> Self {
        let pidfd = pidfd.then(|| sys::pidfd_open(pid).ok()).flatten();
        Self {
            pid,
            pidfd,
            child_signal,
        }
    }

    /// What the target is doing, given which of the two woke us.
    fn state(&self, end: bool, child: bool) -> io::Result<State> {
        if end {
            return sys::exit_is_pending(self.pid, true).map(|_| State::Ended);
        }
        if child {
            while self.child_signal.take().is_some() {}
            return sys::state_of(self.pid);
        }
        Ok(State::Going)
    }
}

/// When something is due, in ns of the clock.
#[derive(Default)]
struct Deadlines {
    /// The target has had its time.
    time: Option<u64>,
    /// It has been stopped for long enough, by this signal.
    stopped: Option<(u64, i32)>,
    /// It should have died of being killed.
    death: Option<u64>,
}

impl Deadlines {
    fn next(&self) -> Option<u64> {
        let stopped = self.stopped.map(|(deadline, _)| deadline);
        [self.time, stopped, self.death].into_iter().flatten().min()
    }
}

/// The wait for one target.
struct Wait {
    pid: i32,
    deadlines: Deadlines,
    outcome: Outcome,
}

impl Wait {
    /// Kills the target with its group, and the target itself should it have changed its group. As
    /// it has not been reaped its number cannot belong to another process yet.
    fn kill(&mut self) {
        sys::kill_group(self.pid);
        match sys::kill(self.pid) {
            Ok(()) if self.deadlines.death.is_none() => {
                self.deadlines.death = Some(sys::now_ns() + LONGEST_DEATH_NS);
            }
            Ok(()) => {}
            // What has just ended keeps its rights until it is reaped.
            Err(_) if matches!(sys::state_of(self.pid), Ok(State::Ended)) => {}
            Err(error) => self.outcome.survived = Some(error),
        }
    }

    fn note(&mut self, state: State, now_ns: u64) {
        self.deadlines.stopped = match (state, self.deadlines.stopped) {
            (State::Stopped(signal), None) => Some((now_ns + LONGEST_STOP_NS, signal)),
            (State::Stopped(_), known) => known,
            _ => None,
        };
    }

    /// Does what is due.
    fn meet_deadlines(&mut self, now_ns: u64) {
        if self.deadlines.time.is_some_and(|due| now_ns >= due) {
            self.deadlines.time = None;
            self.outcome.timed_out = true;
            self.kill();
        }
        if let Some((_, signal)) = self.deadlines.stopped.filter(|&(due, _)| now_ns >= due) {
            self.deadlines.stopped = None;
            // What is being killed already may look stopped for a moment.
            if self.deadlines.death.is_none() {
                self.outcome.stopped = Some(signal);
                self.kill();
            }
        }
        if self.deadlines.death.is_some_and(|due| now_ns >= due) {
            self.outcome.survived = Some(io::ErrorKind::TimedOut.into());
        }
    }
}

/// Waits until the target has ended. It is not reaped. Without a capture or a timeout this
/// sleeps through, unless the target is stopped: a waking server would be noise on the machine
/// that it measures.
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
    let time = timeout_ns.map(|timeout| started.start_ns.saturating_add(timeout));
    let mut wait = Wait {
        pid: started.pid,
        deadlines: Deadlines {
            time,
            ..Deadlines::default()
        },
        outcome: Outcome::default(),
    };
    loop {
        // Before the first sleep, too: a cancel may have come in one piece with its request.
        if channel.take_cancel() {
            wait.outcome.cancelled = true;
            wait.kill();
        }
        if wait.outcome.survived.is_some() {
            return Ok(wait.outcome);
        }
        let due = wait.deadlines.next();
        let listen = wait.outcome.stop.is_none();
        let woken = sys::poll(
            [
                sys::poll_entry(watch.pidfd.as_ref().map(AsFd::as_fd)),
                sys::poll_entry(Some(watch.child_signal.as_fd())),
                sys::poll_entry(listen.then(|| channel.as_fd())),
                sys::poll_entry(listen.then(|| signals.as_fd())),
                sys::poll_entry(captures.out.as_ref().and_then(Capture::as_fd)),
                sys::poll_entry(captures.err.as_ref().and_then(Capture::as_fd)),
                sys::poll_entry(captures.results.as_ref().and_then(Capture::as_fd)),
            ],
            due.map(|due| due.saturating_sub(sys::now_ns())),
        );
        let now_ns = sys::now_ns();
        let [end, child, socket, signal, out, err, results] = woken.map_err(|error| {
            wait.kill();
            error
        })?;
        if end || child {
            let state = watch.state(end, child)?;
            if state == State::Ended {
                wait.outcome.end_ns = now_ns;
                return Ok(wait.outcome);
            }
            wait.note(state, now_ns);
        }
        wait.meet_deadlines(now_ns);
        if socket {
            channel.receive();
        }
        if !channel.is_open() {
            wait.outcome.stop = Some(Stop::Driver);
        } else if signal {
            wait.outcome.stop = signals.take().map(Stop::Signal);
        }
        if wait.outcome.stop.is_some() {
            wait.kill();
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
