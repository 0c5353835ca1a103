//! Processes that a target leaves behind. As the server is a subreaper, every orphaned descendant of
//! the target becomes its child, whatever group or session it moved to. Where the system does not allow
//! that, they are searched in the session, which the server shares with nobody else: processes that have
//! made a session of their own are not found.

use crate::numbers::{self, contents};
use crate::protocol::latin1_encode;
use crate::sys::{self, Child};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How often to look again for processes that are still dying, or that others had started
/// before they died.
const ROUNDS: usize = 100;

/// How long processes that outlive a target which ended by itself may go on: some clean up after it, such as Python's
/// resource tracker, which removes shared memory that a program has left.
pub const GRACE: Duration = Duration::from_millis(100);

/// The same for processes that are not asleep: on a busy machine they may have had no processor until then.
const LONGEST_GRACE: Duration = Duration::from_secs(1);

/// How long processes that were allowed to go on have to end once they are asked to.
const LAST_GRACE: Duration = Duration::from_secs(1);

/// Time for killed processes to die.
const PAUSE: Duration = Duration::from_millis(1);

/// The processes that outlived their target, "pid name" each.
#[derive(Debug, Default)]
pub struct Cleared {
    /// They were killed, or ended by themselves meanwhile.
    pub killed: Vec<String>,
    /// They go on: they run with another user's rights, wait for something that does not come, or are meant to go on.
    pub surviving: Vec<String>,
}

/// What is known about leftovers from one launch to the next.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Those that could not be killed, and have been reported.
    surviving: BTreeSet<i32>,
    /// The session in which they are searched, where orphans do not become children of this process.
    session: Option<i32>,
}

impl Leftovers {
    /// Makes this process the new parent of orphans, or lets it search them in its session if the system refuses.
    #[must_use]
    pub fn adopted() -> Self {
        Self {
            surviving: BTreeSet::new(),
            session: sys::subreaper().is_err().then(sys::own_session),
        }
    }

    /// Whether orphans become children of this process.
    #[must_use]
    pub fn are_adopted(&self) -> bool {
        self.session.is_none()
    }

    /// Kills and reaps every child of the server, once the target itself has been reaped and they have had `grace`;
    /// returns those that had not ended by themselves before that, once. Usually there are none, and this is a single
    /// system call.
    pub fn clear(&mut self, grace: Duration) -> Cleared {
        let mut killed = self.let_end(grace);
        let mut surviving = BTreeMap::new();
        let mut rounds = 0;
        while rounds < ROUNDS {
            match self.peek() {
                Child::None => break,
                Child::Ended {
                    pid,
                    killed: by_kill,
                } => {
                    // The kill of the target's group may have ended it before it was ever seen here.
                    if !self.surviving.remove(&pid) && by_kill {
                        killed.entry(pid).or_insert_with(|| name(pid));
                    }
                    if sys::reap(pid).is_err() {
                        break;
                    }
                }
                Child::Alive => {
                    let living = self.living();
                    // A process that was dying a moment ago is dead by now, and still to be reaped.
                    if living.is_empty() && self.only_known_survive() {
                        break;
                    }
                    for pid in living {
                        if sys::kill(pid).is_ok() {
                            // It may have executed another program since it was first seen.
                            killed.insert(pid, name(pid));
                        } else {
                            killed.remove(&pid);
                            surviving.insert(pid, name(pid));
                            self.surviving.insert(pid);
                        }
                    }
                    std::thread::sleep(PAUSE);
                    rounds += 1;
                }
            }
        }
        if rounds == ROUNDS {
            for pid in self.living() {
                surviving.insert(pid, killed.remove(&pid).unwrap_or_else(|| name(pid)));
                self.surviving.insert(pid);
            }
        }
        Cleared {
            killed: told(killed),
            surviving: told(surviving),
        }
    }

    /// Asks every child to end, as one stops a service, and clears those that have not after a second.
    pub fn dismiss(&mut self) {
        for pid in self.living() {
            sys::signal(pid, libc::SIGTERM);
        }
        self.clear(LAST_GRACE);
    }

