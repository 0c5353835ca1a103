//! What the processor and the kernel count during a launch: the requested events.

use crate::failure::{Failure, Stage};
use crate::sys::Event;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// An event by its name (man 2 `perf_event_open`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Time on a processor, of all threads, ns.
    TaskClock,
    /// Moves from one processor to another.
    Migrations,
    /// Clock cycles of the processor, at whatever rate it had.
    Cycles,
    /// Instructions that the processor completed.
    RetiredInstructions,
    /// Branches that it had predicted wrongly.
    BranchMisses,
    /// Accesses to memory that its last cache did not serve.
    CacheMisses,
}

/// All of them, in the order in which they are reported.
const ALL: [Name; 6] = [
    Name::TaskClock,
    Name::Migrations,
    Name::Cycles,
    Name::RetiredInstructions,
    Name::BranchMisses,
    Name::CacheMisses,
];

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;

impl Name {
    /// The kernel's type and number for it (`linux/perf_event.h`).
    const fn number(self) -> (u32, u64) {
        match self {
            Self::TaskClock => (SOFTWARE, 1),
            Self::Migrations => (SOFTWARE, 4),
            Self::Cycles => (HARDWARE, 0),
            Self::RetiredInstructions => (HARDWARE, 1),
            Self::BranchMisses => (HARDWARE, 5),
            Self::CacheMisses => (HARDWARE, 3),
        }
    }

    /// Whether anything is left to count without the kernel's part: the kernel makes all migrations.
    const fn is_told_without_kernel(self) -> bool {
        !matches!(self, Self::Migrations)
    }
}

/// The events of one launch.
pub struct Counters(Vec<(Name, Event)>);

impl Counters {
    /// Opens them for a process that executes its target next, or if none is given for what is started next. If the
    /// kernel's part may not be counted, it is left out of all of them.
    ///
    /// # Errors
    /// A failure of stage counters.
    pub fn open(names: &[Name], process: Option<i32>) -> Result<Self, Failure> {
        let open = |kind, config, without| Event::open(kind, config, without, process);
        opened(names, open)
            .map(|events| Self(names.iter().copied().zip(events).collect()))
            .map_err(|(name, error)| refused(name, &error))
    }

    /// The reading of each event, in the order of [`ALL`]; `None` for one that was not requested, or cannot be read.
    /// Empty if none was requested.
    #[must_use]
    pub fn read(&self) -> Vec<Option<[u64; 3]>> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let told = |wanted: Name| {
            let (_, event) = self.0.iter().find(|(name, _)| *name == wanted)?;
            let reading = event.read().ok()?;
            Some([reading.count, reading.enabled_ns, reading.running_ns])
        };
        ALL.into_iter().map(told).collect()
    }
}

/// The system's error number of each event that cannot be counted here.
#[must_use]
pub fn missing() -> BTreeMap<Name, i32> {
    let open = |kind, config, without| Event::open(kind, config, without, None);
    let error = |name| opened(&[name], open).err()?.1.raw_os_error();
    ALL.into_iter()
        .filter_map(|name| Some((name, error(name)?)))
        .collect()
}

/// Whether code of the kernel may be counted too.
#[must_use]
pub fn counts_kernel() -> bool {
    let (kind, config) = Name::Migrations.number();
    Event::open(kind, config, false, None).is_ok()
}

fn opened<Opened>(
    names: &[Name],
    open: impl Fn(u32, u64, bool) -> io::Result<Opened>,
) -> Result<Vec<Opened>, (Name, io::Error)> {
    let all = |without_kernel| {
        let one = |&name: &Name| {
            let (kind, config) = name.number();
            open(kind, config, without_kernel).map_err(|error| (name, error))
        };
        names.iter().map(one).collect::<Result<Vec<_>, _>>()
    };
    all(false).or_else(|(name, error)| {
        let is_denied = matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM));
        if is_denied && names.iter().all(|name| name.is_told_without_kernel()) {
            all(true)
        } else {
            Err((name, error))
        }
    })
}

fn refused(name: Name, error: &io::Error) -> Failure {
    let name = serde_json::to_string(&name).unwrap_or_default();
    let doing = format!("cannot count {}", name.trim_matches('"'));
    Failure::system(Stage::Counters, &doing, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Name; 2] = [Name::TaskClock, Name::Cycles];

    fn denied() -> io::Error {
        io::Error::from_raw_os_error(libc::EACCES)
    }

    #[test]
    fn the_kernels_part_is_left_out_of_all_or_none() {
        let everything = opened(&BOTH, |_, _, without| Ok(without)).ok();
        assert_eq!(everything, Some(vec![false, false]));
        let some = opened(&BOTH, |kind, _, without| {
            if kind == HARDWARE && !without {
                return Err(denied());
            }
            Ok(without)
        });
        assert_eq!(some.ok(), Some(vec![true, true]));
    }

    #[test]
    fn what_only_the_kernel_does_is_not_counted_without_it() {
        let found = opened(&[Name::Migrations], |_, _, without| {
            if without {
                Ok(())
            } else {
                Err(denied())
            }
        });
        assert_eq!(found.err().map(|(name, _)| name), Some(Name::Migrations));
    }

    #[test]
    fn what_is_not_there_is_named() {
        let found = opened(&BOTH, |kind, _, _| {
            if kind == HARDWARE {
                return Err(io::Error::from_raw_os_error(libc::ENOENT));
            }
            Ok(())
        });
        let (name, error) = found.expect_err("there are no cycles");
        let failure = refused(name, &error);
        assert_eq!(failure.errno, Some(libc::ENOENT));
        assert!(failure.message.starts_with("cannot count cycles: "));
    }
}
