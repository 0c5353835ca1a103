//! The parts of the C library in use; none of them allocates, and none is a cancellation point, as the
//! functions that replace the program's are not either.

use core::ffi::{c_char, c_int, c_long, c_void};

pub const ENOSYS: c_int = 38;

// The same on every architecture of Linux that is distinguished here.
pub const O_RDONLY: c_int = 0;
pub const O_RDWR: c_int = 0o2;
pub const O_CLOEXEC: c_int = 0o2_000_000;
pub const PROT_READ_WRITE: c_int = 0b11;
pub const MAP_SHARED: c_int = 0x1;
pub const F_DUPFD_CLOEXEC: c_int = 1030;
pub const CLOCK_MONOTONIC: c_int = 1;
pub const CLOCK_MONOTONIC_RAW: c_int = 4;
pub const CLOCK_MONOTONIC_COARSE: c_int = 6;
pub const TIMER_ABSTIME: c_int = 1;

/// The numbers of system calls. On other architectures they are invalid, and the kernel refuses them.
#[cfg(target_arch = "x86_64")]
pub mod number {
    use core::ffi::c_long;
    pub const PREAD: c_long = 17;
    pub const NANOSLEEP: c_long = 35;
    pub const CLOCK_GETTIME: c_long = 228;
    pub const OPENAT: c_long = 257;
}
#[cfg(target_arch = "aarch64")]
pub mod number {
    use core::ffi::c_long;
    pub const PREAD: c_long = 67;
    pub const NANOSLEEP: c_long = 101;
    pub const CLOCK_GETTIME: c_long = 113;
    pub const OPENAT: c_long = 56;
}
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod number {
    use core::ffi::c_long;
    pub const PREAD: c_long = -1;
    pub const NANOSLEEP: c_long = -1;
    pub const CLOCK_GETTIME: c_long = -1;
    pub const OPENAT: c_long = -1;
}

/// The handle by which `dlsym` finds the next library's function of a name.
pub const NEXT: *mut c_void = usize::MAX as *mut c_void;

#[derive(Clone, Copy)]
#[repr(C)]
pub struct TimeSpec {
    pub seconds: i64,
    pub nanoseconds: i64,
}

const NS: i64 = 1_000_000_000;

impl TimeSpec {
    pub const ZERO: Self = Self {
        seconds: 0,
        nanoseconds: 0,
    };

    pub fn of_ns(ns: i64) -> Self {
        Self {
            seconds: ns.div_euclid(NS),
            nanoseconds: ns.rem_euclid(NS),
        }
    }

    pub fn ns(&self) -> i64 {
        self.seconds.wrapping_mul(NS).wrapping_add(self.nanoseconds)
    }

    /// The time moved later by so much; unchanged if it is not a valid time.
    pub fn later_by(&self, ns: i64) -> Self {
        let fraction = self.nanoseconds;
        if !(0..NS).contains(&fraction) {
            return *self;
        }
        let added = Self::of_ns(fraction.saturating_add(ns));
        Self {
            seconds: self.seconds.saturating_add(added.seconds),
            nanoseconds: added.nanoseconds,
        }
    }
}

extern "C" {
    fn __errno_location() -> *mut c_int;
    pub fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        library: *mut c_void,
    ) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn dlvsym(library: *mut c_void, name: *const c_char, version: *const c_char)
        -> *mut c_void;
    pub fn fcntl(file: c_int, command: c_int, ...) -> c_int;
    pub fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    pub fn pthread_self() -> usize;
    pub fn syscall(number: c_long, ...) -> c_long;
}

/// Runs `body` without changing the calling thread's error number.
pub fn without_errors<R>(body: impl FnOnce() -> R) -> R {
    // SAFETY: the C library returns the place of the calling thread's own error number.
    unsafe {
        let place = __errno_location();
        let before = *place;
        let result = body();
        *place = before;
        result
    }
}

/// Opens a file by its name, which ends in NUL; returns less than 0 if that fails.
///
/// # Safety
/// The name is a C string.
pub unsafe fn open(name: *const c_char, flags: c_int) -> c_int {
    const HERE: c_int = -100;
    // SAFETY: as the caller promises.
    unsafe { syscall(number::OPENAT, HERE, name, flags, 0) as c_int }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_split_at_whole_seconds() {
        let time = TimeSpec::of_ns(3 * NS + 7);
        assert_eq!(
            (time.seconds, time.nanoseconds, time.ns()),
            (3, 7, 3 * NS + 7)
        );
        let before = TimeSpec::of_ns(-1);
        assert_eq!(
            (before.seconds, before.nanoseconds, before.ns()),
            (-1, NS - 1, -1)
        );
    }

    #[test]
    fn a_time_is_moved_and_what_is_none_is_left() {
        let moved = TimeSpec::of_ns(NS - 1).later_by(2 * NS + 1);
        assert_eq!((moved.seconds, moved.nanoseconds), (3, 0));
        let far = TimeSpec {
            seconds: i64::MAX,
            nanoseconds: 5,
        };
        assert_eq!(far.later_by(NS).seconds, i64::MAX);
        for nanoseconds in [-1, NS] {
            let none = TimeSpec {
                seconds: 1,
                nanoseconds,
            };
            assert_eq!(none.later_by(NS).seconds, 1);
        }
    }

    #[test]
    fn the_error_number_stays() {
        // SAFETY: there is no such system call, and `errno` is the thread's own.
        unsafe {
            *__errno_location() = 7;
            assert_eq!(without_errors(|| syscall(-1)), -1);
            assert_eq!(*__errno_location(), 7);
        }
    }
}
