//! Readers of small formats.

use crate::random::Random;
use steelyard_bench::Bench;
use steelyard_example::parsing;

/// `count` pieces, each made by `piece`, with `between` in between.
fn text(count: usize, between: &str, piece: impl FnMut(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(between)
}

pub fn integers(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let text = text(500, " ", |_| random.below(1_000_000).to_string());
    bench.run(|| parsing::integers(&text));
}

pub fn floats(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let text = text(200, " ", |_| format!("{}e-6", random.below(1_000_000_000)));
    bench.run(|| parsing::floats(&text));
}

pub fn csv(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let text = text(50, "\n", |line| {
        format!("{line},{},\"a, \"\"b\"\"\",", random.word(10))
    });
    bench.run(|| parsing::csv(&text));
}

pub fn key_values(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let text = text(100, "\n", |line| {
        format!("key-{line} = {}", random.word(12))
    });
    bench.run(|| parsing::key_values(&text));
}

pub fn roman(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let numerals = ["MCMXCIV", "MMXXVI", "DCCCLXXXVIII", "XLIX", "MDCLXVI"];
    let numerals: Vec<_> = (0..50)
        .map(|_| numerals[random.below(5) as usize])
        .collect();
    bench.run(|| {
        let values = numerals.iter().copied().filter_map(parsing::roman);
        values.sum::<u32>()
    });
}

pub fn json_depth(bench: &mut Bench) {
    let mut random = Random::new(bench.seed());
    let text = text(100, ", ", |line| {
        format!(r#"{{"{}": [{line}, {{"x\"": null}}]}}"#, random.word(8))
    });
    bench.run(|| parsing::json_depth(&text));
}
