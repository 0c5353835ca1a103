//! A launch from request to report.

use crate::channel::Channel;
use crate::counters::Counters;
use crate::covariates::{Already, Reading, Schedule};
use crate::failure::{Failure, Stage};
use crate::leftovers::{Leftovers, GRACE};
use crate::means::Means;
use crate::outcome::Stop;
use crate::protocol::{latin1_encode, Report, Request};
use crate::spawn::{self, Started};
use crate::switches::Switches;
use crate::sys::{self, Ended};
use crate::tail::Capture;
use crate::turns::Turns;
use crate::wait::{self, Wait};
use std::time::Duration;

/// How launches came out.
pub enum Launched {
    /// They ended: the replies, and the machine's counters at the last end.
    Reports(Vec<Report>, Reading),
    /// They were killed because the server is to end; nobody waits for a reply.
    Stopped(Stop),
}

/// Runs the target, and cleans up after it. `before` are the machine's counters, if they have just
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
    let (streams, captures) = spawn::open_streams(request)?;
    let before = before.unwrap_or_else(|| means.gauges.read());
    // The signal of the launch before would wake us for nothing.
    let _ = means.child_signal.take();
    if let Some(switches) = &means.switches {
        switches.clear();
    }
    let processors = processors_for(request);
    // Opened before the start: the target inherits them, and they count from its first instruction on.
    let counters = Counters::open(&request.counters, None)?;
    let delay_ns = means.gauges.own_delay_ns();
    let started = spawn::start(request, streams, &means.changed)?;
    if let Some(switches) = &means.switches {
        switches.begin(started.start_ns, processors);
    }
    let wait = Wait::new(started, request.timeout_ns, captures, means.pidfd);
    let running = Running {
        request,
        started,
        already: Already::nothing(),
        counters,
        wait,
    };
    to_the_end(
        vec![running],
        None,
        (before, delay_ns),
        means,
        channel,
        leftovers,
    )
}

/// On how many processors a target may run.
fn processors_for(request: &Request) -> u64 {
    if let Some(cpus) = &request.cpus {
        return cpus.len() as u64;
    }
    let allowed = sys::own_affinity().unwrap_or_default();
    let counts = allowed.iter().map(|word| u64::from(word.count_ones()));
    counts.sum()
}

/// What each target lost until its end, where the scheduler's records are available.
fn lost_by_each(waits: &[Wait], means: &Means) -> Vec<Option<u64>> {
    let end_ns = waits.iter().map(|wait| wait.outcome.end_ns).max();
    let followed = |switches: &Switches| switches.trees(end_ns.unwrap_or(0));
    let trees = means.switches.as_ref().and_then(followed);
    match trees.as_deref() {
        // This tree includes the server.
        Some([tree]) => vec![tree.lost_ns()],
        trees => {
            let seen = waits.iter().map(|wait| &wait.outcome);
            let of_each = trees.unwrap_or_default().iter().zip(seen);
            of_each
                .map(|(tree, seen)| tree.lost_until(seen.end_ns, seen.late_ns))
                .collect()
        }
    }
}

/// A target that is executing.
pub struct Running<'a> {
    /// The request that it comes from.
    pub request: &'a Request,
    /// When it was started.
    pub started: Started,
    /// What the kernel had counted of the process by then.
    pub already: Already,
    /// The events that are counted for it.
    pub counters: Counters,
    /// The wait for its end.
    pub wait: Wait,
}

