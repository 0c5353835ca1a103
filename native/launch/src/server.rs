//! The server: set up once, then one launch after the other.

use crate::channel::{Channel, Line, LINE_LIMIT};
use crate::covariates::{Gauges, Schedule};
use crate::guard::ENDING;
use crate::launch::{self, Launched, Means};
use crate::protocol::{is_cancel, Failure, Hello, Refusal, Request};
use crate::sys::{self, SignalFd};
use crate::wait::Stop;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

/// Set to 1, makes the server do without pidfds, as on an old kernel or under a strict filter.
const NO_PIDFD: &str = "STEELYARD_LAUNCH_NO_PIDFD";

/// A request of more than this leaves a mark on the server's peak memory.
const LARGE: usize = 256 << 10;

/// The server with its driver on the line.
pub struct Server {
    channel: Channel,
    means: Means,
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
        sys::subreaper()?;
        sys::randomize_addresses();
        sys::reset_child_signal();
        sys::block_signals(&ENDING)?;
        sys::block_signals(&[libc::SIGCHLD])?;
        let means = Means {
            gauges: Gauges::open(),
            signals: SignalFd::new(&ENDING)?,
            child_signal: SignalFd::new(&[libc::SIGCHLD])?,
            pidfd: std::env::var_os(NO_PIDFD).map_or(true, |value| value != "1")
                && sys::pidfd_open(sys::own_pid()).is_ok(),
        };
        let mut channel = Channel::new(socket);
        channel.send(&hello(&means));
        Ok(Self { channel, means })
    }

    /// Serves until the driver is gone or a signal says to end; the exit code.
    pub fn serve(&mut self) -> u8 {
        while self.channel.is_open() {
            if let Some(line) = self.channel.next_line() {
                if let Some(stop) = self.answer(line) {
                    return exit_code(stop);
                }
                continue;
            }
            let sources = [
                sys::poll_entry(Some(self.channel.as_fd())),
                sys::poll_entry(Some(self.means.signals.as_fd())),
            ];
            match sys::poll(sources, None) {
                Ok([_, true]) => {
                    if let Some(signal) = self.means.signals.take() {
                        return exit_code(Stop::Signal(signal));
                    }
                }
                Ok([true, false]) => self.channel.receive(),
                Ok([false, false]) => {}
                Err(_) => return 1,
            }
        }
        exit_code(Stop::Driver)
    }

    fn answer(&mut self, line: Line) -> Option<Stop> {
        let size = match &line {
            Line::Text(text) => text.len(),
            Line::TooLong => LINE_LIMIT,
        };
        let launched = match line {
            // It came too late for its launch.
            Line::Text(text) if is_cancel(&text) => return None,
            Line::Text(text) => self.launch(text),
            Line::TooLong => Err(Failure::request(format!(
                "a line of more than {LINE_LIMIT} bytes"
            ))),
        };
        if size > LARGE {
            forget_peak_memory();
        }
        match launched {
            Ok(Launched::Report(report)) => self.channel.send(&report),
            Ok(Launched::Stopped(stop)) => return Some(stop),
            Err(error) => self.channel.send(&Refusal { error }),
        }
        None
    }

    fn launch(&mut self, text: Vec<u8>) -> Result<Launched, Failure> {
        let request = Request::parse(&text)?;
        // Not to be counted into the target's memory.
        drop(text);
        launch::run(&request, &self.means, &mut self.channel)
    }
}

fn hello(means: &Means) -> Hello {
    let reading = means.gauges.read();
    Hello {
        hello: env!("CARGO_PKG_NAME"),
        version: env!("CARGO_PKG_VERSION"),
        pidfd: means.pidfd,
        schedstat: Schedule::of("self").is_some(),
        pressure: reading.pressure_ns.is_some(),
        steal: reading.steal_ns.is_some(),
    }
}

/// Resets the server's peak memory to what it uses now: targets start on the server's memory,
/// so its peak is the least that any of them is reported to have used.
fn forget_peak_memory() {
    // Without /proc the peak stays, and with it a floor of a few MB.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Zero for a driver that hung up, else as shells report a signal.
fn exit_code(stop: Stop) -> u8 {
    match stop {
        Stop::Driver => 0,
        Stop::Signal(signal) => u8::try_from(128 + signal).unwrap_or(1),
    }
}
