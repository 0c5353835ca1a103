//! The C library's random bytes, taken from one fixed stream instead: every process gets the same
//! bytes in the same order. Threads share the stream, so what each gets depends on which asks first;
//! a forked child continues from where its parent was. Not to be used for secrets.
//!
//! Programs that ask the kernel directly (the `getrandom` system call, `/dev/urandom`) or use the bytes that
//! the kernel provides at their start (`AT_RANDOM`) are not affected.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering};

/// The C library's error numbers, the same on every Linux.
const EIO: c_int = 5;
const EFAULT: c_int = 14;
const EINVAL: c_int = 22;

/// GRND_NONBLOCK, GRND_RANDOM and GRND_INSECURE: none makes a difference here.
const FLAGS: c_uint = 0b111;

/// The most that `getentropy` gives at once.
const ENTROPY_LIMIT: usize = 256;

/// The most that the kernel gives at once: the largest signed 32-bit number, in whole pages.
const RANDOM_LIMIT: usize = 0x7fff_f000;

/// How many words of the stream have been handed out.
static HANDED_OUT: AtomicU64 = AtomicU64::new(0);

/// Word `number` of the stream: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators", OOPSLA 2014), whose state is a plain count. One atomic addition hands out any
/// number of words, without a lock that a signal handler or a forked child could find taken.
fn word(number: u64) -> u64 {
    let mut bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Writes the next `length` bytes of the stream; a word that is only partly needed is used up.
///
/// # Safety
/// `buffer` is valid for writes of `length` bytes.
unsafe fn fill(buffer: *mut u8, length: usize) {
    const WORD: usize = core::mem::size_of::<u64>();
    let words = length.div_ceil(WORD);
    let first = HANDED_OUT.fetch_add(words as u64, Ordering::Relaxed);
    for index in 0..words {
        let bytes = word(first.wrapping_add(index as u64)).to_le_bytes();
        let start = index * WORD;
        let count = WORD.min(length - start);
        // SAFETY: `start + count` is at most `length`, for which the caller vouches, and `count` is
        // at most the length of `bytes`, which nobody else knows of.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.add(start), count) };
    }
}

/// Sets the C library's error number; returns -1, like the functions that do so.
fn fail(number: c_int) -> c_int {
    extern "C" {
        fn __errno_location() -> *mut c_int;
    }
    // SAFETY: the C library returns the place of the calling thread's own error number.
    unsafe { *__errno_location() = number };
    -1
}

/// `getrandom(2)`.
///
/// # Safety
/// `buffer` is null or valid for writes of `length` bytes.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: usize, flags: c_uint) -> isize {
    if flags & !FLAGS != 0 {
        return fail(EINVAL) as isize;
    }
    if buffer.is_null() && length > 0 {
        return fail(EFAULT) as isize;
    }
    let length = length.min(RANDOM_LIMIT);
    // SAFETY: as the caller promises, for no more bytes; no byte is written to a null pointer.
    unsafe { fill(buffer.cast(), length) };
    length as isize
}

/// `getentropy(3)`.
///
/// # Safety
/// `buffer` is null or valid for writes of `length` bytes.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn getentropy(buffer: *mut c_void, length: usize) -> c_int {
    if length > ENTROPY_LIMIT {
        return fail(EIO);
    }
    if buffer.is_null() && length > 0 {
        return fail(EFAULT);
    }
    // SAFETY: as the caller promises; no byte is written to a null pointer.
    unsafe { fill(buffer.cast(), length) };
    0
}

/// `arc4random(3)`.
#[cfg_attr(not(test), no_mangle)]
pub extern "C" fn arc4random() -> u32 {
    (word(HANDED_OUT.fetch_add(1, Ordering::Relaxed)) >> 32) as u32
}

/// `arc4random_buf(3)`.
///
/// # Safety
/// `buffer` is valid for writes of `length` bytes.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn arc4random_buf(buffer: *mut c_void, length: usize) {
    // SAFETY: as the caller promises.
    unsafe { fill(buffer.cast(), length) };
}

/// `arc4random_uniform(3)`: a number below `bound`, all equally likely; 0 for a bound of 0.
#[cfg_attr(not(test), no_mangle)]
pub extern "C" fn arc4random_uniform(bound: u32) -> u32 {
    if bound < 2 {
        return 0;
    }
    // The first few of the 2^32 numbers are left out, so that the rest fall evenly on the remainders.
    let left_out = bound.wrapping_neg() % bound;
    loop {
        let number = arc4random();
        if number >= left_out {
            return number % bound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::null_mut;

    fn error_number() -> Option<c_int> {
        std::io::Error::last_os_error().raw_os_error()
    }

    #[test]
    fn the_stream_is_the_published_one() {
        // The first numbers of SplitMix64 with the seed 0.
        assert_eq!(word(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(word(1), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn every_length_is_filled_and_no_byte_more() {
        for length in 0..40 {
            let mut buffer = [0_u8; 48];
            // SAFETY: the buffer is longer than `length`.
            let count = unsafe { getrandom(buffer.as_mut_ptr().cast(), length, 0) };
            assert_eq!(count, length as isize);
            assert!(buffer[length..].iter().all(|&byte| byte == 0));
            let zeros = buffer[..length].iter().filter(|&&byte| byte == 0);
            assert!(zeros.count() < 3);
        }
    }

    #[test]
    fn no_two_requests_get_the_same() {
        let mut buffers = [[0_u8; 16]; 2];
        for buffer in &mut buffers {
            // SAFETY: the buffer has 16 bytes.
            assert_eq!(unsafe { getentropy(buffer.as_mut_ptr().cast(), 16) }, 0);
        }
        assert_ne!(buffers[0], buffers[1]);
        assert_ne!(arc4random(), arc4random());
    }

    #[test]
    fn what_the_c_library_refuses_is_refused() {
        let mut buffer = [0_u8; 300];
        let start = buffer.as_mut_ptr().cast();
        // SAFETY: the buffer is long enough, and nothing is written to a null pointer.
        unsafe {
            assert_eq!(getentropy(start, 256), 0);
            assert_eq!((getentropy(start, 257), error_number()), (-1, Some(EIO)));
            assert_eq!(
                (getentropy(null_mut(), 1), error_number()),
                (-1, Some(EFAULT))
            );
            assert_eq!(
                (getrandom(null_mut(), 1, 0), error_number()),
                (-1, Some(EFAULT))
            );
            assert_eq!((getrandom(start, 1, 8), error_number()), (-1, Some(EINVAL)));
            assert_eq!(getrandom(null_mut(), 0, 0), 0);
        }
    }

    #[test]
    fn numbers_below_a_bound_are_below_it_and_all_come() {
        assert_eq!((arc4random_uniform(0), arc4random_uniform(1)), (0, 0));
        let mut seen = [false; 6];
        for _ in 0..200 {
            seen[arc4random_uniform(6) as usize] = true;
        }
        assert_eq!(seen, [true; 6]);
        assert!((0..100).all(|_| arc4random_uniform(1 << 31) < 1 << 31));
    }
}
