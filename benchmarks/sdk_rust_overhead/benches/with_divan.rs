//! An empty body through divan.
//!
//! Divan subtracts what it takes its own loop to cost, and reports an empty body as 0 or nearly so. What
//! the loop really takes is seen from where divan calls its user: last before the loop, to draw an
//! input, and first after it, to drop a result. Inputs and results are of no size, so that the loop
//! is the one that divan has for bodies without either.

use std::cell::Cell;
use std::time::Instant;

thread_local! {
    static STARTED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The result of the empty body.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        if let Some(started) = STARTED.take() {
            eprintln!("{}", started.elapsed().as_nanos());
        }
    }
}

fn main() {
    divan::main();
}

#[divan::bench]
fn empty(bencher: divan::Bencher) {
    let size = std::env::var("DIVAN_SAMPLE_SIZE").expect("DIVAN_SAMPLE_SIZE is set");
    let mut before_the_last = size.parse().expect("DIVAN_SAMPLE_SIZE is a number");
    let size: u64 = before_the_last;
    let draw = || {
        before_the_last -= 1;
        if before_the_last == 0 {
            before_the_last = size;
            STARTED.set(Some(Instant::now()));
        }
    };
    bencher.with_inputs(draw).bench_local_values(|()| Done);
}
