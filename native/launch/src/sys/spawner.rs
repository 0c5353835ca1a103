//! A child that shares our memory until it executes the target, prepared ahead of time so that only the
//! call itself is timed.
//!
//! `posix_spawn` does the same inside, but cannot request a signal at the parent's death, which only the
//! child itself can.

use super::limits::set_file_limit;
use super::{check, full_signal_set, own_pid, signal_set, Limit};
use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// The exit code with which shells report a command that was not executed; nobody sees it.
pub(super) const NOT_EXECUTED: libc::c_int = 127;

/// The child's stack in units of [`Unit`]: 64 KiB for a few calls, none of which takes more than some hundred bytes.
const STACK_UNITS: usize = 4096;

/// Aligned as every machine requires of a stack.
#[repr(align(16))]
struct Unit(#[allow(dead_code)] [u8; 16]);

/// A spawn with everything prepared.
pub struct Spawner<'a> {
    program: &'a CStr,
    argv: Vec<*const libc::c_char>,
    env: Vec<*const libc::c_char>,
    cwd: Option<&'a CStr>,
    streams: Vec<RawFd>,
    changed: &'a Changed,
    parent: i32,
    stack: Vec<Unit>,
    /// The strings and descriptors that the fields above name.
    borrowed: PhantomData<(&'a CString, BorrowedFd<'a>)>,
}

/// What has changed in this process and is restored for targets.
pub struct Changed {
    /// The signals that are ignored or handled: for a target all have their defaults.
    pub signals: Vec<libc::c_int>,
    /// How many files a target may have open, if this process may have more.
    pub files: Option<Limit>,
}

/// What the child is given, and the error number that it leaves if it cannot execute the target.
struct Order<'a> {
    spawner: &'a Spawner<'a>,
    error: Cell<libc::c_int>,
}

impl<'a> Spawner<'a> {
    /// Prepares to run `program` as the leader of a group of its own, with default signals, and with
    /// `streams` as its fds 0, 1, 2 and so on. As the copies are made one after the other, no stream may
    /// have a number below its place; one that is in its place already stays there. What `changed` lists is
    /// restored.
    #[must_use]
    pub fn new(
        program: &'a CStr,
        argv: impl Iterator<Item = &'a CString>,
        env: impl Iterator<Item = &'a CString>,
        cwd: Option<&'a CStr>,
        streams: impl Iterator<Item = BorrowedFd<'a>>,
        changed: &'a Changed,
    ) -> Self {
        Self {
            program,
            argv: pointers(argv),
            env: pointers(env),
            cwd,
            streams: streams.map(|stream| stream.as_raw_fd()).collect(),
            changed,
            parent: own_pid(),
            stack: Vec::with_capacity(STACK_UNITS),
            borrowed: PhantomData,
        }
    }

