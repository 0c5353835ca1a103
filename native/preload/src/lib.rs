//! The library that Steelyard preloads (`LD_PRELOAD`) into a program that it counts.
//!
//! * Randomness from the C library is the same in every run (see [`random`]): a hash seed drawn
//!   anew moves the instructions of a Rust program with hash maps by 2e-4.
//! * Where the main thread's stack is (see [`stack`]) is told without reading `/proc/self/maps`,
//!   whose length depends on where files are.
//! * `STEELYARD_START=1` in the environment has Callgrind begin to count when the libraries are
//!   loaded (`--instr-atstart=no`), as the loader's work depends on the environment.
//!
//! It lives in somebody else's process, and may be called before that has begun or in a signal
//! handler: no standard library, no allocation, no lock, no panic, and little of the C library: where
//! `errno` is, the memory functions that the compiler asks for, and what describes a thread.

#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]

mod client_requests;
pub mod counting;
mod environment;
mod panic;
pub mod random;
pub mod stack;
mod start;