/// Waits for the ends of all running targets, which may take `turns`, and cleans up after them. `before` are the
/// machine's counters before their start, `delay_ns` how long the server had waited for a CPU by then.
///
/// # Errors
/// Why one of them cannot be reported, or could not be killed.
pub fn to_the_end(
    running: Vec<Running<'_>>,
    turns: Option<Turns>,
    (before, delay_ns): (Reading, u64),
    means: &Means,
    channel: &mut Channel,
    leftovers: &mut Leftovers,
) -> Result<Launched, Failure> {
    let (of_each, mut waits): (Vec<_>, Vec<_>) = running
        .into_iter()
        .map(|one| {
            (
                (one.request, one.started, one.already, one.counters),
                one.wait,
            )
        })
        .unzip();
    let waited = wait::for_ends(&mut waits, turns, channel, means, delay_ns);
    let stop = waits.iter().find_map(|wait| wait.outcome.stop);
    let failed = |failure| stop.map_or(Err(failure), |stop| Ok(Launched::Stopped(stop)));
    for (wait, (_, started, ..)) in waits.iter().zip(&of_each) {
        if let Some(error) = &wait.outcome.survived {
            leftovers.clear(Duration::ZERO);
            return failed(not_killed(started.pid, error));
        }
    }
    let mut lost_ns = lost_by_each(&waits, means).into_iter();
    waits.iter().for_each(Wait::resume_group);
    let ended: Vec<_> = of_each
        .iter()
        .map(|(_, started, ..)| sys::reap(started.pid))
        .collect();
    let cleared = if of_each.iter().any(|(request, ..)| request.leaves_running) {
        leftovers.going_on()
    } else {
        leftovers.clear(grace_of(&waits))
    };
    waited.map_err(|error| not_waited(&error))?;
    for (wait, (request, ..)) in waits.iter().zip(&of_each) {
        if let Some(error) = &wait.outcome.not_executed {
            return failed(spawn::not_spawned(request, error));
        }
    }
    let after = waits.last().map_or(before, |wait| wait.outcome.after);
    let mut reports = Vec::new();
    for ((wait, (_, started, already, counters)), ended) in
        waits.into_iter().zip(of_each).zip(ended)
    {
        let ended = ended.map_err(|error| not_waited(&error))?;
        let mut report = report(started, wait, already, before, &ended);
        report.counters = counters.read();
        let lost_ns = lost_ns.next().flatten();
        report.lost_ns = lost_ns.map(|lost_ns| lost_ns.min(report.wall_ns));
        reports.push(report);
    }
    if let Some(first) = reports.first_mut() {
        // Nobody can tell any more which target left them; they are reported once.
        (first.left_behind, first.not_killed) = (cleared.killed, cleared.surviving);
    }
    Ok(stop.map_or(Launched::Reports(reports, after), Launched::Stopped))
}

/// How long processes that outlive their targets have to end.
fn grace_of(waits: &[Wait]) -> Duration {
    if waits.iter().all(|wait| wait.outcome.ended_by_itself()) {
        GRACE
    } else {
        Duration::ZERO
    }
}

/// Makes the report; the kernel's counts of the process include what was `already` there at the start.
fn report(
    started: Started,
    wait: Wait,
    already: Already,
    before: Reading,
    ended: &Ended,
) -> Report {
    let (outcome, usage) = (wait.outcome, &ended.usage);
    let growth = outcome.after.since(before);
    let (stdout, stdout_bytes) = captured(wait.captures.out);
    let (stderr, stderr_bytes) = captured(wait.captures.err);
    let (results, results_bytes) = captured(wait.captures.results);
    let (user_ns, sys_ns) = (nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime));
    let whole = outcome.schedule;
    let both = whole.zip(already.schedule);
    let own = both.map(|(whole, already)| whole.since(already));
    let others = |whole: Schedule| (user_ns + sys_ns).saturating_sub(whole.cpu_ns);
    let since = |number, already| count(number).saturating_sub(already);
    let wall_ns = outcome.end_ns.saturating_sub(started.start_ns);
    let (own_user_ns, own_sys_ns) =
        without(already.schedule.unwrap_or_default().cpu_ns, user_ns, sys_ns);
    Report {
        start_ns: started.start_ns,
        wall_ns,
        spawn_ns: started.spawn_ns,
        cpu_ns: own.map(|own| own.cpu_ns),
        delay_ns: own.map(|own| waited_ns(own, wall_ns, outcome.late_ns)),
        timeslices: own.map(|own| own.timeslices),
        user_ns: own_user_ns,
        sys_ns: own_sys_ns,
        max_rss_bytes: count(usage.ru_maxrss) * 1024,
        minor_faults: since(usage.ru_minflt, already.minor_faults),
        major_faults: count(usage.ru_majflt),
        voluntary_switches: since(usage.ru_nvcsw, already.voluntary_switches),
        involuntary_switches: since(usage.ru_nivcsw, already.involuntary_switches),
        others_ns: whole.map(others),
        pressure_ns: growth.pressure_ns,
        steal_ns: growth.steal_ns,
        lost_ns: None,
        written_blocks: Some(count(usage.ru_oublock)),
        exit_code: ended.exit_code,
        signal: ended.signal,
        timed_out: outcome.timed_out,
        stopped: outcome.stopped,
        cancelled: outcome.cancelled,
        stdout,
        stderr,
        results,
        stdout_bytes,
        stderr_bytes,
        results_bytes,
        counters: Vec::new(),
        left_behind: Vec::new(),
        not_killed: Vec::new(),
    }
}

/// User and system time without the time before the start. Until then a process makes only system calls, but the
/// kernel may have attributed them to user time: it tells the two apart by what it finds at its ticks.
fn without(already_ns: u64, user_ns: u64, sys_ns: u64) -> (u64, u64) {
    let of_sys_ns = sys_ns.min(already_ns);
    let of_user_ns = user_ns.min(already_ns - of_sys_ns);
    (user_ns - of_user_ns, sys_ns - of_sys_ns)
}

