//! The effect of the order of a pair's two launches on its difference, estimated from the pairs before it alone.
//!
//! A fair coin decides whose launch is the first of a pair, so what being first costs or gains is noise
//! with a known cause: it adds as much to the differences of one order as it takes from those of the other.
//! Subtracting what earlier pairs say leaves each pair as likely above the true change as below, since
//! nothing that is subtracted depends on the pair's own coin. Shifting all differences equally does not
//! change the effect, and exchanging the two sides changes only its sign.

use crate::scores::quantile;

/// Fewer pairs of either order show nothing.
const FEWEST: usize = 2;
/// The variance of a median is larger than that of a mean by this, pi / 2, where the noise is normal.
const OF_MEDIAN: f64 = 1.57;
/// The distance between the quartiles of normal noise, in standard deviations.
const BETWEEN_QUARTILES: f64 = 1.349;
/// Few pairs seem less noisy than they are: their variance by this over their number.
const FEW_UNDERSTATE: f64 = 4.0;
/// An effect whose square is below this many variances is taken for noise. Where there is no effect, 1 costs
/// 2 to 4 % more pairs, and 2 to 3 up to 2 %; with more, less is gained where there is one
/// (benchmarks/order.py).
const SURELY_MORE: f64 = 2.0;

/// The differences of one order so far, smallest first.
type Ordered = Vec<f64>;

/// The differences of one way to run pairs: those of even and of odd order numbers.
struct Way {
    number: i64,
    of_order: [Ordered; 2],
}

/// What to subtract from each pair's difference. Orders 2k and 2k + 1 are each other's mirror image, and
/// another k is another way to run a pair, with an effect of its own.
pub fn effects(differences: &[f64], orders: &[i64], found: &mut [f64]) {
    let mut ways: Vec<Way> = Vec::new();
    for ((&difference, &order), effect) in differences.iter().zip(orders).zip(found) {
        let place = ways.iter().position(|way| way.number == order >> 1);
        let place = place.unwrap_or_else(|| {
            ways.push(Way {
                number: order >> 1,
                of_order: [Vec::new(), Vec::new()],
            });
            ways.len() - 1
        });
        let (way, is_odd) = (&mut ways[place], order & 1 == 1);
        let half = half_effect(&way.of_order);
        *effect = if is_odd { -half } else { half };
        let earlier = &mut way.of_order[usize::from(is_odd)];
        let at = earlier.partition_point(|&one| one < difference);
        earlier.insert(at, difference);
    }
}

/// Half of the distance between the differences of the two orders, shrunk by what noise alone makes of it.
fn half_effect([even, odd]: &[Ordered; 2]) -> f64 {
    if even.len().min(odd.len()) < FEWEST {
        return 0.0;
    }
    let half = (quantile(even, 0.5) - quantile(odd, 0.5)) / 2.0;
    let [many, others] = [even.len() as f64, odd.len() as f64];
    let all = many + others;
    let apart = |of: &Ordered| quantile(of, 0.75) - quantile(of, 0.25);
    let deviation = (apart(even) * many + apart(odd) * others) / all / BETWEEN_QUARTILES;
    let of_half = OF_MEDIAN * deviation * deviation * (1.0 / many + 1.0 / others) / 4.0;
    let by_noise = SURELY_MORE * of_half * (1.0 + FEW_UNDERSTATE / all);
    // Shrunk like James and Stein's estimator: to 0 where there is only noise.
    if half * half > by_noise {
        half * (1.0 - by_noise / (half * half))
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(differences: &[f64], orders: &[i64]) -> Vec<f64> {
        let mut found = vec![f64::NAN; differences.len()];
        effects(differences, orders, &mut found);
        found
    }

    #[test]
    fn nothing_is_taken_off_before_two_of_either_order() {
        let all = found(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0], &[0, 1, 0, 1, 0, 1]);
        assert_eq!(all, [0.0, 0.0, 0.0, 0.0, 1.0, -1.0]);
    }

    #[test]
    fn each_way_has_its_own_effect() {
        let all = found(
            &[1.0, -1.0, 1.0, -1.0, 9.0, -9.0, 9.0, -9.0, 1.0, 9.0],
            &[0, 1, 0, 1, 2, 3, 2, 3, 0, 2],
        );
        assert_eq!(all[4..], [0.0, 0.0, 0.0, 0.0, 1.0, 9.0]);
    }

    #[test]
    fn what_all_differ_by_is_no_effect() {
        assert_eq!(found(&[0.25; 8], &[0, 1, 0, 1, 1, 0, 1, 0]), [0.0; 8]);
    }

    #[test]
    fn what_is_no_more_than_noise_is_none() {
        let noise = [0.3, -0.2, -0.5, 0.1, 0.4, 0.35, -0.3, -0.4];
        assert_eq!(found(&noise, &[0, 1, 0, 1, 0, 1, 0, 1])[7], 0.0);
    }

    #[test]
    fn an_exchange_of_the_sides_changes_the_sign_alone() {
        let (one, other) = (
            [2.0, -1.0, 1.5, -1.25, 1.75, -1.5, 1.0],
            [0, 1, 0, 1, 0, 1, 0],
        );
        let (back, mirror) = (one.map(|d: f64| -d), other.map(|order| order ^ 1));
        let expected: Vec<f64> = found(&one, &other).iter().map(|effect| -effect).collect();
        assert!(expected[6] != 0.0);
        assert_eq!(found(&back, &mirror), expected);
    }
}
