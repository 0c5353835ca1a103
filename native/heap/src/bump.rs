//! Memory for requests while the real allocator is being looked up, as `dlsym` may allocate. It is handed
//! out once, filled with zeros, and never taken back; none of it is counted.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// `dlsym` requests a few hundred bytes, if any.
const LENGTH: usize = 16 << 10;

/// The alignment of `malloc`. This many bytes before each block hold its length, and a header like glibc's
/// with a size that no block of glibc has.
const ALIGNMENT: usize = 16;

/// The size in that header.
pub const SIZE_IN_HEADER: usize = 0;

#[repr(C, align(16))]
struct Memory {
    bytes: UnsafeCell<[u8; LENGTH]>,
    used: AtomicUsize,
}

// SAFETY: every byte is handed out to one caller only, by an atomic addition.
unsafe impl Sync for Memory {}

static MEMORY: Memory = Memory::new();

impl Memory {
    const fn new() -> Self {
        Self {
            bytes: UnsafeCell::new([0; LENGTH]),
            used: AtomicUsize::new(0),
        }
    }

    fn allocate(&self, alignment: usize, length: usize) -> *mut c_void {
        if length > LENGTH || alignment > ALIGNMENT {
            return null_mut();
        }
        let whole = ALIGNMENT + length.next_multiple_of(ALIGNMENT);
        let start = self.used.fetch_add(whole, Relaxed);
        if start > LENGTH - ALIGNMENT || whole > LENGTH - start {
            return null_mut();
        }
        // SAFETY: `start + whole` is within the memory, and nobody else has these bytes.
        unsafe {
            let header = self.bytes.get().cast::<u8>().add(start);
            header.cast::<[usize; 2]>().write([length, SIZE_IN_HEADER]);
            header.add(ALIGNMENT).cast()
        }
    }

    #[inline(always)]
    fn owns(&self, block: *const c_void) -> bool {
        (block as usize).wrapping_sub(self.bytes.get() as usize) < LENGTH
    }
}

/// A block of zeros, or null if no memory is left, or more than the usual alignment is wanted.
pub fn allocate(alignment: usize, length: usize) -> *mut c_void {
    MEMORY.allocate(alignment, length)
}

/// Whether a block came from here.
#[inline(always)]
pub fn owns(block: *const c_void) -> bool {
    MEMORY.owns(block)
}

/// The requested length of a block of ours.
///
/// # Safety
/// `allocate` returned the block.
pub unsafe fn length_of(block: *const c_void) -> usize {
    // SAFETY: as the caller promises, the length stands before the block.
    unsafe { block.cast::<u8>().sub(ALIGNMENT).cast::<usize>().read() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_apart_and_end_with_the_memory() {
        let memory = Memory::new();
        let mut last = 0;
        let mut count = 0;
        loop {
            let block = memory.allocate(1, 100);
            if block.is_null() {
                break;
            }
            assert!(memory.owns(block));
            assert_eq!(block as usize % ALIGNMENT, 0);
            assert!(block as usize >= last + 100);
            // SAFETY: the block was just handed out and has 100 bytes.
            unsafe {
                assert_eq!(length_of(block), 100);
                assert!((0..100).all(|place| block.cast::<u8>().add(place).read() == 0));
                block.cast::<u8>().write_bytes(1, 100);
            }
            last = block as usize;
            count += 1;
        }
        assert_eq!(count, LENGTH / 128);
        assert!(memory.allocate(1, LENGTH + 1).is_null());
        assert!(memory.allocate(1, usize::MAX).is_null());
        assert!(memory.allocate(64, 1).is_null());
        assert!(!memory.owns(&last as *const usize as *const c_void));
        assert!(!memory.owns(core::ptr::null()));
    }
}
