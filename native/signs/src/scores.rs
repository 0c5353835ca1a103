//! How noisy each pair was, estimated from what the coin cannot affect: the sizes of the differences and
//! the pairs' levels.
//!
//! Noise comes in phases of seconds: a pair in a storm says little, but the rank of its large difference
//! counts much. The scores made here give such pairs less weight. They may use the sizes |d - t|, the order
//! of the pairs and the level of each pair (the mean of its two logs), as swapping a pair's two sides
//! changes none of these: given them, under the hypothesis of a change t, the signs are fair coins,
//! whatever the noise is like.

/// How many pairs before and after a pair count as its phase.
const NEIGHBOURS: usize = 4;
/// A feature's correlation with the sizes, times sqrt(n): by noise alone it reaches 1.5 now and then, and
/// 3.5 next to never. In between the feature counts in part, so that calm weighings, whose features are
/// noise, pay nothing for it.
const NOISE: f64 = 1.5;
const CERTAIN: f64 = 3.5;
/// Added to each size, as a part of the median size: a difference of 0 is not infinitely quiet.
const LEAST: f64 = 0.05;
/// Degrees of freedom of the Student's t whose score a difference gets: 3, unless another is clearly
/// better.
const TAILS: [f64; 3] = [3.0, 1.0, 10.0];
/// The furthest that a scale may go, in powers of e: a regression that goes further says nothing.
const FURTHEST: f64 = 50.0;
/// Keeps the regression stable where the two features are the same.
const RIDGE: f64 = 1e-2;
const TINY: f64 = 1e-300;
/// About the median of |Student's t| with few degrees of freedom.
const MEDIAN_SIZE: f64 = 0.7;

/// The largest score in units, and the range in which single precision holds every whole number.
const MOST_UNITS: usize = 1023;
const EXACT: usize = 1 << 24;
/// From here on floats have no fractions: adding this rounds a number to a whole one, halves to even.
const TO_WHOLE: f64 = (1u64 << 52) as f64;

/// Scores of the same pairs for one hypothesised change after another.
pub struct Scores<'a> {
    differences: &'a [f64],
    excess: Vec<f64>,
    sizes: Vec<f64>,
    scales: Vec<f64>,
    spare: [Vec<f64>; 2],
}

impl<'a> Scores<'a> {
    /// Takes the differences and levels of the pairs, in the order in which they ran.
    pub fn new(differences: &'a [f64], levels: &[f64]) -> Self {
        let n = differences.len();
        Self {
            differences,
            excess: excess(levels),
            sizes: vec![0.0; n],
            scales: vec![0.0; n],
            spare: [vec![0.0; n], vec![0.0; n]],
        }
    }

    /// The signed score of each pair for a change.
    pub fn scores(&mut self, change: f64, found: &mut [f64]) {
        self.find_scales(change);
        let tail = self.best_tail();
        for (place, score) in found.iter_mut().enumerate() {
            let (scale, difference) = (self.scales[place], self.differences[place] - change);
            let units = self.sizes[place] / scale;
            *score = sign(difference) * ((tail + 1.0) * units / (tail + units * units) / scale);
        }
    }

    /// The scale of each pair's noise, which predicts its size: from a regression of the sizes' logarithms
    /// on those of the neighbours and on how far a pair's level is above the calm.
    pub fn scales(&mut self, change: f64) -> &[f64] {
        self.find_scales(change);
        &self.scales
    }

    fn find_sizes(&mut self, change: f64) {
        for (size, difference) in self.sizes.iter_mut().zip(self.differences) {
            *size = (difference - change).abs();
        }
    }

