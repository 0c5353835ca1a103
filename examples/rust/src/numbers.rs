//! Arithmetic.

/// How many primes are below `limit`, by the sieve of Eratosthenes.
#[must_use]
pub fn primes_below(limit: usize) -> usize {
    let mut is_prime = vec![true; limit];
    let mut count = 0;
    for number in 2..limit {
        if is_prime[number] {
            count += 1;
            for multiple in (number * number..limit).step_by(number) {
                is_prime[multiple] = false;
            }
        }
    }
    count
}

/// The product of two square matrices of `size` rows each.
#[must_use]
pub fn matrix_product(left: &[f64], right: &[f64], size: usize) -> Vec<f64> {
    let mut product = vec![0.0; size * size];
    for (row, left_row) in product.chunks_exact_mut(size).zip(left.chunks_exact(size)) {
        for (&factor, right_row) in left_row.iter().zip(right.chunks_exact(size)) {
            for (sum, &value) in row.iter_mut().zip(right_row) {
                *sum += factor * value;
            }
        }
    }
    product
}

/// The greatest common divisor, by Euclid's algorithm.
#[must_use]
pub fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_right() {
        assert_eq!(primes_below(100), 25);
        assert_eq!(greatest_common_divisor(48, 180), 12);
        assert_eq!(
            matrix_product(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0, 1.0, 0.0], 2),
            [2.0, 1.0, 4.0, 3.0]
        );
    }
}
