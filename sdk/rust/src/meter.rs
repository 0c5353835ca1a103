//! What is measured for one sample.

use crate::client_requests;
use crate::partner::Order;
use std::fs::File;
use std::time::Instant;

/// One timed batch of iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) loops: u64,
    pub(crate) ns: u64,
    /// None where the system does not tell.
    pub(crate) scheduled: Option<Scheduled>,
    /// None if it was not taken in turn with a partner's.
    pub(crate) order: Option<Order>,
}

/// This thread's time, by the scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scheduled {
    /// On a processor.
    pub(crate) cpu_ns: u64,
    /// Runnable, but waiting for a processor.
    pub(crate) delay_ns: u64,
}

impl Scheduled {
    /// The first two numbers of a schedstat file. A kernel that does not keep them shows zeros, which the
    /// third number reveals: it counts how often the thread was put on a processor, and a thread that
    /// reads its own file is on one.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        let mut next = || numbers.next()?.parse().ok();
        let (cpu_ns, delay_ns, times): (_, _, u64) = (next()?, next()?, next()?);
        (times > 0).then_some(Self { cpu_ns, delay_ns })
    }

    fn since(self, before: Self) -> Option<Self> {
        Some(Self {
            cpu_ns: self.cpu_ns.checked_sub(before.cpu_ns)?,
            delay_ns: self.delay_ns.checked_sub(before.delay_ns)?,
        })
    }
}

/// Takes one sample after another.
///
/// Between the two requests to Valgrind it executes the same instructions for each sample, whatever the
/// times are: numbers are only read there, and parsed afterwards.
pub(crate) struct Meter {
    /// Kept open, as opening it takes longer than reading.
    schedstat: Option<File>,
    before: Reading,
    started: Instant,
}

impl Meter {
    /// Makes a meter; with `scheduled` it also reads the thread's time on a processor.
    pub(crate) fn new(scheduled: bool) -> Self {
        Self {
            schedstat: scheduled
                .then(|| File::open("/proc/thread-self/schedstat").ok())
                .flatten(),
            before: Reading::default(),
            started: Instant::now(),
        }
    }

    #[inline(never)]
    pub(crate) fn start(&mut self) {
        client_requests::start_instrumentation();
        self.before = Reading::before(self.schedstat.as_ref());
        self.started = Instant::now();
    }

    #[inline(never)]
    pub(crate) fn stop(&self, loops: u64) -> Sample {
        let stopped = Instant::now();
        let after = Reading::after(self.schedstat.as_ref());
        client_requests::stop_instrumentation();
        let ns = stopped.duration_since(self.started).as_nanos();
        Sample {
            loops,
            // If the clock has not moved, the time was less than its step, but still above 0.
            ns: u64::try_from(ns).unwrap_or(u64::MAX).max(1),
            scheduled: after.since(&self.before),
            order: None,
        }
    }
}

/// A schedstat file as it was read, or nothing, and times on a processor. The file shows the thread's time
/// as the kernel computed it at its last tick; reading the clock makes the kernel compute it up to now.
#[derive(Clone, Copy)]
struct Reading {
    used: Used,
    /// Three numbers of 20 digits or fewer.
    text: [u8; 64],
    length: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            used: Used::default(),
            text: [0; 64],
            length: 0,
        }
    }
}

impl Reading {
    fn before(file: Option<&File>) -> Self {
        let used = file.map_or_else(Used::default, |_| Used::before());
        Self {
            used,
            ..Self::of(file)
        }
    }

    /// Reads the file first: when the kernel updates the time it also checks whether others wait for the
    /// processor, and that wait would be in the file, but not in the time.
    fn after(file: Option<&File>) -> Self {
        let mut reading = Self::of(file);
        reading.used = file.map_or_else(Used::default, |_| Used::after());
        reading
    }

    #[cfg(unix)]
    fn of(file: Option<&File>) -> Self {
        use std::os::unix::fs::FileExt;

        let mut reading = Self::default();
        if let Some(file) = file {
            reading.length = file.read_at(&mut reading.text, 0).unwrap_or(0);
        }
        reading
    }

    /// There is no such file, so there is nothing to read.
    #[cfg(not(unix))]
    fn of(_: Option<&File>) -> Self {
        Self::default()
    }

    /// None if other threads or children did some of the work, as this thread's wait is not theirs.
    fn since(&self, before: &Self) -> Option<Scheduled> {
        let scheduled = self.parse()?.since(before.parse()?)?;
        self.used
            .is_of_one_thread(&before.used)
            .then_some(scheduled)
    }

    fn parse(&self) -> Option<Scheduled> {
        let cpu_ns = self.used.thread_ns;
        Scheduled::parse(&self.text[..self.length]).map(|shown| Scheduled { cpu_ns, ..shown })
    }
}

/// Time on a processor.
#[derive(Clone, Copy, Default)]
struct Used {
    thread_ns: u64,
    /// Of all threads.
    process_ns: u64,
    /// Of the children that have ended.
    children_ns: u64,
}

impl Used {
    fn before() -> Self {
        let children_ns = clock::children_ns();
        let thread_ns = clock::thread_ns();
        Self {
            thread_ns,
            process_ns: clock::process_ns(),
            children_ns,
        }
    }

