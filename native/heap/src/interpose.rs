//! The allocator's functions as the program finds them: each calls the real one and counts.
//!
//! Allocations by C++'s `operator new`, `strdup` and others come through these functions, too. Each block
//! is counted once, however it was allocated.

use crate::libc::{set_error_number, ENOMEM};
use crate::slot::{Call, Slot};
use crate::{block, bump, clock, real, thread};
use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

/// Makes a call, and times it if a sample is due.
#[inline(always)]
fn watched<R>(slot: Option<&Slot>, kind: Call, size: usize, call: impl FnOnce() -> R) -> R {
    match slot {
        Some(slot) if slot.is_due(kind, size) => timed(slot, kind, size, call),
        _ => call(),
    }
}

#[cold]
#[inline(never)]
fn timed<R>(slot: &Slot, kind: Call, size: usize, call: impl FnOnce() -> R) -> R {
    let weight = slot.weight(kind, size);
    let (result, ns) = clock::timed(call);
    slot.took(ns, weight);
    result
}

/// Counts what the real allocator returned for so many bytes; returns it.
///
/// # Safety
/// The real allocator just returned the block, or null.
#[inline(always)]
unsafe fn allocated(slot: Option<&Slot>, block: *mut c_void, bytes: usize) -> *mut c_void {
    if !block.is_null() {
        // SAFETY: as the caller promises.
        let usable = unsafe { real::usable_size(block) };
        match slot {
            Some(slot) => slot.allocated(block::level(), bytes, usable),
            None => block::shared().allocated(block::level(), bytes, usable),
        }
    }
    block
}

/// Allocates while the real functions are being looked up.
#[cold]
fn early(alignment: usize, bytes: usize) -> *mut c_void {
    let block = bump::allocate(alignment, bytes);
    if block.is_null() {
        set_error_number(ENOMEM);
    }
    block
}

/// `malloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    match thread::quick() {
        Some(slot) if !slot.is_due(Call::Allocate, bytes) => {
            // Counted before the call, so that only the slot has to be kept across it: the difference is noticeable.
            slot.asked(bytes);
            // SAFETY: as the caller promises; with a quick slot the real functions are known, and
            // blocks have headers.
            unsafe {
                let block = real::known::malloc()(bytes);
                if block.is_null() {
                    slot.refused();
                } else {
                    slot.grow(block::level(), real::size_in_header(block) as i64);
                }
                block
            }
        }
        // SAFETY: as the caller promises.
        _ => unsafe { malloc_slowly(bytes) },
    }
}

/// Allocates where there is more to do than to count.
#[cold]
#[inline(never)]
unsafe fn malloc_slowly(bytes: usize) -> *mut c_void {
    let Some(real) = real::malloc() else {
        return early(1, bytes);
    };
    // SAFETY: as the caller promises; here and below the real function gets what ours got.
    unsafe { handed_out(bytes, || real(bytes)) }
}

/// Returns the block that `real` gives, and counts it.
///
/// # Safety
/// `real` is safe to call, and gives null or a block of at least so many bytes.
#[inline(always)]
unsafe fn handed_out(bytes: usize, real: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let slot = thread::own();
    // SAFETY: as this function's caller promises.
    unsafe { allocated(slot, watched(slot, Call::Allocate, bytes, real), bytes) }
}

/// `calloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let bytes = count.saturating_mul(size);
    let Some(real) = real::calloc() else {
        return early(1, bytes);
    };
    // SAFETY: as the caller promises.
    unsafe { handed_out(bytes, || real(count, size)) }
}

/// `free(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    if let Some(slot) = thread::quick() {
        // SAFETY: with a quick slot blocks have headers, ours do, too; this one is not freed yet,
        // as the caller promises.
        let size = unsafe { real::size_in_header(block) };
        if size != bump::SIZE_IN_HEADER
            && !slot.is_due(Call::Free, size)
            && slot.frees_quietly(size)
        {
            // Only a jump follows, so no register has to be saved: the difference is noticeable.
            // SAFETY: as the caller promises.
            return unsafe { real::known::free()(block) };
        }
    }
    // SAFETY: as the caller promises.
    unsafe { free_slowly(block) };
}

/// Frees a block where there is more to do than to count.
#[cold]
#[inline(never)]
unsafe fn free_slowly(block: *mut c_void) {
    if bump::owns(block) {
        return;
    }
    let Some(real) = real::free() else {
        return;
    };
    // SAFETY: as the caller promises, the block is the real allocator's and not freed yet.
    let usable = unsafe { real::usable_size(block) };
    let slot = thread::own();
    // SAFETY: as the caller promises.
    watched(slot, Call::Free, usable, || unsafe { real(block) });
    freed(slot, usable);
}

#[inline(always)]
fn freed(slot: Option<&Slot>, usable: usize) {
    match slot {
        Some(slot) => slot.freed(block::level(), usable),
        None => block::shared().freed(block::level(), usable),
    }
}

