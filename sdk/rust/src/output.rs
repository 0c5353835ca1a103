//! The descriptor that the driver has opened for the response.

#![allow(unsafe_code)] // the standard library cannot take over a descriptor by its number otherwise

pub(crate) use imp::Descriptor;
use std::io;

/// Where the response is written to.
pub(crate) struct Output(Descriptor);

impl Output {
    /// Takes over a descriptor, and makes it close when a child executes another program.
    pub(crate) fn on(fd: i32) -> Result<Self, String> {
        Descriptor::take(fd)
            .map(Self)
            .map_err(|error| format!("--steelyard-fd={fd} cannot be written to: {error}"))
    }

    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        self.0.write(text.as_bytes())
    }
}

#[cfg(unix)]
mod imp {
    use std::ffi::c_int;
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::mem::ManuallyDrop;
    use std::os::fd::{FromRawFd, RawFd};

    extern "C" {
        // From the C library, which is linked anyway: the standard library does not offer it, and a
        // crate for it would be the only dependency.
        fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    }

    // The same on every Unix that Rust knows.
    const F_SETFD: c_int = 2;
    const FD_CLOEXEC: c_int = 1;

    /// Every child has standard input, output and error, its own or this process's.
    const LAST_OF_EVERY_PROCESS: RawFd = 2;

    /// Closed only at the end of the process: it may be standard output, which others use as well.
    pub(crate) struct Descriptor(ManuallyDrop<File>);

    impl Descriptor {
        pub(crate) fn take(fd: RawFd) -> io::Result<Self> {
            if fd > LAST_OF_EVERY_PROCESS {
                close_on_exec(fd)?;
            }
            // SAFETY: the driver has opened the descriptor for this purpose alone, or it is one that
            // every process has; it is never closed here, so no one else is left with a closed one.
            let file = unsafe { File::from_raw_fd(fd) };
            Ok(Self(ManuallyDrop::new(file)))
        }

        pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
            (&*self.0).write_all(bytes)
        }

        pub(crate) fn read_byte(&self) -> io::Result<()> {
            (&*self.0).read_exact(&mut [0])
        }
    }

    /// Fails if there is no such descriptor.
    fn close_on_exec(fd: RawFd) -> io::Result<()> {
        // SAFETY: the call takes numbers only, and sets a flag or fails.
        match unsafe { fcntl(fd, F_SETFD, FD_CLOEXEC) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::fd::IntoRawFd;
        use std::os::unix::net::UnixStream;

        #[test]
        fn what_is_written_arrives() {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let output = Descriptor::take(ours.into_raw_fd()).unwrap();
            output.write(b"text").unwrap();
            let mut read = [0; 4];
            theirs.read_exact(&mut read).unwrap();
            assert_eq!(&read, b"text");
            theirs.write_all(b"t").unwrap();
            output.read_byte().unwrap();
            drop(theirs);
            assert!(output.read_byte().is_err());
        }

        #[test]
        fn a_closed_descriptor_is_noticed() {
            assert!(Descriptor::take(RawFd::MAX).is_err());
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;

    pub(crate) struct Descriptor;

    impl Descriptor {
        /// Steelyard itself does not run here.
        pub(crate) fn take(_: i32) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn write(&self, _: &[u8]) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn read_byte(&self) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}
