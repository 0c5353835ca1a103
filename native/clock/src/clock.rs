//! The clock of a process: elapsed time, less what the calling thread has waited for a processor.
//!
//! The first thread that asks owns the clock. The growth of its wait since then is left out of every
//! answer; a forked child begins with what its parent had left out, and adds its own. When another thread
//! asks, nothing more is left out from then on, so that all threads go by the same time.

use crate::account::{account, count};
use crate::libc::{
    dlsym, number, pthread_self, syscall, without_errors, TimeSpec, CLOCK_MONOTONIC,
    CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW, NEXT,
};
use crate::mark;
use crate::waited::{File, Wait};
use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed,
};

type Ask = unsafe extern "C" fn(c_int, *mut TimeSpec) -> c_int;

/// No thread has asked yet.
const UNASKED: u32 = 0;
/// One thread has asked: the clock stands still while that thread waits.
const STILL: u32 = 1;
/// The clock goes on as usual, behind by what was left out until then.
const USUAL: u32 = 2;

/// How often a look at the wait is tried, as the thread may be switched out during one.
const TRIES: u32 = 4;

static READY: AtomicBool = AtomicBool::new(false);
static REAL: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
static PACE: AtomicU32 = AtomicU32::new(UNASKED);
/// The thread that owns the clock, by `pthread_self`; 0 for none.
static OWNER: AtomicUsize = AtomicUsize::new(0);
static FILE: File = File::unopened();
/// What is left out of every answer, and the thread's wait at which that was nothing.
static LEFT_OUT_NS: AtomicI64 = AtomicI64::new(0);
static BASE_NS: AtomicI64 = AtomicI64::new(0);
/// Grows with every look at the wait: a signal handler may look in the middle of another look.
static LOOKS: AtomicU32 = AtomicU32::new(0);

/// The last answer of each clock.
#[allow(clippy::declare_interior_mutable_const)]
const NEVER: AtomicI64 = AtomicI64::new(i64::MIN);
static LAST_NS: [AtomicI64; 3] = [NEVER; 3];

/// From now on the clock can stand still; called once, when the library is loaded.
pub fn begin() {
    // SAFETY: the name ends in NUL.
    let found = unsafe { dlsym(NEXT, b"clock_gettime\0".as_ptr().cast()) };
    REAL.store(found, Relaxed);
    mark::begin();
    READY.store(true, Relaxed);
}

/// Starts anew in a forked child: its one thread may own the clock, which goes on from the parent's.
pub fn begin_anew() {
    mark::clear();
    FILE.begin_anew();
    OWNER.store(0, Relaxed);
    PACE.store(UNASKED, Relaxed);
}

/// `clock_gettime`, like the C library's except for the monotonic clocks.
///
/// # Safety
/// As for the function of the C library.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int {
    // SAFETY: as the caller promises.
    let status = unsafe { ask(clock, time) };
    if let (0, Some(last)) = (status, last_of(clock)) {
        if READY.load(Relaxed) {
            // SAFETY: the place was just written to.
            let now = unsafe { &mut *time };
            *now = TimeSpec::of_ns(answer(clock, last, now.ns()));
        }
    }
    status
}

/// The place of a clock's last answer, if it is one that can stand still.
#[inline(always)]
fn last_of(clock: c_int) -> Option<&'static AtomicI64> {
    match clock {
        CLOCK_MONOTONIC => Some(&LAST_NS[0]),
        CLOCK_MONOTONIC_RAW => Some(&LAST_NS[1]),
        CLOCK_MONOTONIC_COARSE => Some(&LAST_NS[2]),
        _ => None,
    }
}

/// The C library's own answer, or the kernel's as long as that function is not known.
#[inline(always)]
unsafe fn ask(clock: c_int, time: *mut TimeSpec) -> c_int {
    let real = REAL.load(Relaxed);
    if real.is_null() {
        // SAFETY: as the caller promises.
        return unsafe { syscall(number::CLOCK_GETTIME, clock, time) as c_int };
    }
    // SAFETY: the function of that name has this type.
    unsafe { transmute::<*mut c_void, Ask>(real)(clock, time) }
}

fn elapsed_ns(clock: c_int) -> i64 {
    let mut time = TimeSpec::ZERO;
    // SAFETY: the place is ours.
    unsafe { ask(clock, &mut time) };
    time.ns()
}

#[inline(always)]
fn answer(clock: c_int, last: &AtomicI64, elapsed_ns: i64) -> i64 {
    // A thread that has a mark owns the clock, and was not switched out since it looked at its wait.
    if !mark::is_set() {
        if PACE.load(Relaxed) == USUAL {
            return elapsed_ns - LEFT_OUT_NS.load(Relaxed);
        }
        return never_back(last, without_errors(|| looked(clock, last)));
    }
    never_back(last, elapsed_ns - LEFT_OUT_NS.load(Relaxed))
}