    fn find_scales(&mut self, change: f64) {
        self.find_sizes(change);
        let [logs, neighbours] = &mut self.spare;
        let middle = usual_size(&self.sizes, logs);
        for (log, size) in logs.iter_mut().zip(&self.sizes) {
            *log = (size + LEAST * middle + TINY).ln();
        }
        means_of_neighbours(logs, neighbours);
        to_feature(neighbours);
        to_centred(logs);
        let features = [&*neighbours, &self.excess];
        let (length, many) = (dot(logs, logs).sqrt() + 1e-12, (logs.len() as f64).sqrt());
        let along = features.map(|feature| dot(feature, logs));
        let trusted =
            along.map(|one| ((one / length * many - NOISE) / (CERTAIN - NOISE)).clamp(0.0, 1.0));
        if trusted == [0.0, 0.0] {
            return self.scales.fill(middle / MEDIAN_SIZE + 1e-12);
        }
        let slopes = slopes(features, along, trusted);
        for (place, scale) in self.scales.iter_mut().enumerate() {
            let log = features[0][place] * slopes[0] + features[1][place] * slopes[1];
            *scale = log.clamp(-FURTHEST, FURTHEST).exp();
        }
        let units = self
            .sizes
            .iter()
            .zip(&self.scales)
            .map(|(size, scale)| size / scale);
        neighbours.clear();
        neighbours.extend(units);
        let middle = usual_size(neighbours, logs);
        for scale in &mut self.scales {
            *scale = *scale * middle / MEDIAN_SIZE + 1e-12;
        }
    }

    /// The tail whose scores get the most out of these pairs; others must be better by more than noise explains.
    fn best_tail(&self) -> f64 {
        let mut best = (f64::NEG_INFINITY, TAILS[0]);
        for (number, tail) in TAILS.into_iter().enumerate() {
            let (mut slope, mut squares) = (0.0, 0.0);
            for (size, scale) in self.sizes.iter().zip(&self.scales) {
                let (units, by_scale) = (size / scale, 1.0 / scale);
                let square = units * units;
                let below = 1.0 / (tail + square);
                let score = (tail + 1.0) * units * below * by_scale;
                slope += (tail + 1.0) * (tail - square) * below * below * by_scale * by_scale;
                squares += score * score;
            }
            let efficacy = 2.0 * slope.max(TINY).ln() - (squares + TINY).ln();
            let efficacy = efficacy
                - if number == 0 {
                    0.0
                } else {
                    1.0 / (self.sizes.len() as f64).sqrt()
                };
            if efficacy > best.0 {
                best = (efficacy, tail);
            }
        }
        best.1
    }
}

/// The signed rank (Wilcoxon) of each pair for a change; equal sizes are ranked in the order of their
/// pairs. `order` holds each place once; sorting is fastest from the order that the last change left.
pub fn ranks(differences: &[f64], change: f64, order: &mut [u32], found: &mut [f64]) {
    let shifted = |place: u32| differences[place as usize] - change;
    // The bits of floats of 0 and more sort like the numbers.
    order.sort_unstable_by_key(|&place| (shifted(place).abs().to_bits(), place));
    for (rank, &place) in order.iter().enumerate() {
        found[place as usize] = sign(shifted(place)) * (rank + 1) as f64;
    }
}

/// Signed scores in whole units, so small that few sums are equal, as equal sums cannot be dropped apart.
/// Each is at least one unit: rounding a score to 0 would take its sign out of the test.
pub fn in_units(signed: &[f64], whole: &mut [i16]) {
    let units = MOST_UNITS.min(EXACT / signed.len()) as f64;
    let largest = signed
        .iter()
        .fold(f64::MIN_POSITIVE, |most, score| most.max(score.abs()));
    for (unit, &score) in whole.iter_mut().zip(signed) {
        let size = score.abs() / largest * units + TO_WHOLE - TO_WHOLE;
        *unit = (sign(score) * if size < 1.0 { 1.0 } else { size }) as i16;
    }
}

/// The sum of whole scores over the root of their squares, which is at least 1.
pub fn sum_by_root(whole: &[i16]) -> f64 {
    let sum: i64 = whole.iter().map(|&score| i64::from(score)).sum();
    sum as f64 / root_of(whole)
}

