//! Safe wrappers of system calls that the standard library does not offer. All `unsafe` code of the
//! crate is here.

mod descriptors;
mod event;
mod gate;
mod limits;
mod perf;
mod perf_event;
mod processes;
mod scheduling;
mod spawner;

pub use descriptors::{
    capturing_pipe, close_all_on_exec, make_blocking, open_on_stdin, pidfd_open, pipe, poll,
    poll_entry, receive, SignalFd,
};
pub use event::Event;
pub use gate::{Executing, Gated};
pub use limits::{raise_file_limit, set_stack_limit, stack_limit, Limit};
pub use perf::{mount_for_this_thread, page_size, Any, Ring};
pub use processes::{
    block_signals, change_of, enterable, exit_is_pending, fix_addresses, fork, kill, lead_session,
    next_signal, own_affinity, own_pid, own_processor, own_session, peek_child,
    randomize_addresses, reap, reset_child_signal, set_own_affinity, signal, signal_at_parents_end,
    signal_group, state_of, subreaper, Change, Child, Ended, State,
};
pub use scheduling::{run_as_usual, run_at_wake_ups};
pub use spawner::{changed_signals, Changed, Spawner};

use std::io;

/// The monotonic clock.
#[must_use]
pub fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the result; this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// How long one tick of the kernel's clock counters is.
#[must_use]
pub fn tick_ns() -> u64 {
    // SAFETY: sysconf takes no pointers.
    let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    1_000_000_000 / u64::try_from(rate).unwrap_or(0).max(1)
}

/// Turns the -1 of a system call into its error.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// All signals that can be blocked.
fn full_signal_set() -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigfillset initialises the set before assume_init uses it.
    unsafe {
        libc::sigfillset(set.as_mut_ptr());
        set.assume_init()
    }
}

/// A set of signals.
fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set before sigaddset and assume_init use it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}
