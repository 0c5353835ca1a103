//! How long a thread has waited for a processor, as the kernel records it: `/proc/thread-self/schedstat`
//! has its time on a processor, its wait (both in ns) and how often it was given one.

use crate::libc::{close, fcntl, number, open, syscall, F_DUPFD_CLOEXEC, O_CLOEXEC, O_RDONLY};
use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicI64, Ordering::Relaxed};

/// A descriptor that the program is unlikely to use: files that it opens get the numbers that they would
/// have without the library.
const LEAST_FILE: c_int = 240;

const NAMES: [&[u8]; 2] = [b"/proc/thread-self/schedstat\0", b"/proc/self/schedstat\0"];

/// The numbers of one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Numbers {
    ran_ns: i64,
    waited_ns: i64,
    times: i64,
}

impl Numbers {
    /// Whether a thread that had the numbers `before` may have these now.
    fn may_follow(&self, before: &Self) -> bool {
        self.ran_ns >= before.ran_ns
            && self.waited_ns >= before.waited_ns
            && self.times >= before.times
    }
}

/// What was found out about the wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wait {
    /// How long the thread has waited in all, in ns.
    Known(i64),
    /// The file belongs to another thread: the one that it was opened for has ended.
    OfAnother,
    /// The kernel does not record the wait, or the file cannot be opened.
    Unknown,
}

/// The file of one thread, kept open.
pub struct File {
    descriptor: AtomicI32,
    ran_ns: AtomicI64,
    waited_ns: AtomicI64,
    times: AtomicI64,
}

impl File {
    /// Not open yet.
    pub const fn unopened() -> Self {
        Self {
            descriptor: AtomicI32::new(-1),
            ran_ns: AtomicI64::new(0),
            waited_ns: AtomicI64::new(0),
            times: AtomicI64::new(0),
        }
    }

    /// Reads how long the thread has waited, which has to be the calling one; opens the file if it is not open yet, or
    /// if the program has closed it.
    pub fn read(&self) -> Wait {
        let before = self.before();
        let kept = read(self.descriptor.load(Relaxed)).filter(|found| found.may_follow(&before));
        let Some(found) = kept.or_else(|| self.open()) else {
            return Wait::Unknown;
        };
        if !found.may_follow(&before) {
            return Wait::OfAnother;
        }
        self.note(found);
        Wait::Known(found.waited_ns)
    }

    /// Starts anew in a forked child, where the file is the parent's, and is closed if it still is that one.
    pub fn begin_anew(&self) {
        let file = self.descriptor.swap(-1, Relaxed);
        if read(file).is_some_and(|found| found.may_follow(&self.before())) {
            // SAFETY: ours, by what is in it.
            unsafe { close(file) };
        }
        self.note(Numbers {
            ran_ns: 0,
            waited_ns: 0,
            times: 0,
        });
    }

    fn open(&self) -> Option<Numbers> {
        let file = NAMES.iter().find_map(|name| opened(name))?;
        self.descriptor.store(file, Relaxed);
        read(file)
    }

    fn before(&self) -> Numbers {
        Numbers {
            ran_ns: self.ran_ns.load(Relaxed),
            waited_ns: self.waited_ns.load(Relaxed),
            times: self.times.load(Relaxed),
        }
    }

    fn note(&self, found: Numbers) {
        self.ran_ns.store(found.ran_ns, Relaxed);
        self.waited_ns.store(found.waited_ns, Relaxed);
        self.times.store(found.times, Relaxed);
    }
}

fn opened(name: &[u8]) -> Option<c_int> {
    // SAFETY: the name ends in NUL, and the descriptor that is closed is ours.
    unsafe {
        let file = open(name.as_ptr().cast(), O_RDONLY | O_CLOEXEC);
        if file < 0 {
            return None;
        }
        let moved = fcntl(file, F_DUPFD_CLOEXEC, LEAST_FILE);
        if moved < 0 {
            return Some(file);
        }
        close(file);
        Some(moved)
    }
}

fn read(file: c_int) -> Option<Numbers> {
    if file < 0 {
        return None;
    }
    let mut text = [0_u8; 96];
    // SAFETY: so many bytes are there. A descriptor that is not ours any more is only read, and stays where it is.
    let length = unsafe { syscall(number::PREAD, file, text.as_mut_ptr(), text.len(), 0_usize) };
    numbers(text.get(..usize::try_from(length).ok()?)?)
}

/// Three numbers separated by single blanks and followed by the end of a line; None for anything else.
fn numbers(text: &[u8]) -> Option<Numbers> {
    let mut words = text.strip_suffix(b"\n")?.split(|&byte| byte == b' ');
    let mut next = || number_in(words.next()?);
    let found = Numbers {
        ran_ns: next()?,
        waited_ns: next()?,
        times: next()?,
    };
    words.next().is_none().then_some(found)
}

fn number_in(digits: &[u8]) -> Option<i64> {
    let mut found: i64 = 0;
    for digit in digits {
        let value = digit.checked_sub(b'0').filter(|value| *value < 10)?;
        found = found.checked_mul(10)?.checked_add(i64::from(value))?;
    }
    (!digits.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_numbers_are_a_threads_and_nothing_else_is() {
        let found = Numbers {
            ran_ns: 12,
            waited_ns: 0,
            times: 345,
        };
        assert_eq!(numbers(b"12 0 345\n"), Some(found));
        for other in [
            "",
            "\n",
            "1 2\n",
            "1 2 3",
            "1 2 3 4\n",
            "1  3\n",
            "1 -2 3\n",
            "a b c\n",
        ] {
            assert_eq!(numbers(other.as_bytes()), None, "{other:?}");
        }
        assert_eq!(numbers(b"1 99999999999999999999 3\n"), None);
    }

    #[test]
    fn a_closed_file_is_opened_again_and_another_threads_is_told() {
        let file = File::unopened();
        let Wait::Known(first) = file.read() else {
            return; // a kernel that does not tell
        };
        let descriptor = file.descriptor.load(Relaxed);
        assert!(descriptor >= LEAST_FILE);
        // SAFETY: ours.
        unsafe { close(descriptor) };
        let Wait::Known(second) = file.read() else {
            panic!("it is there still");
        };
        assert!(second >= first);
        file.ran_ns.store(i64::MAX, Relaxed);
        assert_eq!(file.read(), Wait::OfAnother);
        file.begin_anew();
        assert!(matches!(file.read(), Wait::Known(_)));
        file.begin_anew();
    }
}
