//! Use without a driver: a quick look at each benchmark, a test, or a list.

use crate::bench::{Bench, Plan};
use crate::entry::{check_names, Entry};
use crate::status::{complain, FAILED, WRONG_USE};
use std::env;
use std::io::{self, Write};

const HINT: &str = "weigh with: steelyard compare --harness protocol OLD NEW";
const SEED: u64 = 0;
const USAGE: &str = "usage: cargo bench -- [PART...] [--exact] [--skip PART] [--list | --test]

Looks briefly at each benchmark, or at those with a PART in their names (--exact: called PART).
With --list it names them and runs none, with --test it runs each body once. To weigh two builds:
  steelyard compare --harness protocol OLD NEW
";

/// Options of Rust's own harness whose value is the next argument.
const WITH_VALUE: [&str; 7] = [
    "--skip",
    "--test-threads",
    "--color",
    "--format",
    "--logfile",
    "--shuffle-seed",
    "-Z",
];

/// Runs all benchmarks, or those with one of the arguments in their name, or with `--list` names them as Rust's
/// own harness does, or with `--help` says all this; returns the status to exit with.
pub(crate) fn show(mut entries: Vec<Entry<'_>>, arguments: &[String]) -> u8 {
    if let Err(message) = check_names(&entries) {
        return complain(WRONG_USE, &message);
    }
    let choice = Choice::of(arguments);
    entries.retain(|entry| choice.has(&entry.name));
    let shown = if has_flag(arguments, "--help") || has_flag(arguments, "-h") {
        io::stdout().write_all(USAGE.as_bytes()).map(|()| true)
    } else if has_flag(arguments, "--list") {
        list(&entries, &mut io::stdout())
    } else if is_test(arguments, env::var_os("CARGO").is_some()) {
        test(entries, &mut io::stdout())
    } else {
        look(entries, &mut io::stdout())
    };
    match shown {
        Ok(true) => 0,
        Ok(false) => FAILED,
        // Such as for a pipe that nobody reads any more: the remaining benchmarks would run for nobody.
        Err(error) => complain(FAILED, &format!("cannot write what was found: {error}")),
    }
}

fn has_flag(arguments: &[String], flag: &str) -> bool {
    arguments.iter().any(|argument| argument == flag)
}

/// Which benchmarks are run, by parts of their names.
struct Choice<'a> {
    /// None of these means all.
    parts: Vec<&'a str>,
    skipped: Vec<&'a str>,
    /// Whether these are whole names, as those that run each test of a list by itself say.
    is_exact: bool,
    /// Whether only those are wanted that are left out otherwise, of which there are none here.
    is_empty: bool,
}

impl<'a> Choice<'a> {
    /// Other arguments with a dash are for other harnesses, such as cargo's `--bench` and `--nocapture`:
    /// `cargo test --all-targets` passes the same to all.
    fn of(arguments: &'a [String]) -> Self {
        let (mut parts, mut skipped) = (Vec::new(), Vec::new());
        let mut remaining = arguments.iter().map(String::as_str);
        while let Some(argument) = remaining.next() {
            if WITH_VALUE.contains(&argument) {
                let value = remaining.next();
                skipped.extend(value.filter(|_| argument == "--skip"));
            } else if let Some(part) = argument.strip_prefix("--skip=") {
                skipped.push(part);
            } else if !argument.starts_with('-') {
                parts.push(argument);
            }
        }
        let (is_exact, is_empty) = (
            has_flag(arguments, "--exact"),
            has_flag(arguments, "--ignored"),
        );
        Self {
            parts,
            skipped,
            is_exact,
            is_empty,
        }
    }

    fn has(&self, name: &str) -> bool {
        let fits = |part: &str| {
            if self.is_exact {
                name == part
            } else {
                name.contains(part)
            }
        };
        let is_among = |parts: &[&str]| parts.iter().any(|part| fits(part));
        !self.is_empty
            && !is_among(&self.skipped)
            && (self.parts.is_empty() || is_among(&self.parts))
    }
}

/// `cargo bench` passes `--bench`. `cargo test` passes nothing, like a user who starts the program
/// directly, but Cargo sets a variable in the environment.
fn is_test(arguments: &[String], by_cargo: bool) -> bool {
    has_flag(arguments, "--test") || (by_cargo && !has_flag(arguments, "--bench"))
}

