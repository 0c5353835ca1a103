//! The parts of the C library in use; none of them allocates.

use core::ffi::{c_char, c_int, c_long, c_uint, c_void};

pub const ENOMEM: c_int = 12;
pub const EEXIST: c_int = 17;

// The same on every architecture of Linux that is distinguished here.
pub const O_RDWR: c_int = 0o2;
pub const O_CREAT: c_int = 0o100;
pub const O_EXCL: c_int = 0o200;
pub const O_CLOEXEC: c_int = 0o2_000_000;
pub const PROT_READ_WRITE: c_int = 0b11;
pub const MAP_SHARED: c_int = 0x1;
pub const MAP_PRIVATE: c_int = 0x2;
pub const MAP_FIXED: c_int = 0x10;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const CLOCK_MONOTONIC: c_int = 1;

/// The handle by which `dlsym` finds the next library's function of a name.
pub const NEXT: *mut c_void = usize::MAX as *mut c_void;

#[repr(C)]
pub struct TimeSpec {
    pub seconds: i64,
    pub nanoseconds: c_long,
}

/// The result of `dladdr` (`Dl_info`).
#[repr(C)]
pub struct Library {
    pub path: *mut c_char,
    pub start: *mut c_void,
    pub symbol: *mut c_char,
    pub address: *mut c_void,
}

extern "C" {
    fn __errno_location() -> *mut c_int;
    pub fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        library: *mut c_void,
    ) -> c_int;
    pub fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
    pub fn close(file: c_int) -> c_int;
    pub fn dladdr(address: *const c_void, found: *mut Library) -> c_int;
    pub fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    pub fn ftruncate(file: c_int, length: c_long) -> c_int;
    pub fn getpid() -> c_int;
    pub fn mmap(
        address: *mut c_void,
        length: usize,
        protection: c_int,
        flags: c_int,
        file: c_int,
        offset: c_long,
    ) -> *mut c_void;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn pthread_key_create(
        key: *mut c_uint,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    pub fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
    pub fn pwrite(file: c_int, data: *const c_void, length: usize, offset: c_long) -> isize;
}

/// The calling thread's error number.
pub fn error_number() -> c_int {
    // SAFETY: the C library returns the place of the calling thread's own error number.
    unsafe { *__errno_location() }
}

/// Sets the calling thread's error number.
pub fn set_error_number(number: c_int) {
    // SAFETY: as above.
    unsafe { *__errno_location() = number };
}
