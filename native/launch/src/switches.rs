//! What the scheduler does while a target runs, as the kernel records it on every processor.
//!
//! Listening to a whole machine takes root's rights (`CAP_PERFMON`, `CAP_SYS_ADMIN` on old kernels). It is needed to
//! know when a thread was woken: a process's own records show only when it ran.

use crate::event::Event;
use crate::spawn::Started;
use crate::sys::{self, Any, Ring};
use crate::tracepoint::Tracepoints;
use crate::tree::Tree;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The pages of all rings together; they are part of the least memory that any target is reported to use. A processor
/// that switches a thousand times a second fills 128 in three seconds. We are woken when a quarter is full: the rest
/// has to last until we get a processor, which beside eight others took longer than half of them lasted.
const PAGES: usize = 256;

/// A record of one processor may be written this much later than a newer record of another.
const SETTLED_NS: u64 = 1_000_000;

/// What is listened to, and the target that is followed.
pub struct Switches {
    rings: Vec<Ring>,
    any: Any,
    tracepoints: Tracepoints,
    followed: RefCell<Option<Followed>>,
}

struct Followed {
    /// The tree of each target, and when its time began.
    trees: Vec<(Tree, u64)>,
    /// Events that were taken from the rings and not yet followed, with their times.
    ahead: Vec<(u64, Event)>,
    /// Whether records are missing.
    incomplete: bool,
    /// Whether a record of each ring has been seen: records lost before its first one were lost before the start.
    begun: Vec<bool>,
}

impl Switches {
    /// Begins to listen on all processors.
    ///
    /// # Errors
    /// If that is not available.
    pub fn open() -> io::Result<Self> {
        let tracepoints = Tracepoints::find().ok_or(io::ErrorKind::PermissionDenied)?;
        let online = online()?;
        let pages = (PAGES / online.len().max(1)).next_power_of_two();
        let size = pages.max(8) * sys::page_size();
        let rings: Vec<_> = online
            .into_iter()
            .map(|cpu| Ring::open(cpu, &[tracepoints.waking, tracepoints.reaping], size))
            .collect::<io::Result<_>>()?;
        let any = Any::of(rings.iter().map(AsFd::as_fd))?;
        Ok(Self {
            rings,
            any,
            tracepoints,
            followed: RefCell::new(None),
        })
    }

    /// Drops all records so far, and follows nobody: a target is about to be started.
    pub fn clear(&self) {
        *self.followed.borrow_mut() = None; // of a launch that failed
        for ring in &self.rings {
            ring.clear();
        }
    }

    /// Follows what this process starts from `start_ns` on, on so many processors. What the server lost before then
    /// is not the target's loss.
    pub fn begin(&self, start_ns: u64, processors: u64) {
        let tree = Tree::new(sys::own_pid(), start_ns, processors);
        self.follow(vec![(tree, start_ns)]);
    }

    /// Follows processes that slept until they were started, each as if it had one processor to itself.
    pub fn begin_with(&self, started: &[Started]) {
        let tree = |one: &Started| (Tree::of(one.pid, one.start_ns), one.start_ns);
        self.follow(started.iter().map(tree).collect());
    }

    fn follow(&self, trees: Vec<(Tree, u64)>) {
        *self.followed.borrow_mut() = Some(Followed {
            trees,
            ahead: Vec::new(),
            incomplete: false,
            begun: vec![false; self.rings.len()],
        });
    }

    /// Makes room for more records.
    pub fn drain(&self) {
        let settled_ns = sys::now_ns().saturating_sub(SETTLED_NS);
        if let Some(followed) = self.followed.borrow_mut().as_mut() {
            self.take(followed);
            followed.follow_until(settled_ns);
        }
    }

    /// The trees that were followed, until the last target's end woke this process; None if records are missing.
    pub fn trees(&self, end_ns: u64) -> Option<Vec<Tree>> {
        let mut followed = self.followed.borrow_mut().take()?;
        self.take(&mut followed);
        followed.follow_until(end_ns);
        let trees = followed.trees.into_iter().map(|(tree, _)| tree);
        (!followed.incomplete).then(|| trees.collect())
    }

    fn take(&self, followed: &mut Followed) {
        let mut records = Vec::new();
        for (cpu, ring) in self.rings.iter().enumerate() {
            records.clear();
            let had_room = ring.take(&mut records);
            for record in Records(&records) {
                match record.told(cpu, self.tracepoints) {
                    Some(Told::Event(time_ns, event)) => followed.ahead.push((time_ns, event)),
                    Some(Told::Missing) if followed.begun[cpu] => followed.incomplete = true,
                    _ => {}
                }
                followed.begun[cpu] = true;
            }
            followed.incomplete |= !had_room;
        }
        // A stable sort: records of one processor with equal times stay in order.
        followed.ahead.sort_by_key(|&(time_ns, _)| time_ns);
    }
}

