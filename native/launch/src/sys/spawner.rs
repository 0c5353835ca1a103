//! `posix_spawn`, made ready ahead of time so that nothing but the call itself is timed.

use super::{check_number, signal_set};
use std::ffi::{CStr, CString};
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A spawn with everything in place.
pub struct Spawner<'a> {
    program: &'a CStr,
    argv: Vec<*mut libc::c_char>,
    env: Vec<*mut libc::c_char>,
    actions: FileActions,
    attributes: Attributes,
    /// The strings and descriptors that the fields above name.
    borrowed: PhantomData<(&'a CString, BorrowedFd<'a>)>,
}

impl<'a> Spawner<'a> {
    /// Prepares to run `program` as the leader of a group of its own, with default signals, and
    /// with `streams` as its fds 0, 1, 2 and so on. Each must be above those before its own place,
    /// as the copies are made one after the other; one that is in its place already is kept there.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn new(
        program: &'a CStr,
        argv: impl Iterator<Item = &'a CString>,
        env: impl Iterator<Item = &'a CString>,
        streams: impl Iterator<Item = BorrowedFd<'a>>,
    ) -> io::Result<Self> {
        let mut actions = FileActions::new()?;
        for (target, stream) in (0..).zip(streams) {
            actions.duplicate(stream, target)?;
        }
        Ok(Self {
            program,
            argv: pointers(argv),
            env: pointers(env),
            actions,
            attributes: Attributes::fresh_group()?,
            borrowed: PhantomData,
        })
    }

    /// Starts the process; returns when it is executing the program.
    ///
    /// # Errors
    /// The error of whichever step failed in the child.
    pub fn spawn(&self) -> io::Result<i32> {
        let mut pid = 0;
        // SAFETY: the strings outlive `self` by its lifetime, both arrays end in a null pointer,
        // and actions and attributes are initialised. The callee does not write to the strings.
        check_number(unsafe {
            libc::posix_spawn(
                &mut pid,
                self.program.as_ptr(),
                &self.actions.0,
                &self.attributes.0,
                self.argv.as_ptr(),
                self.env.as_ptr(),
            )
        })?;
        Ok(pid)
    }
}

fn pointers<'a>(strings: impl Iterator<Item = &'a CString>) -> Vec<*mut libc::c_char> {
    strings
        .map(|string| string.as_ptr().cast_mut())
        .chain(std::iter::once(std::ptr::null_mut()))
        .collect()
}

struct FileActions(libc::posix_spawn_file_actions_t);

impl FileActions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises the actions, which are used only if it succeeded.
        unsafe {
            check_number(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    fn duplicate(&mut self, from: BorrowedFd<'_>, to: libc::c_int) -> io::Result<()> {
        // SAFETY: the actions are initialised; the descriptors are only noted as numbers.
        check_number(unsafe {
            libc::posix_spawn_file_actions_adddup2(&mut self.0, from.as_raw_fd(), to)
        })
    }
}

impl Drop for FileActions {
    fn drop(&mut self) {
        // SAFETY: the actions are initialised and not used again.
        unsafe { libc::posix_spawn_file_actions_destroy(&mut self.0) };
    }
}

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn fresh_group() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises the attributes, which are used only if it succeeded.
        let mut attributes = unsafe {
            check_number(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Self(attributes.assume_init())
        };
        let flags = libc::POSIX_SPAWN_SETPGROUP
            | libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_SETSIGDEF;
        // SAFETY: the attributes are initialised, and the sets are copied.
        unsafe {
            let raw = &mut attributes.0;
            // The flags are small constants that the C library declares wider than it takes.
            check_number(libc::posix_spawnattr_setflags(raw, flags as libc::c_short))?;
            check_number(libc::posix_spawnattr_setpgroup(raw, 0))?;
            check_number(libc::posix_spawnattr_setsigmask(raw, &signal_set(&[])))?;
            check_number(libc::posix_spawnattr_setsigdefault(raw, &catchable()))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: the attributes are initialised and not used again.
        unsafe { libc::posix_spawnattr_destroy(&mut self.0) };
    }
}

/// Every signal whose handling can be changed.
fn catchable() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // Not sigfillset: it leaves out the two signals that the C library keeps to itself, and
    // posix_spawn would have the target ignore these.
    // SAFETY: any bits are a valid set.
    unsafe {
        set.as_mut_ptr().write_bytes(0xff, 1);
        libc::sigdelset(set.as_mut_ptr(), libc::SIGKILL);
        libc::sigdelset(set.as_mut_ptr(), libc::SIGSTOP);
        set.assume_init()
    }
}
