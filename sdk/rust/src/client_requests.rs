//! Requests to Valgrind: a sequence of instructions that does nothing on a processor and that
//! Valgrind recognises ("The Client Request mechanism" in its manual). Without Valgrind each of
//! these costs a few instructions and has no effect.
//!
//! `native/preload` has this file as well: it is here, as a published crate has nothing beside it.

#![allow(unsafe_code)] // there are no such instructions in Rust

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;

/// Callgrind's requests are numbered from here on: its initials in the upper half.
const CALLGRIND: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;

/// `VG_USERREQ__START_INSTRUMENTATION` of Valgrind's callgrind.h.
const START_INSTRUMENTATION: usize = CALLGRIND + 4;

/// `VG_USERREQ__STOP_INSTRUMENTATION` of Valgrind's callgrind.h.
const STOP_INSTRUMENTATION: usize = CALLGRIND + 5;

/// Makes Callgrind count from here on.
pub fn start_instrumentation() {
    request(START_INSTRUMENTATION);
}

/// Makes Callgrind stop counting.
pub fn stop_instrumentation() {
    request(STOP_INSTRUMENTATION);
}

/// Makes a request without arguments; returns its answer, and 0 where nobody answers.
#[cfg(target_arch = "x86_64")]
fn request(number: usize) -> usize {
    let message = [number, 0, 0, 0, 0, 0];
    let answer;
    // SAFETY: the rotations add up to 128 bits and so leave rdi as it is, and the exchange is of a
    // register with itself. Valgrind reads the six words that rax points to and answers in rdx.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") message.as_ptr(),
            inout("rdx") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

/// Makes a request without arguments; returns its answer, and 0 where nobody answers.
#[cfg(target_arch = "aarch64")]
fn request(number: usize) -> usize {
    let message = [number, 0, 0, 0, 0, 0];
    let answer;
    // SAFETY: the rotations add up to 128 bits and so leave x12 as it is, and so does x10's "or"
    // with itself. Valgrind reads the six words that x4 points to and answers in x3.
    unsafe {
        asm!(
            "ror x12, x12, #3",
            "ror x12, x12, #13",
            "ror x12, x12, #51",
            "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") message.as_ptr(),
            inout("x3") 0_usize => answer,
            options(nostack),
        );
    }
    answer
}

/// There is no Valgrind to ask, or its sequence is not known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn request(_: usize) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_headers() {
        assert_eq!(START_INSTRUMENTATION, 0x4354_0004);
        assert_eq!(STOP_INSTRUMENTATION, 0x4354_0005);
    }

    #[test]
    fn a_request_that_nobody_hears_is_answered_with_nothing() {
        assert_eq!(request(START_INSTRUMENTATION), 0);
        assert_eq!(request(STOP_INSTRUMENTATION), 0);
    }
}
