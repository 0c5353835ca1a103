//! The probes of Steelyard: programs whose use of the caches is known, which show how long a machine takes
//! for an instruction and for a miss, and whether a cache simulation counts correctly.
//!
//! `steelyard-probes PATTERN ELEMENTS ITERATIONS` prints a checksum. With 0 iterations it does only the
//! set-up, so that the difference between two runs is the walk.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod chase;
mod request;
mod walk;

use request::{Pattern, Request};
use std::ffi::OsString;
use std::process::ExitCode;

const WRONG_USE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(readable).collect();
    match Request::parse(&words) {
        Ok(request) => {
            println!("{}", run(request));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("steelyard-probes: {message}");
            ExitCode::from(WRONG_USE)
        }
    }
}

fn readable(word: OsString) -> String {
    word.to_string_lossy().into_owned()
}

fn run(request: Request) -> u64 {
    let Request {
        pattern,
        elements,
        iterations,
    } = request;
    match pattern {
        Pattern::LinearI32 => walk::run::<i32>(elements, walk::LINEAR, iterations),
        Pattern::RandomI32 => walk::run::<i32>(elements, walk::RANDOM, iterations),
        Pattern::LinearU64 => walk::run::<u64>(elements, walk::LINEAR, iterations),
        Pattern::RandomU64 => walk::run::<u64>(elements, walk::RANDOM, iterations),
        Pattern::Chase => chase::run(elements, iterations),
    }
}
