//! The numbers of one thread. Only that thread writes them, but its signal handlers may do so in between,
//! and another process may read them at any moment.

use core::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Calls for at least this many bytes are all timed: they are rare, and long compared to the clock. From
/// this size on the C library asks the kernel for each block.
pub const LARGE: usize = 128 << 10;

/// Of the other calls, the more there are the fewer are timed, down to one in so many on average. Two
/// readings of the clock cost some 45 ns, and a call may take 5: one in 64 would be noticeable.
const MEAN_INTERVAL: u64 = 512;

/// The longest interval grows by one call every so many samples: of 10,000 calls 560 are timed.
const SAMPLES_A_STEP: u64 = 8;

/// A timed call for few bytes that took longer was most likely interrupted: it counts once, and not for
/// the calls that it should stand for.
const INTERRUPTED_NS: i64 = 100_000;

/// A thread notes up to this many bytes more or less before it changes the sum over all threads.
const PENDING: i64 = 64 << 10;

/// The sum over all threads: bytes in use, and the most that there were.
#[repr(C)]
pub struct Level {
    /// Bytes in use, as far as threads have reported.
    pub live: AtomicI64,
    /// The most at any time.
    pub peak: AtomicI64,
}

impl Level {
    /// Adds what a thread has noted: `change` bytes, and at most `high` in between.
    pub fn add(&self, change: i64, high: i64) {
        let before = self.live.fetch_add(change, Relaxed);
        self.peak.fetch_max(before.wrapping_add(high), Relaxed);
    }
}

/// The kinds of calls, each counted and timed separately.
#[derive(Clone, Copy)]
pub enum Call {
    /// A block is handed out.
    Allocate,
    /// A block is taken back.
    Free,
    /// A block is given another size.
    Reallocate,
}

/// The numbers of one thread, in two cache lines of their own. All zeros is a thread that has done
/// nothing.
#[repr(C, align(128))]
pub struct Slot {
    /// How often each [`Call`] was made, in its order.
    pub calls: [AtomicU64; 3],
    /// Bytes requested.
    pub bytes: AtomicU64,
    /// How many more bytes are in use than this thread has reported.
    pub pending: AtomicI64,
    /// The most that `pending` was since this thread last reported.
    pub high: AtomicI64,
    /// For each kind of call, the number of calls from which on the next one is timed. What most calls
    /// need ends here, within one cache line.
    next: [AtomicU64; 3],
    /// Estimate of the time in the allocator, in ns; below 0 where the clock took longer.
    pub ns: AtomicU64,
    /// Calls that were timed as samples.
    pub samples: AtomicU64,
    /// For each kind of call, how many calls the next sample stands for.
    weight: [AtomicU64; 3],
    /// State of the random intervals.
    random: AtomicU64,
    _unused: u64,
}

/// Adds to a number of the calling thread, in a single instruction where that needs no lock: a signal
/// handler runs either before or after it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn add(number: &AtomicU64, amount: u64) {
    // SAFETY: the reference is to eight bytes that may be written; other threads only read them.
    unsafe {
        core::arch::asm!(
            "add qword ptr [{place}], {amount}",
            place = in(reg) number.as_ptr(),
            amount = in(reg) amount,
            options(nostack),
        );
    }
}

/// Adds to a number of the calling thread.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn add(number: &AtomicU64, amount: u64) {
    number.fetch_add(amount, Relaxed);
}

impl Slot {
    /// Counts an allocated block, of which `usable` bytes can be used.
    #[inline(always)]
    pub fn allocated(&self, level: &Level, bytes: usize, usable: usize) {
        self.asked(bytes);
        self.grow(level, usable as i64);
    }

    /// Counts a block that is about to be allocated, and its bytes.
    #[inline(always)]
    pub fn asked(&self, bytes: usize) {
        add(&self.calls[Call::Allocate as usize], 1);
        add(&self.bytes, bytes as u64);
    }

    /// Undoes the count of a block. Its bytes stay counted: they are fewer than `LARGE`, and a program that
    /// is refused so few has other troubles.
    #[cold]
    #[inline(never)]
    pub fn refused(&self) {
        add(&self.calls[Call::Allocate as usize], u64::MAX);
    }

    /// Counts a freed block.
    #[inline(always)]
    pub fn freed(&self, level: &Level, usable: usize) {
        add(&self.calls[Call::Free as usize], 1);
        self.shrink(level, usable as i64);
    }

