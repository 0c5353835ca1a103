//! What a look sees after each flip of the signs: the sum of the scores or, of two kinds of scores, the
//! larger sum, each over the root of its squares. A look drops the flips with the largest.

use crate::scores::root_of;
use crate::sums::sums;
use crate::words::{folded, word, BITS, SUBGROUP};

/// How many flags of flips are examined as one number.
const WORD: usize = 8;
/// How many flips' flags are formed at once.
const BLOCK: usize = 256;

/// What a look drops of the flips that a test has left.
pub struct Look {
    /// The flips, in order.
    pub newest: Vec<u16>,
    /// Flips with sums beyond this are dropped; below 0 if all are.
    pub bound: f32,
    /// Whether flip 0 is among them, which turns no sign: it is what was observed.
    pub rejected: bool,
}

/// The least sum of each kind that makes a flip at least as large as some size.
#[derive(Clone, Copy)]
struct Bars(i32, i32);

/// The sums of one or two kinds of scores after each flip, and the factors by which sums of each kind count.
struct Flips<'a> {
    first: &'a [i32],
    second: &'a [i32],
    divided_by: f32,
    times: f32,
}

/// Reused memory for the sums: having the kernel hand it out anew, page by page, takes as long as all the
/// work on it.
pub type Room = [Vec<i32>; 2];

/// Whole scores of `kinds` kinds, one after the other, and the weight of a sum of the second kind relative
/// to one of the first.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    pub scores: &'a [i16],
    pub kinds: usize,
    pub counts: f64,
}

/// After how many of the distinct flips the sum is at least as large as the observed one; with `fold` only
/// flips of the subgroup are counted, if it has fewer.
#[inline(always)]
pub fn as_large(whole: Whole, fold: bool, room: &mut Room) -> usize {
    let flips = Flips::of(whole, fold, room);
    flips.count(flips.bars(flips.size(0)))
}

/// Take a look that may drop up to `may_drop` of the flips that are not among `dropped`: those with the
/// largest sums, where equal ones are dropped together or not at all. Only few sums are above `likely`.
#[inline(always)]
pub fn look(whole: Whole, dropped: &[u16], may_drop: usize, likely: f64, room: &mut Room) -> Look {
    let flips = Flips::of(whole, false, room);
    let mut is_left = vec![true; flips.first.len()];
    for &flip in dropped {
        if let Some(one) = is_left.get_mut(usize::from(flip)) {
            *one = false;
        }
    }
    let mut places = flips.from(flips.bars(likely as f32), &is_left);
    if places.len() <= may_drop {
        places = flips.from(Bars(0, 0), &is_left);
    }
    let sizes: Vec<f32> = places
        .iter()
        .map(|&flip| flips.size(usize::from(flip)))
        .collect();
    let bound = match sizes.len().checked_sub(may_drop + 1) {
        None => -1.0,
        Some(place) => {
            *sizes
                .clone()
                .select_nth_unstable_by(place, f32::total_cmp)
                .1
        }
    };
    let beyond = places.iter().zip(&sizes).filter(|(_, &size)| size > bound);
    Look {
        newest: beyond.map(|(&flip, _)| flip).collect(),
        bound,
        rejected: is_left[0] && flips.size(0) > bound,
    }
}

/// The sums of one kind of whole scores after each of the first flips.
#[inline(always)]
pub fn all_sums(scores: &[i16], found: &mut [f32], room: &mut Room) {
    room[0].resize(found.len(), 0);
    sums(scores, &words(scores.len(), false), &mut room[0]);
    for (sum, &exact) in found.iter_mut().zip(&room[0]) {
        *sum = exact as f32;
    }
}

fn words(pairs: usize, fold: bool) -> Vec<u32> {
    (0..pairs).map(if fold { folded } else { word }).collect()
}

impl<'a> Flips<'a> {
    /// The first 2^b flips, where b bits of a flip affect the signs of so many pairs; with `fold` those of
    /// the subgroup, if it has fewer.
    #[inline(always)]
    fn of(whole: Whole, fold: bool, room: &'a mut Room) -> Self {
        let pairs = whole.scores.len() / whole.kinds;
        let most = if fold { SUBGROUP } else { BITS };
        let (bits, words) = (most.min(pairs.saturating_sub(1) as u32), words(pairs, fold));
        let mut roots = [1.0; 2];
        for ((scores, root), of_kind) in whole
            .scores
            .chunks_exact(pairs)
            .zip(&mut roots)
            .zip(room.iter_mut())
        {
            of_kind.resize(1 << bits, 0);
            sums(scores, &words, of_kind);
            *root = root_of(scores);
        }
        let [first, second] = &*room;
        if whole.kinds == 1 {
            // The first kind stands for both, and its sums count as they are.
            return Self {
                first,
                second: first,
                divided_by: 1.0,
                times: 0.0,
            };
        }
        Self {
            first,
            second,
            divided_by: roots[0] as f32,
            times: (whole.counts / roots[1]) as f32,
        }
    }

    /// The larger sum after a flip, with its factor.
    #[inline(always)]
    fn size(&self, flip: usize) -> f32 {
        self.of_first(self.first[flip].abs())
            .max(self.of_second(self.second[flip].abs()))
    }

    #[inline(always)]
    fn of_first(&self, sum: i32) -> f32 {
        sum as f32 / self.divided_by
    }

    #[inline(always)]
    fn of_second(&self, sum: i32) -> f32 {
        sum as f32 * self.times
    }

    /// The least sums with which a flip has such a size, so that sizes need not be computed for every flip.
    #[inline(always)]
    fn bars(&self, size: f32) -> Bars {
        Bars(
            bar(size * self.divided_by, |sum| self.of_first(sum) >= size),
            bar(size / self.times, |sum| self.of_second(sum) >= size),
        )
    }

    #[inline(always)]
    fn count(&self, bars: Bars) -> usize {
        let both = self.first.iter().zip(self.second);
        both.map(|(&one, &other)| u32::from(is_from(bars, one, other)))
            .sum::<u32>() as usize
    }

    /// The flips not yet dropped whose sums reach a bar.
    #[inline(always)]
    fn from(&self, bars: Bars, is_left: &[bool]) -> Vec<u16> {
        let (mut found, mut flags) = (Vec::new(), [0u8; BLOCK]);
        let blocks = self.first.chunks(BLOCK).zip(self.second.chunks(BLOCK));
        for (number, (first, second)) in blocks.enumerate() {
            flags.fill(0);
            for ((flag, &one), &other) in flags.iter_mut().zip(first).zip(second) {
                *flag = u8::from(is_from(bars, one, other));
            }
            for (at, some) in flags.chunks_exact(WORD).enumerate() {
                if some != [0; WORD] {
                    let begin = number * BLOCK + at * WORD;
                    let reach = (0..WORD)
                        .filter(|&place| some[place] != 0)
                        .map(|place| begin + place);
                    found.extend(reach.filter(|&flip| is_left[flip]).map(|flip| flip as u16));
                }
            }
        }
        found
    }
}

#[inline(always)]
fn is_from(bars: Bars, one: i32, other: i32) -> bool {
    (one.abs() >= bars.0) | (other.abs() >= bars.1)
}

/// The least sum that is as large, searched from an estimate.
#[inline(always)]
fn bar(about: f32, is_as_large: impl Fn(i32) -> bool) -> i32 {
    let mut bar = if about < 1e9 {
        about as i32
    } else {
        return i32::MAX;
    };
    while bar > 0 && is_as_large(bar - 1) {
        bar -= 1;
    }
    while !is_as_large(bar) {
        bar += 1;
    }
    bar
}
