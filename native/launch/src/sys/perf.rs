//! The kernel's records of what the scheduler does, in memory that it shares with us (`perf_event_open(2)`).

use super::check;
use super::perf_event::{open, Attributes, Within, EXCLUDE_KERNEL};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

const KIND_SOFTWARE: u32 = 1;
const KIND_TRACEPOINT: u32 = 2;
const SOFTWARE_DUMMY: u64 = 9;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_RAW: u64 = 1 << 10;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const USE_CLOCK: u64 = 1 << 25;
const CONTEXT_SWITCH: u64 = 1 << 26;
const IOC_SET_OUTPUT: libc::c_ulong = 0x2405;

/// No record that is requested here is longer.
const LONGEST_RECORD: usize = 256;

// In `perf_event_mmap_page`, which is the first page of the memory.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// The records of one processor's scheduler and tracepoints.
pub struct Ring {
    fd: OwnedFd,
    _told: Vec<OwnedFd>,
    memory: NonNull<u8>,
    page: usize,
    /// The size of the data after the first page; a power of two.
    size: usize,
}

impl Ring {
    /// Listens on a processor: to its switches, to threads that are made or end, and to `tracepoints`. Polling reports
    /// it ready when a quarter of its `size` is full, in bytes, a power of two of pages.
    ///
    /// # Errors
    /// If the system refuses, as we lack the rights, or because of a filter.
    pub fn open(cpu: usize, tracepoints: &[u64], size: usize) -> io::Result<Self> {
        let page = page_size();
        let common = Attributes {
            wakeup_watermark: u32::try_from(size / 4).unwrap_or(u32::MAX),
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        let fd = open(
            Attributes {
                kind: KIND_SOFTWARE,
                config: SOFTWARE_DUMMY,
                sample_type: SAMPLE_TID | SAMPLE_TIME,
                flags: EXCLUDE_KERNEL
                    | TASK
                    | WATERMARK
                    | SAMPLE_ID_ALL
                    | USE_CLOCK
                    | CONTEXT_SWITCH,
                ..common
            },
            Within::Processor(cpu),
        )?;
        let traced = |&tracepoint| {
            let attributes = Attributes {
                kind: KIND_TRACEPOINT,
                config: tracepoint,
                sample_period: 1,
                sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW,
                flags: WATERMARK | USE_CLOCK,
                ..common
            };
            open(attributes, Within::Processor(cpu))
        };
        let told: Vec<_> = tracepoints.iter().map(traced).collect::<io::Result<_>>()?;
        // SAFETY: maps new memory, which nobody else knows of.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page + size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(memory.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let ring = Self {
            fd,
            _told: told,
            memory,
            page,
            size,
        };
        for one in &ring._told {
            let (one, to) = (one.as_raw_fd(), ring.fd.as_raw_fd());
            // SAFETY: takes two open descriptors.
            check(unsafe { libc::ioctl(one, IOC_SET_OUTPUT as _, to) })?;
        }
        Ok(ring)
    }

    /// Appends the records since the last time, each whole, to `records`; returns whether there was room for more. If
    /// not, some may be lost, which the kernel reports only with the next record that it writes.
    pub fn take(&self, records: &mut Vec<u8>) -> bool {
        let (from, to) = self.new_part();
        let begin = at(from, self.size);
        let count = usize::try_from(to - from).unwrap_or(0).min(self.size);
        let first = count.min(self.size - begin);
        for (begin, count) in [(begin, first), (0, count - first)] {
            // SAFETY: within the data. The kernel has written up to `to`, and does not overwrite that before the tail
            // is moved there; the rest, to which it may be writing now, is not part of these.
            records.extend_from_slice(unsafe {
                let data = self.memory.as_ptr().add(self.page);
                std::slice::from_raw_parts(data.add(begin), count)
            });
        }
        self.counter(TAIL_AT).store(to, Ordering::Release);
        count + LONGEST_RECORD <= self.size
    }

    /// Drops all records so far.
    pub fn clear(&self) {
        let (_, to) = self.new_part();
        self.counter(TAIL_AT).store(to, Ordering::Release);
    }

