//! Opens an event of the kernel (`perf_event_open(2)`).

use super::check;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// `perf_event_attr`, as of Linux 4.1: newer kernels accept it, and older ones do if the fields unknown to them are 0.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Attributes {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup_watermark: u32,
    pub breakpoint_type: u32,
    pub configs: [u64; 2],
    pub branch_sample_type: u64,
    pub sample_regs_user: u64,
    pub sample_stack_user: u32,
    pub clock: i32,
    pub sample_regs_intr: u64,
}

pub(super) const EXCLUDE_KERNEL: u64 = 1 << 5;

/// Where an event is counted or recorded.
#[derive(Clone, Copy)]
pub(super) enum Within {
    /// The calling process, or what it starts, on all processors.
    Ours,
    /// Another process, or what it starts, on all processors.
    Process(i32),
    /// Whatever runs on one processor.
    Processor(usize),
}

/// Opens an event; the size of `attributes` is filled in.
///
/// # Errors
/// Those of the system: ENOENT for an event that it does not have, EACCES for one that we may not use.
pub(super) fn open(attributes: Attributes, within: Within) -> io::Result<OwnedFd> {
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    const ANY: libc::c_int = -1;
    let (process, processor) = match within {
        Within::Ours => (0, ANY),
        Within::Process(pid) => (pid, ANY),
        Within::Processor(number) => (
            ANY,
            libc::c_int::try_from(number).unwrap_or(libc::c_int::MAX),
        ),
    };
    let attributes = Attributes {
        size: u32::try_from(std::mem::size_of::<Attributes>()).unwrap_or(0),
        ..attributes
    };
    // SAFETY: the attributes outlive the call, and say how long they are.
    let result = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::addr_of!(attributes),
            process,
            processor,
            ANY,
            CLOSE_ON_EXEC,
        )
    };
    let fd = check(libc::c_int::try_from(result).unwrap_or(-1))?;
    // SAFETY: the descriptor is new, so nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
