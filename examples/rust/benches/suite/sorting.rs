//! Sorts of a fresh copy, whose time is included: sorted data would be quicker to sort.

use crate::random::Random;
use steelyard_bench::Bench;
use steelyard_example::sorting;

fn sorted<T: Clone>(bench: &mut Bench, items: &[T], mut sort: impl FnMut(&mut Vec<T>)) {
    bench.run(|| {
        let mut copy = items.to_vec();
        sort(&mut copy);
        copy
    });
}

pub fn stable(bench: &mut Bench, n: usize) {
    let numbers = Random::new(bench.seed()).numbers(n);
    sorted(bench, &numbers, |copy| copy.sort());
}

pub fn unstable(bench: &mut Bench, n: usize) {
    let numbers = Random::new(bench.seed()).numbers(n);
    sorted(bench, &numbers, |copy| copy.sort_unstable());
}

pub fn nearly_sorted(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let mut numbers: Vec<u64> = (0..1000).collect();
    for _ in 0..10 {
        numbers.swap(random.below(1000) as usize, random.below(1000) as usize);
    }
    sorted(bench, &numbers, |copy| copy.sort());
}

pub fn words(bench: &mut Bench) {
    let words = Random::new(bench.seed()).words(300);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    sorted(bench, &words, |copy| copy.sort_unstable());
}

pub fn insertion(bench: &mut Bench) {
    let numbers = Random::new(bench.seed()).numbers(40);
    sorted(bench, &numbers, |copy| sorting::insertion(copy));
}

pub fn heap(bench: &mut Bench) {
    let numbers = Random::new(bench.seed()).numbers(1000);
    sorted(bench, &numbers, |copy| sorting::heap(copy));
}

pub fn radix(bench: &mut Bench) {
    let numbers = Random::new(bench.seed()).numbers(2000);
    sorted(bench, &numbers, sorting::radix);
}

pub fn binary_search(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let (mut numbers, wanted) = (random.numbers(10_000), random.numbers(50));
    numbers.sort_unstable();
    bench.run(|| {
        let places = wanted.iter().map(|number| numbers.binary_search(number));
        places.filter(Result::is_ok).count()
    });
}
