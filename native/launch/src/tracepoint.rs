//! Where the kernel tells whom it wakes: the tracepoint `sched_waking`, its number, and where in its record that is.

use crate::sys;
use std::ffi::CString;
use std::fs;
use std::path::Path;

/// Where it is mounted, with the right to look for root only, as a rule.
const TRACEFS: &str = "/sys/kernel/tracing";
const FORMAT: &str = "/sys/kernel/tracing/events/sched/sched_waking/format";

/// The number of the first namespace of processes (the kernel's `PROC_PID_INIT_INO`). Tracepoints know processes by
/// their numbers there, and the rest of the records by those here.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// The tracepoint as this kernel has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waking {
    /// Its number.
    pub id: u64,
    /// Where in its data the woken thread's number stands.
    pub tid_at: usize,
}

impl Waking {
    /// Looks it up; None where we may not, or see other numbers of processes than the kernel.
    #[must_use]
    pub fn find() -> Option<Self> {
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        if namespace != Path::new(FIRST_NAMESPACE) {
            return None;
        }
        let format = fs::read_to_string(FORMAT).ok().or_else(read_mounted)?;
        parse_format(&format)
    }
}

/// The same where nobody has mounted it, as in small systems: for a thread of its own, which ends.
fn read_mounted() -> Option<String> {
    let read = || {
        let kind = CString::new("tracefs").ok()?;
        let over = CString::new(TRACEFS).ok()?;
        sys::mount_for_this_thread(&kind, &over).ok()?;
        fs::read_to_string(FORMAT).ok()
    };
    std::thread::spawn(read).join().ok().flatten()
}

fn parse_format(text: &str) -> Option<Waking> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?;
    let field = text
        .split(';')
        .skip_while(|part| !part.trim_end().ends_with("pid_t pid"))
        .nth(1)?;
    let offset = field.trim().strip_prefix("offset:")?;
    Some(Waking {
        id: id.trim().parse().ok()?,
        tid_at: offset.parse().ok()?,
    })
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
        let expected = Waking {
            id: 375,
            tid_at: 24,
        };
        assert_eq!(parse_format(text), Some(expected));
        assert_eq!(parse_format("ID: 375\nformat:\n"), None);
        assert_eq!(parse_format(""), None);
    }
}