fn list(entries: &[Entry<'_>], out: &mut dyn Write) -> io::Result<bool> {
    for entry in entries {
        writeln!(out, "{}: benchmark", entry.name)?;
    }
    Ok(true)
}

fn look(entries: Vec<Entry<'_>>, out: &mut dyn Write) -> io::Result<bool> {
    let width = entries.iter().map(|entry| entry.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut all_ended = true;
    for entry in entries {
        let name = entry.name.clone();
        let looked = quick_time(entry);
        let shown = looked.as_ref().map_or_else(String::clone, |&ns| time(ns));
        writeln!(out, "{name:width$}  {shown:>12}")?;
        all_ended &= looked.is_ok();
    }
    writeln!(out, "\none quick look each, which noise may move; {HINT}")?;
    Ok(all_ended)
}

fn test(entries: Vec<Entry<'_>>, out: &mut dyn Write) -> io::Result<bool> {
    let (mut passed, mut failed) = (0, 0);
    for entry in entries {
        let name = entry.name.clone();
        let once = Plan::Asked {
            loops: 1,
            samples: 1,
        };
        match entry.run(&mut Bench::new(once, SEED)) {
            Ok(()) => {
                passed += 1;
                writeln!(out, "{name} ... ok")?;
            }
            Err(message) => {
                failed += 1;
                writeln!(out, "{name} ... FAILED: {message}")?;
            }
        }
    }
    writeln!(
        out,
        "\n{passed} passed, {failed} failed: each benchmark once, without a time"
    )?;
    Ok(failed == 0)
}

/// The nanoseconds per iteration, or why there is no such time.
fn quick_time(entry: Entry<'_>) -> Result<f64, String> {
    let mut bench = Bench::new(Plan::QuickLook, SEED);
    entry.run(&mut bench)?;
    let taken = bench.into_samples();
    let last = taken.last().ok_or("took no samples")?;
    #[allow(clippy::cast_precision_loss)] // three digits are shown
    Ok(last.ns as f64 / last.loops as f64)
}

/// A time with the unit that suits it.
fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.2} ns"),
        ns if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        ns => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Show = fn(Vec<Entry<'_>>, &mut dyn Write) -> io::Result<bool>;

    fn split(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_choose_by_a_part_of_the_name() {
        let chosen = |line: &str| Choice::of(&split(line)).has("sort/std");
        assert!(chosen("--bench"));
        assert!(chosen("parse std --bench"));
        assert!(!chosen("parse"));
    }

    #[test]
    fn options_of_rust_s_own_harness_are_no_parts_of_names() {
        let chosen = |line: &str| Choice::of(&split(line)).has("sort/std");
        assert!(chosen("--test-threads 1 --color never --nocapture"));
        assert!(chosen("--skip parse"));
        assert!(!chosen("--skip std sort"));
        assert!(!chosen("--skip=std"));
        assert!(chosen("--skip"));
    }

    #[test]
    fn a_name_may_be_asked_for_exactly() {
        let chosen = |line: &str| Choice::of(&split(line)).has("sort/std");
        assert!(chosen("--exact sort/std --nocapture"));
        assert!(!chosen("--exact sort"));
        assert!(chosen("--exact --skip sort"));
        assert!(!chosen("--ignored"));
        assert!(chosen("--include-ignored"));
    }

    #[test]
    fn cargo_test_is_told_from_the_rest() {
        assert!(!is_test(&split("--bench"), true));
        assert!(is_test(&split(""), true));
        assert!(is_test(&split("--bench --test"), true));
        assert!(!is_test(&split(""), false));
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let times = [0.25, 12.345, 1_500.0, 2_000_000.0, 3e9].map(time);
        assert_eq!(
            times,
            ["0.25 ns", "12.35 ns", "1.50 µs", "2.00 ms", "3.00 s"].map(str::to_owned)
        );
    }

    #[test]
    fn a_benchmark_that_fails_does_not_stop_the_others() {
        let run = |show: Show| {
            let mut ran = Vec::new();
            let entries = vec![
                Entry::new("a", |_| panic!("no")),
                Entry::new("b", |bench| bench.run(|| ran.push(()))),
            ];
            let all_ended = show(entries, &mut Vec::new()).expect("it can be written");
            (all_ended, !ran.is_empty())
        };
        assert_eq!(run(test), (false, true));
        assert_eq!(run(look), (false, true));
    }

    #[test]
    fn where_nobody_reads_no_more_are_run() {
        let run = |show: Show| {
            let mut ran = Vec::new();
            let entries = vec![
                Entry::new("a", |bench| bench.run(|| ())),
                Entry::new("b", |bench| bench.run(|| ran.push(()))),
            ];
            let mut no_room: &mut [u8] = &mut [];
            (show(entries, &mut no_room).is_err(), ran.is_empty())
        };
        assert_eq!(run(test), (true, true));
        assert_eq!(run(look), (true, true));
    }
}
