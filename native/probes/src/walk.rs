//! Four arrays walked at a common index: linear and random are the same code with different multipliers,
//! so that they execute the same instructions and differ only in their cache misses.
//!
//! The program is the one of Itamar Turner-Trauring's articles on memory locality and on
//! benchmarking with Cachegrind (<https://pythonspeed.com/articles/consistent-benchmarking-in-ci/>).

use std::hint::black_box;

/// Visits every index in turn.
pub const LINEAR: u64 = 1;

/// Jumps about: the multiplier of the "minimal standard" generator (Park, Miller and Stockmeyer,
/// Communications of the ACM 36(7), 1993). The walk does not visit every index: of a million, or of any
/// other multiple of 16 without prime factors but 2, 3 and 5, it visits an eighth and then begins again.
/// Hence the author's 2.75 misses of an 8 MiB cache for four times 4 MB.
pub const RANDOM: u64 = 48_271;

/// The system's pages are at least this large.
const PAGE_BYTES: usize = 4096;

/// What the arrays hold.
pub trait Element: Copy + Default {
    /// Adds one, and wraps around.
    #[must_use]
    fn next(self) -> Self;

    /// The value for the checksum.
    fn widened(self) -> u64;
}

impl Element for i32 {
    fn next(self) -> Self {
        self.wrapping_add(1)
    }

    fn widened(self) -> u64 {
        u64::from(self.unsigned_abs())
    }
}

impl Element for u64 {
    fn next(self) -> Self {
        self.wrapping_add(1)
    }

    fn widened(self) -> u64 {
        self
    }
}

/// Makes four arrays of `elements` and walks over them; returns a checksum.
pub fn run<T: Element>(elements: usize, multiplier: u64, iterations: u64) -> u64 {
    let mut arrays: [Vec<T>; 4] = std::array::from_fn(|_| touched(elements));
    let last = walk(&mut arrays, black_box(multiplier), iterations);
    arrays
        .iter()
        .map(|array| array[last].widened())
        .fold(last as u64, u64::wrapping_add)
}

/// An array of zeros. One element of each page is written, so that page faults belong to the set-up, and
/// no more than that, as written elements would stay in the caches.
fn touched<T: Element>(elements: usize) -> Vec<T> {
    let mut array = vec![T::default(); elements];
    for element in array
        .iter_mut()
        .step_by(PAGE_BYTES / std::mem::size_of::<T>())
    {
        *element = black_box(T::default());
    }
    array
}

/// Counts up in each array at each index of the walk; returns the index after the last.
// A function of its own, so that its counts can be read separately and its code does not depend on its
// callers.
#[inline(never)]
fn walk<T: Element>(arrays: &mut [Vec<T>; 4], multiplier: u64, iterations: u64) -> usize {
    let steps = Steps::new(multiplier, arrays[0].len());
    let [first, second, third, fourth] = arrays;
    // All have one known length, so that bounds are checked once instead of four times.
    let first = &mut first[..steps.elements];
    let second = &mut second[..steps.elements];
    let third = &mut third[..steps.elements];
    let fourth = &mut fourth[..steps.elements];
    let mut index = 0;
    for _ in 0..iterations {
        first[index] = first[index].next();
        second[index] = second[index].next();
        third[index] = third[index].next();
        fourth[index] = fourth[index].next();
        index = steps.after(index);
    }
    index
}

/// A linear congruential generator with increment 1, modulo the number of elements.
struct Steps {
    multiplier: u64,
    elements: usize,
    /// 2^64 / elements, rounded down or one less.
    reciprocal: u64,
}

impl Steps {
    fn new(multiplier: u64, elements: usize) -> Self {
        Self {
            multiplier,
            elements,
            reciprocal: u64::MAX / elements as u64,
        }
    }

    /// The index after `index`. The remainder is computed without a division: processors divide large
    /// numbers more slowly than small ones, and compilers branch on the size, so that random would differ
    /// from linear by more than its cache misses.
    #[inline(always)]
    fn after(&self, index: usize) -> usize {
        let elements = self.elements as u64;
        let product = self.multiplier * index as u64 + 1;
        let quotient = ((u128::from(product) * u128::from(self.reciprocal)) >> 64) as u64;
        // The quotient is at most one too small, as the product is below 2^64.
        let rest = product - quotient * elements;
        rest.min(rest.wrapping_sub(elements)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_the_remainder_of_the_product() {
        for elements in [1, 2, 3, 1000, 1024, 1_000_000, (1 << 28) - 1, 1 << 28] {
            for multiplier in [LINEAR, RANDOM] {
                let steps = Steps::new(multiplier, elements);
                let far = elements.saturating_sub(1000)..elements;
                for index in (0..elements.min(1000)).chain(far) {
                    let product = multiplier * index as u64 + 1;
                    let expected = (product % elements as u64) as usize;
                    assert_eq!(steps.after(index), expected, "{index} of {elements}");
                }
            }
        }
    }

    #[test]
    fn linear_comes_by_each_index_and_begins_again() {
        let mut arrays: [Vec<i32>; 4] = std::array::from_fn(|_| vec![0; 5]);
        assert_eq!(walk(&mut arrays, LINEAR, 12), 2);
        assert!(arrays.iter().all(|array| *array == [3, 3, 2, 2, 2]));
    }

    #[test]
    fn random_counts_as_often_and_elsewhere() {
        let mut arrays: [Vec<u64>; 4] = std::array::from_fn(|_| vec![0; 1000]);
        walk(&mut arrays, RANDOM, 10);
        assert_eq!(arrays[3].iter().sum::<u64>(), 10);
        assert!(arrays[3][2..10].iter().all(|&count| count == 0));
    }

    #[test]
    fn the_checksum_tells_the_walks_apart() {
        assert_eq!(run::<i32>(1000, LINEAR, 0), 0);
        assert_eq!(run::<i32>(1000, LINEAR, 1500), 500 + 4);
        assert_eq!(run::<u64>(1000, RANDOM, 2), 272);
    }
}
