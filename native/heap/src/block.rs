//! The numbers of one process, as laid out in memory and in its file: a header, then a [`Slot`] per
//! thread. All are 64 bits wide and in the machine's own order; `steelyard.measure.heap` reads them.

use crate::clock;
use crate::libc::{
    self, MAP_ANONYMOUS, MAP_FIXED, MAP_PRIVATE, MAP_SHARED, O_CLOEXEC, O_CREAT, O_EXCL, O_RDWR,
    PROT_READ_WRITE,
};
use crate::slot::{Level, Shared, Slot};
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// "STEELYH1", which includes the version of the format.
const MAGIC: u64 = u64::from_ne_bytes(*b"STEELYH1");

/// With the header they take 32 KiB, whole pages: one less than this many threads at a time have their own numbers.
pub const SLOTS: usize = 255;

/// What identifies a process, and the sum over its threads.
#[repr(C, align(128))]
pub struct Header {
    magic: AtomicU64,
    process: AtomicU64,
    forked: AtomicU64,
    start_ns: AtomicU64,
    clock_ns: AtomicU64,
    level: Level,
}

// Only whole pages can be mapped, and on other architectures there are pages of 64 KiB.
/// The header and the slots; slot 0 is shared by threads without a slot of their own.
#[cfg_attr(target_arch = "x86_64", repr(C, align(4096)))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C, align(65536)))]
pub struct Block {
    header: Header,
    slots: [Slot; SLOTS],
}

const LENGTH: usize = core::mem::size_of::<Block>();

/// Zeros mean a process that has done nothing. Calls are counted here from the first one on; once the
/// library is loaded, the file is mapped over it.
#[allow(clippy::declare_interior_mutable_const)]
const NOTHING: Block = {
    // SAFETY: all of it is numbers.
    unsafe { core::mem::zeroed() }
};
static BLOCK: Block = NOTHING;

/// The folder for the files, from the environment: with a slash at its end, and room for a name.
const PATH_LENGTH: usize = 4096;
const NAME_LENGTH: usize = 48;

struct Path(UnsafeCell<[u8; PATH_LENGTH]>, AtomicU64);

// SAFETY: written once, by the constructor, before there is a second thread or a second process.
unsafe impl Sync for Path {}

static FOLDER: Path = Path(UnsafeCell::new([0; PATH_LENGTH]), AtomicU64::new(0));

/// The sum over all threads.
#[inline(always)]
pub fn level() -> &'static Level {
    &BLOCK.header.level
}

/// A slot by its number, from 1 on.
pub fn slot(number: usize) -> &'static Slot {
    &BLOCK.slots[number % SLOTS]
}

/// The numbers of threads without a slot.
pub fn shared() -> Shared<'static> {
    Shared(&BLOCK.slots[0])
}

/// Notes the folder for the files; if its path is too long, there are no files.
///
/// # Safety
/// Called once, while there is one thread.
pub unsafe fn note_folder(folder: &[u8]) {
    if folder.is_empty() || folder.len() + NAME_LENGTH > PATH_LENGTH {
        return;
    }
    // SAFETY: nobody else reads or writes it yet, as the caller promises; it has the room.
    unsafe {
        let start = FOLDER.0.get().cast::<u8>();
        start.copy_from_nonoverlapping(folder.as_ptr(), folder.len());
    }
    FOLDER.1.store(folder.len() as u64, Relaxed);
}

/// Gives this process its file, with what was counted so far. Without a folder, or if no file can be made,
/// counting goes on, but nobody sees it.
pub fn begin(forked: bool) {
    let header = &BLOCK.header;
    header.process.store(process() as u64, Relaxed);
    header.forked.store(u64::from(forked), Relaxed);
    header.start_ns.store(clock::now_ns(), Relaxed);
    header.clock_ns.store(clock::calibrate(), Relaxed);
    header.magic.store(MAGIC, Relaxed);
    let file = new_file();
    if file < 0 {
        return;
    }
    let start: *const Block = &BLOCK;
    // SAFETY: the block is that long, and the descriptor is ours. The mapping replaces the block and holds
    // the same numbers; only another thread could have counted in between.
    unsafe {
        let is_whole = libc::pwrite(file, start.cast(), LENGTH, 0) == LENGTH as isize
            && libc::mmap(
                start as *mut c_void,
                LENGTH,
                PROT_READ_WRITE,
                MAP_SHARED | MAP_FIXED,
                file,
                0,
            ) as usize
                != usize::MAX;
        if !is_whole {
            // The file would lack what is counted from here on, and must not be taken for complete.
            libc::ftruncate(file, 0);
        }
        libc::close(file);
    }
}

