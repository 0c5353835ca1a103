//! One launch from request to report.

use crate::channel::Channel;
use crate::covariates::{Gauges, Reading, Schedule};
use crate::leftovers::{Cleared, Leftovers};
use crate::protocol::{latin1_encode, Failure, Report, Request, Stage};
use crate::spawn::{self, Started};
use crate::sys::{self, Ended, SignalFd};
use crate::tail::Capture;
use crate::wait::{self, EndWatch, Outcome, Stop};

/// What the server lends to every launch.
pub struct Means {
    /// The machine's counters.
    pub gauges: Gauges,
    /// The signals that end the server.
    pub signals: SignalFd,
    /// SIGCHLD.
    pub child_signal: SignalFd,
    /// Whether to watch through pidfds.
    pub pidfd: bool,
    /// The signals that a target is not to find as they are here.
    pub changed_signals: Vec<i32>,
}

/// How a launch came out.
pub enum Launched {
    /// It ended: the reply, and the machine's counters then.
    Report(Box<Report>, Reading),
    /// It was killed because the server is to end; nobody waits for a reply.
    Stopped(Stop),
}

/// Runs the target, and cleans up behind it. `before` are the machine's counters if they have just
/// been read.
///
/// # Errors
/// Why it could not be run.
pub fn run(
    request: &Request,
    means: &Means,
    channel: &mut Channel,
    leftovers: &mut Leftovers,
    before: Option<Reading>,
) -> Result<Launched, Failure> {
    let (streams, mut captures) = spawn::open_streams(request)?;
    let before = before.unwrap_or_else(|| means.gauges.read());
    // That of the launch before: it would wake us for nothing.
    let _ = means.child_signal.take();
    let started = spawn::start(request, streams, &means.changed_signals)?;
    let watch = EndWatch::new(started.pid, means.pidfd, &means.child_signal);
    let waited = wait::for_end(
        started,
        request.timeout_ns,
        &watch,
        &mut captures,
        channel,
        &means.signals,
    );
    if let Ok(Outcome {
        survived: Some(error),
        stop,
        ..
    }) = &waited
    {
        leftovers.clear();
        return stop.map_or_else(
            || Err(not_killed(started.pid, error)),
            |stop| Ok(Launched::Stopped(stop)),
        );
    }
    // The target is a zombie now, so its numbers can still be read and its group be killed.
    sys::kill_group(started.pid);
    let schedule = Schedule::of(&started.pid.to_string());
    let after = means.gauges.read();
    let ended = sys::reap(started.pid);
    let cleared = leftovers.clear();
    let failed = |error| Failure::system(Stage::Spawn, "cannot wait for the target", &error);
    let outcome = waited.map_err(failed)?;
    let ended = ended.map_err(failed)?;
    if let Some(stop) = outcome.stop {
        return Ok(Launched::Stopped(stop));
    }
    let mut report = report(started, &outcome, schedule, after.since(before), &ended);
    Cleared {
        killed: report.left_behind,
        surviving: report.not_killed,
    } = cleared;
    (report.stdout, report.stdout_bytes) = captured(captures.out);
    (report.stderr, report.stderr_bytes) = captured(captures.err);
    (report.results, report.results_bytes) = captured(captures.results);
    Ok(Launched::Report(Box::new(report), after))
}

fn report(
    started: Started,
    outcome: &Outcome,
    schedule: Option<Schedule>,
    growth: Reading,
    ended: &Ended,
) -> Report {
    let usage = &ended.usage;
    let user_ns = nanoseconds(usage.ru_utime);
    let sys_ns = nanoseconds(usage.ru_stime);
    Report {
        start_ns: started.start_ns,
        wall_ns: outcome.end_ns.saturating_sub(started.start_ns),
        spawn_ns: started.spawn_ns,
        cpu_ns: schedule.map(|schedule| schedule.cpu_ns),
        delay_ns: schedule.map(|schedule| schedule.delay_ns),
        timeslices: schedule.map(|schedule| schedule.timeslices),
        user_ns,
        sys_ns,
        max_rss_bytes: count(usage.ru_maxrss) * 1024,
        minor_faults: count(usage.ru_minflt),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: count(usage.ru_nvcsw),
        involuntary_switches: count(usage.ru_nivcsw),
        others_ns: schedule.map(|schedule| (user_ns + sys_ns).saturating_sub(schedule.cpu_ns)),
        pressure_ns: growth.pressure_ns,
        steal_ns: growth.steal_ns,
        exit_code: ended.exit_code,
        signal: ended.signal,
        timed_out: outcome.timed_out,
        stopped: outcome.stopped,
        cancelled: outcome.cancelled,
        stdout: None,
        stderr: None,
        results: None,
        stdout_bytes: None,
        stderr_bytes: None,
        results_bytes: None,
        left_behind: Vec::new(),
        not_killed: Vec::new(),
    }
}

fn not_killed(pid: i32, error: &std::io::Error) -> Failure {
    let doing = format!("cannot kill process {pid}");
    Failure::system(Stage::Kill, &doing, error)
}

/// What was kept of a stream, and how much there was. Read only when the leftovers are dead, as
/// they could go on writing.
fn captured(capture: Option<Capture>) -> (Option<String>, Option<u64>) {
    capture.map_or((None, None), |capture| {
        let tail = capture.finish();
        let total = tail.total();
        (Some(latin1_encode(&tail.into_bytes())), Some(total))
    })
}

fn nanoseconds(time: libc::timeval) -> u64 {
    count(time.tv_sec) * 1_000_000_000 + count(time.tv_usec) * 1000
}

/// A count that C declares signed.
fn count(number: libc::c_long) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
