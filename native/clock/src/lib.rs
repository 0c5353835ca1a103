//! The library that Steelyard preloads (`LD_PRELOAD`) into a program whose clock is to stand still while
//! it waits for a processor.
//!
//! For the monotonic clocks, by which harnesses of all languages time their samples, `clock_gettime`
//! returns the elapsed time less what the calling thread has waited since its first call (see [`clock`]).
//! The kernel records that wait (see [`waited`]); it is read again only after the thread was switched out
//! (see [`mark`]), so that a call costs little more than without the library.
//!
//! A process has one such clock: that of the thread that calls first. Once another thread calls as well,
//! the clock goes on at the usual pace for all of them, as times of two threads may be compared, and each
//! has a wait of its own. What was left out, and where that happened, is added up for all processes in a
//! file that `STEELYARD_CLOCK` in the environment names (see [`account`]).
//!
//! The library lives in somebody else's process, and may be called before that has begun, in a signal
//! handler, or in a child between `fork` and `exec`: no standard library, no allocation, no lock, no
//! panic.

#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]

pub mod account;
pub mod clock;
pub mod deadlines;
#[path = "../../preload/src/environment.rs"]
mod environment;
mod libc;
pub mod mark;
#[path = "../../preload/src/panic.rs"]
mod panic;
mod start;
pub mod waited;

/// The library's state exists once per process, so only one test at a time may use it, and each begins with nothing
/// left out: a past deadline, moved by what another test has left out, could be far in the future.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    clock::lag_by(0);
    alone
}
