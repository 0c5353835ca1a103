//! What `/proc` says about a process by its number, if it has the same number for it as we do.

use crate::sys;
use std::fs::{read_link, File};
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

/// Whether `/proc` has our numbers: a PID namespace may have been given the `/proc` of the one around it,
/// in which our numbers belong to other processes. False also without a `/proc`.
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

/// The contents of such a file.
#[must_use]
pub fn contents(pid: i32, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(pid, name)?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The contents as text; bytes that are not UTF-8, such as in a name, are replaced.
#[must_use]
pub fn text(pid: i32, name: &str) -> Option<String> {
    contents(pid, name).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
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