/// The root of the squares of whole scores, at least 1.
pub fn root_of(whole: &[i16]) -> f64 {
    let squares: i64 = whole
        .iter()
        .map(|&score| i64::from(score) * i64::from(score))
        .sum();
    (squares as f64).sqrt().max(1.0)
}

/// How far a pair's level is above the calm (the lowest fifth), as a feature; small excesses count as alike.
fn excess(levels: &[f64]) -> Vec<f64> {
    let mut ordered = levels.to_vec();
    ordered.sort_unstable_by(f64::total_cmp);
    let calm = quantile(&ordered, 0.2);
    let above = |level: &f64| (level - calm).max(0.0);
    ordered.iter_mut().for_each(|level| *level = above(level));
    let usual = quantile(&ordered, 0.75);
    let mut logs: Vec<f64> = levels
        .iter()
        .map(|level| (above(level) + usual + 1e-9).ln())
        .collect();
    to_feature(&mut logs);
    logs
}

/// The mean of each value's neighbours, without the value itself.
fn means_of_neighbours(values: &[f64], found: &mut [f64]) {
    let n = values.len();
    let mut sum: f64 = values[..n.min(NEIGHBOURS)].iter().sum();
    for place in 0..n {
        if place + NEIGHBOURS < n {
            sum += values[place + NEIGHBOURS];
        }
        if place > NEIGHBOURS {
            sum -= values[place - NEIGHBOURS - 1];
        }
        let many = (n.min(place + NEIGHBOURS + 1) - place.saturating_sub(NEIGHBOURS) - 1).max(1);
        found[place] = (sum - values[place]) / many as f64;
    }
}

/// How much each of two features adds to the logarithm of the scale, as far as it is trusted.
fn slopes(features: [&Vec<f64>; 2], along: [f64; 2], trusted: [f64; 2]) -> [f64; 2] {
    let is_trusted = trusted.map(|one| if one > 0.0 { 1.0 } else { 0.0 });
    let [first, second] =
        [0, 1].map(|one| is_trusted[one] * dot(features[one], features[one]) + RIDGE);
    let both = is_trusted[0] * is_trusted[1] * dot(features[0], features[1]);
    let along = [along[0] * is_trusted[0], along[1] * is_trusted[1]];
    let determinant = first * second - both * both;
    [
        (along[0] * second - along[1] * both) / determinant * trusted[0],
        (along[1] * first - along[0] * both) / determinant * trusted[1],
    ]
}

/// Centres the values, and scales them to length 1.
fn to_feature(values: &mut [f64]) {
    to_centred(values);
    let length = dot(values, values).sqrt() + 1e-9;
    values.iter_mut().for_each(|value| *value /= length);
}

fn to_centred(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn median(values: &[f64], spare: &mut Vec<f64>) -> f64 {
    spare.clear();
    spare.extend_from_slice(values);
    let middle = spare.len() / 2;
    let (below, &mut high, _) = spare.select_nth_unstable_by(middle, f64::total_cmp);
    let low = if values.len() % 2 == 1 {
        high
    } else {
        below.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    (low + high) / 2.0
}

/// The median, or the mean where the median is 0, as more than half of a coarse clock's differences may be.
fn usual_size(sizes: &[f64], spare: &mut Vec<f64>) -> f64 {
    let middle = median(sizes, spare);
    if middle > 0.0 {
        middle
    } else {
        sizes.iter().sum::<f64>() / sizes.len() as f64
    }
}

pub fn quantile(ordered: &[f64], share: f64) -> f64 {
    let place = share * (ordered.len() - 1) as f64;
    let below = place as usize;
    let above = (below + 1).min(ordered.len() - 1);
    ordered[below] + (ordered[above] - ordered[below]) * (place - below as f64)
}

fn sign(value: f64) -> f64 {
    if value == 0.0 {
        0.0
    } else {
        value.signum()
    }
}
