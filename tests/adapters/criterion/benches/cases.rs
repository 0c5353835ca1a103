//! Names, settings and failures that the adapter has to cope with.

use criterion::async_executor::AsyncExecutor;
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::{
    criterion_group, criterion_main, BenchmarkId, Criterion, SamplingMode, Throughput,
};
use criterion_cases::work;
use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const STEPS: u64 = 1000;

fn named(c: &mut Criterion) {
    // benchmarks/planted_suites.py has it take 3 % longer.
    let planted = std::env::var_os("PLANTED").map_or(0, |_| STEPS * 3 / 100);
    c.bench_function("work", |b| b.iter(|| work(black_box(STEPS + planted))));
    c.bench_function("tiny", |b| b.iter(|| black_box(1u64).wrapping_mul(3)));
    for name in [
        "-dash a/b\\c \"é\" (x)+? [y].*|^$ : <日本>",
        "new",
        "base",
        "sum",
        "sum 2",
    ] {
        c.bench_function(name, |b| b.iter(|| work(black_box(STEPS))));
    }
    // Titles end after 100 bytes.
    c.bench_function(&"(é)+ ".repeat(30), |b| b.iter(|| work(black_box(STEPS))));
    for end in ["one", "two"] {
        c.bench_function(&format!("{}{end}", "x".repeat(110)), |b| {
            b.iter(|| work(black_box(STEPS)))
        });
    }
    for _ in 0..2 {
        c.bench_function("twice", |b| b.iter(|| work(black_box(STEPS))));
    }
    c.bench_function("prints", |b| {
        b.iter(|| println!("time:   [1 cycles 2 cycles 3 cycles]\n- things"))
    });
}

fn grouped(c: &mut Criterion) {
    let mut group = c.benchmark_group("group");
    group
        .throughput(Throughput::Elements(STEPS))
        .sampling_mode(SamplingMode::Flat);
    for steps in [STEPS, 2 * STEPS] {
        group.bench_with_input(BenchmarkId::new("flat", steps), &steps, |b, &steps| {
            b.iter(|| work(black_box(steps)))
        });
    }
    group.finish();
    let mut group = c.benchmark_group("own settings");
    group
        .sample_size(12)
        .measurement_time(Duration::from_millis(80));
    group.bench_function(BenchmarkId::from_parameter("20 ms"), |b| {
        b.iter(|| work(black_box(40_000 * STEPS)))
    });
    group.finish();
    c.bench_function("async", |b| {
        b.to_async(AtOnce).iter(|| async { work(black_box(STEPS)) })
    });
    c.bench_function("inputs", |b| {
        b.iter_with_setup(|| vec![1u8; 1000], |input| input.len())
    });
}

fn failing(c: &mut Criterion) {
    c.bench_function("panics", |b| b.iter(|| panic!("on purpose")));
    c.bench_function("forgets", |_| ());
    c.bench_function("zero", |b| b.iter_custom(|_| Duration::ZERO));
    c.bench_function("exits", |b| b.iter(|| std::process::exit(0)));
}

fn counting(c: &mut Criterion<Steps>) {
    c.bench_function("steps", |b| b.iter(|| work(black_box(STEPS))));
}

/// Futures that never have to wait.
struct AtOnce;

impl AsyncExecutor for AtOnce {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => unreachable!("nothing waits"),
        }
    }
}

/// A measurement of something else than time.
struct Steps;

impl Measurement for Steps {
    type Intermediate = ();
    type Value = u64;

    fn start(&self) {}

    fn end(&self, _: ()) -> u64 {
        STEPS
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Steps {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "steps"
    }

    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "steps"
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "steps"
    }
}

criterion_group!(benches, named, grouped, failing);
criterion_group!(name = others; config = Criterion::default().with_measurement(Steps); targets = counting);
criterion_main!(benches, others);
