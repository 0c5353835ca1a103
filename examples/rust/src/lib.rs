//! A library with something to measure; `benches/suite` measures it.
//!
//! Built with the feature `planted`, [`hashing::fnv1a`] is 2 % slower, which a weighing of the two
//! builds has to find among all the benchmarks that are the same.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod hashing;
pub mod numbers;
pub mod parsing;
pub mod sorting;
pub mod text;
