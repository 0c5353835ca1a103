//! One event, counted by the kernel or the processor (`perf_event_open`), in what this process starts or in a child
//! that has not executed its target yet.

use super::perf_event::{open, Attributes, Within, EXCLUDE_KERNEL};
use std::fs::File;
use std::io::{self, Read};

const DISABLED: u64 = 1;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TIME_ENABLED: u64 = 1;
const TIME_RUNNING: u64 = 1 << 1;

/// What a descriptor of an event returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// How often it occurred while it was counted.
    pub count: u64,
    /// How long it should have been counted, in ns of all threads.
    pub enabled_ns: u64,
    /// How long it was counted: a processor has only so many counters, which take turns.
    pub running_ns: u64,
}

/// An event that is counted from the execution of a program on, and never in this process.
pub struct Event(File);

impl Event {
    /// Opens the event for a process and all that it starts, or if none is given for all that we start until this is
    /// dropped; `kind` and `config` are those of `linux/perf_event.h`. The kernel's code may be left out.
    ///
    /// # Errors
    /// Those of the system: ENOENT for an event that it cannot count, EACCES for one that we may not count.
    pub fn open(
        kind: u32,
        config: u64,
        without_kernel: bool,
        process: Option<i32>,
    ) -> io::Result<Self> {
        let excluded = if without_kernel {
            EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR
        } else {
            0
        };
        let attributes = Attributes {
            kind,
            config,
            read_format: TIME_ENABLED | TIME_RUNNING,
            flags: DISABLED | INHERIT | ENABLE_ON_EXEC | excluded,
            ..Attributes::default()
        };
        let within = process.map_or(Within::Ours, Within::Process);
        Ok(Self(open(attributes, within)?.into()))
    }

    /// Reads what was counted in processes that have ended, and so far in the others.
    ///
    /// # Errors
    /// Those of the system.
    pub fn read(&self) -> io::Result<Reading> {
        let mut bytes = [0; 24];
        (&self.0).read_exact(&mut bytes)?;
        let word = |place: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * place..8 * place + 8]);
            u64::from_ne_bytes(word)
        };
        Ok(Reading {
            count: word(0),
            enabled_ns: word(1),
            running_ns: word(2),
        })
    }
}
