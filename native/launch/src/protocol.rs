//! What goes over the socket: one JSON object per line each way.
//!
//! Bytes (paths, arguments, environment, captured output) travel as strings in which each
//! character U+0000..U+00FF stands for one byte, because JSON has no byte strings and none of
//! these need be UTF-8.

use crate::counters;
use crate::failure::Failure;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The largest tail a request may ask for: the server's memory counts into its targets' peak.
pub const TAIL_LIMIT: usize = 16 << 20;

/// A byte string without NUL, as system calls take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text(CString);

impl Text {
    /// The string as the C library takes it.
    #[must_use]
    pub fn c_string(&self) -> &CString {
        &self.0
    }

    /// The string as a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.0.as_bytes()))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let text = String::deserialize(deserializer)?;
        let bytes = latin1_decode(&text)
            .ok_or_else(|| D::Error::custom("a string holds a character above U+00FF"))?;
        CString::new(bytes)
            .map(Text)
            .map_err(|_| D::Error::custom("a string holds a NUL byte"))
    }
}

/// The bytes that `text` stands for; `None` if a character is above U+00FF.
#[must_use]
pub fn latin1_decode(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|char| u8::try_from(char).ok()).collect()
}

/// The string that stands for `bytes`.
#[must_use]
pub fn latin1_encode(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// Where the target's standard output or standard error goes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sink {
    /// A file, created or truncated.
    File(Text),
    /// A pipe; this many of the last bytes are kept.
    Tail(usize),
}

/// One launch, as the driver asks for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// What to execute; the driver has already searched `PATH`.
    pub program: Text,
    /// The arguments, the zeroth included.
    pub argv: Vec<Text>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<Text>,
    /// The directory to start in; `None` is the server's own.
    pub cwd: Option<Text>,
    /// What to read from; `None` is `/dev/null`.
    pub stdin: Option<Text>,
    /// Where standard output goes; `None` drops it.
    pub stdout: Option<Sink>,
    /// Where standard error goes; `None` drops it.
    pub stderr: Option<Sink>,
    /// How many bytes are kept of what it writes to fd 3, for a harness's results; with `None` that
    /// descriptor is closed.
    #[serde(default)]
    pub results: Option<usize>,
    /// How long it may run before it is killed.
    pub timeout_ns: Option<u64>,
    /// The CPUs it may run on; `None` is the server's own set.
    pub cpus: Option<Vec<u16>>,
    /// Whether its addresses are to be the same in every launch, as far as the system allows that.
    #[serde(default)]
    pub fixed_layout: bool,
    /// Where its memory mappings lie: this many pages below the highest place, in every launch with this number, as
    /// far as the system allows that.
    #[serde(default)]
    pub mapping_pages: Option<u16>,
    /// The events that are counted for it, beside its times.
    #[serde(default)]
    pub counters: Vec<counters::Name>,
    /// Whether processes that it leaves running go on until the server ends or another launch cleans up after itself.
    #[serde(default)]
    pub leaves_running: bool,
    /// The launch that follows without waking the driver, if this one ends well.
    #[serde(default)]
    pub then: Option<Box<Next>>,
}

/// A launch that follows another, whose numbers, if kept, are in the journal before this one starts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// The journal's line for the numbers of the launch before; `None` if nothing is kept of that launch, nor in the
    /// reply: it only serves to run right before this one.
    pub frame: Option<Frame>,
    /// The launch.
    pub request: Request,
}

/// A line of the journal without its numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frame {
    /// The text before the numbers.
    pub before: String,
    /// The text after them, without the line feed.
    pub after: String,
}

/// A line of the driver that is not a request.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    /// The running launch is to be killed.
    Cancel(bool),
    /// The descriptor sent with the line is the journal.
    Journal(bool),
}

/// Whether `line` is `{"cancel":true}`.
#[must_use]
pub fn is_cancel(line: &[u8]) -> bool {
    matches!(serde_json::from_slice(line), Ok(Word::Cancel(true)))
}

/// Whether `line` is `{"journal":true}`.
#[must_use]
pub fn is_journal(line: &[u8]) -> bool {
    matches!(serde_json::from_slice(line), Ok(Word::Journal(true)))
}

impl Request {
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        if self.argv.is_empty() {
            return Err(Failure::request("argv is empty"));
        }
        let tails = [&self.stdout, &self.stderr].map(|sink| match sink {
            Some(Sink::Tail(keep)) => *keep,
            _ => 0,
        });
        if tails
            .into_iter()
            .chain(self.results)
            .any(|keep| keep > TAIL_LIMIT)
        {
            return Err(Failure::request(format!(
                "a tail of more than {TAIL_LIMIT} bytes"
            )));
        }
        Ok(self)
    }
}

/// The reply to a launch that could not be made.
#[derive(Serialize)]
pub struct Refusal {
    /// Why.
    pub error: Failure,
}

