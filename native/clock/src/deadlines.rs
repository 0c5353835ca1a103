//! Deadlines that the program has computed from its clock: the kernel's clock did not stand still, so they
//! are moved by what was left out.
//!
//! Deadlines of timers made by `timer_create`, and those passed to the kernel without one of these
//! functions of the C library, stay as they are.

use crate::account::{account, count};
use crate::clock::left_out_ns;
#[cfg(target_env = "gnu")]
use crate::libc::dlvsym;
use crate::libc::{dlsym, TimeSpec, CLOCK_MONOTONIC, ENOSYS, NEXT, TIMER_ABSTIME};
use core::ffi::{c_int, c_void};
use core::mem::transmute_copy;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Distinguishes the clocks where a function does not say which one it means: times of the monotonic clock
/// count from the start of the machine, and are far below this in seconds; times since 1970 are above.
const LEAST_OF_CALENDAR_S: i64 = 1_000_000_000;

/// `struct itimerspec`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TimerTimes {
    interval: TimeSpec,
    first: TimeSpec,
}

/// A deadline of the monotonic clock as the kernel needs it; any other unchanged.
fn moved(deadline: TimeSpec) -> TimeSpec {
    let is_ours = deadline.seconds < LEAST_OF_CALENDAR_S && deadline.ns() > 0;
    match if is_ours { left_out_ns() } else { 0 } {
        0 => deadline,
        ns => {
            count(&account().deadlines);
            deadline.later_by(ns)
        }
    }
}

/// Calls a function with the deadline at a place, moved; with the place itself if it is null or `is_ours` is false.
unsafe fn with_moved(
    is_ours: bool,
    place: *const TimeSpec,
    call: impl FnOnce(*const TimeSpec) -> c_int,
) -> c_int {
    // SAFETY: null or a time, as the program promises the C library.
    match unsafe { place.as_ref() }.filter(|_| is_ours) {
        Some(deadline) => call(&moved(*deadline)),
        None => call(place),
    }
}

/// A function of the next library, looked up once.
struct Next(AtomicPtr<c_void>, &'static [u8]);

impl Next {
    const fn new(name: &'static [u8]) -> Self {
        Self(AtomicPtr::new(null_mut()), name)
    }

    /// # Safety
    /// `F` is the type of the function of that name.
    unsafe fn get<F: Copy>(&self) -> Option<F> {
        let mut found = self.0.load(Relaxed);
        if found.is_null() {
            found = newest(self.1);
            self.0.store(found, Relaxed);
        }
        // SAFETY: as the caller promises; pointers to functions are pointers here.
        (!found.is_null()).then(|| unsafe { transmute_copy(&found) })
    }
}

/// glibc on x86-64 has two functions for some names, of which version 2.3.2 brought the newer one.
#[cfg(target_env = "gnu")]
fn newest(name: &[u8]) -> *mut c_void {
    // SAFETY: the texts end in NUL, and both functions accept the handle.
    unsafe {
        let versioned = dlvsym(NEXT, name.as_ptr().cast(), b"GLIBC_2.3.2\0".as_ptr().cast());
        if versioned.is_null() {
            dlsym(NEXT, name.as_ptr().cast())
        } else {
            versioned
        }
    }
}

/// Other C libraries have one function for each name.
#[cfg(not(target_env = "gnu"))]
fn newest(name: &[u8]) -> *mut c_void {
    // SAFETY: as above.
    unsafe { dlsym(NEXT, name.as_ptr().cast()) }
}

type Nanosleep = unsafe extern "C" fn(c_int, c_int, *const TimeSpec, *mut TimeSpec) -> c_int;
type WaitTimed = unsafe extern "C" fn(*mut c_void, *mut c_void, *const TimeSpec) -> c_int;
type WaitByClock = unsafe extern "C" fn(*mut c_void, *mut c_void, c_int, *const TimeSpec) -> c_int;
type LockByClock = unsafe extern "C" fn(*mut c_void, c_int, *const TimeSpec) -> c_int;
type SetTimer = unsafe extern "C" fn(c_int, c_int, *const TimerTimes, *mut TimerTimes) -> c_int;

static NANOSLEEP: Next = Next::new(b"clock_nanosleep\0");
static COND_TIMEDWAIT: Next = Next::new(b"pthread_cond_timedwait\0");
static COND_CLOCKWAIT: Next = Next::new(b"pthread_cond_clockwait\0");
static MUTEX_CLOCKLOCK: Next = Next::new(b"pthread_mutex_clocklock\0");
static READ_CLOCKLOCK: Next = Next::new(b"pthread_rwlock_clockrdlock\0");
static WRITE_CLOCKLOCK: Next = Next::new(b"pthread_rwlock_clockwrlock\0");
static SEM_CLOCKWAIT: Next = Next::new(b"sem_clockwait\0");
static TIMERFD_SETTIME: Next = Next::new(b"timerfd_settime\0");

/// `clock_nanosleep`.
///
/// # Safety
/// As for the function of the C library; the same applies to all functions below.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: c_int,
    flags: c_int,
    time: *const TimeSpec,
    left: *mut TimeSpec,
) -> c_int {
    let is_ours = clock == CLOCK_MONOTONIC && flags & TIMER_ABSTIME != 0;
    // SAFETY: the function's type; and as our caller promises.
    unsafe {
        match NANOSLEEP.get::<Nanosleep>() {
            Some(real) => with_moved(is_ours, time, |time| real(clock, flags, time, left)),
            None => ENOSYS,
        }
    }
}

