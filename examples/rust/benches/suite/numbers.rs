//! Arithmetic.

use crate::random::Random;
use steelyard_bench::{black_box, Bench};
use steelyard_example::numbers;

pub fn primes(bench: &mut Bench) {
    bench.run(|| numbers::primes_below(black_box(10_000)));
}

pub fn matrix_product(bench: &mut Bench) {
    let size = 24;
    let mut random = Random::new(bench.seed());
    let mut matrix = || -> Vec<f64> {
        let numbers = (0..size * size).map(|_| random.below(1000) as f64);
        numbers.collect()
    };
    let (left, right) = (matrix(), matrix());
    bench.run(|| numbers::matrix_product(&left, &right, size));
}

pub fn divisors(bench: &mut Bench) {
    let numbers = Random::new(bench.seed()).numbers(20);
    bench.run(|| {
        let pairs = numbers.windows(2);
        let divisors = pairs.map(|pair| numbers::greatest_common_divisor(pair[0], pair[1]));
        divisors.max()
    });
}
