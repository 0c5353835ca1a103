//! How soon this process runs when it wakes up (`sched_setattr(2)`).

use super::check;
use std::io;

/// `sched_attr` as of Linux 3.14.
#[repr(C)]
#[derive(Default)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    /// For an ordinary process, from Linux 6.12 on: the slice that it requests, in ns; 0 is the usual one. Earlier
    /// kernels neither use nor keep it.
    runtime: u64,
    deadline: u64,
    period: u64,
}

const SIZE: libc::c_uint = std::mem::size_of::<Scheduling>() as libc::c_uint;

/// The shortest slice that the kernel gives. A process that requests less than others takes the processor at wake-up.
const SHORTEST_SLICE_NS: u64 = 100_000;

/// Makes this process run as soon as it wakes up, and wake up on time. Processes that it starts inherit that.
///
/// # Errors
/// If the kernel or a filter does not allow it.
pub fn run_at_wake_ups() -> io::Result<()> {
    ask_for_slices_of(SHORTEST_SLICE_NS)?;
    if current()?.runtime != SHORTEST_SLICE_NS {
        return Err(io::ErrorKind::Unsupported.into());
    }
    set_timer_slack(1);
    Ok(())
}

/// Undoes [`run_at_wake_ups`].
pub fn run_as_usual() {
    let _ = ask_for_slices_of(0);
    set_timer_slack(0);
}

/// Sets by how many ns a sleep may be longer than requested; 0 is the usual slack.
fn set_timer_slack(ns: libc::c_ulong) {
    // SAFETY: this option takes a number only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, ns) };
}

fn ask_for_slices_of(ns: u64) -> io::Result<()> {
    let wanted = Scheduling {
        runtime: ns,
        ..current()?
    };
    // SAFETY: of this process (0); `wanted` outlives the call, and says how long it is.
    let result =
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::addr_of!(wanted), 0) };
    check(libc::c_int::try_from(result).unwrap_or(-1)).map(drop)
}

fn current() -> io::Result<Scheduling> {
    let mut found = Scheduling::default();
    let place = std::ptr::addr_of_mut!(found);
    // SAFETY: of this process (0); `place` is a valid place of so many bytes for the result.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, place, SIZE, 0) };
    check(libc::c_int::try_from(result).unwrap_or(-1))?;
    Ok(found)
}