impl AsFd for Switches {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.any.as_fd()
    }
}

impl Followed {
    fn follow_until(&mut self, until_ns: u64) {
        let count = self
            .ahead
            .partition_point(|&(time_ns, _)| time_ns <= until_ns);
        for (time_ns, event) in self.ahead.drain(..count) {
            for (tree, start_ns) in &mut self.trees {
                if time_ns >= *start_ns {
                    tree.follow(time_ns, event);
                }
            }
        }
    }
}

/// The numbers of the processors that are online.
fn online() -> io::Result<Vec<usize>> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online")?;
    parse_list(text.trim()).ok_or(io::ErrorKind::InvalidData.into())
}

fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

/// What a record tells.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Event(u64, Event),
    /// There was no room for others.
    Missing,
}

const LOST: u32 = 2;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const SWITCH_CPU_WIDE: u32 = 15;
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;
/// A tracepoint's flag: it was hit in an interrupt of a device or a timer.
const HARD_INTERRUPT: u8 = 1 << 3;
const HEADER: usize = 8;

/// Iterates over the records in bytes taken from a ring.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        let whole = Record(self.0);
        let size = usize::from(whole.number::<2>(6).map(u16::from_ne_bytes)?);
        if size < HEADER || size > self.0.len() {
            return None;
        }
        let (record, rest) = self.0.split_at(size);
        self.0 = rest;
        Some(Record(record))
    }
}

