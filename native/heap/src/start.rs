//! What is done when the library is loaded, and in a forked child.

use crate::libc::__register_atfork;
use crate::{block, real, thread};
use core::ffi::{c_char, c_int, CStr};
use core::ptr::null_mut;

/// In the environment, names the folder for the processes' files.
const FOLDER: &[u8] = b"STEELYARD_HEAP=";

type Strings = *const *const c_char;

/// The loader calls what stands in this section once the library is in place. Only glibc's is known
/// to hand over the program's arguments and environment; elsewhere there is no constructor.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[used]
#[link_section = ".init_array"]
static CONSTRUCTOR: unsafe extern "C" fn(c_int, Strings, Strings) = loaded;

/// # Safety
/// `environment` is null or an array of C strings that ends in a null pointer; called once, by the
/// loader.
#[cfg_attr(test, allow(dead_code))]
unsafe extern "C" fn loaded(_count: c_int, _arguments: Strings, environment: Strings) {
    // SAFETY: as this function's caller promises.
    if let Some(folder) = unsafe { value_of(environment, FOLDER) } {
        // SAFETY: as this function's caller promises.
        unsafe { block::note_folder(folder) };
    }
    block::begin(false);
    real::look_for_headers();
    thread::begin();
    // SAFETY: the function may be called in any child; the library is never unloaded.
    unsafe { __register_atfork(None, None, Some(forked), null_mut()) };
}

/// # Safety
/// Called by the C library in a forked child, where there is one thread.
unsafe extern "C" fn forked() {
    block::begin_anew();
    thread::begin_anew();
}

/// What follows `name` in an environment.
///
/// # Safety
/// `environment` is null or an array of C strings that ends in a null pointer, and stays as it is
/// while the value is used.
unsafe fn value_of<'a>(environment: Strings, name: &[u8]) -> Option<&'a [u8]> {
    let mut place = environment;
    // SAFETY: the array has not ended before this place, as it ends in a null pointer.
    while let Some(text) = unsafe { place.as_ref() }.filter(|text| !text.is_null()) {
        // SAFETY: each pointer of the array is that of a C string.
        let bytes: &'a [u8] = unsafe { CStr::from_ptr(*text) }.to_bytes();
        if let Some(value) = bytes.strip_prefix(name) {
            return Some(value);
        }
        // SAFETY: this place was not the array's last, which is null.
        place = unsafe { place.add(1) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_found_in_an_environment() {
        let texts: [&[u8]; 3] = [
            b"A=1\0",
            b"XSTEELYARD_HEAP=no\0",
            b"STEELYARD_HEAP=/tmp/a\0",
        ];
        let mut pointers: Vec<_> = texts.iter().map(|text| text.as_ptr().cast()).collect();
        pointers.push(core::ptr::null());
        // SAFETY: C strings, and a null pointer at the end.
        unsafe {
            assert_eq!(value_of(pointers.as_ptr(), FOLDER), Some(&b"/tmp/a"[..]));
            assert_eq!(value_of(pointers.as_ptr(), b"B="), None);
            assert_eq!(value_of(core::ptr::null(), FOLDER), None);
        }
    }
}
