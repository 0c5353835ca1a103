//! Waits for running targets to end, and kills them when their time is over or the driver says so.

use crate::channel::Channel;
use crate::covariates::Schedule;
use crate::means::Means;
use crate::outcome::{Outcome, Seen, Stop};
use crate::spawn::{Captures, Started};
use crate::sys::{self, Executing, State};
use crate::tail::Capture;
use crate::turns::Turns;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// How long a target may be stopped: job control or a debugger may soon let it continue.
const LONGEST_STOP_NS: u64 = 2_000_000_000;

/// How long a killed target may take to end: a process waiting for a disk ends only when the disk answers.
const LONGEST_DEATH_NS: u64 = 20_000_000_000;

/// When something is due, in ns of the clock.
#[derive(Default)]
struct Deadlines {
    /// The target has had its time.
    time: Option<u64>,
    /// It has been stopped for long enough, by this signal.
    stopped: Option<(u64, i32)>,
    /// It should have died after being killed.
    death: Option<u64>,
}

impl Deadlines {
    fn next(&self) -> Option<u64> {
        let stopped = self.stopped.map(|(deadline, _)| deadline);
        [self.time, stopped, self.death].into_iter().flatten().min()
    }
}

/// The wait for one target.
pub struct Wait {
    pid: i32,
    /// The target's own descriptor; None where the kernel has none or a filter refuses it.
    pidfd: Option<OwnedFd>,
    /// Set until it is known whether the target is executed.
    executing: Option<Executing>,
    /// Shut down at its end, or the partner would wait for processes it left behind that hold a copy.
    socket: Option<UnixStream>,
    deadlines: Deadlines,
    seen: Option<Seen>,
    ended: bool,
    /// Whether it has a partner, which nothing that it leaves behind may disturb.
    is_of_two: bool,
    /// What comes through its streams meanwhile.
    pub captures: Captures,
    /// How it has gone so far.
    pub outcome: Outcome,
}

/// A wake-up of the server.
#[derive(Clone, Copy)]
struct Woken {
    /// The clock.
    now_ns: u64,
    /// How long the server had waited for a CPU by the time it fell asleep.
    delay_ns: u64,
}

/// Entries to poll for one target, and for all.
const OF_ONE: usize = 5;
const OF_ALL: usize = 4;

impl Wait {
    /// Makes the wait for a target that has just been started, watched through a pidfd if wanted and available.
    #[must_use]
    pub fn new(started: Started, timeout_ns: Option<u64>, captures: Captures, pidfd: bool) -> Self {
        let time = timeout_ns.map(|timeout| started.start_ns.saturating_add(timeout));
        Self {
            pid: started.pid,
            pidfd: pidfd.then(|| sys::pidfd_open(started.pid).ok()).flatten(),
            executing: None,
            socket: None,
            deadlines: Deadlines {
                time,
                ..Deadlines::default()
            },
            seen: None,
            ended: false,
            is_of_two: false,
            captures,
            outcome: Outcome::default(),
        }
    }

    /// Makes it the wait for one of two: a child that may yet fail to execute its target, with its end of the socket
    /// to its partner.
    #[must_use]
    pub fn of_two(mut self, executing: Executing, socket: Option<UnixStream>) -> Self {
        self.executing = Some(executing);
        self.socket = socket;
        self.is_of_two = true;
        self
    }

    /// Sets when the target's end was seen, if it has been already.
    #[must_use]
    pub fn seen(mut self, seen: Option<Seen>) -> Self {
        self.seen = seen;
        self
    }

    /// Lets the processes that the target left in its group continue, before it is reaped.
    pub fn resume_group(&self) {
        if self.is_of_two {
            sys::signal_group(self.pid, libc::SIGCONT);
        }
    }

    fn hear_whether_executed(&mut self) {
        if let Some(executing) = self.executing.take() {
            self.outcome.not_executed = executing.error();
        }
    }