/// How long the target waited for a CPU, and after its end the server, which made the end be seen late.
/// The target's run time cannot be part of that, as the server may have waited before the end as well.
fn waited_ns(own: Schedule, wall_ns: u64, late_ns: u64) -> u64 {
    let rest_ns = wall_ns.saturating_sub(own.cpu_ns + own.delay_ns);
    own.delay_ns + late_ns.min(rest_ns)
}

fn not_waited(error: &std::io::Error) -> Failure {
    Failure::system(Stage::Spawn, "cannot wait for the target", error)
}

fn not_killed(pid: i32, error: &std::io::Error) -> Failure {
    let doing = format!("cannot kill process {pid}");
    Failure::system(Stage::Kill, &doing, error)
}

/// What was kept of a stream, and how much there was. Only read once the leftovers are dead, as they
/// could go on writing.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spawn::Captures;
    use std::process::Command;

    #[test]
    fn what_was_before_the_start_is_in_neither_of_two_times() {
        assert_eq!(without(0, 7, 8), (7, 8));
        assert_eq!(without(5, 7, 8), (7, 3));
        assert_eq!(without(5, 7, 0), (2, 0));
        assert_eq!(without(5, 7, 2), (4, 0));
        assert_eq!(without(5, 1, 2), (0, 0));
    }

    /// The end of a target that used 0.9 ms of CPU time in 2 ms, some in other threads, and the kernel's account of it.
    fn ended() -> (Wait, Ended) {
        let mut child = Command::new("true").spawn().expect("a child");
        let pid = i32::try_from(child.id()).expect("a number");
        let mut ended = sys::reap(pid).expect("its end");
        let _ = child.wait(); // it has been reaped
        ended.usage.ru_utime = libc::timeval {
            tv_sec: 0,
            tv_usec: 600,
        };
        ended.usage.ru_stime = libc::timeval {
            tv_sec: 0,
            tv_usec: 300,
        };
        (ended.usage.ru_minflt, ended.usage.ru_majflt) = (40, 5);
        (ended.usage.ru_nvcsw, ended.usage.ru_nivcsw) = (60, 70);
        (ended.usage.ru_inblock, ended.usage.ru_oublock) = (8, 9);
        ended.usage.ru_maxrss = 10;
        let captures = Captures {
            out: None,
            err: None,
            results: None,
        };
        let mut wait = Wait::new(STARTED, None, captures, false);
        wait.outcome.end_ns = STARTED.start_ns + 2_000_000;
        wait.outcome.after = reading(500, 50);
        wait.outcome.schedule = Some(Schedule {
            cpu_ns: 700_000,
            delay_ns: 90_000,
            timeslices: 12,
        });
        (wait, ended)
    }

    const STARTED: Started = Started {
        pid: 0,
        start_ns: 1000,
        spawn_ns: 11,
    };

    fn reading(pressure_ns: u64, steal_ns: u64) -> Reading {
        Reading {
            pressure_ns: Some(pressure_ns),
            steal_ns: Some(steal_ns),
        }
    }

    #[test]
    fn what_is_told_of_a_launch_has_grown_since_its_start_and_is_called_what_it_is() {
        let already = Already {
            schedule: Some(Schedule {
                cpu_ns: 100_000,
                delay_ns: 30_000,
                timeslices: 2,
            }),
            minor_faults: 1,
            voluntary_switches: 2,
            involuntary_switches: 3,
        };
        let (wait, ended) = ended();
        let told = report(STARTED, wait, already, reading(200, 30), &ended);
        assert_eq!(
            (told.start_ns, told.wall_ns, told.spawn_ns),
            (1000, 2_000_000, 11)
        );
        assert_eq!((told.cpu_ns, told.delay_ns), (Some(600_000), Some(60_000)));
        assert_eq!(told.timeslices, Some(10));
        assert_eq!((told.user_ns, told.sys_ns), (600_000, 200_000));
        assert_eq!(told.others_ns, Some(200_000));
        assert_eq!((told.minor_faults, told.major_faults), (39, 5));
        assert_eq!(
            (told.voluntary_switches, told.involuntary_switches),
            (58, 67)
        );
        assert_eq!((told.pressure_ns, told.steal_ns), (Some(300), Some(20)));
        assert_eq!(
            (told.max_rss_bytes, told.written_blocks),
            (10 << 10, Some(9))
        );
    }

    #[test]
    fn the_wait_of_the_server_is_no_time_that_the_target_ran() {
        let own = Schedule {
            cpu_ns: 60,
            delay_ns: 10,
            timeslices: 2,
        };
        assert_eq!(waited_ns(own, 100, 0), 10);
        assert_eq!(waited_ns(own, 100, 25), 35);
        assert_eq!(waited_ns(own, 100, 500), 40);
        assert_eq!(waited_ns(own, 65, 500), 10);
    }
}