/// Keeps answers from going back: the kernel's clocks differ a little from the one by which it measures
/// the wait, and the coarse one lags.
#[inline(always)]
fn never_back(last: &AtomicI64, ns: i64) -> i64 {
    let ns = ns.max(last.load(Relaxed));
    last.store(ns, Relaxed);
    ns
}

/// The answer of a clock, after a look at how long the thread has waited.
#[cold]
#[inline(never)]
fn looked(clock: c_int, last: &AtomicI64) -> i64 {
    for _ in 0..TRIES {
        let look = LOOKS.fetch_add(1, Relaxed).wrapping_add(1);
        if !may_stand_still() {
            break;
        }
        mark::set();
        let Some(left_out_ns) = left_out_by_now() else {
            break;
        };
        let elapsed_ns = elapsed_ns(clock);
        // Otherwise it may have waited in between, and a signal handler may have set the mark.
        let is_whole = mark::is_set() && LOOKS.load(Relaxed) == look;
        if !is_whole {
            mark::clear();
        }
        if is_whole || !mark::is_known() {
            let ns = elapsed_ns - left_out_ns;
            let too_much_ns = too_much(clock, last.load(Relaxed).saturating_sub(ns), left_out_ns);
            note(left_out_ns - too_much_ns);
            return ns + too_much_ns;
        }
        note(left_out_ns);
    }
    elapsed_ns(clock) - LEFT_OUT_NS.load(Relaxed)
}

/// The part of a wait that is not left out, as the clock would go back by it.
///
/// The kernel counts a wait from when the rival was woken, though the thread goes on for some 10 us until
/// another processor's request to switch arrives. If that were left out, the clock would stand until as much
/// time has passed, and a sample that begins meanwhile would be too short.
fn too_much(clock: c_int, back_ns: i64, left_out_ns: i64) -> i64 {
    if clock == CLOCK_MONOTONIC_COARSE {
        return 0; // it lags, which is not a wait
    }
    let found_ns = left_out_ns - LEFT_OUT_NS.load(Relaxed);
    let ns = back_ns.min(found_ns).max(0);
    BASE_NS.fetch_add(ns, Relaxed);
    ns
}

/// Whether the calling thread owns the clock, or gets it now.
fn may_stand_still() -> bool {
    // SAFETY: takes nothing.
    let thread = unsafe { pthread_self() };
    match OWNER.compare_exchange(0, thread, Relaxed, Relaxed) {
        Ok(_) => take(),
        Err(owner) if owner == thread => {}
        Err(_) => go_on_as_usual(&account().several),
    }
    // A signal handler in the middle of `take` finds it unasked.
    PACE.load(Relaxed) == STILL
}

fn take() {
    mark::try_out();
    let Wait::Known(waited_ns) = FILE.read() else {
        return go_on_as_usual(&account().unknown);
    };
    BASE_NS.store(waited_ns - LEFT_OUT_NS.load(Relaxed), Relaxed);
    let taken = PACE.compare_exchange(UNASKED, STILL, Relaxed, Relaxed);
    if taken.is_ok() {
        count(&account().clocks);
        if !mark::is_known() {
            count(&account().slow);
        }
    }
}

/// Leaves nothing more out from here on, and counts the reason once.
fn go_on_as_usual(reason: &AtomicU64) {
    if PACE.swap(USUAL, Relaxed) != USUAL {
        count(reason);
    }
}

fn left_out_by_now() -> Option<i64> {
    match FILE.read() {
        Wait::Known(waited_ns) => return Some(waited_ns - BASE_NS.load(Relaxed)),
        Wait::OfAnother => go_on_as_usual(&account().several),
        Wait::Unknown => go_on_as_usual(&account().unknown),
    }
    None
}

/// Records what is left out, unless another thread has asked by now. A handler's look in the middle of ours may
/// have found more, so the larger one is kept.
fn note(left_out_ns: i64) {
    if PACE.load(Relaxed) == STILL {
        let before = LEFT_OUT_NS.fetch_max(left_out_ns, Relaxed);
        let more = left_out_ns.saturating_sub(before).max(0);
        account().left_out_ns.fetch_add(more as u64, Relaxed);
    }
}

/// What would be left out of an answer to the calling thread now, in ns; this does not count as asking.
pub fn left_out_ns() -> i64 {
    // SAFETY: takes nothing.
    let is_owner = OWNER.load(Relaxed) == unsafe { pthread_self() };
    if is_owner && PACE.load(Relaxed) == STILL && !mark::is_set() {
        without_errors(|| looked(CLOCK_MONOTONIC, &LAST_NS[0]));
    }
    LEFT_OUT_NS.load(Relaxed)
}