    /// Counts a block that is about to be freed, if nothing else has to be done; otherwise returns false.
    #[inline(always)]
    pub fn frees_quietly(&self, usable: usize) -> bool {
        let pending = self.pending.load(Relaxed).wrapping_sub(usable as i64);
        if pending < -PENDING {
            return false;
        }
        self.pending.store(pending, Relaxed);
        add(&self.calls[Call::Free as usize], 1);
        true
    }

    /// Counts a block that was given another size.
    #[inline(always)]
    pub fn reallocated(&self, level: &Level, bytes: usize, before: usize, after: usize) {
        add(&self.calls[Call::Reallocate as usize], 1);
        add(&self.bytes, bytes as u64);
        self.shrink(level, before as i64);
        self.grow(level, after as i64);
    }

    /// Whether the coming call is to be timed.
    #[inline(always)]
    pub fn is_due(&self, call: Call, size: usize) -> bool {
        let made = self.calls[call as usize].load(Relaxed);
        size >= LARGE || made >= self.next[call as usize].load(Relaxed)
    }

    /// How many calls the one that is due stands for. Begins the next interval, of random length, as a
    /// program's calls may have a rhythm of their own.
    pub fn weight(&self, call: Call, size: usize) -> u64 {
        if size >= LARGE {
            return 1;
        }
        let call = call as usize;
        let weight = self.weight[call].load(Relaxed).max(1);
        let samples = self.samples.load(Relaxed);
        self.samples.store(samples + 1, Relaxed);
        let longest = (2 * MEAN_INTERVAL - 1).min(1 + samples / SAMPLES_A_STEP);
        let interval = 1 + self.random_number() % longest;
        self.weight[call].store(interval, Relaxed);
        // The call that is due has not been counted yet, and the last one of the interval is timed.
        let next = self.calls[call].load(Relaxed) + interval;
        self.next[call].store(next, Relaxed);
        weight
    }

    /// Adds the time of a call that stands for `weight` calls.
    pub fn took(&self, ns: i64, weight: u64) {
        let weight = if ns > INTERRUPTED_NS { 1 } else { weight };
        add(&self.ns, (ns as u64).wrapping_mul(weight));
    }

    /// Reports everything noted to the sum over all threads.
    pub fn tell(&self, level: &Level) {
        let (change, high) = (self.pending.load(Relaxed), self.high.load(Relaxed));
        self.pending.store(0, Relaxed);
        self.high.store(0, Relaxed);
        level.add(change, high);
    }

    /// Notes that so many more bytes are in use.
    #[inline(always)]
    pub fn grow(&self, level: &Level, bytes: i64) {
        let pending = self.pending.load(Relaxed).wrapping_add(bytes);
        self.pending.store(pending, Relaxed);
        if pending > self.high.load(Relaxed) {
            self.high.store(pending, Relaxed);
            if pending > PENDING {
                self.tell_of_much(level);
            }
        }
    }

    #[inline(always)]
    fn shrink(&self, level: &Level, bytes: i64) {
        let pending = self.pending.load(Relaxed).wrapping_sub(bytes);
        self.pending.store(pending, Relaxed);
        if pending < -PENDING {
            self.tell_of_much(level);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_of_much(&self, level: &Level) {
        self.tell(level);
    }

    /// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
    fn random_number(&self) -> u64 {
        let mut state = self.random.load(Relaxed);
        if state == 0 {
            state = 0x9e37_79b9_7f4a_7c15;
        }
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        self.random.store(state, Relaxed);
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }
}

/// The numbers of threads without a slot of their own: before the library is ready, while they end, and
/// beyond the number of slots. Several threads may add at once; nothing is timed.
pub struct Shared<'a>(pub &'a Slot);

impl Shared<'_> {
    /// Like [`Slot::allocated`].
    pub fn allocated(&self, level: &Level, bytes: usize, usable: usize) {
        self.0.calls[Call::Allocate as usize].fetch_add(1, Relaxed);
        self.0.bytes.fetch_add(bytes as u64, Relaxed);
        level.add(usable as i64, usable as i64);
    }

    /// Like [`Slot::freed`].
    pub fn freed(&self, level: &Level, usable: usize) {
        self.0.calls[Call::Free as usize].fetch_add(1, Relaxed);
        level.add(-(usable as i64), 0);
    }

