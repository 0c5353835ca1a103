//! Without a driver: a quick look at each benchmark, or a test.

use crate::bench::{Bench, Plan};
use crate::entry::{check_names, Entry};
use crate::status::{complain, FAILED, WRONG_USE};
use std::env;

const HINT: &str = "weigh with: steelyard compare --harness protocol OLD NEW";
const SEED: u64 = 0;

/// Runs the benchmarks, or those with one of the arguments in the name; the status to exit with.
pub(crate) fn show(mut entries: Vec<Entry<'_>>, arguments: &[String]) -> u8 {
    if let Err(message) = check_names(&entries) {
        return complain(WRONG_USE, &message);
    }
    entries.retain(|entry| is_chosen(&entry.name, arguments));
    let all_ended = if is_test(arguments, env::var_os("CARGO").is_some()) {
        test(entries)
    } else {
        look(entries)
    };
    if all_ended {
        0
    } else {
        FAILED
    }
}

/// Arguments with a dash are for other harnesses, such as cargo's `--bench` and `--nocapture`.
fn is_chosen(name: &str, arguments: &[String]) -> bool {
    let mut parts = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .peekable();
    parts.peek().is_none() || parts.any(|part| name.contains(part.as_str()))
}

/// `cargo bench` says `--bench` and `cargo test` nothing, as does whoever starts the program
/// directly; but Cargo says in the environment that it is there.
fn is_test(arguments: &[String], by_cargo: bool) -> bool {
    let said = |flag: &str| arguments.iter().any(|argument| argument == flag);
    said("--test") || (by_cargo && !said("--bench"))
}

fn look(entries: Vec<Entry<'_>>) -> bool {
    let width = entries.iter().map(|entry| entry.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let looks = entries.into_iter().map(|entry| {
        let name = entry.name.clone();
        let looked = quick_time(entry);
        let shown = looked.as_ref().map_or_else(String::clone, |&ns| time(ns));
        println!("{name:width$}  {shown:>12}");
        looked.is_ok()
    });
    // Counted, as all would stop at the first that failed.
    let failures = looks.filter(|ended| !ended).count();
    println!("\none quick look each, which noise may move; {HINT}");
    failures == 0
}

fn test(entries: Vec<Entry<'_>>) -> bool {
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
                println!("{name} ... ok");
            }
            Err(message) => {
                failed += 1;
                println!("{name} ... FAILED: {message}");
            }
        }
    }
    println!("\n{passed} passed, {failed} failed: each benchmark once, without a time");
    failed == 0
}

/// Nanoseconds an iteration, or why there is no such time.
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

    fn split(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn arguments_choose_by_a_part_of_the_name() {
        assert!(is_chosen("sort/std", &split("--bench")));
        assert!(is_chosen("sort/std", &split("parse std --bench")));
        assert!(!is_chosen("sort/std", &split("parse")));
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
        let run = |show: fn(Vec<Entry<'_>>) -> bool| {
            let mut ran = Vec::new();
            let all_ended = show(vec![
                Entry::new("a", |_| panic!("no")),
                Entry::new("b", |bench| bench.run(|| ran.push(()))),
            ]);
            (all_ended, !ran.is_empty())
        };
        assert_eq!(run(test), (false, true));
        assert_eq!(run(look), (false, true));
    }
}