/// The first line the server writes: what can be measured on this machine.
#[derive(Serialize)]
pub struct Hello {
    /// The server's name.
    pub hello: &'static str,
    /// The server's version.
    pub version: &'static str,
    /// The number of the process that serves, which is not the one that was started.
    pub pid: i32,
    /// Ends are seen through a pidfd (else through SIGCHLD).
    pub pidfd: bool,
    /// Every process that outlives a target is found, wherever it moved to (else only those in the session).
    pub orphans: bool,
    /// `/proc/PID/schedstat` can be read.
    pub schedstat: bool,
    /// `/proc/pressure/cpu` can be read.
    pub pressure: bool,
    /// `/proc/stat` has a steal column.
    pub steal: bool,
    /// The scheduler's switches and wake-ups can be followed.
    pub switches: bool,
    /// The addresses of a target's memory mappings can be chosen.
    pub addresses: bool,
    /// Two targets on one processor can have turns that are shorter than the scheduler's.
    pub short_turns: bool,
    /// Targets may have more than one processor.
    pub several_processors: bool,
    /// Counters may include what the kernel does for a target.
    pub kernel_counters: bool,
    /// The error numbers of the counters that are not available.
    pub missing_counters: BTreeMap<counters::Name, i32>,
}

/// What a launch cost and how it ended. Times are in nanoseconds.
///
/// Down to `signal` these are the numbers that the driver declares in `model/numbers.py`, in the
/// same order; its tests check that the two agree.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `CLOCK_MONOTONIC` just before the spawn.
    pub start_ns: u64,
    /// From the start to the wake-up at the target's end.
    pub wall_ns: u64,
    /// The part of `wall_ns` that passed until the target was executing.
    pub spawn_ns: u64,
    /// CPU time of the target's main thread.
    pub cpu_ns: Option<u64>,
    /// Time the main thread was runnable and waited for a CPU, and after its end the server did.
    pub delay_ns: Option<u64>,
    /// How often the main thread was put on a CPU.
    pub timeslices: Option<u64>,
    /// User CPU time, waited-for children included, as are all the counts that follow.
    pub user_ns: u64,
    /// System CPU time.
    pub sys_ns: u64,
    /// Peak memory; never below the server's own few MB.
    pub max_rss_bytes: u64,
    /// Page faults without input/output.
    pub minor_faults: u64,
    /// Page faults with input/output.
    pub major_faults: u64,
    /// Switches because the target waited.
    pub voluntary_switches: u64,
    /// Switches because others were given the CPU.
    pub involuntary_switches: u64,
    /// CPU time beyond the main thread's: other threads and waited-for children.
    pub others_ns: Option<u64>,
    /// Growth of the machine's CPU pressure ("some") over the launch.
    pub pressure_ns: Option<u64>,
    /// Growth of the machine's stolen time over the launch.
    pub steal_ns: Option<u64>,
    /// What the target as a whole lost by waiting for CPUs.
    pub lost_ns: Option<u64>,
    /// Blocks of 512 bytes that it gave the kernel to write to storage.
    pub written_blocks: Option<u64>,
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal, if one killed it.
    pub signal: Option<i32>,
    /// Whether it was killed for running too long.
    pub timed_out: bool,
    /// The signal that had stopped it, if it was killed because it did not continue.
    pub stopped: Option<i32>,
    /// Whether it was killed because the driver asked.
    pub cancelled: bool,
    /// The end of standard output, if kept.
    pub stdout: Option<String>,
    /// The end of standard error, if kept.
    pub stderr: Option<String>,
    /// The end of what was written to fd 3, if requested.
    pub results: Option<String>,
    /// How much came through the pipe of standard output.
    pub stdout_bytes: Option<u64>,
    /// How much came through the pipe of standard error.
    pub stderr_bytes: Option<u64>,
    /// How much was written to fd 3.
    pub results_bytes: Option<u64>,
    /// For each requested counter: its count, the ns that it should cover, and the ns that it does cover.
    pub counters: Vec<Option<[u64; 3]>>,
    /// "pid name" of every other process that had to be killed when the target was gone. After a
    /// timeout or a cancel that includes the children it was working with.
    pub left_behind: Vec<String>,
    /// The same for processes that could not be killed and go on.
    pub not_killed: Vec<String>,
}

impl Report {
    /// Whether the target ended by itself with exit status 0.
    #[must_use]
    pub fn ended_well(&self) -> bool {
        self.exit_code == Some(0) && !self.timed_out && !self.cancelled
    }

    /// The numbers from `start_ns` to `signal`, as they stand in a row of the journal.
    #[must_use]
    pub fn row(&self) -> String {
        let known = |number: Option<i32>| number.and_then(|number| u64::try_from(number).ok());
        let numbers = [
            Some(self.start_ns),
            Some(self.wall_ns),
            Some(self.spawn_ns),
            self.cpu_ns,
            self.delay_ns,
            self.timeslices,
            Some(self.user_ns),
            Some(self.sys_ns),
            Some(self.max_rss_bytes),
            Some(self.minor_faults),
            Some(self.major_faults),
            Some(self.voluntary_switches),
            Some(self.involuntary_switches),
            self.others_ns,
            self.pressure_ns,
            self.steal_ns,
            self.lost_ns,
            self.written_blocks,
            known(self.exit_code),
            known(self.signal),
        ];
        let texts = numbers.map(|number| number.map_or("null".into(), |number| number.to_string()));
        texts.join(",")
    }
}

/// The result of one launch.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// It ended.
    Report(Box<Report>),
    /// It could not be made.
    Refusal(Refusal),
}
