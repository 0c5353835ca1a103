//! The object that a benchmark's function gets: it runs the body and keeps the times.

use crate::meter::{Meter, Sample};
use crate::partner::Partner;
use std::hint::black_box;

/// Long enough for a quick look: reading the clock takes far less than a thousandth of it.
const QUICK_LOOK_NS: u64 = 2_000_000;

/// How often the body is run.
#[derive(Clone, Copy)]
pub(crate) enum Plan {
    /// As the driver says.
    Asked {
        /// Iterations a sample.
        loops: u64,
        /// How many samples.
        samples: usize,
    },
    /// Twice as often each time, until it takes long compared to reading the clock.
    QuickLook,
}

/// A benchmark that is being run.
///
/// A benchmark's function gets one, and calls [`run`](Bench::run) or [`run_with`](Bench::run_with) once.
/// Only the body that is passed to these is timed: what comes before is set-up, what comes after is
/// tear-down.
///
/// ```
/// use steelyard_bench::Bench;
///
/// fn count_words(bench: &mut Bench) {
///     let text = "to be or not to be ".repeat(100); // not timed
///     bench.run(|| text.split_whitespace().count()); // timed
///     drop(text); // not timed
/// }
/// ```
pub struct Bench {
    plan: Plan,
    seed: u64,
    in_threads: bool,
    begun: bool,
    samples: Vec<Sample>,
    partner: Option<Partner>,
}

impl Bench {
    pub(crate) fn new(plan: Plan, seed: u64) -> Self {
        Self {
            plan,
            seed,
            in_threads: false,
            begun: false,
            samples: Vec::new(),
            partner: None,
        }
    }

    pub(crate) fn in_step_with(mut self, partner: Option<Partner>) -> Self {
        self.partner = partner;
        self
    }

    /// The seed for random inputs: the same for both versions that are weighed, and a different one in each
    /// pair of launches.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Declares that the body works in other threads, too. The time on a processor is then left out, as it
    /// is known for this thread only. It is also left out of samples in which others turn out to have worked.
    pub fn in_threads(&mut self) {
        self.in_threads = true;
    }

    /// Times the body.
    ///
    /// What the body returns is hidden from the optimiser and dropped, which is part of its time. Everything
    /// that the body borrows or owns is hidden as well, and read anew in each iteration. Constants inside the
    /// body are not: wrap them in [`black_box`].
    ///
    /// ```
    /// # fn example(bench: &mut steelyard_bench::Bench) {
    /// use steelyard_bench::black_box;
    ///
    /// bench.run(|| black_box("1234").parse::<u32>());
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the benchmark has called this, or `run_with`, before: one function is one benchmark.
    pub fn run<T>(&mut self, mut body: impl FnMut() -> T) {
        self.run_with(|_| (), |()| body());
    }

    /// Times the body on inputs that are prepared anew for each sample, outside the timed part.
    ///
    /// `prepare` gets the seed to draw from, a different one for each sample. All iterations of a sample get
    /// the same input; if an iteration changes it, the next one works on the result.
    ///
    /// ```
    /// # fn example(bench: &mut steelyard_bench::Bench) {
    /// let draw = |seed: u64| -> Vec<u64> { (0..100).map(|i| (i * 77) ^ seed).collect() };
    /// bench.run_with(draw, |numbers| numbers.iter().max().copied());
    /// # }
    /// ```
    ///
    /// # Panics
    /// If the benchmark has called this, or `run`, before: one function is one benchmark.
    pub fn run_with<I, T>(
        &mut self,
        mut prepare: impl FnMut(u64) -> I,
        mut body: impl FnMut(&mut I) -> T,
    ) {
        let mut meter = self.begin();
        while let Some(loops) = self.next_loops() {
            if let Some(partner) = &mut self.partner {
                partner.await_turn();
            }
            let mut input = prepare(self.seed_of_next_sample());
            meter.start();
            iterate(loops, &mut input, &mut body);
            let mut sample = meter.stop(loops);
            sample.order = self.partner.as_mut().and_then(Partner::hand_over);
            self.samples.push(sample);
        }
        if let Some(partner) = &mut self.partner {
            partner.part();
        }
    }

    /// The samples that were taken.
    pub(crate) fn into_samples(self) -> Vec<Sample> {
        self.samples
    }

    fn begin(&mut self) -> Meter {
        assert!(
            !self.begun,
            "`run` is called a second time: one function is one benchmark"
        );
        self.begun = true;
        if let Plan::Asked { samples, .. } = self.plan {
            self.samples.reserve_exact(samples);
        }
        Meter::new(!self.in_threads)
    }

    fn next_loops(&self) -> Option<u64> {
        match (self.plan, self.samples.last()) {
            (Plan::Asked { loops, samples }, _) => (self.samples.len() < samples).then_some(loops),
            (Plan::QuickLook, None) => Some(1),
            (Plan::QuickLook, Some(last)) => (last.ns < QUICK_LOOK_NS).then_some(last.loops * 2),
        }
    }

    /// The seed mixed with the sample's number, as by SplitMix64.
    fn seed_of_next_sample(&self) -> u64 {
        let number = self.samples.len() as u64 + 1;
        let mut mixed = self
            .seed
            .wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The timed loop: a function of its own, so that nothing around it changes its code.
///
/// `black_box` makes the optimiser believe that other code knows the input and the body, so that either
/// may have changed each time a result is passed to `black_box`. This keeps it from doing the body's work
/// once before the loop, and costs nothing in the loop.
#[inline(never)]
fn iterate<I, T>(loops: u64, input: &mut I, body: &mut impl FnMut(&mut I) -> T) {
    let (input, body) = (black_box(input), black_box(body));
    for _ in 0..loops {
        black_box(body(input));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(loops: u64, samples: usize) -> Bench {
        Bench::new(Plan::Asked { loops, samples }, 7)
    }

    #[test]
    fn the_body_runs_as_often_as_asked() {
        let (mut bench, mut count) = (asked(1000, 3), 0);
        bench.run(|| count += 1);
        assert_eq!(count, 3000);
        let samples = bench.into_samples();
        assert_eq!(samples.len(), 3);
        assert!(samples
            .iter()
            .all(|sample| sample.loops == 1000 && sample.ns > 0));
    }

    #[test]
    fn inputs_are_drawn_anew_for_each_sample_and_the_same_again() {
        let seeds = |mut bench: Bench| {
            let mut seeds = Vec::new();
            bench.run_with(|seed| seeds.push(seed), |()| ());
            seeds
        };
        let drawn = seeds(asked(5, 3));
        assert_eq!(drawn.len(), 3);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2] && drawn[0] != drawn[2]);
        assert_eq!(drawn, seeds(asked(1, 3)));
    }

    #[test]
    fn an_input_lasts_for_a_sample() {
        let (mut bench, mut seen) = (asked(2, 2), Vec::new());
        bench.run_with(
            |_| 0,
            |input| {
                *input += 1;
                seen.push(*input);
            },
        );
        assert_eq!(seen, [1, 2, 1, 2]);
    }

    #[test]
    #[should_panic(expected = "a second time")]
    fn a_benchmark_runs_one_body() {
        let mut bench = asked(1, 1);
        bench.run(|| ());
        bench.run(|| ());
    }

    #[test]
    fn a_quick_look_takes_long_enough() {
        let mut bench = Bench::new(Plan::QuickLook, 0);
        bench.run(|| ());
        assert!(bench.into_samples().last().unwrap().ns >= QUICK_LOOK_NS);
    }
}
