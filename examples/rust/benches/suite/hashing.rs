//! Hashes of bytes.

use crate::random::Random;
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use steelyard_bench::Bench;
use steelyard_example::hashing;

pub fn fnv1a(bench: &mut Bench) {
    let bytes = Random::new(bench.seed()).bytes(65_536);
    bench.run(|| hashing::fnv1a(&bytes));
}

pub fn adler32(bench: &mut Bench) {
    let bytes = Random::new(bench.seed()).bytes(16_384);
    bench.run(|| hashing::adler32(&bytes));
}

pub fn crc32(bench: &mut Bench) {
    let bytes = Random::new(bench.seed()).bytes(4096);
    let crc32 = hashing::Crc32::new();
    bench.run(|| crc32.of(&bytes));
}

pub fn sip(bench: &mut Bench) {
    let bytes = Random::new(bench.seed()).bytes(1024);
    bench.run(|| {
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        hasher.finish()
    });
}
