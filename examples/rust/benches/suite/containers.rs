//! The standard library's containers.

use crate::random::Random;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::hash::BuildHasherDefault;
use steelyard_bench::Bench;

/// A map with the same hashes in each process, so that both builds do the same work.
type FixedHashMap = HashMap<u64, u64, BuildHasherDefault<DefaultHasher>>;

pub fn vec_push(bench: &mut Bench) {
    bench.run(|| {
        let mut numbers = Vec::new();
        (0..1000_u64).for_each(|number| numbers.push(number));
        numbers
    });
}

pub fn deque_rotate(bench: &mut Bench) {
    let mut deque: VecDeque<_> = Random::new(bench.seed()).numbers(100).into();
    bench.run(|| {
        for _ in 0..100 {
            if let Some(first) = deque.pop_front() {
                deque.push_back(first ^ 1);
            }
        }
    });
}

pub fn string_push(bench: &mut Bench) {
    let words = Random::new(bench.seed()).words(200);
    bench.run(|| {
        let mut text = String::new();
        for word in &words {
            text.push_str(word);
            text.push(' ');
        }
        text
    });
}

pub fn heap_push_and_pop(bench: &mut Bench) {
    let numbers = Random::new(bench.seed()).numbers(500);
    bench.run(|| {
        let mut heap = BinaryHeap::new();
        numbers.iter().for_each(|&number| heap.push(number));
        std::iter::from_fn(|| heap.pop()).fold(0, |sum: u64, number| sum.wrapping_add(number))
    });
}

pub fn hash_map_insert(bench: &mut Bench, n: usize) {
    let keys = Random::new(bench.seed()).numbers(n);
    bench.run(|| {
        let mut map = FixedHashMap::default();
        map.extend(keys.iter().map(|&key| (key, !key)));
        map
    });
}

pub fn hash_map_find(bench: &mut Bench, n: usize) {
    let keys = Random::new(bench.seed()).numbers(n);
    let map: FixedHashMap = keys.iter().map(|&key| (key, !key)).collect();
    bench.run(|| keys.iter().filter(|key| map.contains_key(key)).count());
}

pub fn btree_map_insert(bench: &mut Bench, n: usize) {
    let keys = Random::new(bench.seed()).numbers(n);
    bench.run(|| {
        let mut map = BTreeMap::new();
        map.extend(keys.iter().map(|&key| (key, !key)));
        map
    });
}

pub fn btree_map_find(bench: &mut Bench, n: usize) {
    let keys = Random::new(bench.seed()).numbers(n);
    let map: BTreeMap<_, _> = keys.iter().map(|&key| (key, !key)).collect();
    bench.run(|| keys.iter().filter(|key| map.contains_key(key)).count());
}

pub fn btree_map_range(bench: &mut Bench) {
    let keys = Random::new(bench.seed()).numbers(1000);
    let map: BTreeMap<_, _> = keys.iter().map(|&key| (key, !key)).collect();
    let (from, to) = (u64::MAX / 4, u64::MAX / 2);
    bench.run(|| {
        let values = map.range(from..to).map(|(_, &value)| value);
        values.fold(0, |sum: u64, value| sum.wrapping_add(value))
    });
}