    /// Kills the target's group, and the target itself in case it has changed its group. As it has not been
    /// reaped, its number cannot belong to another process yet.
    fn kill(&mut self) {
        if self.ended {
            return;
        }
        sys::signal_group(self.pid, libc::SIGKILL);
        match sys::kill(self.pid) {
            Ok(()) if self.deadlines.death.is_none() => {
                self.deadlines.death = Some(sys::now_ns() + LONGEST_DEATH_NS);
            }
            Ok(()) => {}
            // A process that has just ended keeps its credentials until it is reaped.
            Err(_) if matches!(sys::state_of(self.pid), Ok(State::Ended)) => {}
            Err(error) => self.outcome.survived = Some(error),
        }
    }

    /// What the target is doing, given whether its end or a signal about a child woke us.
    fn state(&self, end: bool, child: bool) -> io::Result<State> {
        if end {
            return sys::exit_is_pending(self.pid, true).map(|_| State::Ended);
        }
        if child {
            return sys::state_of(self.pid);
        }
        Ok(State::Going)
    }

    /// Looks what has become of the target, if anything may have happened.
    fn look(&mut self, end: bool, child: bool, woken: Woken, means: &Means) -> io::Result<()> {
        if self.ended || !(end || child) {
            return Ok(());
        }
        self.deadlines.stopped = match (self.state(end, child)?, self.deadlines.stopped) {
            (State::Ended, _) => {
                // If something else woke us, its end may have come since then.
                let end_ns = if end { woken.now_ns } else { sys::now_ns() };
                self.hear_whether_executed();
                if let Some(socket) = self.socket.take() {
                    let _ = socket.shutdown(Shutdown::Both);
                }
                let late_ns = means.gauges.own_delay_ns().saturating_sub(woken.delay_ns);
                let seen = self.seen.unwrap_or(Seen { end_ns, late_ns });
                (self.outcome.end_ns, self.outcome.late_ns) = (seen.end_ns, seen.late_ns);
                if self.is_of_two {
                    // It is a zombie now, so its group still has its number. What is left of it may have to clean up,
                    // and is stopped until the partner has ended, too.
                    sys::signal_group(self.pid, libc::SIGSTOP);
                }
                self.outcome.after = means.gauges.read();
                self.outcome.schedule = Schedule::of(self.pid);
                self.deadlines = Deadlines::default();
                self.ended = true;
                None
            }
            (State::Stopped(signal), None) => Some((woken.now_ns + LONGEST_STOP_NS, signal)),
            (State::Stopped(_), known) => known,
            (State::Going, _) => None,
        };
        Ok(())
    }

    /// Acts on the deadlines that have passed.
    fn meet_deadlines(&mut self, now_ns: u64) {
        if self.deadlines.time.is_some_and(|due| now_ns >= due) {
            self.deadlines.time = None;
            self.outcome.timed_out = true;
            self.kill();
        }
        if let Some((_, signal)) = self.deadlines.stopped.filter(|&(due, _)| now_ns >= due) {
            self.deadlines.stopped = None;
            // A target that is already being killed may look stopped for a moment.
            if self.deadlines.death.is_none() {
                self.outcome.stopped = Some(signal);
                self.kill();
            }
        }
        if self.deadlines.death.is_some_and(|due| now_ns >= due) {
            self.outcome.survived = Some(io::ErrorKind::TimedOut.into());
        }
    }

    fn entries(&self) -> [libc::pollfd; OF_ONE] {
        let captures = &self.captures;
        let pidfd = self.pidfd.as_ref().filter(|_| !self.ended);
        [
            sys::poll_entry(pidfd.map(AsFd::as_fd)),
            sys::poll_entry(captures.out.as_ref().and_then(Capture::as_fd)),
            sys::poll_entry(captures.err.as_ref().and_then(Capture::as_fd)),
            sys::poll_entry(captures.results.as_ref().and_then(Capture::as_fd)),
            sys::poll_entry(self.executing.as_ref().map(Executing::as_fd)),
        ]
    }