/// `pthread_cond_timedwait`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_cond_timedwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    time: *const TimeSpec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        match COND_TIMEDWAIT.get::<WaitTimed>() {
            Some(real) => with_moved(true, time, |time| real(condition, mutex, time)),
            None => ENOSYS,
        }
    }
}

/// `pthread_cond_clockwait`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_cond_clockwait(
    condition: *mut c_void,
    mutex: *mut c_void,
    clock: c_int,
    time: *const TimeSpec,
) -> c_int {
    let is_ours = clock == CLOCK_MONOTONIC;
    // SAFETY: as above.
    unsafe {
        match COND_CLOCKWAIT.get::<WaitByClock>() {
            Some(real) => with_moved(is_ours, time, |time| real(condition, mutex, clock, time)),
            None => ENOSYS,
        }
    }
}

/// `pthread_mutex_clocklock`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut c_void,
    clock: c_int,
    time: *const TimeSpec,
) -> c_int {
    // SAFETY: as above.
    unsafe { lock(&MUTEX_CLOCKLOCK, mutex, clock, time) }
}

/// `pthread_rwlock_clockrdlock`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockrdlock(
    of_many: *mut c_void,
    clock: c_int,
    time: *const TimeSpec,
) -> c_int {
    // SAFETY: as above.
    unsafe { lock(&READ_CLOCKLOCK, of_many, clock, time) }
}

/// `pthread_rwlock_clockwrlock`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_rwlock_clockwrlock(
    of_many: *mut c_void,
    clock: c_int,
    time: *const TimeSpec,
) -> c_int {
    // SAFETY: as above.
    unsafe { lock(&WRITE_CLOCKLOCK, of_many, clock, time) }
}

/// `sem_clockwait`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn sem_clockwait(
    semaphore: *mut c_void,
    clock: c_int,
    time: *const TimeSpec,
) -> c_int {
    // SAFETY: as above.
    unsafe { lock(&SEM_CLOCKWAIT, semaphore, clock, time) }
}

unsafe fn lock(next: &Next, what: *mut c_void, clock: c_int, time: *const TimeSpec) -> c_int {
    let is_ours = clock == CLOCK_MONOTONIC;
    // SAFETY: all functions that come here have this type.
    unsafe {
        match next.get::<LockByClock>() {
            Some(real) => with_moved(is_ours, time, |time| real(what, clock, time)),
            None => ENOSYS,
        }
    }
}

