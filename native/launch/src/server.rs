//! The server: set up once, then one launch after another.

use crate::addresses::Addresses;
use crate::asked::{Asked, Pair};
use crate::channel::{Channel, Line, LINE_LIMIT};
use crate::counters;
use crate::covariates::{Gauges, Schedule};
use crate::failure::Failure;
use crate::guard::ENDING;
use crate::launch::{self, Launched};
use crate::leftovers::Leftovers;
use crate::means::Means;
use crate::outcome::Stop;
use crate::protocol::{is_cancel, is_journal, Frame, Hello, Refusal, Reply, Report, Request};
use crate::switches::Switches;
use crate::sys::{self, SignalFd};
use crate::together;
use crate::turns::Turns;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

/// If set to 1, the server does without pidfds, as on an old kernel or under a strict filter.
const NO_PIDFD: &str = "STEELYARD_LAUNCH_NO_PIDFD";

/// If set to 1, the server does without the scheduler's records, as without root's rights.
const NO_SWITCHES: &str = "STEELYARD_LAUNCH_NO_SWITCHES";

/// A larger request, in bytes, raises the server's peak memory.
const LARGE: usize = 256 << 10;

/// The server, connected to its driver.
pub struct Server {
    channel: Channel,
    means: Means,
    leftovers: Leftovers,
}

impl Server {
    /// Takes over the socket on fd 0 and greets the driver.
    ///
    /// # Errors
    /// If the process lacks something that it cannot do without.
    pub fn start() -> io::Result<Self> {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        sys::open_on_stdin(&File::open("/dev/null")?)?;
        sys::close_all_on_exec();
        let leftovers = Leftovers::adopted();
        sys::randomize_addresses();
        sys::reset_child_signal();
        sys::block_signals(&ENDING)?;
        sys::block_signals(&[libc::SIGCHLD])?;
        // Before the records are opened, which alone take three files per processor.
        let files = sys::raise_file_limit();
        let means = Means {
            gauges: Gauges::open(),
            signals: SignalFd::new(&ENDING)?,
            child_signal: SignalFd::new(&[libc::SIGCHLD])?,
            pidfd: is_allowed(NO_PIDFD) && sys::pidfd_open(sys::own_pid()).is_ok(),
            switches: is_allowed(NO_SWITCHES)
                .then(|| Switches::open().ok())
                .flatten(),
            changed: sys::Changed {
                signals: sys::changed_signals(),
                files,
            },
        };
        let mut channel = Channel::new(socket);
        channel.send(&hello(&means, &leftovers));
        Ok(Self {
            channel,
            means,
            leftovers,
        })
    }

    /// Serves until the driver is gone or a signal ends it; returns the exit code.
    pub fn serve(&mut self) -> u8 {
        while self.channel.is_open() {
            if let Some(line) = self.channel.next_line() {
                if let Some(stop) = self.answer(line) {
                    return exit_code(stop);
                }
                continue;
            }
            let mut sources = [
                sys::poll_entry(Some(self.channel.as_fd())),
                sys::poll_entry(Some(self.means.signals.as_fd())),
            ];
            if sys::poll(&mut sources, None).is_err() {
                return 1;
            }
            if sources[1].revents != 0 {
                if let Some(signal) = self.means.signals.take() {
                    return exit_code(Stop::Signal(signal));
                }
            } else if sources[0].revents != 0 {
                self.channel.receive();
            }
        }
        exit_code(Stop::Driver)
    }

    fn answer(&mut self, line: Line) -> Option<Stop> {
        let size = match &line {
            Line::Text(text) => text.len(),
            Line::TooLong => LINE_LIMIT,
        };
        let request = match line {
            // A cancel that is found here came too late for its launch.
            Line::Text(text) if is_cancel(&text) || is_journal(&text) => return None,
            // The text is dropped here, so that it is not counted into the target's memory.
            Line::Text(text) => Asked::parse(&text),
            Line::TooLong => Err(Failure::request(format!(
                "a line of more than {LINE_LIMIT} bytes"
            ))),
        };
        let stop = match request {
            Ok(Asked::One(request)) => self.launch(*request),
            Ok(Asked::Both(pair)) => self.launch_together(&pair),
            Err(error) => {
                self.channel.send(&Refusal { error });
                None
            }
        };
        if size > LARGE {
            forget_peak_memory();
        }
        stop
    }

