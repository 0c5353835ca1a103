//! The environment, as the loader passes it to a library that it has loaded. The other preloaded
//! libraries compile this file too.

use core::ffi::{c_char, CStr};

/// An array of C strings that ends in a null pointer.
pub type Strings = *const *const c_char;

/// The value that follows `name`, which ends in an equals sign, in an environment.
///
/// # Safety
/// `environment` is null or an array of C strings that ends in a null pointer, and stays as it is
/// while the value is used.
pub unsafe fn value_of<'a>(environment: Strings, name: &[u8]) -> Option<&'a [u8]> {
    let mut place = environment;
    // SAFETY: the array has not ended before this place, as it ends in a null pointer.
    while let Some(text) = unsafe { place.as_ref() }.filter(|text| !text.is_null()) {
        // SAFETY: each pointer of the array is that of a C string, and no name has a zero in it.
        if unsafe { begins_with(*text, name) } {
            // SAFETY: the string is as long as the name at least.
            return Some(unsafe { CStr::from_ptr(text.add(name.len())) }.to_bytes());
        }
        // SAFETY: this place was not the array's last, which is null.
        place = unsafe { place.add(1) };
    }
    None
}

/// Whether a string begins with `start`; no more of it is read, as its length must not affect what is counted.
///
/// # Safety
/// `text` is a C string, and `start` has no zero in it.
unsafe fn begins_with(text: *const c_char, start: &[u8]) -> bool {
    // SAFETY: the string's last byte is a zero, and differs.
    (0..start.len()).all(|place| unsafe { *text.add(place) } as u8 == start[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(entries: &[&'static [u8]]) -> Option<&'static [u8]> {
        let mut pointers: Vec<_> = entries.iter().map(|entry| entry.as_ptr().cast()).collect();
        pointers.push(core::ptr::null());
        // SAFETY: the pointers are to C strings, and the last is null.
        unsafe { value_of(pointers.as_ptr(), b"NAME=") }
    }

    #[test]
    fn a_value_is_found_behind_its_name() {
        assert_eq!(found(&[b"A=1\0", b"NAME=/tmp/a\0"]), Some(&b"/tmp/a"[..]));
        assert_eq!(found(&[b"NAME=\0"]), Some(&b""[..]));
    }

    #[test]
    fn nothing_else_has_the_name() {
        assert_eq!(found(&[]), None);
        assert_eq!(
            found(&[b"XNAME=1\0", b"NAMES=1\0", b"NAME\0", b"A=NAME=1\0"]),
            None
        );
    }

    #[test]
    fn no_environment_is_an_empty_one() {
        // SAFETY: null is allowed.
        assert_eq!(unsafe { value_of(core::ptr::null(), b"NAME=") }, None);
    }
}
