//! A body that ends the process, as by `std::process::exit`, which would end the others with it and without a word.

#![allow(unsafe_code)] // the standard library tells of no such end

use std::sync::{Mutex, PoisonError};

/// The name of the benchmark whose body runs, and its process: a child of the body may end as it likes.
static RUNNING: Mutex<Option<(String, u32)>> = Mutex::new(None);

/// Runs a body, which does not unwind; if it ends the process, that is said, and the status tells of a failure.
pub(crate) fn unless_ended<T>(name: &str, body: impl FnOnce() -> T) -> T {
    imp::at_exit();
    set(Some((name.to_owned(), std::process::id())));
    let returned = body();
    set(None);
    returned
}

fn set(running: Option<(String, u32)>) {
    *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) = running;
}

#[cfg(unix)]
mod imp {
    use super::RUNNING;
    use crate::status::{complain, FAILED};
    use std::ffi::c_int;
    use std::process;
    use std::sync::Once;

    extern "C" {
        fn atexit(call: extern "C" fn()) -> c_int;
        fn _exit(status: c_int) -> !;
    }

    static REGISTERED: Once = Once::new();

    pub(super) fn at_exit() {
        // SAFETY: the function that is registered neither unwinds nor goes away.
        REGISTERED.call_once(|| {
            unsafe { atexit(tell) };
        });
    }

    extern "C" fn tell() {
        let Ok(running) = RUNNING.try_lock() else {
            return;
        };
        if let Some((name, process)) = &*running {
            if *process == process::id() {
                let status = complain(FAILED, &format!("'{name}' ended the process"));
                // SAFETY: the call takes a number only, and nothing of this process runs after it.
                unsafe { _exit(status.into()) };
            }
        }
    }
}

#[cfg(not(unix))]
mod imp {
    pub(super) fn at_exit() {}
}
