//! Resource limits of a process, which its children inherit.

use super::check;
use std::io;

#[cfg(target_env = "gnu")]
type Resource = libc::__rlimit_resource_t;
#[cfg(not(target_env = "gnu"))]
type Resource = libc::c_int;

/// How much of something a process may have.
#[derive(Clone, Copy)]
pub struct Limit {
    /// The current limit.
    pub now: u64,
    /// The most that it may be raised to.
    pub most: u64,
}

/// The limit of the stack in bytes, which children inherit.
///
/// # Errors
/// If the system refuses.
pub fn stack_limit() -> io::Result<Limit> {
    limit(libc::RLIMIT_STACK)
}

/// Sets the limit of the stack.
///
/// # Errors
/// If the system refuses.
pub fn set_stack_limit(limit: Limit) -> io::Result<()> {
    set_limit(libc::RLIMIT_STACK, limit)
}

/// Raises the limit of open files of this process and its children to the maximum; returns the old one if lower.
#[must_use]
pub fn raise_file_limit() -> Option<Limit> {
    let before = limit(libc::RLIMIT_NOFILE).ok()?;
    let raised = Limit {
        now: before.most,
        ..before
    };
    (before.now < before.most && set_limit(libc::RLIMIT_NOFILE, raised).is_ok()).then_some(before)
}

/// Sets the limit of open files of the calling process, which is its own even while it shares another's memory.
///
/// # Errors
/// If the system refuses.
pub(super) fn set_file_limit(limit: Limit) -> io::Result<()> {
    set_limit(libc::RLIMIT_NOFILE, limit)
}

fn limit(resource: Resource) -> io::Result<Limit> {
    let mut found = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `found` is a valid place for the result.
    check(unsafe { libc::getrlimit(resource, &mut found) })?;
    Ok(Limit {
        now: found.rlim_cur,
        most: found.rlim_max,
    })
}

fn set_limit(resource: Resource, limit: Limit) -> io::Result<()> {
    let wanted = libc::rlimit {
        rlim_cur: limit.now,
        rlim_max: limit.most,
    };
    // SAFETY: `wanted` is a valid limit.
    check(unsafe { libc::setrlimit(resource, &wanted) }).map(drop)
}
