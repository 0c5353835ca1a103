//! Benchmarks for Steelyard, which weighs two versions of a program against each other on
//! machines that nobody can keep quiet.
//!
//! Declare a bench target without Cargo's own harness:
//!
//! ```toml
//! [[bench]]
//! name = "suite"
//! harness = false
//! ```
//!
//! Its benchmarks are functions that set up, and then pass the code to be timed to [`Bench::run`]:
//!
//! ```no_run
//! use steelyard_bench::{black_box, Bench};
//!
//! fn sort(bench: &mut Bench, n: u64) {
//!     let numbers: Vec<u64> = (0..n).map(|i| i.wrapping_mul(bench.seed() | 1)).collect();
//!     bench.run(|| {
//!         let mut copy = numbers.clone();
//!         copy.sort_unstable();
//!         copy
//!     });
//! }
//!
//! fn parse(bench: &mut Bench) {
//!     bench.run(|| black_box("1234").parse::<u32>());
//! }
//!
//! steelyard_bench::main! {
//!     parse,
//!     "parse/again" => parse,
//!     "sort/n={n}" tags ["sorting"] for n in [10, 1000] => sort,
//! }
//! ```
//!
//! `cargo bench` gives a quick look at each. To find out whether a change made them slower, build
//! both versions and weigh the two executables: `steelyard compare --harness protocol OLD NEW`.
//! [`main!`] says how benchmarks are listed, [`Bench`] what is timed and what is not.

#![warn(missing_docs)]
#![deny(unsafe_code)] // allowed where it is needed, with a reason

mod arguments;
mod bench;
mod client_requests;
mod driven;
mod ended;
mod entry;
mod interactive;
mod macros;
mod meter;
mod output;
mod partner;
mod response;
mod status;
mod suite;

pub use bench::Bench;
pub use entry::Entry;
pub use std::hint::black_box;
pub use suite::Suite;
