//! The totals of all processes: numbers in a file that each process maps into its memory, so that nothing
//! is lost however a process ends. `steelyard.measure.still` makes the file and reads it.

use crate::libc::{close, mmap, open, MAP_SHARED, O_CLOEXEC, O_RDWR, PROT_READ_WRITE};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::Relaxed};

/// "STEELYC1", which includes the version of the format.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"STEELYC1");

/// The numbers, as they lie in the file: 64 bits each, in the machine's own order.
#[repr(C)]
pub struct Account {
    magic: AtomicU64,
    /// Programs that have loaded the library.
    pub programs: AtomicU64,
    /// Processes whose clock was asked.
    pub clocks: AtomicU64,
    /// What those clocks have left out, in ns.
    pub left_out_ns: AtomicU64,
    /// Processes whose clock was asked by several threads.
    pub several: AtomicU64,
    /// Processes for which the kernel did not report the wait.
    pub unknown: AtomicU64,
    /// Absolute deadlines that were moved.
    pub deadlines: AtomicU64,
    /// Clocks that ask the kernel at every reading.
    pub slow: AtomicU64,
}

/// Numbers that nobody reads, for processes without a file.
static NOWHERE: Account = Account {
    magic: AtomicU64::new(MAGIC),
    programs: AtomicU64::new(0),
    clocks: AtomicU64::new(0),
    left_out_ns: AtomicU64::new(0),
    several: AtomicU64::new(0),
    unknown: AtomicU64::new(0),
    deadlines: AtomicU64::new(0),
    slow: AtomicU64::new(0),
};
static MAPPED: AtomicPtr<Account> = AtomicPtr::new(null_mut());

/// The file's numbers, or those that nobody reads.
pub fn account() -> &'static Account {
    // SAFETY: null, or mapped for good.
    unsafe { MAPPED.load(Relaxed).as_ref() }.unwrap_or(&NOWHERE)
}

const PATH_LENGTH: usize = 4096;

/// Maps the file into memory; if that fails, or it is no such file, nothing is reported for this process.
pub fn begin(path: &[u8]) {
    let mut name = [0_u8; PATH_LENGTH];
    if path.is_empty() || path.len() >= PATH_LENGTH {
        return;
    }
    for (to, from) in name.iter_mut().zip(path) {
        *to = *from;
    }
    const LENGTH: usize = core::mem::size_of::<Account>();
    // SAFETY: the name ends in NUL, as it was all zeros and is longer; the descriptor is ours.
    unsafe {
        let file = open(name.as_ptr().cast(), O_RDWR | O_CLOEXEC);
        if file < 0 {
            return;
        }
        let mapped = mmap(null_mut(), LENGTH, PROT_READ_WRITE, MAP_SHARED, file, 0);
        // Read, as the mapping of a shorter file cannot be accessed beyond its end.
        let mut magic = 0_u64;
        let place: *mut u64 = &mut magic;
        let count = crate::libc::syscall(crate::libc::number::PREAD, file, place, 8_usize, 0_usize);
        close(file);
        if mapped as usize != usize::MAX && count == 8 && magic == MAGIC {
            MAPPED.store(mapped.cast(), Relaxed);
        }
    }
}

/// Adds one to a number.
pub fn count(number: &AtomicU64) {
    number.fetch_add(1, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_in_the_file_and_other_files_are_left_alone() {
        let _alone = crate::alone();
        let path = std::env::temp_dir().join(format!("steelyard-clock-{}", std::process::id()));
        let text = path.to_str().expect("text");
        std::fs::write(&path, b"something else").expect("a file");
        begin(text.as_bytes());
        count(&account().programs);
        assert_eq!(std::fs::read(&path).expect("read"), b"something else");
        std::fs::write(&path, b"").expect("a file");
        begin(text.as_bytes());
        assert!(MAPPED.load(Relaxed).is_null());
        let mut whole = vec![0_u8; core::mem::size_of::<Account>()];
        whole[..8].copy_from_slice(&MAGIC.to_ne_bytes());
        std::fs::write(&path, &whole).expect("a file");
        begin(text.as_bytes());
        count(&account().programs);
        count(&account().several);
        MAPPED.store(null_mut(), Relaxed);
        let found = std::fs::read(&path).expect("read");
        assert_eq!((found.len(), found[8], found[32]), (64, 1, 1));
        std::fs::remove_file(path).expect("removed");
    }
}
