//! What a look sees after each flip of the signs: the sum of the scores, or of two kinds of them the
//! larger one, by its root of squares. It drops the largest.

use crate::scores::root_of;
use crate::sums::sums;
use crate::words::{folded, word, BITS, SUBGROUP};

/// Flags of flips that are looked at as one number.
const WORD: usize = 8;
/// Flips whose flags are formed at once.
const BLOCK: usize = 256;

/// What is dropped of the flips that a test has left.
pub struct Look {
    /// The flips, in order.
    pub newest: Vec<u16>,
    /// What is beyond this is dropped; below 0 where all is.
    pub bound: f32,
    /// Whether flip 0 is among them, which turns no sign: it is what was observed.
    pub rejected: bool,
}

/// Of flips of a few words' bits, how large a sum makes a flip as large: a bar for each kind.
#[derive(Clone, Copy)]
struct Bars(i32, i32);

/// The sums of one or two kinds of scores after each flip, and what a sum of each kind counts.
struct Flips<'a> {
    first: &'a [i32],
    second: &'a [i32],
    divided_by: f32,
    times: f32,
}

/// Where sums are put: memory that the kernel has to hand out page by page anew takes as long as all that
/// is done with it.
pub type Room = [Vec<i32>; 2];

/// Whole scores of `kinds` kinds, one behind the other, and what a sum of the second kind counts beside
/// one of the first.
#[derive(Clone, Copy)]
pub struct Whole<'a> {
    pub scores: &'a [i16],
    pub kinds: usize,
    pub counts: f64,
}

/// After how many of the first 2^`bits` flips the sum is as large as what was observed; of the flips
/// of the subgroup, if there are more bits than that and `fold` says so.
#[inline(always)]
pub fn as_large(whole: Whole, fold: bool, room: &mut Room) -> usize {
    let flips = Flips::of(whole, fold, room);
    flips.count(flips.bars(flips.size(0)))
}

/// Take a look that may drop so many of the flips that are not among `dropped`: those with the largest
/// sums, of which equal ones are dropped together or not at all. Only few are above `likely`.
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
    /// The first 2^b flips, where b bits of a flip turn the sign of any of so many pairs; with `fold` those
    /// of the subgroup, if it has fewer.
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
            // The first stands for both, and counts as it is.
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

    /// The larger sum after a flip, as it counts.
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

    /// From which sums on a flip has such a size: neither is worked out for each of them.
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

    /// The flips that are left whose sums reach a bar.
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

/// The least sum that is as large, from about where it is.
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
