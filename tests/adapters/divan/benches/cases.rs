//! Names, settings and failures that the adapter has to cope with.

use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher};
use divan_cases::work;
use std::hint::black_box;
use std::time::Duration;

const STEPS: u64 = 1000;

// Adds rows to the table of what allocates.
#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench]
fn plain() -> u64 {
    work(black_box(STEPS))
}

#[divan::bench(name = "odd a/b  (x)+? [y].*|^$ │ é: <日本>")]
fn odd() -> u64 {
    work(black_box(STEPS))
}

#[divan::bench(args = ["a::b", "with space", "-dash"])]
fn argument(_: &str) -> u64 {
    work(black_box(STEPS))
}

#[divan::bench(types = [u8, String], consts = [4, 8])]
fn generic<T: Default, const N: u64>() -> T {
    black_box(work(black_box(N * STEPS)));
    T::default()
}

mod inner {
    #[divan::bench_group(name = "a group")]
    mod deep {
        #[divan::bench]
        fn leaf() -> u64 {
            divan_cases::work(super::super::STEPS)
        }
    }
}

#[divan::bench(counters = [BytesCount::new(100u32), ItemsCount::new(7u32)])]
fn allocates(bencher: Bencher) {
    bencher
        .with_inputs(|| 10)
        .bench_values(|many| vec![1u8; many]);
}

#[divan::bench(sample_count = 3, sample_size = 7, min_time = 20, max_time = 30)]
fn own_settings() -> u64 {
    work(black_box(STEPS))
}

#[divan::bench]
fn prints() {
    println!("1 ns │ 2 ns\n│  things ─ and others");
}

#[divan::bench]
fn looks_alike() {
    println!("1 ns │ 2 ns │ 3 ns │ 4 ns │ 5 │ 6");
}

#[divan::bench]
fn sleeps() {
    std::thread::sleep(Duration::from_millis(60));
}

#[divan::bench(threads = 2)]
fn two_threads() -> u64 {
    work(black_box(STEPS))
}

#[divan::bench(threads = [1, 2])]
fn threads() -> u64 {
    work(black_box(STEPS))
}

#[divan::bench]
fn empty() {}

#[divan::bench]
fn panics() {
    panic!("on purpose");
}

#[divan::bench]
fn exits() {
    std::process::exit(0);
}

#[divan::bench]
fn forgets(_: Bencher) {}

#[divan::bench]
#[ignore]
fn ignored() -> u64 {
    work(black_box(STEPS))
}
