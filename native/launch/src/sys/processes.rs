//! Processes: signals, ends, and what this process passes on to its children.

use super::{check, signal_set};
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;

/// This process's number.
#[must_use]
pub fn own_pid() -> i32 {
    // SAFETY: getpid cannot fail and takes nothing.
    unsafe { libc::getpid() }
}

/// The session that this process is in.
#[must_use]
pub fn own_session() -> i32 {
    // SAFETY: getsid of oneself cannot fail, and takes a number only.
    unsafe { libc::getsid(0) }
}

/// Makes this process the leader of a session of its own, if it is not one yet.
///
/// # Errors
/// If it leads a group, or the kernel refuses.
pub fn lead_session() -> io::Result<()> {
    if own_session() == own_pid() {
        return Ok(());
    }
    // SAFETY: setsid takes nothing.
    check(unsafe { libc::setsid() }).map(drop)
}

/// Makes orphaned descendants children of this process.
///
/// # Errors
/// If the kernel refuses.
pub fn subreaper() -> io::Result<()> {
    // SAFETY: this option takes a number only.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Makes a copy of this process: returns `None` in the copy, and its number here. Only to be called while
/// there is one thread, as others would be missing in the copy, with whatever they had locked.
///
/// # Errors
/// If the system refuses.
pub fn fork() -> io::Result<Option<i32>> {
    // SAFETY: with one thread the copy is complete.
    let pid = check(unsafe { libc::fork() })?;
    Ok((pid != 0).then_some(pid))
}

/// Makes the kernel send this process a signal when `parent` ends.
///
/// # Errors
/// If the kernel refuses, or the parent has already ended.
pub fn signal_at_parents_end(parent: i32, signal: libc::c_int) -> io::Result<()> {
    // SAFETY: this option takes a number only.
    check(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal, 0, 0, 0) })?;
    // SAFETY: getppid takes nothing.
    if unsafe { libc::getppid() } == parent {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ESRCH))
    }
}

/// Sleeps until one of `signals` arrives, which have to be blocked.
///
/// # Errors
/// If the system refuses.
pub fn next_signal(signals: &[libc::c_int]) -> io::Result<libc::c_int> {
    let set = signal_set(signals);
    loop {
        // SAFETY: `set` is initialised; the details are not asked for.
        match check(unsafe { libc::sigwaitinfo(&set, std::ptr::null_mut()) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// What has become of a child since the last look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It goes on.
    None,
    /// A signal stopped it.
    Stopped,
    /// It has ended and was reaped; its exit code, as shells report it.
    Ended(u8),
}

/// Looks at a child, and reaps it if it has ended.
///
/// # Errors
/// If it is not our child.
pub fn change_of(pid: i32) -> io::Result<Change> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the result.
    let found = check(unsafe { libc::waitpid(pid, &mut status, libc::WNOHANG | libc::WUNTRACED) })?;
    let code = if libc::WIFSIGNALED(status) {
        128 + libc::WTERMSIG(status)
    } else {
        libc::WEXITSTATUS(status)
    };
    Ok(match found {
        0 => Change::None,
        _ if libc::WIFSTOPPED(status) => Change::Stopped,
        _ => Change::Ended(u8::try_from(code).unwrap_or(u8::MAX)),
    })
}

/// Lays out targets at random addresses even if this process was started without: layout is a source of
/// variation that a comparison must sample, not freeze.
pub fn randomize_addresses() {
    let _ = change_personality(|current| current & !libc::ADDR_NO_RANDOMIZE);
}

/// Lays out targets at the same addresses each time, until [`randomize_addresses`]. If the system refuses
/// (containers filter the call), they stay random, and this is false.
pub fn fix_addresses() -> bool {
    change_personality(|current| current | libc::ADDR_NO_RANDOMIZE)
}

/// Changes this process's personality, which children inherit; if refused, it stays as it is, and this is false.
fn change_personality(change: impl Fn(libc::c_int) -> libc::c_int) -> bool {
    const ASK: libc::c_ulong = 0xffff_ffff;
    // SAFETY: personality takes a number only; this one changes nothing.
    let current = unsafe { libc::personality(ASK) };
    if current == -1 || change(current) == current {
        return current != -1;
    }
    // SAFETY: as above.
    unsafe { libc::personality(change(current) as libc::c_ulong) != -1 }
}

/// Blocks `signals` in this thread; children are spawned with none blocked.
///
/// # Errors
/// If the system refuses.
pub fn block_signals(signals: &[libc::c_int]) -> io::Result<()> {
    let set = signal_set(signals);
    // SAFETY: `set` is initialised; the old mask is not asked for.
    check(unsafe { libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) }).map(drop)
}

/// Undoes an inherited "ignore" of SIGCHLD, with which children would vanish unmeasured.
pub fn reset_child_signal() {
    // SAFETY: installs no handler, only the default.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Kills one process. One that is already gone is left to the caller's next look at it.
///
/// # Errors
/// If we may not, as it runs with another user's rights.
pub fn kill(pid: i32) -> io::Result<()> {
    if pid <= 0 {
        return Ok(());
    }
    // SAFETY: kill takes numbers only.
    match check(unsafe { libc::kill(pid, libc::SIGKILL) }) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => Err(error),
        _ => Ok(()),
    }
}

/// Sends a signal to one process, as far as that is possible.
pub fn signal(pid: i32, number: libc::c_int) {
    if pid > 0 {
        // SAFETY: kill takes numbers only.
        unsafe { libc::kill(pid, number) };
    }
}

/// Sends a signal to all processes of a group, as far as that is possible.
pub fn signal_group(group: i32, number: libc::c_int) {
    // Not -1, which means every process there is, and not 0, our own group.
    if group > 1 {
        // SAFETY: kill takes numbers only.
        unsafe { libc::kill(-group, number) };
    }
}

/// A look at our children that reaps none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Child {
    /// There are none.
    None,
    /// There are some, and all are alive.
    Alive,
    /// This one has ended, and waits to be reaped.
    Ended {
        /// Its number.
        pid: i32,
        /// Whether SIGKILL ended it.
        killed: bool,
    },
}

