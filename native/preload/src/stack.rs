//! Where the main thread's stack is, for `pthread_getattr_np`.
//!
//! The C library finds out by reading `/proc/self/maps`: the work grows with the number of mappings and
//! with the length of the files' paths, and both change from place to place. Rust's runtime asks at every
//! start, which changes a program's instructions by up to 6e-4. Here the answer is computed from where the
//! kernel put the program's own strings, at the stack's upper end.

use core::ffi::{c_char, c_int, c_ulong, c_void, CStr};
use core::sync::atomic::{AtomicUsize, Ordering};

/// The entry of the auxiliary vector that points to the name of the executed file, the last string
/// on the stack.
const AT_EXECFN: c_ulong = 31;

const PAGE: usize = 4096;

/// RLIMIT_STACK, the same number on all architectures of Linux.
const STACK_LIMIT: c_int = 3;

/// The size for an unlimited stack: the limit that distributions set.
const USUAL_SIZE: usize = 8 << 20;

/// One past the stack's last page; 0 while it is not known.
static END: AtomicUsize = AtomicUsize::new(0);

/// The main thread, by `pthread_self`.
static MAIN: AtomicUsize = AtomicUsize::new(0);

#[repr(C)]
struct Limit {
    soft: usize,
    hard: usize,
}

extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn getrlimit(what: c_int, limit: *mut Limit) -> c_int;
    fn pthread_self() -> usize;
    fn pthread_attr_init(attributes: *mut c_void) -> c_int;
    fn pthread_attr_setguardsize(attributes: *mut c_void, size: usize) -> c_int;
    fn pthread_attr_setstack(attributes: *mut c_void, start: *mut c_void, size: usize) -> c_int;
}

/// The handle by which `dlsym` finds the next library's function of a name.
const NEXT: *mut c_void = usize::MAX as *mut c_void;

/// Notes where the stack ends, and whose it is.
///
/// # Safety
/// `environment` is the one that the kernel passed, with the auxiliary vector behind it; called by the
/// main thread.
pub unsafe fn note(environment: *const *const c_char) {
    if environment.is_null() {
        return;
    }
    let mut place = environment;
    // SAFETY: the array ends in a null pointer.
    while !unsafe { *place }.is_null() {
        // SAFETY: this place was not the last.
        place = unsafe { place.add(1) };
    }
    // SAFETY: the auxiliary vector follows: pairs of numbers, the last of which begins with 0.
    let mut entry = unsafe { place.add(1) }.cast::<[c_ulong; 2]>();
    loop {
        // SAFETY: the vector has not ended before this entry.
        match unsafe { *entry } {
            [0, _] => return,
            [AT_EXECFN, address] => {
                let name = address as *const c_char;
                // SAFETY: the kernel's own pointer to a string.
                let length = unsafe { CStr::from_ptr(name) }.to_bytes_with_nul().len();
                END.store(page_after(name as usize + length), Ordering::Relaxed);
                // SAFETY: takes nothing.
                MAIN.store(unsafe { pthread_self() }, Ordering::Relaxed);
                return;
            }
            // SAFETY: this entry was not the last.
            _ => entry = unsafe { entry.add(1) },
        }
    }
}

fn page_after(address: usize) -> usize {
    address.div_ceil(PAGE) * PAGE
}

/// `pthread_getattr_np`: the C library's own answer for all threads except the main one.
///
/// # Safety
/// As for the function of the C library.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pthread_getattr_np(thread: usize, attributes: *mut c_void) -> c_int {
    let end = END.load(Ordering::Relaxed);
    if end == 0 || thread != MAIN.load(Ordering::Relaxed) {
        // SAFETY: our caller's promises are those of the function that is called.
        return unsafe { of_the_library(thread, attributes) };
    }
    let size = stack_size();
    // SAFETY: our caller vouches for `attributes`; the stack was there before the program.
    unsafe {
        match pthread_attr_init(attributes) {
            0 => {}
            failure => return failure,
        }
        // The main thread has no guard of its own.
        pthread_attr_setguardsize(attributes, 0);
        pthread_attr_setstack(attributes, (end - size) as *mut c_void, size)
    }
}

/// # Safety
/// As for [`pthread_getattr_np`].
unsafe fn of_the_library(thread: usize, attributes: *mut c_void) -> c_int {
    const ENOSYS: c_int = 38;
    // SAFETY: a C string, and a handle that dlsym knows.
    let found = unsafe { dlsym(NEXT, b"pthread_getattr_np\0".as_ptr().cast()) };
    if found.is_null() {
        return ENOSYS;
    }
    // SAFETY: the function of that name has this type.
    let function: unsafe extern "C" fn(usize, *mut c_void) -> c_int =
        unsafe { core::mem::transmute(found) };
    // SAFETY: as our caller promises.
    unsafe { function(thread, attributes) }
}

fn stack_size() -> usize {
    let mut limit = Limit { soft: 0, hard: 0 };
    // SAFETY: `limit` is a valid place for the result.
    let known = unsafe { getrlimit(STACK_LIMIT, &mut limit) } == 0;
    if known && limit.soft < isize::MAX as usize {
        limit.soft / PAGE * PAGE
    } else {
        USUAL_SIZE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_a_page_boundary_at_or_above() {
        assert_eq!(page_after(0), 0);
        assert_eq!(page_after(1), PAGE);
        assert_eq!(page_after(PAGE), PAGE);
        assert_eq!(page_after(PAGE + 1), 2 * PAGE);
    }

    #[test]
    fn the_stack_has_a_size() {
        assert!(stack_size() >= PAGE);
    }

    #[test]
    fn no_environment_notes_nothing() {
        // SAFETY: null is allowed.
        unsafe { note(core::ptr::null()) };
        assert_eq!(END.load(Ordering::Relaxed), 0);
    }
}
