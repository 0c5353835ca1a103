//! The code that the flips form: each pair has a word, and flip r turns the signs of the pairs whose
//! words have an odd number of bits in common with r.

/// How many bits a word has.
pub const BITS: u32 = 16;

/// How many bits the subgroup of the flips has, and the words that stand for the remaining bits in it: any
/// distinct words of several bits would do.
pub const SUBGROUP: u32 = 12;
const OTHERS: [u32; 4] = [0x0F3, 0x335, 0x556, 0x969];

/// The word of a pair, counted from 0: first no bit, then each single bit, then a fixed pseudorandom sequence.
pub fn word(pair: usize) -> u32 {
    match pair {
        0 => 0,
        single if single <= BITS as usize => 1 << (single - 1),
        _ => (split_mix(pair as u64 + 1) >> (64 - BITS)) as u32,
    }
}

/// The word of a pair in the subgroup.
pub fn folded(pair: usize) -> u32 {
    let word = word(pair);
    let others = OTHERS.iter().enumerate();
    others.fold(word & ((1 << SUBGROUP) - 1), |sum, (bit, other)| {
        sum ^ (((word >> (SUBGROUP + bit as u32)) & 1) * other)
    })
}

/// SplitMix64 (Steele, Lea and Flood 2014), written out so that no library can change its numbers.
fn split_mix(number: u64) -> u64 {
    let state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}