    /// Lets the living children end by themselves, for `grace` or longer if they are busy; returns who they are.
    fn let_end(&mut self, grace: Duration) -> BTreeMap<i32, String> {
        let begun = Instant::now();
        let mut outliving = BTreeMap::new();
        let goes_on = |outliving: &BTreeMap<i32, String>| {
            begun.elapsed() < LONGEST_GRACE && outliving.keys().any(|&pid| is_busy(pid))
        };
        while begun.elapsed() < grace || (!grace.is_zero() && goes_on(&outliving)) {
            match self.peek() {
                Child::None => break,
                Child::Ended { pid, .. } => {
                    self.surviving.remove(&pid);
                    if sys::reap(pid).is_err() {
                        break;
                    }
                }
                Child::Alive => {
                    if outliving.is_empty() {
                        let living = self.living();
                        if living.is_empty() && self.only_known_survive() {
                            break;
                        }
                        outliving.extend(living.into_iter().map(|pid| (pid, name(pid))));
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
        outliving
    }

    /// Reports every living child of the server, and leaves it alone.
    #[must_use]
    pub fn going_on(&self) -> Cleared {
        let named = |pid| (pid, name(pid));
        Cleared {
            killed: Vec::new(),
            surviving: told(self.all_living().into_iter().map(named).collect()),
        }
    }

    /// Whether no child is left to be reaped, now or soon, except those that are known to survive.
    fn only_known_survive(&self) -> bool {
        !self.surviving.is_empty() && matches!(self.peek(), Child::Alive)
    }

    /// A look at the children; processes in the session count as children, if orphans are searched there.
    fn peek(&self) -> Child {
        match sys::peek_child() {
            Child::None if self.session.is_some() && !self.all_living().is_empty() => Child::Alive,
            seen => seen,
        }
    }

    /// The living children, except those that are known to survive.
    fn living(&self) -> Vec<i32> {
        let mut living = self.all_living();
        living.retain(|pid| !self.surviving.contains(pid));
        living
    }

    fn all_living(&self) -> Vec<i32> {
        self.session.map_or_else(living_children, living_in_session)
    }
}

fn told(names: BTreeMap<i32, String>) -> Vec<String> {
    names
        .into_iter()
        .map(|(pid, name)| format!("{pid} {name}"))
        .collect()
}

/// The name of a process, which a zombie still has.
fn name(pid: i32) -> String {
    contents(pid, "comm").map_or_else(
        || String::from("?"),
        |name| latin1_encode(name.strip_suffix(b"\n").unwrap_or(&name)),
    )
}

/// Greater than any process's number (the kernel's `PID_MAX_LIMIT`).
const NUMBERS_END: i32 = 1 << 22;

fn living_children() -> Vec<i32> {
    if matches!(sys::peek_child(), Child::None) {
        return Vec::new();
    }
    if !numbers::are_ours() {
        // This takes half a second, but without a /proc of ours nothing else finds them.
        return (1..NUMBERS_END)
            .filter(|&pid| matches!(sys::exit_is_pending(pid, false), Ok(false)))
            .collect();
    }
    let us = sys::own_pid();
    living_where(|_, stat| stat.parent == us)
}

/// All living processes of a session, except this one and the one that made the session.
fn living_in_session(session: i32) -> Vec<i32> {
    if !numbers::are_ours() {
        return living_children();
    }
    let us = sys::own_pid();
    living_where(|pid, stat| stat.session == session && pid != session && pid != us)
}

fn living_where(is_one: impl Fn(i32, Stat) -> bool) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let is_living = |pid: i32| {
        let stat = contents(pid, "stat").and_then(|stat| Stat::parse(&stat));
        stat.is_some_and(|stat| stat.is_alive && is_one(pid, stat))
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| is_living(pid))
        .collect()
}

/// Whether a process runs, or waits for a processor or a disk.
fn is_busy(pid: i32) -> bool {
    let stat = contents(pid, "stat").unwrap_or_default();
    let end = stat.iter().rposition(|&byte| byte == b')').unwrap_or(0);
    matches!(stat.get(end + 2), Some(b'R' | b'D'))
}

/// What the kernel says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    is_alive: bool,
    parent: i32,
    session: i32,
}

impl Stat {
    fn parse(stat: &[u8]) -> Option<Self> {
        // The name stands in parentheses and may itself hold some, and spaces.
        let end = stat.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
        let mut words = rest.split_whitespace();
        let state = words.next()?;
        let parent = words.next()?.parse().ok()?;
        let _group = words.next()?;
        Some(Self {
            is_alive: !matches!(state, "Z" | "X"),
            parent,
            session: words.next()?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_session_are_found_behind_any_name() {
        let of =
            |stat: &[u8]| Stat::parse(stat).map(|stat| (stat.is_alive, stat.parent, stat.session));
        assert_eq!(of(b"12 (sh) S 7 12 9 0"), Some((true, 7, 9)));
        assert_eq!(of(b"12 (a) Z 1 (b) Z 7 12 9"), Some((false, 7, 9)));
        assert_eq!(of(b"12 (\xff) R 1 12 9"), Some((true, 1, 9)));
        assert_eq!(of(b"12 sh S 7 12 9"), None);
        assert_eq!(of(b""), None);
    }
}
