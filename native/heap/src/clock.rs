//! The clock for samples: the C library's, which needs no system call on most machines (about 25 ns per
//! reading).

use crate::libc::{clock_gettime, TimeSpec, CLOCK_MONOTONIC};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The time between two immediately consecutive readings of the clock, which is part of every sample.
static COST_NS: AtomicU64 = AtomicU64::new(0);

const TRIES: usize = 33;

/// The monotonic clock, in ns.
pub fn now_ns() -> u64 {
    let mut time = TimeSpec {
        seconds: 0,
        nanoseconds: 0,
    };
    // SAFETY: the place is ours; this clock is on every Linux.
    unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) };
    (time.seconds as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.nanoseconds as u64)
}

/// Measures what the clock itself costs: the median of some tries, as samples include its usual cost.
pub fn calibrate() -> u64 {
    let mut tries = [0_u64; TRIES];
    for one in &mut tries {
        let start = now_ns();
        *one = now_ns().wrapping_sub(start);
    }
    tries.sort_unstable();
    COST_NS.store(tries[TRIES / 2], Relaxed);
    tries[TRIES / 2]
}

/// The result of a call, and how long it took in ns: less than 0 if the clock was faster than usual.
pub fn timed<R>(call: impl FnOnce() -> R) -> (R, i64) {
    let start = now_ns();
    let result = call();
    let ns = now_ns().wrapping_sub(start);
    (result, ns.wrapping_sub(COST_NS.load(Relaxed)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_and_its_cost_is_small() {
        let before = now_ns();
        let cost = calibrate();
        assert!(now_ns() > before);
        assert!(cost < 1_000_000);
        assert_eq!(timed(|| 7).0, 7);
    }
}
