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
    /// Of how many pairs of an even and an odd order the even one is larger: Mann and Whitney's U. A tie is half.
    even_larger: f64,
}

impl Way {
    fn add(&mut self, difference: f64, is_odd: bool) {
        let [earlier, others] = &mut self.of_order;
        let (earlier, others) = if is_odd {
            (others, &*earlier)
        } else {
            (earlier, &*others)
        };
        let below = others.partition_point(|&one| one < difference);
        let up_to = others.partition_point(|&one| one <= difference);
        let larger = (below + up_to) as f64 / 2.0;
        self.even_larger += if is_odd {
            others.len() as f64 - larger
        } else {
            larger
        };
        earlier.insert(earlier.partition_point(|&one| one < difference), difference);
    }
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
                even_larger: 0.0,
            });
            ways.len() - 1
        });
        let (way, is_odd) = (&mut ways[place], order & 1 == 1);
        let half = half_effect(way);
        *effect = if is_odd { -half } else { half };
        way.add(difference, is_odd);
    }
}

/// Half of the distance between the differences of the two orders, shrunk by what noise alone makes of it.
/// Noise of few distinct sizes moves medians far, and its quartiles may coincide: so the ranks are asked, too.
fn half_effect(way: &Way) -> f64 {
    let [even, odd] = &way.of_order;
    if even.len().min(odd.len()) < FEWEST {
        return 0.0;
    }
    let [many, others] = [even.len() as f64, odd.len() as f64];
    let all = many + others;
    let variances = SURELY_MORE * (1.0 + FEW_UNDERSTATE / all);
    let surplus = way.even_larger - many * others / 2.0;
    if surplus * surplus <= variances * many * others * (all + 1.0) / 12.0 {
        return 0.0;
    }
    let half = (quantile(even, 0.5) - quantile(odd, 0.5)) / 2.0;
    let apart = |of: &Ordered| quantile(of, 0.75) - quantile(of, 0.25);
    let deviation = (apart(even) * many + apart(odd) * others) / all / BETWEEN_QUARTILES;
    let of_half = OF_MEDIAN * deviation * deviation * (1.0 / many + 1.0 / others) / 4.0;
    let by_noise = variances * of_half;
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
    fn nothing_is_taken_off_before_three_of_either_order() {
        let all = found(
            &[1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0],
            &[0, 1, 0, 1, 0, 1, 0, 1],
        );
        assert_eq!(all, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -1.0]);
    }

    #[test]
    fn each_way_has_its_own_effect() {
        let (one, other) = ([1.0, -1.0].repeat(3), [9.0, -9.0].repeat(3));
        let differences = [one, other, vec![1.0, 9.0]].concat();
        let orders = [[0, 1].repeat(3), [2, 3].repeat(3), vec![0, 2]].concat();
        let all = found(&differences, &orders);
        assert_eq!(all[..12], [0.0; 12]);
        assert_eq!(all[12..], [1.0, 9.0]);
    }

    #[test]
    fn medians_apart_are_none_where_ranks_are_not() {
        // Noise of two sizes: more of one by chance, and the medians are as far apart as the sizes.
        let noise = [0.0, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0];
        assert_eq!(found(&noise, &[0, 0, 0, 1, 1, 1, 0])[6], 0.0);
    }

    #[test]
    fn ties_are_half_larger() {
        let mut way = Way {
            number: 0,
            of_order: [Vec::new(), Vec::new()],
            even_larger: 0.0,
        };
        for (difference, is_odd) in [
            (1.0, false),
            (1.0, true),
            (2.0, true),
            (3.0, false),
            (0.0, true),
        ] {
            way.add(difference, is_odd);
        }
        // 1 is as large as 1 and larger than 0; 3 is larger than all three.
        assert_eq!(way.even_larger, 4.5);
        assert_eq!(way.of_order, [vec![1.0, 3.0], vec![0.0, 1.0, 2.0]]);
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
