//! Whether the calling thread was switched out since it set a mark, without asking the kernel.
//!
//! A thread announces a restartable sequence to the kernel by a pointer in an area that both share (rseq(2),
//! which the C library registers for each thread). Whenever the kernel returns to a thread that it had
//! switched out, or delivers a signal to it, it reads that pointer, and clears it unless the thread is
//! within the sequence. No thread is ever within our sequence: while the pointer is still set, the thread
//! was not switched out.
//!
//! Kernels from 6.19 on do this only where the thread was interrupted, and not where it gave up the
//! processor by itself: [`try_out`] finds that out.

use crate::libc::{dlsym, number, syscall, without_errors, TimeSpec, NEXT};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The signature before the place where a thread continues when a sequence is aborted, as the C library registered it.
#[cfg(target_arch = "aarch64")]
const SIGNATURE: u32 = 0xd428_bc00;
#[cfg(not(target_arch = "aarch64"))]
const SIGNATURE: u32 = 0x5305_3053;

/// Where the pointer is in the area (`struct rseq`), and the least size of the area to contain it.
const POINTER: isize = 8;
const LEAST_SIZE: u32 = 16;

/// The place to continue at after an abort, which never happens.
#[repr(C)]
struct Landing {
    signature: u32,
    place: AtomicU32,
}

static LANDING: Landing = Landing {
    signature: SIGNATURE,
    place: AtomicU32::new(0),
};

/// `struct rseq_cs`: a sequence of length 0.
#[repr(C, align(32))]
struct Sequence {
    version: u32,
    flags: u32,
    start: *const AtomicU32,
    length: u64,
    landing: *const AtomicU32,
}

// SAFETY: never changed; the pointers are only compared by the kernel.
unsafe impl Sync for Sequence {}

static SEQUENCE: Sequence = Sequence {
    version: 0,
    flags: 0,
    start: &LANDING.place,
    length: 0,
    landing: &LANDING.place,
};

/// The distance of the area from the thread's own address; 0, which no area has, if there is none.
static DISTANCE: AtomicIsize = AtomicIsize::new(0);

fn ours() -> u64 {
    let sequence: *const Sequence = &SEQUENCE;
    sequence as u64
}

/// Finds the area; called once, when the library is loaded.
pub fn begin() {
    // SAFETY: the names end in NUL; the C library has constants there, an isize and an unsigned int.
    let (distance, size) = unsafe {
        let distance: *const isize = dlsym(NEXT, b"__rseq_offset\0".as_ptr().cast()).cast();
        let size: *const u32 = dlsym(NEXT, b"__rseq_size\0".as_ptr().cast()).cast();
        match (distance.as_ref(), size.as_ref()) {
            (Some(distance), Some(size)) => (*distance, *size),
            _ => return,
        }
    };
    if size >= LEAST_SIZE && LANDING.signature == SIGNATURE {
        DISTANCE.store(distance, Relaxed);
    }
}

/// From now on threads cannot be marked.
fn end() {
    DISTANCE.store(0, Relaxed);
}

/// Whether threads can be marked here.
#[inline(always)]
pub fn is_known() -> bool {
    DISTANCE.load(Relaxed) != 0
}

/// The place of the calling thread's pointer.
#[inline(always)]
fn place() -> Option<&'static AtomicU64> {
    let distance = DISTANCE.load(Relaxed);
    if distance == 0 {
        return None;
    }
    // SAFETY: the C library says that each thread's area is there.
    Some(unsafe {
        &*thread_address()
            .offset(distance + POINTER)
            .cast::<AtomicU64>()
    })
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn thread_address() -> *const u8 {
    let address;
    // SAFETY: the first word there is its own address, in every thread.
    unsafe {
        core::arch::asm!(
            "mov {address}, qword ptr fs:[0]",
            address = out(reg) address,
            options(nostack, readonly, preserves_flags),
        );
    }
    address
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn thread_address() -> *const u8 {
    let address;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!(
            "mrs {address}, tpidr_el0",
            address = out(reg) address,
            options(nostack, nomem, preserves_flags),
        );
    }
    address
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn thread_address() -> *const u8 {
    end();
    core::ptr::null()
}

/// Marks the calling thread, if possible.
#[inline(always)]
pub fn set() {
    if let Some(place) = place() {
        place.store(ours(), Relaxed);
    }
}

/// Removes the calling thread's mark.
pub fn clear() {
    if let Some(place) = place().filter(|place| place.load(Relaxed) == ours()) {
        place.store(0, Relaxed);
    }
}

/// Whether the calling thread still has its mark, so that it was not switched out since.
#[inline(always)]
pub fn is_set() -> bool {
    place().is_some_and(|place| place.load(Relaxed) == ours())
}

/// Checks once, in 0.1 ms, whether a mark is cleared when the thread sleeps; if not, marks are not used.
pub fn try_out() {
    static TRIED: AtomicBool = AtomicBool::new(false);
    if !is_known() || TRIED.swap(true, Relaxed) {
        return;
    }
    set();
    let moment = TimeSpec::of_ns(1);
    let nothing: *mut TimeSpec = null_mut();
    // SAFETY: the time is ours, and what is left of it is not asked for.
    without_errors(|| unsafe { syscall(number::NANOSLEEP, &moment, nothing) });
    if is_set() {
        clear();
        end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_mark_is_the_threads_own_and_goes_when_it_is_switched_out() {
        let _alone = crate::alone();
        begin();
        try_out();
        if !is_known() {
            return; // an older C library, or a newer kernel
        }
        set();
        std::thread::spawn(|| assert!(!is_set()))
            .join()
            .expect("it ends");
        set();
        std::thread::sleep(Duration::from_millis(1));
        assert!(!is_set());
        set();
        clear();
        assert!(!is_set());
        end();
        set();
        assert!(!is_set());
        begin();
    }

    #[test]
    fn a_marked_thread_bears_switches_signals_and_forks() {
        let _alone = crate::alone();
        begin();
        let start = Instant::now();
        let mut lost = 0;
        while start.elapsed() < Duration::from_millis(50) {
            lost += u32::from(is_known() && !is_set());
            set();
            std::thread::yield_now();
        }
        assert!(lost >= 1 || !is_known());
        set();
        let child = std::process::Command::new("true")
            .status()
            .expect("it starts");
        assert!(child.success());
    }
}
