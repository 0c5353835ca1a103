//! The sum of signed whole scores after each flip of their signs.

/// Tables are added up for at most this many pairs whose words have bits in both halves; for more, a
/// transform is faster.
const FEW: usize = 28;

/// Pairs per table, which has a row for each combination of their signs: it has to fit the fastest cache.
const AT_ONCE: usize = 4;

/// Sum up `scores` after each flip into `found`, whose length is a power of two; each pair has its word.
#[inline(always)]
pub fn sums(scores: &[i16], words: &[u32], found: &mut [i32]) {
    let bits = found.len().trailing_zeros();
    let low_bits = bits.div_ceil(2);
    let (lows, highs) = (1usize << low_bits, 1usize << (bits - low_bits));
    // What a pair adds depends on one half of the flip only, except for the mixed pairs.
    let (mut by_low, mut by_high, mut mixed) = (vec![0; lows], vec![0; highs], Vec::new());
    for (&score, &word) in scores.iter().zip(words) {
        let (high, low) = (word >> low_bits, word & (lows as u32 - 1));
        if low == 0 {
            add(&mut by_high, score.into(), high);
        } else if high == 0 {
            add(&mut by_low, score.into(), low);
        } else {
            mixed.push((i32::from(score), high, low));
        }
    }
    if mixed.len() > FEW {
        return transformed(scores, words, found);
    }
    for (high, row) in found.chunks_exact_mut(lows).enumerate() {
        let base = by_high[high];
        for (sum, &of_low) in row.iter_mut().zip(&by_low) {
            *sum = base + of_low;
        }
    }
    for some in mixed.chunks(AT_ONCE) {
        let table = table_of(some, lows);
        for (high, row) in found.chunks_exact_mut(lows).enumerate() {
            let signs = some.iter().enumerate();
            let at = signs.fold(0, |at, (bit, &(_, of_high, _))| {
                at | odd(of_high, high) << bit
            });
            for (sum, &more) in row.iter_mut().zip(&table[at * lows..(at + 1) * lows]) {
                *sum += more;
            }
        }
    }
}

/// What some pairs add for each low half of a flip, one row per set of pairs that its high half turns.
#[inline(always)]
fn table_of(some: &[(i32, u32, u32)], lows: usize) -> Vec<i32> {
    let mut table = vec![0; lows << some.len()];
    for (at, row) in table.chunks_exact_mut(lows).enumerate() {
        for (bit, &(score, _, low)) in some.iter().enumerate() {
            add(row, if at >> bit & 1 == 0 { score } else { -score }, low);
        }
    }
    table
}

/// Add the score of a pair with this word after each flip.
#[inline(always)]
fn add(sums: &mut [i32], score: i32, word: u32) {
    for (flip, sum) in sums.iter_mut().enumerate() {
        *sum += if odd(word, flip) == 0 { score } else { -score };
    }
}

#[inline(always)]
fn odd(word: u32, flip: usize) -> usize {
    (word & flip as u32).count_ones() as usize & 1
}

/// The same by a Walsh-Hadamard transform, whose cost does not grow with the pairs.
#[inline(always)]
fn transformed(scores: &[i16], words: &[u32], found: &mut [i32]) {
    found.fill(0);
    let mask = found.len() as u32 - 1;
    for (&score, &word) in scores.iter().zip(words) {
        found[(word & mask) as usize] += i32::from(score);
    }
    let mut half = 1;
    // Two bits at once: this halves the passes through the memory.
    while 4 * half <= found.len() {
        for block in found.chunks_exact_mut(4 * half) {
            let (left, right) = block.split_at_mut(2 * half);
            let ((one, two), (three, four)) = (left.split_at_mut(half), right.split_at_mut(half));
            for (((a, b), c), d) in one.iter_mut().zip(two).zip(three).zip(four) {
                let (sum, difference, others, between) = (*a + *b, *a - *b, *c + *d, *c - *d);
                (*a, *b) = (sum + others, difference + between);
                (*c, *d) = (sum - others, difference - between);
            }
        }
        half *= 4;
    }
    if 2 * half == found.len() {
        let (left, right) = found.split_at_mut(half);
        for (one, other) in left.iter_mut().zip(right) {
            (*one, *other) = (*one + *other, *one - *other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::word;

    #[test]
    fn a_transform_sums_up_what_tables_do() {
        for pairs in [1, 2, 17, 18, 40] {
            let scores: Vec<i16> = (0..pairs).map(|pair| 37 * pair as i16 % 101 - 50).collect();
            let words: Vec<u32> = (0..pairs).map(word).collect();
            let (mut tables, mut transform) = (vec![0; 1 << 16], vec![0; 1 << 16]);
            sums(&scores, &words, &mut tables);
            transformed(&scores, &words, &mut transform);
            assert!(tables == transform, "{pairs} pairs");
        }
    }
}
