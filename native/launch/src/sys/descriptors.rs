//! Descriptors: pipes, pidfds, signalfds, and waiting for them.

use super::{check, signal_set};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Puts `file` on fd 0, without close-on-exec.
///
/// # Errors
/// If the system refuses.
pub fn open_on_stdin(file: &File) -> io::Result<()> {
    // SAFETY: both numbers are open descriptors; nothing in this process owns fd 0, which the
    // standard library only ever borrows.
    check(unsafe { libc::dup2(file.as_raw_fd(), 0) }).map(drop)
}

/// Makes every descriptor above 2 close on exec, including inherited ones. Kernels before 5.11 cannot do
/// that; there the driver has to take care.
pub fn close_all_on_exec() {
    // SAFETY: the call takes numbers only, and closes nothing in this process.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}

/// A pipe (read end, write end), closed on exec.
///
/// # Errors
/// If the system has no descriptors left.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    // SAFETY: `ends` has room for the two descriptors.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: pipe2 has just made both, so nobody else owns them.
    Ok(unsafe { (owned(ends[0]), owned(ends[1])) })
}

/// A pipe whose read end does not block, closed on exec.
///
/// # Errors
/// If the system has no descriptors left.
pub fn capturing_pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe()?;
    // SAFETY: `read` is open. Only this end's flag changes: the target's writes still block.
    check(unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) })?;
    Ok((read, write))
}

/// Makes reads and writes of a file block.
///
/// # Errors
/// If the system refuses.
pub fn make_blocking(file: &File) -> io::Result<()> {
    // SAFETY: `file` is open. Of the flags that can be changed it has no other.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, 0) }).map(drop)
}

/// A descriptor that becomes readable when the process ends.
///
/// # Errors
/// If the kernel does not have pidfds, or a filter refuses them.
pub fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two numbers, and its result is a new descriptor, closed on exec.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let fd = RawFd::try_from(result).unwrap_or(-1);
    check(fd)?;
    // SAFETY: the descriptor is new, so nobody else owns it.
    Ok(unsafe { owned(fd) })
}

/// # Safety
/// `fd` must be open and owned by nobody.
unsafe fn owned(fd: RawFd) -> OwnedFd {
    // SAFETY: as the caller promises.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Reads once from a socket; returns how many bytes there were, and the descriptor that came with them.
///
/// # Errors
/// If the system refuses.
pub fn receive(socket: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    /// Aligned as control messages have to be.
    #[repr(C, align(8))]
    struct Control([u8; 64]);
    // SAFETY: this only computes a length; no more than one descriptor fits into it, and those
    // that do not fit are closed by the kernel.
    let one_descriptor = unsafe { libc::CMSG_LEN(std::mem::size_of::<RawFd>() as libc::c_uint) };
    let mut control = Control([0; 64]);
    let mut part = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: a message without a name, parts or control data is all zeros.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = one_descriptor as _;
    // SAFETY: the message points to places that outlive the call, with no more than their lengths.
    let count = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the kernel has filled in the control data that the message says it has; its one
    // descriptor is new, so nobody else owns it.
    let descriptor = unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        header.as_ref().and_then(|found| {
            let is_descriptor =
                (found.cmsg_level, found.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
            let data = libc::CMSG_DATA(header).cast::<RawFd>();
            is_descriptor.then(|| owned(data.read_unaligned()))
        })
    };
    Ok((count, descriptor))
}

/// Signals as something to poll for. They must be blocked to arrive here.
pub struct SignalFd(File);

impl SignalFd {
    /// Listens for `signals`.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn new(signals: &[libc::c_int]) -> io::Result<Self> {
        let set = signal_set(signals);
        let flags = libc::SFD_CLOEXEC | libc::SFD_NONBLOCK;
        // SAFETY: `set` is initialised; -1 asks for a new descriptor.
        let fd = check(unsafe { libc::signalfd(-1, &set, flags) })?;
        // SAFETY: the descriptor is new, so nobody else owns it.
        Ok(Self(File::from(unsafe { owned(fd) })))
    }

    /// Takes one pending signal, if there is one.
    #[must_use]
    pub fn take(&self) -> Option<i32> {
        const RECORD: usize = std::mem::size_of::<libc::signalfd_siginfo>();
        let mut record = [0; RECORD];
        (&self.0).read_exact(&mut record).ok()?;
        // The number is the record's first field.
        let number = [record[0], record[1], record[2], record[3]];
        i32::try_from(u32::from_ne_bytes(number)).ok()
    }

    /// The descriptor, to poll it.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What to poll for: input on `fd`, or nothing if there is none.
#[must_use]
pub fn poll_entry(fd: Option<BorrowedFd<'_>>) -> libc::pollfd {
    libc::pollfd {
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    }
}

/// Sleeps until one of `entries` is ready or the time is over, and marks in them which ones are.
///
/// # Errors
/// If the system refuses; an interruption counts as nothing being ready.
pub fn poll(entries: &mut [libc::pollfd], timeout_ns: Option<u64>) -> io::Result<()> {
    let timeout = timeout_ns.map(|ns| libc::timespec {
        tv_sec: libc::time_t::try_from(ns / 1_000_000_000).unwrap_or(libc::time_t::MAX),
        // Below a thousand million, so it fits every C type.
        tv_nsec: (ns % 1_000_000_000) as libc::c_long,
    });
    let timeout = timeout
        .as_ref()
        .map_or(std::ptr::null(), |timeout| timeout as *const _);
    // SAFETY: the entries and the timeout outlive the call; no signal mask is given. A closed
    // descriptor would be reported, not misused.
    let result = unsafe {
        libc::ppoll(
            entries.as_mut_ptr(),
            entries.len() as libc::nfds_t,
            timeout,
            std::ptr::null(),
        )
    };
    match check(result) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
            entries.iter_mut().for_each(|entry| entry.revents = 0);
            Ok(())
        }
        Err(error) => Err(error),
    }
}
