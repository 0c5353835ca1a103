//! The library that Steelyard preloads (`LD_PRELOAD`) into a program whose use of the heap it counts.
//!
//! It stands between the program and its allocator (see [`interpose`]) and records, for each thread, how
//! often the allocator was called, for how many bytes, and for how long (see [`slot`]). The numbers are in
//! a file that is mapped into memory from the start (see [`block`]), so that they can be read however the
//! process ended. `STEELYARD_HEAP` in the environment names the folder for these files: each process, and
//! each program that a process executes, makes one.
//!
//! The library lives in somebody else's process, and may be called before that has begun, in a signal
//! handler, or in a child between `fork` and `exec`: no standard library, no allocation, no lock, no
//! panic.

#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]

pub mod block;
pub mod bump;
mod clock;
#[path = "../../preload/src/environment.rs"]
mod environment;
pub mod interpose;
mod libc;
#[path = "../../preload/src/panic.rs"]
mod panic;
pub mod real;
pub mod slot;
mod start;
mod thread;

/// The library's state exists once per process, so only one test at a time may use it.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}