/// `realloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
    if block.is_null() {
        // SAFETY: that is what it is then.
        return unsafe { malloc(bytes) };
    }
    let real = real::realloc().filter(|_| !bump::owns(block));
    let Some(real) = real else {
        // SAFETY: only a block of ours comes here, as no others are handed out before.
        return unsafe { moved(block, bytes) };
    };
    let slot = thread::own();
    // SAFETY: as the caller promises, the block is the real allocator's and not freed yet.
    let before = unsafe { real::usable_size(block) };
    // SAFETY: as the caller promises.
    let moved = watched(slot, Call::Reallocate, before.max(bytes), || unsafe {
        real(block, bytes)
    });
    if !moved.is_null() {
        // SAFETY: it was just returned.
        let after = unsafe { real::usable_size(moved) };
        match slot {
            Some(slot) => slot.reallocated(block::level(), bytes, before, after),
            None => block::shared().reallocated(block::level(), bytes, before, after),
        }
    } else if bytes == 0 {
        freed(slot, before);
    }
    moved
}

/// Copies one of our early blocks to a new one, from the real allocator if that is known by now.
///
/// # Safety
/// The block came from `bump::allocate`.
#[cold]
unsafe fn moved(block: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: any size may be asked for.
    let copy = unsafe { malloc(bytes) };
    if !copy.is_null() {
        // SAFETY: both are so long, and apart, as the early block is never freed.
        unsafe {
            let length = bump::length_of(block).min(bytes);
            copy.cast::<u8>()
                .copy_from_nonoverlapping(block.cast(), length);
        }
    }
    copy
}

/// `reallocarray(3)`, by `realloc`, like the C library's.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn reallocarray(
    block: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as the caller promises.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => {
            set_error_number(ENOMEM);
            null_mut()
        }
    }
}

/// `posix_memalign(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    alignment: usize,
    bytes: usize,
) -> c_int {
    let Some(real) = real::posix_memalign() else {
        return ENOMEM;
    };
    let slot = thread::own();
    // SAFETY: as the caller promises; where it succeeds, the place holds the block.
    unsafe {
        let error = watched(slot, Call::Allocate, bytes, || {
            real(place, alignment, bytes)
        });
        if error == 0 {
            allocated(slot, *place, bytes);
        }
        error
    }
}

/// `aligned_alloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, bytes: usize) -> *mut c_void {
    let Some(real) = real::aligned_alloc() else {
        return early(alignment, bytes);
    };
    // SAFETY: as the caller promises.
    unsafe { handed_out(bytes, || real(alignment, bytes)) }
}

/// `memalign(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn memalign(alignment: usize, bytes: usize) -> *mut c_void {
    let Some(real) = real::memalign() else {
        return early(alignment, bytes);
    };
    // SAFETY: as the caller promises.
    unsafe { handed_out(bytes, || real(alignment, bytes)) }
}

/// `valloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn valloc(bytes: usize) -> *mut c_void {
    let Some(real) = real::valloc() else {
        return early(usize::MAX, bytes);
    };
    // SAFETY: as the caller promises.
    unsafe { handed_out(bytes, || real(bytes)) }
}

/// `pvalloc(3)`.
///
/// # Safety
/// As that function.
#[cfg_attr(not(test), no_mangle)]
pub unsafe extern "C" fn pvalloc(bytes: usize) -> *mut c_void {
    let Some(real) = real::pvalloc() else {
        return early(usize::MAX, bytes);
    };
    // SAFETY: as the caller promises.
    unsafe { handed_out(bytes, || real(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::Ordering::Relaxed;

    /// All that this process has counted; in a test nothing but the test itself calls our functions.
    fn counted() -> [u64; 4] {
        let mut sums = [0; 4];
        for slot in (0..block::SLOTS).map(block::slot) {
            let numbers = [&slot.calls[0], &slot.calls[1], &slot.calls[2], &slot.bytes];
            for (sum, number) in sums.iter_mut().zip(numbers) {
                *sum += number.load(Relaxed);
            }
        }
        sums
    }

    #[test]
    fn every_function_gives_memory_and_early_blocks_move() {
        let _alone = crate::alone();
        // SAFETY: each block is used within its size, and freed once.
        unsafe {
            let before = counted();
            let mut place = null_mut();
            assert_eq!(posix_memalign(&mut place, 256, 10), 0);
            let blocks = [
                malloc(10),
                calloc(3, 5),
                aligned_alloc(64, 64),
                memalign(128, 10),
            ];
            let pages = [valloc(10), pvalloc(10)];
            assert!(blocks.iter().chain(&pages).all(|block| !block.is_null()));
            assert_eq!(
                blocks[2] as usize % 64 + blocks[3] as usize % 128 + place as usize % 256,
                0
            );
            let grown = reallocarray(blocks[0], 10, 10);
            assert!(reallocarray(grown, usize::MAX, 2).is_null());
            assert!(realloc(grown, 0).is_null());
            let early = bump::allocate(1, 3);
            early.cast::<[u8; 3]>().write(*b"abc");
            let moved = realloc(early, 100);
            assert!(!bump::owns(moved));
            assert_eq!(moved.cast::<[u8; 3]>().read(), *b"abc");
            for block in [place, moved, early, null_mut()]
                .iter()
                .chain(&blocks[1..])
                .chain(&pages)
            {
                free(*block);
            }
            let after = counted();
            // Allocated: 7 blocks, and the moved one. Freed: 1 by `realloc` and 7 by `free`. Resized: 1.
            assert_eq!(after[0] - before[0], 8);
            assert_eq!(after[1] - before[1], 8);
            assert_eq!(after[2] - before[2], 1);
            assert_eq!(
                after[3] - before[3],
                10 + 10 + 15 + 64 + 10 + 20 + 100 + 100
            );
        }
    }
}
