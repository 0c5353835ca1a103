//! The process above the server. A target can kill its parent; then this process, to which everything
//! that the server leaves behind is re-parented, kills that as well. It also wakes a server that was
//! stopped, and so could not watch the time.

use crate::leftovers::Leftovers;
use crate::sys::{self, Change};
use std::io;
use std::time::Duration;

/// The signals at which the server kills what is running, and ends.
pub const ENDING: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGHUP, libc::SIGINT, libc::SIGQUIT];

/// Runs `server` in a child process, and returns its exit code when nothing of it is left. Only to be
/// called while the process has one thread.
///
/// The driver's socket stays open here meanwhile, so that its end shows the driver that all is gone.
///
/// # Errors
/// If the system refuses what this needs.
pub fn watch(server: impl FnOnce() -> u8) -> io::Result<u8> {
    let guard = sys::own_pid();
    let mut leftovers = Leftovers::adopted();
    if !leftovers.are_adopted() {
        // Before orphans are searched in the session: the process that started this one is not an orphan.
        sys::lead_session()?;
        leftovers = Leftovers::adopted();
    }
    sys::reset_child_signal();
    sys::block_signals(&ENDING)?;
    sys::block_signals(&[libc::SIGCHLD])?;
    let Some(pid) = sys::fork()? else {
        // Not SIGKILL: it has to kill its target first.
        sys::signal_at_parents_end(guard, libc::SIGTERM)?;
        return Ok(server());
    };
    let code = loop {
        match sys::next_signal(&[&ENDING[..], &[libc::SIGCHLD]].concat())? {
            libc::SIGCHLD => match sys::change_of(pid)? {
                Change::Ended(code) => break code,
                Change::Stopped => sys::signal(pid, libc::SIGCONT),
                Change::None => {}
            },
            ending => sys::signal(pid, ending),
        }
    };
    if code == 0 {
        // The driver is gone: what is left was allowed to go on until then.
        leftovers.dismiss();
    } else {
        leftovers.clear(Duration::ZERO);
    }
    Ok(code)
}
