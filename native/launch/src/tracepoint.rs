//! The tracepoints by which the kernel reports who is woken, and who waits for children: their numbers, and where in
//! their records that stands.

use crate::sys;
use std::ffi::CString;
use std::fs;
use std::path::Path;

/// Where tracefs is mounted; as a rule only root may read it.
const TRACEFS: &str = "/sys/kernel/tracing";
const WAKING: &str = "/sys/kernel/tracing/events/sched/sched_waking/format";
const REAPING: &str = "/sys/kernel/tracing/events/sched/sched_process_wait/format";

/// The first PID namespace (the kernel's `PROC_PID_INIT_INO`). Tracepoints have processes' numbers in it, the other
/// records those in ours.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// The tracepoints as this kernel has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracepoints {
    /// The number of the tracepoint that reports who is woken.
    pub waking: u64,
    /// Where in its data the woken thread's number stands.
    pub tid_at: usize,
    /// The number of the tracepoint that reports who asks for the end of a child.
    pub reaping: u64,
}

impl Tracepoints {
    /// Looks them up; None if we may not, or if our process numbers are not the kernel's.
    #[must_use]
    pub fn find() -> Option<Self> {
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        if namespace != Path::new(FIRST_NAMESPACE) {
            return None;
        }
        let [waking, reaping] = read().or_else(read_mounted)?;
        let (waking, tid_at) = parse_format(&waking)?;
        let (reaping, _) = parse_format(&reaping)?;
        Some(Self {
            waking,
            tid_at,
            reaping,
        })
    }
}

/// Reads their formats.
fn read() -> Option<[String; 2]> {
    let [waking, reaping] = [WAKING, REAPING].map(fs::read_to_string);
    Some([waking.ok()?, reaping.ok()?])
}

/// The same where tracefs is not mounted, as on small systems: mounts it for a thread of its own, which then ends.
fn read_mounted() -> Option<[String; 2]> {
    let mounted = || {
        let kind = CString::new("tracefs").ok()?;
        let over = CString::new(TRACEFS).ok()?;
        sys::mount_for_this_thread(&kind, &over).ok()?;
        read()
    };
    std::thread::Builder::new()
        .spawn(mounted)
        .ok()? // if no more processes may be started, launches will report that
        .join()
        .ok()
        .flatten()
}

/// A tracepoint's number, and where in its data a thread's number stands.
fn parse_format(text: &str) -> Option<(u64, usize)> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?;
    let field = text
        .split(';')
        .skip_while(|part| !part.trim_end().ends_with("pid_t pid"))
        .nth(1)?;
    let offset = field.trim().strip_prefix("offset:")?;
    Some((id.trim().parse().ok()?, offset.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_has_the_number_and_where_the_woken_is() {
        let text = "name: sched_waking\nID: 375\nformat:\n\
            \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
            \tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n";
        assert_eq!(parse_format(text), Some((375, 24)));
        assert_eq!(parse_format("ID: 375\nformat:\n"), None);
        assert_eq!(parse_format(""), None);
    }
}