    /// Like [`Slot::reallocated`].
    pub fn reallocated(&self, level: &Level, bytes: usize, before: usize, after: usize) {
        self.0.calls[Call::Reallocate as usize].fetch_add(1, Relaxed);
        self.0.bytes.fetch_add(bytes as u64, Relaxed);
        level.add(-(before as i64), 0);
        level.add(after as i64, after as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot() -> Slot {
        // SAFETY: all zeros is the slot of a thread that has done nothing.
        unsafe { core::mem::zeroed() }
    }

    fn level() -> Level {
        Level {
            live: AtomicI64::new(0),
            peak: AtomicI64::new(0),
        }
    }

    fn counts(slot: &Slot) -> [u64; 4] {
        let [allocated, freed, reallocated] = &slot.calls;
        [allocated, freed, reallocated, &slot.bytes].map(|number| number.load(Relaxed))
    }

    /// Makes `calls` calls, of which the i-th takes `ns(i)` if it is due to be timed; returns the weights of those.
    fn called(slot: &Slot, calls: u64, ns: impl Fn(u64) -> i64) -> Vec<u64> {
        let mut weights = Vec::new();
        for call in 0..calls {
            if slot.is_due(Call::Free, 8) {
                let weight = slot.weight(Call::Free, 8);
                slot.took(ns(call), weight);
                weights.push(weight);
            }
            slot.freed(&level(), 0);
        }
        weights
    }

    /// The peak as the reader computes it, with what one thread has not yet told.
    fn peak(level: &Level, slot: &Slot) -> i64 {
        let now = level.live.load(Relaxed) + slot.high.load(Relaxed);
        level.peak.load(Relaxed).max(now)
    }

    #[test]
    fn a_slot_takes_two_cache_lines() {
        assert_eq!(core::mem::size_of::<Slot>(), 128);
    }

    #[test]
    fn blocks_and_bytes_are_counted() {
        let (slot, level) = (slot(), level());
        slot.allocated(&level, 10, 24);
        slot.allocated(&level, 0, 24);
        slot.reallocated(&level, 30, 24, 40);
        slot.freed(&level, 40);
        assert_eq!(counts(&slot), [2, 1, 1, 40]);
        assert_eq!(peak(&level, &slot), 64);
        assert_eq!(slot.pending.load(Relaxed), 24);
        Shared(&slot).reallocated(&level, 30, 24, 40);
        assert_eq!(counts(&slot), [2, 1, 2, 70]);
    }

    #[test]
    fn the_peak_of_one_thread_is_exact_whenever_it_tells() {
        let (slot, level) = (slot(), level());
        let (mut live, mut most) = (0_i64, 0_i64);
        let mut blocks = Vec::new();
        for round in 0..20_000_u64 {
            let random = slot.random_number();
            if random % 1000 < 500 + (round / 4000) % 2 * 30 || blocks.is_empty() {
                let size = (random >> 8) as usize % 40_000;
                slot.allocated(&level, size, size);
                blocks.push(size);
                live += size as i64;
                most = most.max(live);
            } else {
                let size = blocks.swap_remove(random as usize % blocks.len());
                slot.freed(&level, size);
                live -= size as i64;
            }
            assert_eq!(live, level.live.load(Relaxed) + slot.pending.load(Relaxed));
            assert_eq!(most, peak(&level, &slot));
        }
    }

    #[test]
    fn samples_stand_for_all_calls() {
        let slot = slot();
        let calls = 5_000_000;
        let weights = called(&slot, calls, |_| 0);
        assert_eq!(weights[..8], [1; 8]);
        let covered: u64 = weights.iter().sum();
        assert!(calls - covered <= 2 * MEAN_INTERVAL);
        let last = &weights[weights.len() - 2000..];
        let mean = last.iter().sum::<u64>() as f64 / 2000.0;
        assert!((480.0..545.0).contains(&mean), "{mean}");
    }

    #[test]
    fn of_few_calls_many_are_timed() {
        let weights = called(&slot(), 10_000, |_| 0);
        assert!((350..700).contains(&weights.len()), "{}", weights.len());
    }

    #[test]
    fn a_rhythm_of_calls_does_not_escape() {
        let slot = slot();
        called(&slot, 4_000_000, |call| 100 * (call % 2) as i64);
        let estimate = slot.ns.load(Relaxed) as f64 / 2e8;
        assert!((0.95..1.05).contains(&estimate), "{estimate}");
    }

    #[test]
    fn large_blocks_are_all_timed_and_an_interruption_counts_once() {
        let slot = slot();
        called(&slot, 100, |_| 0);
        assert!((0..100).all(|_| slot.is_due(Call::Free, LARGE)));
        assert_eq!(slot.weight(Call::Free, LARGE), 1);
        slot.took(INTERRUPTED_NS + 1, 64);
        slot.took(-1, 64);
        assert_eq!(slot.ns.load(Relaxed) as i64, INTERRUPTED_NS + 1 - 64);
    }
}
