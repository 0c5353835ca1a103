//! What happens when the library is loaded, and in a forked child.

use crate::environment::{value_of, Strings};
use crate::libc::__register_atfork;
use crate::{block, real, thread};
use core::ffi::c_int;
use core::ptr::null_mut;

/// The environment variable with the folder for the processes' files.
const FOLDER: &[u8] = b"STEELYARD_HEAP=";

/// The loader calls the functions in this section once the library is in place. Only glibc's is known
/// to pass the program's arguments and environment to them; elsewhere there is no constructor.
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