    fn receive(&mut self, out: bool, err: bool, results: bool) {
        receive(out, &mut self.captures.out);
        receive(err, &mut self.captures.err);
        receive(results, &mut self.captures.results);
    }
}

/// Waits until all of the targets have ended, or one of them does not die. They are not reaped. Without a capture, a
/// timeout or `turns` this sleeps all the time, unless a target is stopped: a server that wakes up is noise on the
/// machine that it measures.
///
/// # Errors
/// If the system refuses to wait; the targets have then been killed.
///
/// `delay_ns` is how long the server had waited for a CPU when they were started: they may have ended before it
/// came here.
pub fn for_ends(
    waits: &mut [Wait],
    mut turns: Option<Turns>,
    channel: &mut Channel,
    means: &Means,
    delay_ns: u64,
) -> io::Result<()> {
    let mut at_start = Some(delay_ns);
    loop {
        // Also before the first sleep: a cancel may have come together with its request.
        if channel.take_cancel() {
            for wait in waits.iter_mut().filter(|wait| !wait.ended) {
                wait.outcome.cancelled = true;
                wait.kill();
            }
        }
        if waits.iter().any(|wait| wait.outcome.survived.is_some()) {
            kill_all(waits);
            return Ok(());
        }
        if waits.iter().any(|wait| wait.outcome.not_executed.is_some()) {
            kill_all(waits);
        }
        if waits.iter().all(|wait| wait.ended) {
            return Ok(());
        }
        // The last target has turns to its end, though it is alone then: all of its time should have as many switches.
        let turn_ns = turns.as_mut().map(Turns::left_ns);
        let stop = match next_event(waits, channel, means, turn_ns, at_start.take()) {
            Ok(stop) => stop,
            Err(error) => {
                kill_all(waits);
                return Err(error);
            }
        };
        if stop.is_some() {
            for wait in waits.iter_mut() {
                wait.outcome.stop = stop;
            }
            kill_all(waits);
        }
    }
}

/// Sleeps until something happens or a turn is over, or only looks if `at_start`, and handles it; returns why the
/// server is to end, if it is.
fn next_event(
    waits: &mut [Wait],
    channel: &mut Channel,
    means: &Means,
    turn_ns: Option<u64>,
    at_start: Option<u64>,
) -> io::Result<Option<Stop>> {
    let listen = waits.iter().all(|wait| wait.outcome.stop.is_none());
    let mut entries = vec![
        sys::poll_entry(Some(means.child_signal.as_fd())),
        sys::poll_entry(listen.then(|| channel.as_fd())),
        sys::poll_entry(listen.then(|| means.signals.as_fd())),
        sys::poll_entry(means.switches.as_ref().map(AsFd::as_fd)),
    ];
    entries.extend(waits.iter().flat_map(Wait::entries));
    let delay_ns = at_start.unwrap_or_else(|| means.gauges.own_delay_ns());
    let due = waits.iter().filter_map(|wait| wait.deadlines.next()).min();
    let left_ns = due.map(|due| due.saturating_sub(sys::now_ns()));
    let left_ns = [left_ns, turn_ns].into_iter().flatten().min();
    sys::poll(&mut entries, at_start.map_or(left_ns, |_| Some(0)))?;
    let now_ns = sys::now_ns();
    let woken = Woken { now_ns, delay_ns };
    let ready = |place: usize| entries[place].revents != 0;
    let (child, socket, signal) = (ready(0), ready(1), ready(2));
    if child {
        while means.child_signal.take().is_some() {}
    }
    for (number, wait) in waits.iter_mut().enumerate() {
        let first = OF_ALL + number * OF_ONE;
        if ready(first + 4) {
            wait.hear_whether_executed();
        }
        wait.look(ready(first), child, woken, means)?;
        wait.meet_deadlines(now_ns);
        wait.receive(ready(first + 1), ready(first + 2), ready(first + 3));
    }
    if let (true, Some(switches)) = (ready(3), &means.switches) {
        switches.drain();
    }
    if socket {
        channel.receive();
    }
    if listen && !channel.is_open() {
        return Ok(Some(Stop::Driver));
    }
    Ok(signal
        .then(|| means.signals.take())
        .flatten()
        .map(Stop::Signal))
}

