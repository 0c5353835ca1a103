//! What is done when the library is loaded.

use crate::{requests, stack};
use core::ffi::{c_char, c_int, CStr};

/// In the environment, has Callgrind count from here on.
const START: &[u8] = b"STEELYARD_START=1";

type Strings = *const *const c_char;

/// The loader calls what stands in this section once the library is in place. Only glibc's is known
/// to hand over the program's arguments and environment; elsewhere there is no constructor.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: unsafe extern "C" fn(c_int, Strings, Strings) = loaded;

/// # Safety
/// `environment` is null or the kernel's array of C strings: it ends in a null pointer, and the
/// auxiliary vector follows.
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn loaded(_count: c_int, _arguments: Strings, environment: Strings) {
    // SAFETY: as this function's caller promises; the loader runs it in the main thread.
    unsafe { stack::note(environment) };
    // SAFETY: as this function's caller promises.
    if unsafe { holds(environment, START) } {
        requests::start_instrumentation();
    }
}

/// Whether `entry` stands in an environment.
///
/// # Safety
/// `environment` is null or an array of C strings that ends in a null pointer.
unsafe fn holds(environment: Strings, entry: &[u8]) -> bool {
    let mut place = environment;
    // SAFETY: the array has not ended before this place, as it ends in a null pointer.
    while let Some(text) = unsafe { place.as_ref() }.filter(|text| !text.is_null()) {
        // SAFETY: each pointer of the array is that of a C string.
        if unsafe { CStr::from_ptr(*text) }.to_bytes() == entry {
            return true;
        }
        // SAFETY: this place was not the array's last, which is null.
        place = unsafe { place.add(1) };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(entries: &[&CStr]) -> bool {
        let mut pointers: Vec<_> = entries.iter().map(|entry| entry.as_ptr()).collect();
        pointers.push(core::ptr::null());
        // SAFETY: C strings, and a null pointer at the end.
        unsafe { holds(pointers.as_ptr(), START) }
    }

    fn c(bytes: &'static [u8]) -> &'static CStr {
        CStr::from_bytes_with_nul(bytes).expect("it ends in NUL")
    }

    #[test]
    fn the_start_is_found_in_an_environment() {
        assert!(found(&[c(b"A=1\0"), c(b"STEELYARD_START=1\0")]));
    }

    #[test]
    fn nothing_else_starts() {
        assert!(!found(&[]));
        let near = [
            c(b"STEELYARD_START=\0"),
            c(b"STEELYARD_START=10\0"),
            c(b"XSTEELYARD_START=1\0"),
        ];
        assert!(!found(&near));
    }

    #[test]
    fn no_environment_is_an_empty_one() {
        // SAFETY: null is allowed.
        assert!(!unsafe { holds(core::ptr::null(), START) });
    }
}
