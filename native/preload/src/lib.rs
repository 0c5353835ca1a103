//! The library that Steelyard preloads (`LD_PRELOAD`) into a program that it counts.
//!
//! * Randomness from the C library is the same in every run (see [`random`]): a hash seed drawn anew
//!   changes the instructions of a Rust program with hash maps by 2e-4.
//! * The place of the main thread's stack (see [`stack`]) is found without reading `/proc/self/maps`, whose
//!   length depends on where files are.
//! * `STEELYARD_START=1` in the environment makes Callgrind begin to count when the libraries are loaded
//!   (`--instr-atstart=no`), as the loader's work depends on the environment.
//!
//! The library lives in somebody else's process, and may be called before that has begun or in a signal
//! handler: no standard library, no allocation, no lock, no panic, and little of the C library: the place of
//! `errno`, the memory functions that the compiler needs, and the description of a thread.

#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]

#[path = "../../../sdk/rust/src/client_requests.rs"]
mod client_requests;
pub mod counting;
mod environment;
mod panic;
pub mod random;
pub mod stack;
mod start;
