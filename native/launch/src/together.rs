//! Two launches at the same time on one processor, so that whatever slows it down hits both alike.
//!
//! The scheduler alternates them: each waits while the other runs, which its `delay` shows. Both stand ready before
//! either is let go; otherwise chance would decide how long the first one runs alone.

use crate::asked::Pair;
use crate::channel::Channel;
use crate::counters::Counters;
use crate::covariates::Already;
use crate::failure::{Failure, Stage};
use crate::launch::{self, Launched, Running};
use crate::leftovers::Leftovers;
use crate::means::Means;
use crate::outcome::Seen;
use crate::protocol::Request;
use crate::spawn::{self, Captures, Pinned, Started};
use crate::sys::{self, Gated, State};
use crate::turns::Turns;
use crate::wait::Wait;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// A target before its start.
struct Ready<'a> {
    request: &'a Request,
    captures: Captures,
    gated: Gated,
    /// The events counted for it and for all that it starts.
    counters: Counters,
    /// Its end of the socket by which the two keep in step.
    socket: Option<UnixStream>,
    /// How long it took to bring it here.
    spawn_ns: u64,
}

/// Runs both targets, and cleans up after them. The reports are in the order of the requests.
///
/// # Errors
/// Why they could not be run; nothing is left of them then.
pub fn run(
    pair: &Pair,
    means: &Means,
    channel: &mut Channel,
    leftovers: &mut Leftovers,
) -> Result<Launched, Failure> {
    let cpus = match &pair.first.cpus {
        Some(cpus) => cpus.clone(),
        // The system has woken us on the processor that it found least busy.
        None => vec![sys::own_processor().map_err(|error| {
            Failure::system(Stage::Affinity, "cannot choose a processor", &error)
        })?],
    };
    let (one, other) = sockets(pair)?;
    let pinned = Pinned::to(&cpus)?;
    let first = ready(&pair.first, one, means)?;
    let second = match ready(&pair.second, other, means) {
        Ok(second) => second,
        Err(failure) => {
            first.gated.dismiss();
            return Err(failure);
        }
    };
    pinned.leave(&cpus);
    let before = means.gauges.read();
    // The signal of the launch before would wake us for nothing.
    let _ = means.child_signal.take();
    let (running, delay_ns) = released([first, second], pair, means);
    let turns = pair.turn_ns.and_then(Turns::of);
    if turns.is_some() {
        pinned.join(&cpus);
    }
    let counters = (before, delay_ns);
    launch::to_the_end(running, turns, counters, means, channel, leftovers)
}

/// The two ends of the socket by which the targets keep in step, if they are to.
fn sockets(pair: &Pair) -> Result<(Option<UnixStream>, Option<UnixStream>), Failure> {
    if !pair.lockstep {
        return Ok((None, None));
    }
    let (one, other) = UnixStream::pair()
        .map_err(|error| Failure::system(Stage::Results, "cannot make a socket", &error))?;
    Ok((Some(one), Some(other)))
}

fn ready<'a>(
    request: &'a Request,
    socket: Option<UnixStream>,
    means: &Means,
) -> Result<Ready<'a>, Failure> {
    let (streams, captures) = spawn::open_streams(request)?;
    let begun_ns = sys::now_ns();
    let kept = socket.as_ref().and_then(|socket| socket.try_clone().ok());
    let streams = streams.and(socket.map(OwnedFd::from));
    let gated = spawn::start_gated(request, streams, &means.changed)?;
    // For this process, not for what we start next: the other target would inherit them.
    let counters = match Counters::open(&request.counters, Some(gated.pid)) {
        Ok(counters) => counters,
        Err(failure) => {
            gated.dismiss();
            return Err(failure);
        }
    };
    Ok(Ready {
        request,
        captures,
        gated,
        counters,
        socket: kept,
        spawn_ns: sys::now_ns() - begun_ns,
    })
}

/// What the kernel has counted of a child that stands at its gate; unknown if it gets no CPU to go to sleep there.
fn standing(gated: &Gated) -> Already {
    if gated.settle() {
        Already::of(gated.pid)
    } else {
        Already::default()
    }
}

/// Lets both go, without waiting until they execute their targets: one may have ended before the other does. Also
/// returns how long the server had waited for a CPU by then.
fn released<'a>(mut both: [Ready<'a>; 2], pair: &Pair, means: &Means) -> (Vec<Running<'a>>, u64) {
    let already: Vec<_> = both.iter().map(|one| standing(&one.gated)).collect();
    if let Some(switches) = &means.switches {
        switches.clear();
    }
    let delay_ns = means.gauges.own_delay_ns();
    let (leader, follower) = if pair.second_begins { (1, 0) } else { (0, 1) };
    let (mut starts_ns, mut seen) = ([sys::now_ns(); 2], [None; 2]);
    // If it is gone already, the wait for its end reports that.
    let _ = both[leader].gated.open();
    if pair.lead_ns > 0 {
        // The wait for both reports its end, but begins only when the other one has been let go.
        let mut its_end = [sys::poll_entry(Some(means.child_signal.as_fd()))];
        let _ = sys::poll(&mut its_end, Some(pair.lead_ns));
        let state = sys::state_of(both[leader].gated.pid);
        let end_ns = sys::now_ns(); // read after the state, so that it had certainly ended by then
        starts_ns[follower] = end_ns;
        if matches!(state, Ok(State::Ended)) {
            let late_ns = means.gauges.own_delay_ns().saturating_sub(delay_ns);
            seen[leader] = Some(Seen { end_ns, late_ns });
        }
    }
    let _ = both[follower].gated.open();
    let started = [0, 1].map(|place: usize| Started {
        pid: both[place].gated.pid,
        start_ns: starts_ns[place],
        spawn_ns: both[place].spawn_ns,
    });
    if let (true, Some(switches)) = (pair.followed, &means.switches) {
        switches.begin_with(&started);
    }
    let running = |(((one, already), started), seen): (((Ready<'a>, Already), Started), _)| {
        let wait = Wait::new(started, one.request.timeout_ns, one.captures, means.pidfd);
        Running {
            request: one.request,
            started,
            already,
            counters: one.counters,
            wait: wait.of_two(one.gated.executing(), one.socket).seen(seen),
        }
    };
    let all = both.into_iter().zip(already).zip(started).zip(seen);
    (all.map(running).collect(), delay_ns)
}