    fn new_part(&self) -> (u64, u64) {
        let tail = self.counter(TAIL_AT).load(Ordering::Relaxed);
        (tail, self.counter(HEAD_AT).load(Ordering::Acquire))
    }

    fn counter(&self, place: usize) -> &AtomicU64 {
        // SAFETY: within the first page, aligned, and changed by the kernel as an atomic would be.
        unsafe { &*self.memory.as_ptr().add(place).cast::<AtomicU64>() }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: mapped by `open` at this length, and used by nobody any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.page + self.size) };
    }
}

/// The position in a ring of `size` bytes after a count of bytes.
fn at(count: u64, size: usize) -> usize {
    usize::try_from(count % (size as u64)).unwrap_or(0)
}

/// How many bytes a page of memory has.
#[must_use]
pub fn page_size() -> usize {
    // SAFETY: sysconf takes no pointers.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

/// One descriptor that is ready as soon as any of several is.
pub struct Any(OwnedFd);

impl Any {
    /// Combines these descriptors, which have to stay open.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn of<'a>(descriptors: impl Iterator<Item = BorrowedFd<'a>>) -> io::Result<Self> {
        // SAFETY: takes a number, and its result is a new descriptor that nobody else owns.
        let any = unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        for descriptor in descriptors {
            let mut event = libc::epoll_event {
                events: libc::EPOLLIN as u32,
                u64: 0,
            };
            // SAFETY: both are open, and the event outlives the call.
            check(unsafe {
                libc::epoll_ctl(
                    any.as_raw_fd(),
                    libc::EPOLL_CTL_ADD,
                    descriptor.as_raw_fd(),
                    &mut event,
                )
            })?;
        }
        Ok(Self(any))
    }
}

impl AsFd for Any {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Mounts a file system of the kernel's over a directory, visible only to the calling thread and what it starts.
///
/// # Errors
/// If we may not.
pub fn mount_for_this_thread(kind: &CStr, over: &CStr) -> io::Result<()> {
    let (none, nothing) = (std::ptr::null(), std::ptr::null());
    let private = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: all strings outlive the calls, and end in NUL. All mounts are made private first, or everybody would see
    // the new one.
    unsafe {
        check(libc::unshare(libc::CLONE_NEWNS))?;
        check(libc::mount(
            none,
            b"/\0".as_ptr().cast(),
            none,
            private,
            nothing,
        ))?;
        check(libc::mount(
            kind.as_ptr(),
            over.as_ptr(),
            kind.as_ptr(),
            0,
            nothing,
        ))
        .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::{page_size, Ring};
    use crate::sys::{own_affinity, own_processor, set_own_affinity};
    use std::thread;

    const LOST: u8 = 2;

    /// The kinds of the records that were taken.
    fn kinds(mut records: &[u8]) -> Vec<u8> {
        let mut kinds = Vec::new();
        while let [kind, _, _, _, _, _, low, high, ..] = *records {
            kinds.push(kind);
            records = &records[usize::from(u16::from_ne_bytes([low, high]))..];
        }
        kinds
    }

    #[test]
    fn a_ring_that_was_full_says_so_before_the_kernel_does() {
        let cpu = own_processor().expect("a processor");
        let Ok(ring) = Ring::open(cpu.into(), &[], page_size()) else {
            return; // it takes root's rights
        };
        let before = own_affinity().expect("processors");
        let mut mask = vec![0; usize::from(cpu) / 64 + 1];
        mask[usize::from(cpu) / 64] = 1 << (cpu % 64);
        set_own_affinity(&mask).expect("it is there");
        let mut records = Vec::new();
        ring.clear();
        assert!(ring.take(&mut records));
        // Each thread gets the processor when the other one yields it.
        let switching = || (0..2000).for_each(|_| thread::yield_now());
        thread::scope(|scope| {
            scope.spawn(switching);
            switching();
        });
        records.clear();
        assert!(!ring.take(&mut records));
        assert!(!kinds(&records).contains(&LOST));
        set_own_affinity(&before).expect("they were there");
    }
}
