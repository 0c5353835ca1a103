//! The end of a stream, kept in constant memory however much is written.

use crate::sys;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much is read at once; most targets write nothing, and a larger buffer would be cleared for nothing.
const CHUNK: usize = 16 << 10;

/// The most that is read after the target's end: more than a pipe can hold unless a privileged
/// writer enlarged it, and a bound in case some writer cannot be killed.
const LAST_DRAIN: usize = 2 << 20;

/// The last `keep` bytes of all that was pushed, and how many there were.
#[derive(Debug)]
pub struct Tail {
    keep: usize,
    kept: VecDeque<u8>,
    total: u64,
}

impl Tail {
    /// A tail of at most `keep` bytes.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            kept: VecDeque::new(),
            total: 0,
        }
    }

    /// Appends, and forgets what no longer fits.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.keep)..];
        let excess = (self.kept.len() + bytes.len()).saturating_sub(self.keep);
        self.kept.drain(..excess);
        self.kept.extend(bytes);
    }

    /// How many bytes were pushed.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What was kept.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.kept.into()
    }
}

/// The read end of a pipe, with the tail of what came through it.
pub struct Capture {
    pipe: Option<File>,
    tail: Tail,
}

impl Capture {
    /// Makes a new pipe: the capture, and the end to write to.
    ///
    /// # Errors
    /// If the system has no descriptors left.
    pub fn open(keep: usize) -> io::Result<(Self, OwnedFd)> {
        let (read, write) = sys::capturing_pipe()?;
        let capture = Self {
            pipe: Some(File::from(read)),
            tail: Tail::new(keep),
        };
        Ok((capture, write))
    }

    /// The read end, to poll it; `None` once every writer has closed it.
    #[must_use]
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads once; returns how much there was.
    pub fn receive(&mut self) -> usize {
        let Some(pipe) = &mut self.pipe else { return 0 };
        let mut chunk = [0; CHUNK];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                self.tail.push(&chunk[..count]);
                return count;
            }
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => self.pipe = None,
        }
        0
    }

    /// Reads what is still in the pipe, and closes it without waiting for other writers.
    #[must_use]
    pub fn finish(mut self) -> Tail {
        let mut taken = 0;
        while taken < LAST_DRAIN {
            match self.receive() {
                0 => break,
                count => taken += count,
            }
        }
        self.tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_kept_across_pushes() {
        let mut tail = Tail::new(5);
        for piece in [&b"ab"[..], b"cdef", b"", b"g"] {
            tail.push(piece);
        }
        assert_eq!(tail.total(), 7);
        assert_eq!(tail.into_bytes(), b"cdefg");
    }

    #[test]
    fn one_large_push_leaves_its_end() {
        let mut tail = Tail::new(3);
        tail.push(b"xy");
        tail.push(b"0123456789");
        assert_eq!(tail.into_bytes(), b"789");
    }

    #[test]
    fn a_tail_of_nothing_still_counts() {
        let mut tail = Tail::new(0);
        tail.push(b"abc");
        assert_eq!(tail.total(), 3);
        assert!(tail.into_bytes().is_empty());
    }
}
