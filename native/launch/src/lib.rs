//! The launch server of Steelyard: starts one command at a time, or two at once, waits for the
//! end, and reports what it cost.
//!
//! The driver talks to it over a Unix stream socket on fd 0, one JSON object per line each way
//! (see [`protocol`]). It is a process of its own rather than a part of the driver for two
//! reasons:
//!
//! * A child made by fork or vfork starts on its parent's memory, and the kernel counts that
//!   into the child's `ru_maxrss` when it executes the target. A driver that has grown to
//!   300 MiB makes `/bin/true` look 320 MB large; this server keeps the floor at its own few MB.
//! * The server sees the end of its driver as the end of the socket, even after `kill -9`, and
//!   then kills the running target and everything it started, so that nothing is orphaned.
//!
//! All `unsafe` code is in [`sys`].

#![warn(missing_docs)]

pub mod addresses;
pub mod asked;
pub mod channel;
pub mod counters;
pub mod covariates;
pub mod event;
pub mod failure;
pub mod guard;
mod kin;
pub mod launch;
pub mod leftovers;
pub mod means;
pub mod numbers;
pub mod outcome;
pub mod protocol;
pub mod server;
pub mod spawn;
pub mod switches;
pub mod sys;
pub mod tail;
pub mod together;
pub mod tracepoint;
pub mod tree;
pub mod turns;
pub mod wait;