/// Starts a forked child from zero, separate from its parent's file.
pub fn begin_anew() {
    let start: *const Block = &BLOCK;
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    // SAFETY: replaces the block, which is whole pages, by zeros.
    unsafe { libc::mmap(start as *mut c_void, LENGTH, PROT_READ_WRITE, flags, -1, 0) };
    begin(true);
}

fn process() -> c_int {
    // SAFETY: it always succeeds.
    unsafe { libc::getpid() }
}

/// A new file, named by the process and how many programs it executed before; -1 if none can be made.
fn new_file() -> c_int {
    let length = FOLDER.1.load(Relaxed) as usize;
    if length == 0 {
        return -1;
    }
    for number in 0..1000 {
        let mut path = [0_u8; PATH_LENGTH];
        // SAFETY: so many bytes of it were written, before this process began.
        unsafe {
            path.as_mut_ptr()
                .copy_from_nonoverlapping(FOLDER.0.get().cast(), length)
        };
        let mut end = length;
        for (separator, part) in [(b'/', process() as u64), (b'-', number)] {
            end = append(&mut path, end, separator, part);
        }
        let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
        // SAFETY: the path ends in NUL, as it was all zeros and has room left.
        let file = unsafe { libc::open(path.as_ptr().cast::<c_char>(), flags, 0o600) };
        if file >= 0 || libc::error_number() != libc::EEXIST {
            return file;
        }
    }
    -1
}

/// Appends a separator and a number to a text; returns its new end.
fn append(text: &mut [u8], mut end: usize, separator: u8, number: u64) -> usize {
    let mut digits = [0_u8; 20];
    let (mut rest, mut count) = (number, 0);
    loop {
        digits[count] = b'0' + (rest % 10) as u8;
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    for &byte in [separator].iter().chain(digits[..count].iter().rev()) {
        if let Some(place) = text.get_mut(end) {
            *place = byte;
            end += 1;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_whole_pages_and_slots_follow_the_header() {
        assert_eq!(core::mem::size_of::<Header>(), 128);
        assert_eq!(LENGTH % 4096, 0);
        let start: *const Block = &BLOCK;
        assert_eq!(slot(1) as *const Slot as usize - start as usize, 256);
    }

    #[test]
    fn names_are_written_in_digits() {
        let mut text = *b"/a.............";
        assert_eq!(append(&mut text, 2, b'/', 1230), 7);
        assert_eq!(append(&mut text, 7, b'-', 0), 9);
        assert_eq!(&text[..9], b"/a/1230-0");
        assert_eq!(append(&mut text, 14, b'-', 12), 15);
    }

    #[test]
    fn a_process_has_its_numbers_in_its_file() {
        let _alone = crate::alone();
        begin_anew(); // from zero, whatever other tests did
        let folder = std::env::temp_dir().join(format!("steelyard-heap-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("a folder");
        shared().allocated(level(), 5, 24);
        // SAFETY: no other test calls this function.
        unsafe { note_folder(folder.to_str().expect("text").as_bytes()) };
        begin(false);
        begin_anew();
        shared().freed(level(), 24);
        let pid = std::process::id();
        let numbers = |name: String| -> Vec<u64> {
            let bytes = std::fs::read(folder.join(name)).expect("a file");
            assert_eq!(bytes.len(), LENGTH);
            bytes
                .chunks(8)
                .map(|one| u64::from_ne_bytes(one.try_into().expect("eight")))
                .collect()
        };
        let (first, second) = (numbers(format!("{pid}-0")), numbers(format!("{pid}-1")));
        assert_eq!((first[0], first[1], first[2]), (MAGIC, u64::from(pid), 0));
        assert_eq!((first[5], first[6]), (24, 24));
        assert_eq!(first[16..20], [1, 0, 0, 5]);
        assert_eq!((second[0], second[2], second[5] as i64), (MAGIC, 1, -24));
        assert_eq!(second[16..20], [0, 1, 0, 0]);
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