fn kill_all(waits: &mut [Wait]) {
    for wait in waits {
        wait.kill();
    }
}

fn receive(ready: bool, capture: &mut Option<Capture>) {
    if let (true, Some(capture)) = (ready, capture) {
        capture.receive();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covariates::Gauges;
    use crate::sys::{Changed, SignalFd};
    use std::process::{Child, Command};

    fn means() -> Means {
        let nothing = || SignalFd::new(&[]).expect("a descriptor");
        Means {
            gauges: Gauges::open(),
            signals: nothing(),
            child_signal: nothing(),
            switches: None,
            pidfd: true,
            changed: Changed {
                signals: Vec::new(),
                files: None,
            },
        }
    }

    /// A wait for a child that has ended, the child, and a time by which it had ended.
    fn wait_for_the_dead() -> (Wait, Child, u64) {
        let child = Command::new("true").spawn().expect("a child");
        let started = Started {
            pid: i32::try_from(child.id()).expect("a number"),
            start_ns: 0,
            spawn_ns: 0,
        };
        let captures = Captures {
            out: None,
            err: None,
            results: None,
        };
        while !matches!(sys::state_of(started.pid), Ok(State::Ended)) {}
        let wait = Wait::new(started, None, captures, true);
        (wait, child, sys::now_ns())
    }

    const EARLIER: Woken = Woken {
        now_ns: 1,
        delay_ns: 0,
    };

    #[test]
    fn one_that_ends_while_another_is_looked_at_has_not_ended_before_it_did() {
        let (mut wait, mut child, ended_ns) = wait_for_the_dead();
        wait.look(false, true, EARLIER, &means()).expect("known");
        child.wait().expect("its end");
        assert!(wait.outcome.end_ns >= ended_ns);
        let is_told = Schedule::of(sys::own_pid()).is_some();
        assert_eq!(wait.outcome.schedule.is_some(), is_told);
    }

    #[test]
    fn what_the_server_waited_before_it_slept_does_not_make_it_late() {
        let (mut wait, mut child, _) = wait_for_the_dead();
        let woken = Woken {
            now_ns: 9,
            delay_ns: u64::MAX,
        };
        wait.look(true, false, woken, &means()).expect("known");
        child.wait().expect("its end");
        assert_eq!((wait.outcome.end_ns, wait.outcome.late_ns), (9, 0));
    }

    #[test]
    fn one_that_goes_on_after_a_stop_may_stop_for_as_long_again() {
        let mut child = Command::new("sleep").arg("1000").spawn().expect("a child");
        let (mut wait, mut dead, _) = wait_for_the_dead();
        dead.wait().expect("its end");
        wait.pid = i32::try_from(child.id()).expect("a number");
        wait.deadlines.stopped = Some((EARLIER.now_ns, libc::SIGSTOP));
        wait.look(false, true, EARLIER, &means()).expect("known");
        child.kill().expect("our child");
        child.wait().expect("its end");
        assert!(wait.deadlines.stopped.is_none());
    }

    #[test]
    fn one_that_was_seen_to_have_ended_took_no_longer_than_until_then() {
        let (wait, mut child, _) = wait_for_the_dead();
        let (end_ns, late_ns) = (5, 7);
        let mut wait = wait.seen(Some(Seen { end_ns, late_ns }));
        wait.look(false, true, EARLIER, &means()).expect("known");
        child.wait().expect("its end");
        assert_eq!((wait.outcome.end_ns, wait.outcome.late_ns), (5, 7));
    }
}
