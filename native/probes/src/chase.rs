//! A chase through nodes that each name the next: every step has to wait for the one before.
//!
//! The set-up writes each node and so leaves the last of them in the caches; from the second round on, all
//! that matters is whether a cache holds all the nodes.

use std::hint::black_box;

/// One node fills one cache line, so that a step either misses or hits, whatever its neighbours.
#[repr(align(64))]
struct Node {
    next: usize,
}

/// Links `elements` nodes into one random cycle and follows it; returns a checksum.
pub fn run(elements: usize, iterations: u64) -> u64 {
    let nodes = cycle(elements);
    chase(&nodes, black_box(iterations)) as u64
}

/// One cycle through all the nodes, the same in every run, by Sattolo's algorithm ("An algorithm to
/// generate a random cyclic permutation", Information Processing Letters 22(6), 1986): a shuffle that
/// never leaves an element in its place.
fn cycle(elements: usize) -> Vec<Node> {
    let mut nodes: Vec<Node> = (0..elements).map(|next| Node { next }).collect();
    let mut random = Random(0);
    for last in (1..elements).rev() {
        nodes.swap(last, random.below(last));
    }
    nodes
}

// A function of its own, so that its counts can be read apart.
#[inline(never)]
fn chase(nodes: &[Node], iterations: u64) -> usize {
    let mut place = 0;
    for _ in 0..iterations {
        place = nodes[place].next;
    }
    place
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        ((u128::from(bits) * limit as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_nodes_are_on_one_cycle() {
        for elements in [1, 2, 3, 1000] {
            let nodes = cycle(elements);
            let mut seen = vec![false; elements];
            let mut place = 0;
            for _ in 0..elements {
                assert!(!std::mem::replace(&mut seen[place], true));
                place = nodes[place].next;
            }
            assert_eq!(place, 0);
        }
    }

    #[test]
    fn the_cycle_jumps_about() {
        let nodes = cycle(1000);
        let near = (0..1000).filter(|&place| nodes[place].next.abs_diff(place) < 10);
        assert!(near.count() < 50);
    }

    #[test]
    fn the_chase_ends_where_its_iterations_lead() {
        assert_eq!(run(1000, 0), 0);
        assert_eq!(run(1000, 1000), 0);
        assert_ne!(run(1000, 999), 0);
    }

    #[test]
    fn a_node_is_a_line() {
        assert_eq!(std::mem::size_of::<Node>(), 64);
    }
}
