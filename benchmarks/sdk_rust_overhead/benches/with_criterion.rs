//! An empty body through criterion.

use criterion::{criterion_group, criterion_main, Criterion};

fn empty(criterion: &mut Criterion) {
    criterion.bench_function("empty", |bencher| bencher.iter(|| ()));
}

criterion_group!(benches, empty);
criterion_main!(benches);
