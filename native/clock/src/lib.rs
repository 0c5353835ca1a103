//! The library that Steelyard preloads (`LD_PRELOAD`) into a program whose clock shall stand still while
//! it waits for a processor.
//!
//! `clock_gettime` of the monotonic clocks, by which harnesses of all languages time their samples,
//! answers the elapsed time less what the thread that asks has waited since it first asked (see
//! [`clock`]). The kernel keeps that wait (see [`waited`]); it is read again only after the thread was
//! switched out (see [`mark`]), so that a question costs little more than without the library.
//!
//! A process has one such clock: that of the thread that asks first. Once another thread asks as well,
//! it goes on at the usual pace, for all of them: times of two threads may be compared, and each has a
//! wait of its own. What was left out, and where that happened, is added up for all processes in a file
//! that `STEELYARD_CLOCK` in the environment names (see [`account`]).
//!
//! It lives in somebody else's process, and may be called before that has begun, or in a signal
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

/// What the library has of a process there is once, so only one test at a time may use that, and each finds nothing
/// left out: a deadline in the past, moved by what another test has left out, may be far in the future.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    clock::lag_by(0);
    alone
}