/// Looks whether there are children and whether one has ended.
#[must_use]
pub fn peek_child() -> Child {
    match wait_id(libc::P_ALL, 0, libc::WNOHANG) {
        // SAFETY: waitid fills in these fields, with zeros if no child has ended.
        Ok(info) => match unsafe { (info.si_pid(), info.si_status()) } {
            (0, _) => Child::Alive,
            (pid, status) => Child::Ended {
                pid,
                killed: info.si_code == libc::CLD_KILLED && status == libc::SIGKILL,
            },
        },
        Err(_) => Child::None,
    }
}

/// Whether the child has ended; with `wait`, returns only when it has. It is not reaped.
///
/// # Errors
/// If it is not our child.
pub fn exit_is_pending(pid: i32, wait: bool) -> io::Result<bool> {
    let id = libc::id_t::try_from(pid).unwrap_or(0);
    let info = wait_id(libc::P_PID, id, if wait { 0 } else { libc::WNOHANG })?;
    // SAFETY: waitid fills in the field, with zero if the child has not ended.
    Ok(unsafe { info.si_pid() } == pid)
}

/// What a child is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It goes on.
    Going,
    /// This signal has stopped it.
    Stopped(i32),
    /// It has ended, and waits to be reaped.
    Ended,
}

/// What a child is doing now.
///
/// # Errors
/// If it is not our child.
pub fn state_of(pid: i32) -> io::Result<State> {
    let id = libc::id_t::try_from(pid).unwrap_or(0);
    let info = wait_id(libc::P_PID, id, libc::WNOHANG | libc::WSTOPPED)?;
    // SAFETY: waitid fills in both fields, or leaves zeros if there is nothing to tell.
    let (found, status) = unsafe { (info.si_pid(), info.si_status()) };
    Ok(match info.si_code {
        _ if found != pid => State::Going,
        libc::CLD_STOPPED => State::Stopped(status),
        _ => State::Ended,
    })
}

fn wait_id(
    kind: libc::idtype_t,
    id: libc::id_t,
    options: libc::c_int,
) -> io::Result<libc::siginfo_t> {
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let options = libc::WEXITED | libc::WNOWAIT | options;
        // SAFETY: `info` is a valid place for the result.
        match check(unsafe { libc::waitid(kind, id, info.as_mut_ptr(), options) }) {
            // SAFETY: all zeros is a valid siginfo_t, and waitid wrote valid fields over it.
            Ok(_) => return Ok(unsafe { info.assume_init() }),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// How a reaped process ended, and what it used.
pub struct Ended {
    /// Its exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// What it and its waited-for children used.
    pub usage: libc::rusage,
}

/// Reaps a child, waiting for its end if need be.
///
/// # Errors
/// If it is not our child.
pub fn reap(pid: i32) -> io::Result<Ended> {
    loop {
        let mut status = 0;
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: both are valid places for the results.
        match check(unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) }) {
            Ok(_) => {
                return Ok(Ended {
                    exit_code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
                    signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
                    // SAFETY: all zeros is a valid rusage, and wait4 wrote valid fields over it.
                    usage: unsafe { usage.assume_init() },
                });
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The CPUs this thread may run on, as a bit mask without trailing zero words.
///
/// # Errors
/// If the system refuses.
pub fn own_affinity() -> io::Result<Vec<u64>> {
    // The kernel wants room for every CPU it could have; no kernel is built for more.
    let mut mask = vec![0_u64; 1024];
    let bytes = std::mem::size_of_val(mask.as_slice());
    // SAFETY: the mask is `bytes` long; the kernel takes masks of any length.
    check(unsafe { libc::sched_getaffinity(0, bytes, mask.as_mut_ptr().cast()) })?;
    while mask.last() == Some(&0) {
        mask.pop();
    }
    Ok(mask)
}

/// The CPU that this thread runs on just now.
///
/// # Errors
/// If the system does not tell.
pub fn own_processor() -> io::Result<u16> {
    // SAFETY: the call takes nothing.
    let number = check(unsafe { libc::sched_getcpu() })?;
    u16::try_from(number).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Restricts this thread, and the children it starts from now on, to the CPUs of `mask`.
///
/// # Errors
/// If none of them exists, or the thread may use none of them.
pub fn set_own_affinity(mask: &[u64]) -> io::Result<()> {
    let bytes = std::mem::size_of_val(mask);
    // SAFETY: the mask is `bytes` long; the kernel only reads it.
    check(unsafe { libc::sched_setaffinity(0, bytes, mask.as_ptr().cast()) }).map(drop)
}

/// Whether `path` is a directory that this process may enter.
///
/// # Errors
/// Why it is not.
pub fn enterable(path: &CStr) -> io::Result<()> {
    // With the final slash-dot, anything but a directory is refused with ENOTDIR.
    let inside = [path.to_bytes(), b"/."].concat();
    let inside = std::ffi::CString::new(inside)?;
    // SAFETY: the string ends in NUL and outlives the call.
    check(unsafe { libc::access(inside.as_ptr(), libc::X_OK) }).map(drop)
}
