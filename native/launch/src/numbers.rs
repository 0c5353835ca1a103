//! What `/proc` tells of a process by its number, where it has the number that we know it by.

use crate::sys;
use std::fs::{read_link, File};
use std::io::Read;
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

/// All that is in such a file.
#[must_use]
pub fn contents(pid: i32, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(pid, name)?.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The same as text; what is no UTF-8 in it, as in a name, is replaced.
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