    fn after() -> Self {
        let process_ns = clock::process_ns();
        Self {
            thread_ns: clock::thread_ns(),
            process_ns,
            children_ns: clock::children_ns(),
        }
    }

    /// The process's time is read within the thread's, so any excess over it was used by other threads.
    fn is_of_one_thread(&self, before: &Self) -> bool {
        let process_ns = self.process_ns.saturating_sub(before.process_ns);
        process_ns <= self.thread_ns.saturating_sub(before.thread_ns)
            && self.children_ns == before.children_ns
    }
}

/// Times that the standard library does not provide.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
mod clock {
    use std::ffi::{c_int, c_long};

    const PROCESS_CPU_TIME: c_int = 2;
    const THREAD_CPU_TIME: c_int = 3;
    const CHILDREN: c_int = -1;
    /// The size of `struct rusage`, in longs: two times and 14 numbers, and then what musl reserves.
    const USAGE: usize = 34;

    extern "C" {
        fn clock_gettime(clock: c_int, time: *mut [c_long; 2]) -> c_int;
        fn getrusage(who: c_int, usage: *mut [c_long; USAGE]) -> c_int;
    }

    pub(super) fn thread_ns() -> u64 {
        ns(THREAD_CPU_TIME)
    }

    pub(super) fn process_ns() -> u64 {
        ns(PROCESS_CPU_TIME)
    }

    fn ns(clock: c_int) -> u64 {
        let mut time = [0; 2];
        // SAFETY: the C library, which the standard library is linked to, writes a timespec: under this name two longs,
        // even where these have 32 bits. Every Linux has these clocks.
        unsafe { clock_gettime(clock, &mut time) };
        let [seconds, ns] = time.map(positive);
        seconds * 1_000_000_000 + ns
    }

    pub(super) fn children_ns() -> u64 {
        let mut usage = [0; USAGE];
        // SAFETY: likewise; the place is as long as the longest structure of any C library.
        unsafe { getrusage(CHILDREN, &mut usage) };
        let [user_s, user_us, system_s, system_us] =
            [usage[0], usage[1], usage[2], usage[3]].map(positive);
        (user_s + system_s) * 1_000_000_000 + (user_us + system_us) * 1000
    }

    fn positive(number: c_long) -> u64 {
        u64::try_from(number).unwrap_or(0)
    }
}

/// There is no schedstat.
#[cfg(not(target_os = "linux"))]
mod clock {
    pub(super) fn thread_ns() -> u64 {
        0
    }

    pub(super) fn process_ns() -> u64 {
        0
    }

    pub(super) fn children_ns() -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduled(cpu_ns: u64, delay_ns: u64) -> Option<Scheduled> {
        Some(Scheduled { cpu_ns, delay_ns })
    }

    #[test]
    fn schedstat_is_read() {
        assert_eq!(Scheduled::parse(b"0 0 1\n"), scheduled(0, 0));
        assert_eq!(
            Scheduled::parse(b"1482211 90 12\n"),
            scheduled(1_482_211, 90)
        );
    }

    #[test]
    fn what_is_no_schedstat_is_nothing() {
        for text in ["", "0 0 0\n", "1", "1 2", "1 x 3", "-1 2 3", "1.5 2 3"] {
            assert_eq!(Scheduled::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(Scheduled::parse(b"\xff 1 1"), None);
    }

    #[test]
    fn times_are_differences_and_never_negative() {
        let (early, late) = (scheduled(10, 3).unwrap(), scheduled(15, 3).unwrap());
        assert_eq!(late.since(early), scheduled(5, 0));
        assert_eq!(early.since(late), None);
    }

    #[test]
    fn what_others_used_is_seen() {
        let used = |thread_ns, process_ns, children_ns| Used {
            thread_ns,
            process_ns,
            children_ns,
        };
        let before = used(10, 100, 1000);
        assert!(used(30, 119, 1000).is_of_one_thread(&before));
        assert!(!used(30, 121, 1000).is_of_one_thread(&before));
        assert!(!used(30, 119, 1001).is_of_one_thread(&before));
    }

    #[test]
    fn a_sample_has_what_was_asked_for() {
        let mut meter = Meter::new(false);
        meter.start();
        let sample = meter.stop(12);
        assert!(sample.ns > 0);
        assert_eq!((sample.loops, sample.scheduled), (12, None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_sample_says_how_long_the_thread_ran() {
        if Reading::before(File::open("/proc/thread-self/schedstat").ok().as_ref())
            .parse()
            .is_none()
        {
            return; // this kernel does not keep it
        }
        let mut meter = Meter::new(true);
        let mut sample = || {
            meter.start();
            let begun = Instant::now();
            while begun.elapsed().as_micros() < 500 {}
            meter.stop(1).scheduled
        };
        // Nothing is told of a sample during which another test ran in a thread of this process.
        let scheduled = (0..2000).find_map(|_| sample()).expect("it is kept");
        // It is exact, although far shorter than a tick; on a busy machine part of it may have been a wait.
        assert!(
            scheduled.cpu_ns + scheduled.delay_ns > 400_000,
            "{scheduled:?}"
        );
    }
}
