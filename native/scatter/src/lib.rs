//! The library that Steelyard preloads (`LD_PRELOAD`) into a program whose heap is to begin in a randomly
//! drawn state.
//!
//! The place of a block decides which cache lines and pages it shares with others, and that can change a
//! program's time by percents. By default the heap begins in the same state in every launch, so a change of
//! the program that moves its blocks looks like a change of its speed. This library allocates blocks of
//! random sizes before the program begins, and frees some of them in random order: the program's own blocks
//! then lie elsewhere in each launch, and the effect of their places is averaged over.
//!
//! Nothing is interposed: once the program has begun, this library has no part in it.

#![cfg_attr(not(test), no_std)]
#![warn(missing_docs)]

#[path = "../../preload/src/environment.rs"]
mod environment;
#[path = "../../preload/src/panic.rs"]
mod panic;

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use environment::{value_of, Strings};

/// The environment variable with the seed that the state is drawn from, in digits.
const SEED: &[u8] = b"STEELYARD_HEAP_SEED=";

/// This many blocks fill some 50 KiB: less than half of what glibc's heap begins with (132 KiB), so that
/// little more memory is requested from the kernel.
const BLOCKS: usize = 200;

/// Most blocks of programs are small; these have 16 bytes to 1 KiB, with each power of two equally likely.
const EXPONENTS: u64 = 6;

/// The first block moves all others by up to a page, in steps of the usual alignment.
const STEPS: u64 = 256;
const STEP: usize = 16;

extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
}

/// The loader calls the functions in this section once the library is in place. Only glibc's is known
/// to pass the program's arguments and environment to them; elsewhere there is no constructor.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: unsafe extern "C" fn(c_int, Strings, Strings) = loaded;

/// # Safety
/// `environment` is null or an array of C strings that ends in a null pointer.
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn loaded(_count: c_int, _arguments: Strings, environment: Strings) {
    // SAFETY: as this function's caller promises.
    let seed = unsafe { value_of(environment, SEED) };
    if let Some(seed) = seed.and_then(number) {
        scatter(Random(seed));
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: u64) -> usize {
        (self.number() % bound) as usize
    }

    /// A size in bytes.
    fn size(&mut self) -> usize {
        let least = 16 << self.below(EXPONENTS);
        least + self.below(least as u64)
    }
}

/// Brings the heap into a drawn state: allocates one block that moves all others, then many, half of which
/// it frees in random order. The others stay.
fn scatter(mut random: Random) {
    let mut blocks = [null_mut(); BLOCKS];
    // SAFETY: any size may be asked for; the block is kept for good.
    unsafe { malloc(STEP * (1 + random.below(STEPS))) };
    for block in &mut blocks {
        // SAFETY: any size may be asked for.
        *block = unsafe { malloc(random.size()) };
    }
    for place in 0..BLOCKS / 2 {
        blocks.swap(place, place + random.below((BLOCKS - place) as u64));
        // SAFETY: the block came from `malloc`, and each place is freed once; null is allowed.
        unsafe { free(blocks[place]) };
    }
}

/// The number that is written in digits; None for anything else.
fn number(digits: &[u8]) -> Option<u64> {
    let mut found: u64 = 0;
    for digit in digits {
        let value = digit.checked_sub(b'0').filter(|value| *value < 10)?;
        found = found.wrapping_mul(10).wrapping_add(u64::from(value));
    }
    (!digits.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_written_in_digits() {
        assert_eq!(number(b"4294967295"), Some(4_294_967_295));
        assert_eq!(number(b"0"), Some(0));
        assert_eq!(number(b""), None);
        assert_eq!(number(b"1x"), None);
    }

    #[test]
    fn sizes_are_small_and_their_sum_is_bounded() {
        let mut random = Random(1);
        let sizes: Vec<_> = (0..10_000).map(|_| random.size()).collect();
        assert!(sizes.iter().all(|size| (16..1024).contains(size)));
        let mean = sizes.iter().sum::<usize>() / sizes.len();
        assert!((200..300).contains(&mean), "{mean}");
    }

    #[test]
    fn the_heap_bears_it() {
        (0..100).for_each(|seed| scatter(Random(seed)));
    }
}
