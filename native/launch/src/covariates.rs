//! What is known about a launch beside its time: how the scheduler treated the target, and how busy the
//! machine was.

use crate::{numbers, sys};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// How the scheduler treated one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Time on a CPU.
    pub cpu_ns: u64,
    /// Time runnable without a CPU.
    pub delay_ns: u64,
    /// How often it was put on a CPU.
    pub timeslices: u64,
}

impl Schedule {
    /// Reads `/proc/PID/schedstat`, which a zombie still has.
    #[must_use]
    pub fn of(pid: i32) -> Option<Self> {
        parse_schedstat(&head(numbers::open(pid, "schedstat").as_ref())?)
    }

    /// What was added since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cpu_ns: self.cpu_ns.saturating_sub(earlier.cpu_ns),
            delay_ns: self.delay_ns.saturating_sub(earlier.delay_ns),
            timeslices: self.timeslices.saturating_sub(earlier.timeslices),
        }
    }
}

/// What the kernel had counted of a process when its time began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Already {
    /// None where that is unknown: then nothing is known about its time either.
    pub schedule: Option<Schedule>,
    /// Page faults without input/output.
    pub minor_faults: u64,
    /// Switches because it waited.
    pub voluntary_switches: u64,
    /// Switches because others were given the CPU.
    pub involuntary_switches: u64,
}

impl Already {
    /// For a process whose time begins at its own start.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            schedule: Some(Schedule::default()),
            ..Self::default()
        }
    }

    /// For a process that sleeps: while it runs, or waits for a CPU, not everything is counted yet.
    #[must_use]
    pub fn of(pid: i32) -> Self {
        let status = numbers::text(pid, "status").unwrap_or_default();
        let switches = |key| parse_status(&status, key).unwrap_or(0);
        Self {
            schedule: Schedule::of(pid),
            minor_faults: numbers::text(pid, "stat")
                .and_then(|text| parse_minor_faults(&text))
                .unwrap_or(0),
            voluntary_switches: switches("voluntary_ctxt_switches:"),
            involuntary_switches: switches("nonvoluntary_ctxt_switches:"),
        }
    }
}

fn parse_status(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.trim().parse().ok()
}

fn parse_minor_faults(text: &str) -> Option<u64> {
    // Behind the name: state ppid pgrp session tty tpgid flags minflt
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(7)?.parse().ok()
}

fn parse_schedstat(text: &str) -> Option<Schedule> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    let schedule = Schedule {
        cpu_ns: next()?,
        delay_ns: next()?,
        timeslices: next()?,
    };
    // A kernel that does not keep these numbers has the file, but with zeros.
    (schedule.cpu_ns | schedule.delay_ns | schedule.timeslices != 0).then_some(schedule)
}

/// The machine's counters, kept open so that reading them costs little.
pub struct Gauges {
    pressure: Option<File>,
    stat: Option<File>,
    own: Option<File>,
    tick_ns: u64,
}

/// The machine's counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// Time for which some task waited for a CPU.
    pub pressure_ns: Option<u64>,
    /// Time the hypervisor gave to others.
    pub steal_ns: Option<u64>,
}

impl Reading {
    /// What was added since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let growth = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            pressure_ns: growth(self.pressure_ns, earlier.pressure_ns),
            steal_ns: growth(self.steal_ns, earlier.steal_ns),
        }
    }
}

impl Gauges {
    /// Opens what this machine has.
    #[must_use]
    pub fn open() -> Self {
        Self {
            pressure: File::open("/proc/pressure/cpu").ok(),
            stat: File::open("/proc/stat").ok(),
            own: File::open("/proc/self/schedstat").ok(),
            tick_ns: sys::tick_ns(),
        }
    }

    /// How long the server itself has waited for a CPU so far.
    #[must_use]
    pub fn own_delay_ns(&self) -> u64 {
        head(self.own.as_ref())
            .and_then(|text| parse_schedstat(&text))
            .map_or(0, |schedule| schedule.delay_ns)
    }

    /// Reads the counters.
    #[must_use]
    pub fn read(&self) -> Reading {
        Reading {
            pressure_ns: head(self.pressure.as_ref())
                .and_then(|text| parse_pressure(&text))
                .map(|micros| micros.saturating_mul(1000)),
            steal_ns: head(self.stat.as_ref())
                .and_then(|text| parse_steal(&text))
                .map(|ticks| ticks.saturating_mul(self.tick_ns)),
        }
    }
}

/// The beginning of a file, as only the first line of each of these is needed.
fn head(file: Option<&File>) -> Option<String> {
    let mut buffer = [0; 256];
    let count = file?.read_at(&mut buffer, 0).ok()?;
    Some(String::from_utf8_lossy(&buffer[..count]).into_owned())
}

fn parse_pressure(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line
        .split_whitespace()
        .find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok()
}

fn parse_steal(text: &str) -> Option<u64> {
    // cpu user nice system idle iowait irq softirq steal
    let line = text.lines().find(|line| line.starts_with("cpu "))?;
    line.split_whitespace().nth(8)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedstat_needs_three_numbers_not_all_zero() {
        let expected = Schedule {
            cpu_ns: 999_138,
            delay_ns: 7791,
            timeslices: 4,
        };
        assert_eq!(parse_schedstat("999138 7791 4\n"), Some(expected));
        assert_eq!(parse_schedstat("0 0 0\n"), None);
        assert_eq!(parse_schedstat("12 13\n"), None);
        assert_eq!(parse_schedstat(""), None);
    }

    #[test]
    fn faults_and_switches_are_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 32 5 0 0 1 2 3 4";
        assert_eq!(parse_minor_faults(stat), Some(32));
        assert_eq!(parse_minor_faults("7 (a) S 1"), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t12\n";
        assert_eq!(parse_status(status, "voluntary_ctxt_switches:"), Some(3));
        assert_eq!(
            parse_status(status, "nonvoluntary_ctxt_switches:"),
            Some(12)
        );
        assert_eq!(parse_status("", "voluntary_ctxt_switches:"), None);
    }

    #[test]
    fn pressure_is_the_total_of_the_line_some() {
        let text = "some avg10=0.13 avg60=0.11 avg300=0.13 total=2587189\nfull avg10=0 total=7\n";
        assert_eq!(parse_pressure(text), Some(2_587_189));
        assert_eq!(parse_pressure("full avg10=0 total=7\n"), None);
    }

    #[test]
    fn steal_is_the_eighth_column_of_all_cpus() {
        let text = "cpu  2978 0 1407 103810 812 0 27 11 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(parse_steal(text), Some(11));
        assert_eq!(parse_steal("cpu  1 2 3 4\n"), None);
    }

    #[test]
    fn growth_is_unknown_unless_both_ends_are_known() {
        let known = Reading {
            pressure_ns: Some(5),
            steal_ns: None,
        };
        assert_eq!(
            known.since(Reading {
                pressure_ns: Some(2),
                steal_ns: Some(1)
            }),
            Reading {
                pressure_ns: Some(3),
                steal_ns: None
            }
        );
    }
}