    /// Starts the process; returns when it is executing the program.
    ///
    /// It is killed when the thread that called this ends, unless the program gains rights (such as setuid):
    /// the kernel drops that request when it executes such a program.
    ///
    /// # Errors
    /// The error of whichever step failed in the child.
    pub fn spawn(&mut self) -> io::Result<i32> {
        // SAFETY: one past the end of the allocation.
        let stack_top = unsafe { self.stack.as_mut_ptr().add(self.stack.capacity()) };
        let order = Order {
            spawner: self,
            error: Cell::new(0),
        };
        let mut before = signal_set(&[]);
        // No handler may run in the child while it has our memory.
        // SAFETY: both sets are initialised.
        check(unsafe { libc::sigprocmask(libc::SIG_SETMASK, &full_signal_set(), &mut before) })?;
        // SAFETY: with CLONE_VFORK we sleep until the child has executed the target or ended, so
        // that the order and the stack outlive its use of them and nobody else runs on our memory.
        let cloned = check(unsafe {
            libc::clone(
                follow,
                stack_top.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                std::ptr::addr_of!(order).cast_mut().cast(),
            )
        });
        // SAFETY: the set was filled in above.
        unsafe { libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
        let pid = cloned?;
        match order.error.get() {
            0 => Ok(pid),
            error => {
                let _ = super::reap(pid);
                Err(io::Error::from_raw_os_error(error))
            }
        }
    }

    /// What the child does, on our memory: nothing that allocates, locks or panics.
    fn execute(&self) -> io::Result<()> {
        self.prepare()?;
        self.replace()
    }

    /// Everything up to the target itself.
    pub(super) fn prepare(&self) -> io::Result<()> {
        // SAFETY: all of these take numbers, and strings that outlive the child's use of them. What they
        // change is the child's alone, which has copies of our descriptors, signals and folder.
        unsafe {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0))?;
            // If the parent died before that call, no signal comes any more.
            if libc::getppid() != self.parent {
                libc::_exit(NOT_EXECUTED);
            }
            check(libc::setpgid(0, 0))?;
            if let Some(cwd) = self.cwd {
                check(libc::chdir(cwd.as_ptr()))?;
            }
            for (place, &stream) in (0..).zip(&self.streams) {
                check(if stream == place {
                    libc::fcntl(stream, libc::F_SETFD, 0)
                } else {
                    libc::dup2(stream, place)
                })?;
            }
            for &signal in &self.changed.signals {
                set_default(signal);
            }
        }
        // After the copies: descriptors that are open may be above the limit.
        self.changed.files.map_or(Ok(()), set_file_limit)
    }

    /// Replaces the child by the target; returns only if that fails.
    pub(super) fn replace(&self) -> io::Result<()> {
        // SAFETY: these take strings and arrays that outlive the child's use of them; the arrays end in
        // a null pointer.
        unsafe {
            check(libc::sigprocmask(
                libc::SIG_SETMASK,
                &signal_set(&[]),
                std::ptr::null_mut(),
            ))?;
            check(libc::execve(
                self.program.as_ptr(),
                self.argv.as_ptr(),
                self.env.as_ptr(),
            ))?;
        }
        Ok(())
    }
}

/// The child's whole life before the target.
extern "C" fn follow(order: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `spawn` passes a pointer to its order, which outlives the child's use of it.
    let order = unsafe { &*order.cast::<Order<'_>>() };
    if let Err(error) = order.spawner.execute() {
        order
            .error
            .set(error.raw_os_error().unwrap_or(libc::ENOEXEC));
    }
    // SAFETY: ends only the child, without the usual work at a process's exit.
    unsafe { libc::_exit(NOT_EXECUTED) }
}

fn pointers<'a>(strings: impl Iterator<Item = &'a CString>) -> Vec<*const libc::c_char> {
    strings
        .map(|string| string.as_ptr())
        .chain(std::iter::once(std::ptr::null()))
        .collect()
}

/// A signal's handling in the kernel's form: the handler comes first, and zeros are the default. The C
/// library's own call refuses the two signals that it reserves, but a parent that used `posix_spawn` may
/// have made us ignore them.
type Handling = [usize; 8];

/// The kernel's set of signals is one word of 64 bits.
const MASK_BYTES: usize = 8;
const SIGNALS: std::ops::RangeInclusive<libc::c_int> = 1..=64;

/// The signals that are ignored or handled here.
#[must_use]
pub fn changed_signals() -> Vec<libc::c_int> {
    SIGNALS
        .filter(|&signal| {
            let mut handling: Handling = [0; 8];
            // SAFETY: `handling` has room for what the kernel writes; nothing is changed.
            let asked = unsafe {
                libc::syscall(
                    libc::SYS_rt_sigaction,
                    signal,
                    std::ptr::null::<Handling>(),
                    handling.as_mut_ptr(),
                    MASK_BYTES,
                )
            };
            asked == 0 && handling[0] != libc::SIG_DFL
        })
        .collect()
}

fn set_default(signal: libc::c_int) {
    let handling: Handling = [0; 8];
    // SAFETY: installs no handler, only the default; SIGKILL and SIGSTOP always have that.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigaction,
            signal,
            handling.as_ptr(),
            std::ptr::null::<Handling>(),
            MASK_BYTES,
        )
    };
}