/// `timerfd_settime`.
///
/// # Safety
/// As above.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn timerfd_settime(
    timer: c_int,
    flags: c_int,
    new: *const TimerTimes,
    old: *mut TimerTimes,
) -> c_int {
    // SAFETY: as above; the times are null or such.
    unsafe {
        match (TIMERFD_SETTIME.get::<SetTimer>(), new.as_ref()) {
            (Some(real), Some(times)) if flags & TIMER_ABSTIME != 0 => {
                let first = moved(times.first);
                real(timer, flags, &TimerTimes { first, ..*times }, old)
            }
            (Some(real), _) => real(timer, flags, new, old),
            (None, _) => ENOSYS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn now() -> TimeSpec {
        let mut time = TimeSpec::ZERO;
        // SAFETY: the place is ours.
        unsafe { clock::clock_gettime(CLOCK_MONOTONIC, &mut time) };
        time
    }

    #[test]
    fn a_deadline_is_moved_by_what_was_left_out() {
        let _alone = crate::alone();
        clock::begin();
        clock::begin_anew();
        clock::lag_by(0);
        let soon = now().later_by(5);
        clock::lag_by(3_000_000_000);
        assert!(moved(soon).ns() - soon.ns() >= 3_000_000_000);
        let calendar = TimeSpec::of_ns(1_700_000_000_000_000_000);
        assert_eq!(moved(calendar).ns(), calendar.ns());
        assert_eq!(moved(TimeSpec::ZERO).ns(), 0);
        clock::lag_by(0);
    }

    #[test]
    fn a_sleep_ends_when_the_programs_own_clock_says_so() {
        let _alone = crate::alone();
        clock::begin();
        clock::begin_anew();
        clock::lag_by(1_000_000_000);
        let deadline = now().later_by(20_000_000);
        let start = std::time::Instant::now();
        // SAFETY: the times are ours.
        let status =
            unsafe { clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, null_mut()) };
        assert_eq!(status, 0);
        assert!(now().ns() >= deadline.ns());
        assert!(start.elapsed().as_millis() >= 19);
        clock::lag_by(0);
    }

    #[test]
    fn a_lock_is_waited_for_until_the_programs_own_clock_says_so() {
        let _alone = crate::alone();
        const TIMED_OUT: c_int = 110;
        clock::begin();
        clock::begin_anew();
        let mut of_many = [0_u64; 16];
        let of_many = of_many.as_mut_ptr().cast();
        let past = TimeSpec::of_ns(1);
        // SAFETY: all zeros is a free lock, and the array is larger than a lock.
        unsafe {
            assert_eq!(
                pthread_rwlock_clockrdlock(of_many, CLOCK_MONOTONIC, &past),
                0
            );
            clock::lag_by(1_000_000_000);
            let deadline = now().later_by(20_000_000);
            let start = std::time::Instant::now();
            let found = pthread_rwlock_clockwrlock(of_many, CLOCK_MONOTONIC, &deadline);
            assert_eq!(found, TIMED_OUT);
            assert!(start.elapsed().as_millis() >= 19);
        }
        clock::lag_by(0);
    }

    #[test]
    fn what_waits_in_vain_says_so_and_bad_words_are_refused() {
        let _alone = crate::alone();
        const TIMED_OUT: c_int = 110;
        const INVALID: c_int = 22;
        clock::begin();
        clock::begin_anew();
        let mut mutex = [0_u64; 8];
        let mut condition = [0_u64; 8];
        let place = condition.as_mut_ptr().cast();
        let past = TimeSpec::of_ns(1);
        let none = TimeSpec {
            seconds: 1,
            nanoseconds: -5,
        };
        // SAFETY: all zeros is a free mutex or condition variable, and each array is larger than either.
        unsafe {
            let mutex = mutex.as_mut_ptr().cast();
            assert_eq!(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past), 0);
            assert_eq!(
                pthread_cond_clockwait(place, mutex, CLOCK_MONOTONIC, &past),
                TIMED_OUT
            );
            assert_eq!(
                pthread_cond_clockwait(place, mutex, CLOCK_MONOTONIC, &none),
                INVALID
            );
            assert_eq!(pthread_cond_timedwait(place, mutex, &past), TIMED_OUT);
            assert_eq!(
                pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past),
                TIMED_OUT
            );
            assert_eq!(
                timerfd_settime(-1, TIMER_ABSTIME, core::ptr::null(), null_mut()),
                -1
            );
        }
    }
}
