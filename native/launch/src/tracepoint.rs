//! Where the kernel tells whom it wakes, and who waits for children: the tracepoints' numbers, and where in their
//! records that is.

use crate::sys;
use std::ffi::CString;
use std::fs;
use std::path::Path;

/// Where it is mounted, with the right to look for root only, as a rule.
const TRACEFS: &str = "/sys/kernel/tracing";
const WAKING: &str = "/sys/kernel/tracing/events/sched/sched_waking/format";
const REAPING: &str = "/sys/kernel/tracing/events/sched/sched_process_wait/format";

/// The number of the first namespace of processes (the kernel's `PROC_PID_INIT_INO`). Tracepoints know processes by
/// their numbers there, and the rest of the records by those here.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// The tracepoints as this kernel has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracepoints {
    /// The number of that which tells whom somebody wakes.
    pub waking: u64,
    /// Where in its data the woken thread's number stands.
    pub tid_at: usize,
    /// The number of that which tells who asks for the end of a child.
    pub reaping: u64,
}

impl Tracepoints {
    /// Looks them up; None where we may not, or see other numbers of processes than the kernel.
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

/// Their formats.
fn read() -> Option<[String; 2]> {
    let [waking, reaping] = [WAKING, REAPING].map(fs::read_to_string);
    Some([waking.ok()?, reaping.ok()?])
}

/// The same where nobody has mounted it, as in small systems: for a thread of its own, which ends.
fn read_mounted() -> Option<[String; 2]> {
    let mounted = || {
        let kind = CString::new("tracefs").ok()?;
        let over = CString::new(TRACEFS).ok()?;
        sys::mount_for_this_thread(&kind, &over).ok()?;
        read()
    };
    std::thread::Builder::new()
        .spawn(mounted)
        .ok()? // where no more processes may be started, launches will tell
        .join()
        .ok()
        .flatten()
}

/// A tracepoint's number, and where it tells that of a thread.
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
