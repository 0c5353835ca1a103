//! Children that stand ready to execute their targets until they are let go, so that several begin at the
//! same moment.
//!
//! They do not share our memory: `CLONE_VFORK` would make us sleep until one of them is executing, and
//! without it two threads of control would share what the C library has once per thread.

use super::spawner::NOT_EXECUTED;
use super::{fork, pipe, reap, Spawner};
use crate::numbers;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// What a child writes when it stands at its gate; otherwise it writes the number of the error that prevented it.
const READY: [u8; 4] = [0; 4];

/// How often to check whether a child sleeps, and how long to wait in between: a second in all.
const MOST_LOOKS: usize = 10_000;
const BETWEEN_LOOKS: Duration = Duration::from_micros(100);

/// A child that is about to execute its target.
pub struct Gated {
    /// Its number, and that of its group.
    pub pid: i32,
    /// If it is closed without being opened, the child ends.
    gate: Option<File>,
    /// Closed by the child's execution of the target.
    status: File,
}

impl Gated {
    /// Starts a child and waits until it is ready. It is killed in the same cases as one of `Spawner::spawn`. Only to
    /// be called while there is one thread.
    ///
    /// # Errors
    /// The error of whichever step failed in the child.
    pub fn new(spawner: &Spawner<'_>) -> io::Result<Self> {
        let (gate_read, gate) = pipe()?;
        let (status, status_write) = pipe()?;
        let Some(pid) = fork()? else {
            go(spawner, &File::from(gate_read), &File::from(status_write))
        };
        drop((gate_read, status_write));
        let mut gated = Self {
            pid,
            gate: Some(File::from(gate)),
            status: File::from(status),
        };
        match number_from(&mut gated.status) {
            Ok(Some(0)) => Ok(gated),
            Ok(Some(number)) => Err(gated.given_up(io::Error::from_raw_os_error(number))),
            Ok(None) => Err(gated.given_up(ErrorKind::BrokenPipe.into())),
            Err(error) => Err(gated.given_up(error)),
        }
    }

    /// Waits until the child sleeps at its gate, but not for ever; returns whether it does. Until then it may be
    /// waiting for a CPU, and the kernel adds a wait to its numbers when it ends: after the start, if that came first.
    #[must_use]
    pub fn settle(&self) -> bool {
        for _ in 0..MOST_LOOKS {
            if sleeps(self.pid) {
                return true;
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        false
    }

    /// Lets the child go.
    ///
    /// # Errors
    /// If it is gone.
    pub fn open(&mut self) -> io::Result<()> {
        self.gate
            .take()
            .map_or(Ok(()), |mut gate| gate.write_all(&[1]))
    }

    /// Returns what shows whether a child that was let go is executing its target.
    pub fn executing(self) -> Executing {
        Executing(self.status)
    }

    /// Kills and reaps the child.
    pub fn dismiss(self) {
        let _ = self.given_up(ErrorKind::Other.into());
    }

    fn given_up(mut self, error: io::Error) -> io::Error {
        self.gate = None;
        let _ = super::kill(self.pid);
        let _ = reap(self.pid);
        error
    }
}

/// Readable as soon as a child is executing its target, or has failed to.
pub struct Executing(File);

impl Executing {
    /// The descriptor, to poll it.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// The error that keeps the child from executing its target; waits until that is known.
    #[must_use]
    pub fn error(mut self) -> Option<io::Error> {
        match number_from(&mut self.0) {
            Ok(number) => number.map(io::Error::from_raw_os_error),
            Err(error) => Some(error),
        }
    }
}

/// The next number that a child writes; `None` if it writes no more.
fn number_from(status: &mut File) -> io::Result<Option<i32>> {
    let mut number = READY;
    match status.read_exact(&mut number) {
        Ok(()) => Ok(Some(i32::from_ne_bytes(number))),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a process has left its CPU to sleep. The state alone is not enough: it is set before the process leaves, and
/// it may have to wait in between. Without a /proc that shows it, there are no numbers of it either.
fn sleeps(pid: i32) -> bool {
    numbers::text(pid, "status").map_or(true, |status| {
        let value = |key| status.lines().find_map(|line| line.strip_prefix(key));
        match value("State:\t").and_then(|state| state.chars().next()) {
            Some('R') => false,
            Some('S') => value("voluntary_ctxt_switches:\t") != Some("0"),
            _ => true,
        }
    })
}

/// The child's whole life before the target: nothing that allocates, locks or panics.
fn go(spawner: &Spawner<'_>, mut gate: &File, mut status: &File) -> ! {
    let said = spawner
        .prepare()
        .and_then(|()| status.write_all(&READY))
        .and_then(|()| gate.read_exact(&mut [0]))
        .and_then(|()| spawner.replace());
    if let Err(error) = said {
        let number = error.raw_os_error().unwrap_or(libc::ENOEXEC);
        let _ = status.write_all(&number.to_ne_bytes());
    }
    // SAFETY: ends only the child, without the usual work at a process's exit.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

#[cfg(test)]
mod tests {
    use super::{fork, number_from, pipe, sleeps, Gated, READY};
    use std::fs::File;
    use std::io::Write;
    use std::time::{Duration, Instant};

    const BUSY: Duration = Duration::from_millis(50);

    /// A child that is busy for a while without a wait, then says it is ready and sleeps. A program that is
    /// executed may sleep earlier: for its file, on a network file system.
    fn busy_then_asleep() -> Gated {
        let (read, write) = pipe().expect("a pipe");
        let begun = Instant::now();
        let Some(pid) = fork().expect("a child") else {
            // Forked from a process with several threads, so nothing here may allocate or lock.
            while begun.elapsed() < BUSY {}
            let _ = File::from(write).write_all(&READY);
            loop {
                std::thread::sleep(Duration::from_secs(1000));
            }
        };
        Gated {
            pid,
            gate: None,
            status: File::from(read),
        }
    }

    #[test]
    fn one_that_has_not_come_to_sleep_yet_is_waited_for() {
        let mut gated = busy_then_asleep();
        let at_first = sleeps(gated.pid);
        let has_settled = gated.settle();
        let is_asleep = sleeps(gated.pid);
        super::super::kill(gated.pid).expect("it is ours");
        super::super::reap(gated.pid).expect("it was killed");
        assert!(!at_first);
        assert!(has_settled && is_asleep);
        // The child had said so by then. No writer is left that this could wait for.
        assert_eq!(number_from(&mut gated.status).expect("a pipe"), Some(0));
    }
}
