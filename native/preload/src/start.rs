//! What happens when the library is loaded.

use crate::environment::{value_of, Strings};
use crate::{client_requests, stack};
use core::ffi::c_int;

/// The environment variable that makes Callgrind count from here on if it is 1.
const START: &[u8] = b"STEELYARD_START=";

/// The loader calls the functions in this section once the library is in place. Only glibc's is known
/// to pass the program's arguments and environment to them; elsewhere there is no constructor.
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
    if unsafe { value_of(environment, START) } == Some(b"1") {
        client_requests::start_instrumentation();
    }
}
