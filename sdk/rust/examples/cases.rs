//! Benchmarks that are easy and hard to drive: what the tests of this crate in `tests/sdk` weigh.

use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use steelyard_bench::{bench, black_box, Bench, Suite};

/// Far longer than any body here.
const SET_UP: Duration = Duration::from_millis(300);

fn sum(bench: &mut Bench, n: u64) {
    let numbers: Vec<u64> = (0..n).map(|i| i ^ bench.seed()).collect();
    bench.run(|| numbers.iter().sum::<u64>());
}

/// Twenty multiplications without a loop, which an optimiser would like to do once for all
/// iterations, or not at all.
fn chain(number: u64) -> u64 {
    (0..20).fold(number, |sum, i| sum.wrapping_mul(3) ^ i)
}

fn polynomial(bench: &mut Bench) {
    let number = 20;
    bench.run(|| chain(number));
}

fn polynomial_of_own(bench: &mut Bench) {
    let number = bench.seed();
    bench.run_with(|_| (), move |()| chain(number));
}

fn polynomial_of_input(bench: &mut Bench) {
    bench.run_with(|seed| seed, |number| chain(*number));
}

fn slow_set_up(bench: &mut Bench) {
    thread::sleep(SET_UP);
    bench.run_with(|_| thread::sleep(SET_UP), |()| ());
    thread::sleep(SET_UP);
}

fn show_seeds(bench: &mut Bench) {
    println!("{}", bench.seed());
    bench.run_with(|seed| println!("{seed}"), |()| ());
}

fn threads(bench: &mut Bench) {
    bench.in_threads();
    bench.run(|| thread::scope(|scope| drop(scope.spawn(|| black_box(1)))));
}

/// The same, and nothing says so.
fn threads_unsaid(bench: &mut Bench) {
    bench.run(|| thread::scope(|scope| drop(scope.spawn(|| (0..100_000).map(black_box).max()))));
}

fn children(bench: &mut Bench) {
    bench.run(|| {
        Command::new("ls")
            .arg("-d")
            .arg("/")
            .stdout(Stdio::null())
            .status()
            .is_ok()
    });
}

/// Prints the descriptors that a child has open.
fn child(bench: &mut Bench) {
    let ended = Command::new("ls").arg("/proc/self/fd").status();
    assert!(ended.is_ok_and(|status| status.success()));
    bench.run(|| ());
}

fn panic(bench: &mut Bench) {
    let text = "\"quoted\"\nlines";
    bench.run(|| panic!("no {text}"));
}

fn exit(bench: &mut Bench) {
    bench.run(|| std::process::exit(0));
}

fn twice(bench: &mut Bench) {
    bench.run(|| ());
    bench.run(|| ());
}

fn main() -> std::process::ExitCode {
    let mut suite = Suite::new();
    bench!(suite, sum_of_ten tags ["numbers"]);
    bench!(suite, "sum/n={n}" tags ["numbers", "slow"] for n in [100, 1000] => sum);
    bench!(suite, "{kind} {n}" for kind in ["a", "b"], n in 1..3 => |bench: &mut Bench, _, n| sum(bench, n));
    bench!(suite, "say \"é\" \\ 漢, 'so' = 1/2" => |bench| bench.run(|| ()));
    bench!(suite, "polynomial" => polynomial);
    bench!(suite, "polynomial of its own" => polynomial_of_own);
    bench!(suite, "polynomial of input" => polynomial_of_input);
    bench!(suite, "slow set-up" => slow_set_up);
    bench!(suite, "seeds" => show_seeds);
    bench!(suite, "threads" => threads);
    bench!(suite, "threads unsaid" => threads_unsaid);
    bench!(suite, "children" => children);
    bench!(suite, "child" => child);
    // Those that cannot be run, and what is no name, only where a test asks for them.
    let also = |argument: String| argument.strip_prefix("--also=").map(str::to_owned);
    for name in std::env::args().filter_map(also) {
        match name.as_str() {
            "panic" => bench!(suite, "panic" => panic),
            "exit" => bench!(suite, "exit" => exit),
            "idle" => bench!(suite, "idle" => |_| ()),
            "twice" => bench!(suite, "twice" => twice),
            _ => suite.bench(name, |_| ()),
        };
    }
    suite.main()
}

fn sum_of_ten(bench: &mut Bench) {
    sum(bench, 10);
}