/// One record (`perf_event_open(2)` has their layouts).
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    fn told(&self, cpu: usize, tracepoints: Tracepoints) -> Option<Told> {
        let flags = u16::from_ne_bytes(self.number(4)?);
        let (time_ns, event) = match self.u32(0)? {
            LOST => return Some(Told::Missing),
            kind @ (FORK | EXIT) => {
                let (pid, tid) = (self.i32(HEADER)?, self.i32(HEADER + 8)?);
                let parent = self.i32(HEADER + 12)?;
                let event = if kind == FORK {
                    Event::Fork { parent, pid, tid }
                } else {
                    Event::Exit { pid, tid }
                };
                (self.u64(HEADER + 16)?, event)
            }
            SWITCH_CPU_WIDE => {
                // The numbers of the other thread come first, then those of this one.
                let tid = self.i32(HEADER + 12)?;
                let event = if flags & SWITCH_OUT == 0 {
                    Event::In { tid, cpu }
                } else {
                    let runnable = flags & SWITCH_OUT_PREEMPT != 0;
                    Event::Out { tid, cpu, runnable }
                };
                (self.u64(HEADER + 16)?, event)
            }
            SAMPLE => (self.u64(HEADER + 8)?, self.traced(cpu, tracepoints)?),
            _ => return None,
        };
        Some(Told::Event(time_ns, event))
    }

    /// What a tracepoint tells.
    fn traced(&self, cpu: usize, tracepoints: Tracepoints) -> Option<Event> {
        const DATA: usize = HEADER + 20;
        let tid = self.i32(HEADER + 4)?;
        let number = u64::from(u16::from_ne_bytes(self.number(DATA)?));
        if number == tracepoints.reaping {
            return Some(Event::Reap { tid });
        }
        let in_interrupt = self.number::<1>(DATA + 2)?[0] & HARD_INTERRUPT != 0;
        Some(Event::Wake {
            by: (!in_interrupt).then_some(tid),
            cpu,
            tid: self.i32(DATA + tracepoints.tid_at)?,
        })
    }

    fn number<const SIZE: usize>(&self, place: usize) -> Option<[u8; SIZE]> {
        self.0.get(place..place + SIZE)?.try_into().ok()
    }

    fn u32(&self, place: usize) -> Option<u32> {
        self.number(place).map(u32::from_ne_bytes)
    }

    fn i32(&self, place: usize) -> Option<i32> {
        self.number(place).map(i32::from_ne_bytes)
    }

    fn u64(&self, place: usize) -> Option<u64> {
        self.number(place).map(u64::from_ne_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: usize = 3;
    const TID_AT: usize = 24;
    const TRACEPOINTS: Tracepoints = Tracepoints {
        waking: 375,
        tid_at: TID_AT,
        reaping: 367,
    };

    /// A record of this kind, with these flags, whose body is made of `parts`.
    fn record(kind: u32, flags: u16, parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        let size = u16::try_from(HEADER + body.len()).unwrap();
        let mut bytes = kind.to_ne_bytes().to_vec();
        bytes.extend(flags.to_ne_bytes());
        bytes.extend(size.to_ne_bytes());
        bytes.extend(body);
        bytes
    }

    fn numbers(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|each| each.to_ne_bytes()).collect()
    }

    fn time(time_ns: u64) -> Vec<u8> {
        time_ns.to_ne_bytes().to_vec()
    }

    fn told(bytes: &[u8]) -> Vec<Option<Told>> {
        Records(bytes)
            .map(|record| record.told(CPU, TRACEPOINTS))
            .collect()
    }

    #[test]
    fn a_switch_tells_who_went_on_or_off() {
        let switch = |flags, tid| {
            let parts = [numbers(&[0, 0]), numbers(&[40, tid]), time(9)];
            record(SWITCH_CPU_WIDE, flags, &[&parts[0], &parts[1], &parts[2]])
        };
        let preempted = SWITCH_OUT | SWITCH_OUT_PREEMPT;
        let bytes = [switch(0, 41), switch(SWITCH_OUT, 42), switch(preempted, 43)].concat();
        let off = |tid, runnable| Event::Out {
            tid,
            cpu: CPU,
            runnable,
        };
        let events = [
            Event::In { tid: 41, cpu: CPU },
            off(42, false),
            off(43, true),
        ];
        assert_eq!(
            told(&bytes),
            events.map(|event| Some(Told::Event(9, event)))
        );
    }

    #[test]
    fn threads_begin_and_end() {
        let of_kind = |kind| record(kind, 0, &[&numbers(&[50, 40, 51, 41]), &time(7)]);
        let (pid, tid) = (50, 51);
        let fork = Event::Fork {
            parent: 41,
            pid,
            tid,
        };
        let expected = [fork, Event::Exit { pid, tid }].map(|event| Some(Told::Event(7, event)));
        assert_eq!(told(&[of_kind(FORK), of_kind(EXIT)].concat()), expected);
    }

    /// The sample of thread 41 of process 40 at a tracepoint, with its flags, which names thread 60.
    fn sample(tracepoint: u64, flags: u8) -> Vec<u8> {
        let mut data = u16::try_from(tracepoint).unwrap().to_ne_bytes().to_vec();
        data.resize(TID_AT, 0);
        data[2] = flags;
        let length = numbers(&[i32::try_from(TID_AT).unwrap() + 4]);
        let (who, whom) = (numbers(&[40, 41]), numbers(&[60]));
        record(SAMPLE, 0, &[&who, &time(5), &length, &data, &whom])
    }

    #[test]
    fn who_is_woken_in_an_interrupt_was_woken_by_nobody() {
        let waking = |flags| sample(TRACEPOINTS.waking, flags);
        let wake = |by| {
            let event = Event::Wake {
                by,
                cpu: CPU,
                tid: 60,
            };
            Some(Told::Event(5, event))
        };
        let bytes = [waking(0), waking(HARD_INTERRUPT)].concat();
        assert_eq!(told(&bytes), [wake(Some(41)), wake(None)]);
    }

    #[test]
    fn who_asks_for_the_end_of_a_child_is_told() {
        let reap = Told::Event(5, Event::Reap { tid: 41 });
        assert_eq!(told(&sample(TRACEPOINTS.reaping, 0)), [Some(reap)]);
    }

    #[test]
    fn what_was_before_the_start_is_not_followed() {
        let first = |time_ns, tid| {
            let (parent, pid) = (1, tid);
            (time_ns, Event::Fork { parent, pid, tid })
        };
        let on = |time_ns, tid| (time_ns, Event::In { tid, cpu: CPU });
        let (pid, tid) = (2, 2);
        let mut followed = Followed {
            trees: vec![(Tree::new(1, 100, 2), 100)],
            ahead: vec![first(40, 3), first(100, 2), on(130, 2)],
            incomplete: false,
            begun: Vec::new(),
        };
        followed.ahead.push((200, Event::Exit { pid, tid }));
        followed.follow_until(200);
        assert_eq!(followed.trees[0].0.lost_ns(), Some(30));
    }

    #[test]
    fn lost_records_are_missed_and_torn_ones_are_none() {
        let mut bytes = record(LOST, 0, &[&time(0), &time(12)]);
        assert_eq!(told(&bytes), [Some(Told::Missing)]);
        bytes.extend(&record(FORK, 0, &[&numbers(&[1, 2])])[..12]);
        assert_eq!(told(&bytes), [Some(Told::Missing)]);
        assert_eq!(told(&record(FORK, 0, &[&numbers(&[1, 2])])), [None]);
    }

    #[test]
    fn processors_are_listed_by_ranges() {
        assert_eq!(parse_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_list("0"), Some(vec![0]));
        assert_eq!(parse_list(""), None);
    }
}
