//! For programs that cannot make a request to Valgrind themselves, such as those of an interpreter.

use crate::client_requests::{start_instrumentation, stop_instrumentation};

/// Makes Callgrind count from here on.
#[cfg_attr(not(test), no_mangle)]
pub extern "C" fn steelyard_begin_counting() {
    start_instrumentation();
}

/// Makes Callgrind stop counting.
#[cfg_attr(not(test), no_mangle)]
pub extern "C" fn steelyard_end_counting() {
    stop_instrumentation();
}
