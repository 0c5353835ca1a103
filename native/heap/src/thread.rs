//! Which slot belongs to the calling thread.
//!
//! This is one word of thread-local storage that exists from a thread's start: the code that Rust and C
//! compilers generate for thread-local variables in a library may call into the loader, which may allocate.

use crate::block::{self, SLOTS};
use crate::libc::{pthread_key_create, pthread_setspecific};
use crate::real;
use crate::slot::Slot;
use core::ffi::{c_uint, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Added to a slot's address if the allocator is not glibc's, so that blocks have no known headers.
const SLOW: usize = 2;

/// Instead of a slot's address: this thread has no slot.
const NO_SLOT: usize = 1;

/// The thread may still get a slot. This is the word's initial value, below.
const NOT_YET: usize = NO_SLOT;

/// The thread is ending, or all slots are taken: it counts in the shared slot.
const NEVER: usize = NO_SLOT | 4;

static READY: AtomicBool = AtomicBool::new(false);
static KEY: AtomicU32 = AtomicU32::new(0);

#[allow(clippy::declare_interior_mutable_const)]
const FREE: AtomicBool = AtomicBool::new(false);
static TAKEN: [AtomicBool; SLOTS] = [FREE; SLOTS];

/// From now on threads get slots of their own.
pub fn begin() {
    let mut key: c_uint = 0;
    // SAFETY: the place is ours, and the destructor takes what is set for a thread below.
    if unsafe { pthread_key_create(&mut key, Some(end)) } == 0 {
        KEY.store(key, Ordering::Relaxed);
        READY.store(true, Ordering::Release);
    }
}

/// Starts anew in a forked child, where there is one thread: all other slots are free.
pub fn begin_anew() {
    let own = word::get() & !SLOW;
    for (number, taken) in TAKEN.iter().enumerate() {
        if block::slot(number) as *const Slot as usize != own {
            taken.store(false, Ordering::Relaxed);
        }
    }
}

/// The calling thread's slot, if it has one and the allocator is glibc's, as in most calls.
#[inline(always)]
pub fn quick() -> Option<&'static Slot> {
    let value = word::get();
    if value & (SLOW | NO_SLOT) == 0 {
        // SAFETY: `take` stored the address of a slot, which stays where it is.
        return Some(unsafe { &*(value as *const Slot) });
    }
    None
}

/// The calling thread's slot, if it can have one.
pub fn own() -> Option<&'static Slot> {
    let value = word::get();
    if value & NO_SLOT == 0 {
        // SAFETY: as above.
        return Some(unsafe { &*((value & !SLOW) as *const Slot) });
    }
    take(value)
}

#[cold]
fn take(value: usize) -> Option<&'static Slot> {
    if value != NOT_YET || !READY.load(Ordering::Acquire) {
        return None;
    }
    for (number, taken) in TAKEN.iter().enumerate().skip(1) {
        if !taken.swap(true, Ordering::Acquire) {
            let slot = block::slot(number);
            let address: *const Slot = slot;
            // Set first, as the C library may allocate to store a value.
            word::set(address as usize | if real::has_headers() { 0 } else { SLOW });
            // SAFETY: the key was made before READY was set.
            unsafe { pthread_setspecific(KEY.load(Ordering::Relaxed), address.cast()) };
            return Some(slot);
        }
    }
    word::set(NEVER);
    None
}

/// Frees a thread's slot for another one, which continues with its numbers.
unsafe extern "C" fn end(slot: *mut c_void) {
    word::set(NEVER);
    // SAFETY: `take` stored it for this thread.
    unsafe { &*slot.cast::<Slot>() }.tell(block::level());
    let first: *const Slot = block::slot(0);
    let number = (slot as usize - first as usize) / core::mem::size_of::<Slot>();
    TAKEN[number % SLOTS].store(false, Ordering::Release);
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
core::arch::global_asm!(
    ".pushsection .tdata,\"awT\",%progbits",
    ".balign 8",
    ".globl steelyard_heap_slot",
    ".hidden steelyard_heap_slot",
    ".type steelyard_heap_slot, %object",
    ".size steelyard_heap_slot, 8",
    "steelyard_heap_slot:",
    ".quad 1",
    ".popsection",
);

/// The word itself, in the initial-exec model: at a fixed distance from the thread's own address.
#[cfg(target_arch = "x86_64")]
mod word {
    use core::arch::asm;

    #[inline(always)]
    pub fn get() -> usize {
        let value;
        // SAFETY: reads the word that is declared above, of the calling thread.
        unsafe {
            asm!(
                "mov {value}, qword ptr [rip + steelyard_heap_slot@GOTTPOFF]",
                "mov {value}, qword ptr fs:[{value}]",
                value = out(reg) value,
                options(nostack, readonly, preserves_flags),
            );
        }
        value
    }

    pub fn set(value: usize) {
        // SAFETY: writes the word that is declared above, of the calling thread.
        unsafe {
            asm!(
                "mov {place}, qword ptr [rip + steelyard_heap_slot@GOTTPOFF]",
                "mov qword ptr fs:[{place}], {value}",
                place = out(reg) _,
                value = in(reg) value,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// The same for 64-bit ARM.
#[cfg(target_arch = "aarch64")]
mod word {
    use core::arch::asm;

    #[inline(always)]
    fn place() -> *mut usize {
        let place;
        // SAFETY: works out an address, and reads only the table that the loader has filled.
        unsafe {
            asm!(
                "adrp {place}, :gottprel:steelyard_heap_slot",
                "ldr {place}, [{place}, :gottprel_lo12:steelyard_heap_slot]",
                "mrs {base}, tpidr_el0",
                "add {place}, {place}, {base}",
                place = out(reg) place,
                base = out(reg) _,
                options(nostack, readonly, preserves_flags),
            );
        }
        place
    }

    #[inline(always)]
    pub fn get() -> usize {
        // SAFETY: the word that is declared above, of the calling thread.
        unsafe { *place() }
    }

    pub fn set(value: usize) {
        // SAFETY: as above.
        unsafe { *place() = value };
    }
}

/// Elsewhere no thread has a slot: all count together, slower, and nothing is timed.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod word {
    pub fn get() -> usize {
        super::NEVER
    }

    pub fn set(_: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_a_slot_of_its_own_and_gives_it_back() {
        let _alone = crate::alone();
        assert!(own().is_none());
        begin();
        let mine = own().expect("a slot") as *const Slot as usize;
        assert_eq!(own().expect("the same") as *const Slot as usize, mine);
        let mut seen = Vec::new();
        for _ in 0..2 * SLOTS {
            let other = std::thread::spawn(|| own().expect("a slot") as *const Slot as usize);
            seen.push(other.join().expect("it ends"));
        }
        assert!(!seen.contains(&mine));
        seen.sort_unstable();
        seen.dedup();
        // A thread may not have ended entirely when the next one begins.
        assert!(seen.len() < 5, "{}", seen.len());
    }
}
