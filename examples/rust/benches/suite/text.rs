//! Properties of texts.

use crate::random::Random;
use steelyard_bench::Bench;
use steelyard_example::text;

pub fn word_counts(bench: &mut Bench) {
    let words = Random::new(bench.seed()).words(300).join(" ");
    bench.run(|| text::word_counts(&words));
}

pub fn edit_distance(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let (one, other) = (random.word(60), random.word(70));
    bench.run(|| text::edit_distance(one.as_bytes(), other.as_bytes()));
}

pub fn is_palindrome(bench: &mut Bench) {
    let half = Random::new(bench.seed()).word(100);
    let whole: String = half.chars().chain(half.chars().rev()).collect();
    bench.run(|| text::is_palindrome(&whole));
}

pub fn find(bench: &mut Bench) {
    let words = Random::new(bench.seed()).words(2000).join(" ");
    bench.run(|| words.find("is not there"));
}