/// Pretends that so much had been left out.
#[cfg(test)]
pub fn lag_by(ns: i64) {
    LEFT_OUT_NS.store(ns, Relaxed);
    LAST_NS
        .iter()
        .for_each(|last| last.store(i64::MIN, Relaxed));
    OWNER.store(0, Relaxed);
    PACE.store(UNASKED, Relaxed);
    mark::clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libc::O_RDONLY;
    use std::time::{Duration, Instant};

    fn still_ns() -> i64 {
        let mut time = TimeSpec::ZERO;
        // SAFETY: the place is ours.
        assert_eq!(unsafe { clock_gettime(CLOCK_MONOTONIC, &mut time) }, 0);
        time.ns()
    }

    fn fresh() {
        begin();
        begin_anew();
    }

    fn is_told() -> bool {
        matches!(File::unopened().read(), Wait::Known(_))
    }

    /// How long this thread has waited, as the kernel tells.
    fn waited_ns() -> i64 {
        let file = File::unopened();
        let Wait::Known(ns) = file.read() else {
            panic!("it tells");
        };
        file.begin_anew();
        ns
    }

    #[test]
    fn what_the_thread_waited_is_left_out_and_no_time_goes_back() {
        let _alone = crate::alone();
        if !is_told() {
            return;
        }
        fresh();
        let (start, began_ns, before_ns) = (Instant::now(), still_ns(), waited_ns());
        let busy: Vec<_> = (0..4)
            .map(|_| {
                std::thread::spawn(move || while start.elapsed() < Duration::from_millis(300) {})
            })
            .collect();
        let mut last = began_ns;
        while start.elapsed() < Duration::from_millis(300) {
            let now = still_ns();
            assert!(now >= last);
            last = now;
        }
        let (elapsed, told) = (start.elapsed().as_nanos() as i64, still_ns() - began_ns);
        let waited = waited_ns() - before_ns;
        busy.into_iter()
            .for_each(|one| one.join().expect("it ends"));
        // The thread may have to wait for a processor between the reading of two of these numbers.
        assert!(
            (elapsed - told - waited).abs() < 50_000_000,
            "{elapsed} {told} {waited}"
        );
        assert!(waited == 0 || elapsed > told);
        assert_eq!(PACE.load(Relaxed), STILL);
    }

    #[test]
    fn another_thread_ends_the_standing_still_and_goes_by_the_same_time() {
        let _alone = crate::alone();
        if !is_told() {
            return;
        }
        fresh();
        let before = still_ns();
        assert_eq!(PACE.load(Relaxed), STILL);
        let theirs = std::thread::spawn(still_ns).join().expect("it ends");
        assert_eq!(PACE.load(Relaxed), USUAL);
        let left_out = LEFT_OUT_NS.load(Relaxed);
        let after = still_ns();
        assert!(before <= theirs && theirs <= after);
        assert_eq!(LEFT_OUT_NS.load(Relaxed), left_out);
        fresh();
        assert!(still_ns() >= after);
        assert_eq!(PACE.load(Relaxed), STILL);
    }

    #[test]
    fn a_wait_that_is_longer_than_the_time_meanwhile_does_not_stop_the_clock() {
        let _alone = crate::alone();
        if !is_told() {
            return;
        }
        fresh();
        let before = still_ns();
        BASE_NS.fetch_sub(1_000_000_000_000, Relaxed); // as if the kernel told of so long a wait
        mark::clear();
        let (start, at_first) = (Instant::now(), still_ns());
        let left_out = LEFT_OUT_NS.load(Relaxed);
        while start.elapsed() < Duration::from_millis(5) {}
        let told = still_ns() - at_first + LEFT_OUT_NS.load(Relaxed) - left_out;
        assert!(at_first >= before);
        assert!(told >= 4_900_000, "{told}");
    }

    #[test]
    fn other_clocks_and_errors_are_the_c_librarys() {
        let _alone = crate::alone();
        fresh();
        let mut time = TimeSpec::ZERO;
        // SAFETY: the place is ours.
        unsafe {
            assert_eq!(clock_gettime(0, &mut time), 0);
            assert!(time.seconds > 1_000_000_000);
            assert_eq!(clock_gettime(9999, &mut time), -1);
            assert!(crate::libc::open(b"\0".as_ptr().cast(), O_RDONLY) < 0);
        }
        for clock in [CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE] {
            // SAFETY: as above.
            assert_eq!(unsafe { clock_gettime(clock, &mut time) }, 0);
            assert!(time.ns() > 0);
        }
        assert_eq!(PACE.load(Relaxed), if is_told() { STILL } else { USUAL });
    }
}
