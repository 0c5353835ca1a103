//! What `/proc` tells of a process by its number, where it has the number that we know it by.

use crate::sys;
use std::fs::{read_link, File};
use std::path::Path;
use std::sync::OnceLock;

/// Whether it has: a namespace of processes may have been given the `/proc` of the one around it,
/// in which our numbers are those of others. Without a `/proc` it has not either.
pub fn are_ours() -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| is_number(read_link("/proc/self").ok().as_deref(), sys::own_pid()))
}

/// A file of a process, which a zombie still has.
#[must_use]
pub fn open(pid: i32, name: &str) -> Option<File> {
    if !are_ours() {
        return None;
    }
    File::open(format!("/proc/{pid}/{name}")).ok()
}

fn is_number(link: Option<&Path>, pid: i32) -> bool {
    link.is_some_and(|link| link == Path::new(&pid.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_proc_that_has_our_own_number_is_ours() {
        assert!(is_number(Some(Path::new("71")), 71));
        assert!(!is_number(Some(Path::new("40071")), 71));
        assert!(!is_number(None, 71));
        assert!(are_ours() == open(sys::own_pid(), "stat").is_some());
    }
}