    /// Runs a request with all that follow it, and replies once: with an array if any was to follow.
    /// All launches before the last are written to the journal, except those of which nothing is kept.
    fn launch(&mut self, mut request: Request) -> Option<Stop> {
        let is_series = request.then.is_some();
        let mut replies = Vec::new();
        let mut before = None;
        loop {
            let launched = launch::run(
                &request,
                &self.means,
                &mut self.channel,
                &mut self.leftovers,
                before,
            );
            let (report, after) = match launched {
                Ok(Launched::Reports(mut reports, after)) => (reports.remove(0), after),
                Ok(Launched::Stopped(stop)) => return Some(stop),
                Err(error) => {
                    replies.push(Reply::Refusal(Refusal { error }));
                    break;
                }
            };
            let is_told = request
                .then
                .as_ref()
                .map_or(true, |next| next.frame.is_some());
            let next = request.then.filter(|next| match &next.frame {
                Some(frame) => self.keep(&report, frame),
                None => report.ended_well(), // else the driver launches the rest singly, and reports a failure there
            });
            if is_told {
                replies.push(Reply::Report(Box::new(report)));
            }
            let Some(next) = next else { break };
            request = next.request;
            before = Some(after);
        }
        if is_series {
            self.channel.send(&replies);
        } else if let Some(reply) = replies.pop() {
            self.channel.send(&reply);
        }
        None
    }

    /// Runs two launches at the same time, and replies once: with an array of both, or with why they could not run.
    fn launch_together(&mut self, pair: &Pair) -> Option<Stop> {
        match together::run(pair, &self.means, &mut self.channel, &mut self.leftovers) {
            Ok(Launched::Reports(reports, _)) => self.channel.send(&reports),
            Ok(Launched::Stopped(stop)) => return Some(stop),
            Err(error) => self.channel.send(&Refusal { error }),
        }
        None
    }

    /// Writes a launch that ended well to the journal; returns whether it is there. If it is not, the driver
    /// has to take care of it before anything else is launched.
    fn keep(&self, report: &Report, frame: &Frame) -> bool {
        let line = format!("{}{}{}\n", frame.before, report.row(), frame.after);
        let journal = self.channel.journal().filter(|_| report.ended_well());
        journal.is_some_and(|journal| append(journal, line.as_bytes()).unwrap_or(false))
    }
}

/// Whether an environment variable does not forbid something.
fn is_allowed(forbidding: &str) -> bool {
    std::env::var_os(forbidding).map_or(true, |value| value != "1")
}

/// Appends a line or nothing, as half a line would spoil those that follow; returns whether it is there.
fn append(mut journal: &File, line: &[u8]) -> io::Result<bool> {
    let written = journal.write(line)?;
    if written < line.len() {
        let end = journal.metadata()?.len();
        journal.set_len(end.saturating_sub(written as u64))?;
    }
    Ok(written == line.len())
}

fn hello(means: &Means, leftovers: &Leftovers) -> Hello {
    let reading = means.gauges.read();
    Hello {
        hello: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        pid: sys::own_pid(),
        pidfd: means.pidfd,
        orphans: leftovers.are_adopted(),
        schedstat: Schedule::of(sys::own_pid()).is_some(),
        pressure: reading.pressure_ns.is_some(),
        steal: reading.steal_ns.is_some(),
        switches: means.switches.is_some(),
        addresses: Addresses::can_be_chosen(),
        short_turns: Turns::can_be_short(),
        several_processors: has_several_processors(),
        kernel_counters: counters::counts_kernel(),
        missing_counters: counters::missing(),
    }
}

/// Whether the server, and with it its targets, may have more than one processor; also where the system does not tell.
fn has_several_processors() -> bool {
    sys::own_affinity().map_or(true, |mask| {
        mask.iter().map(|word| word.count_ones()).sum::<u32>() > 1
    })
}

/// Resets the server's peak memory to what it uses now: targets start on the server's memory,
/// so its peak is the least that any of them is reported to use.
fn forget_peak_memory() {
    // Without /proc the peak stays, and raises that floor to a few MB.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The exit code: 0 if the driver hung up, else that with which shells report a signal.
fn exit_code(stop: Stop) -> u8 {
    match stop {
        Stop::Driver => 0,
        Stop::Signal(signal) => u8::try_from(128 + signal).unwrap_or(1),
    }
}
