//! The line to the driver: whole lines in, JSON lines out.

use crate::protocol::is_cancel;
use crate::sys;
use serde::Serialize;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The longest line that is taken: environments and arguments may come to a few MB.
pub const LINE_LIMIT: usize = 16 << 20;

/// How much is read at once: a usual request. A larger buffer would have to be cleared, and would evict
/// what the next target has in the caches.
const CHUNK: usize = 16 << 10;

/// One line of the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the line feed.
    Text(Vec<u8>),
    /// It was longer than [`LINE_LIMIT`] and has been dropped.
    TooLong,
}

/// The socket with what has been read from it and not yet been used.
pub struct Channel {
    stream: UnixStream,
    partial: Vec<u8>,
    overlong: bool,
    lines: VecDeque<Line>,
    journal: Option<File>,
    open: bool,
}

impl Channel {
    /// Takes over the socket.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self {
            stream: UnixStream::from(socket),
            partial: Vec::new(),
            overlong: false,
            lines: VecDeque::new(),
            journal: None,
            open: true,
        }
    }

    /// Whether the driver is still there.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The socket, to poll it.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Reads once. Only to be called when the socket has been polled readable, as it would block otherwise.
    pub fn receive(&mut self) {
        let mut chunk = [0; CHUNK];
        match sys::receive(self.stream.as_fd(), &mut chunk) {
            Ok((0, _)) => self.open = false,
            Ok((count, descriptor)) => {
                if let Some(descriptor) = descriptor {
                    self.journal = Some(File::from(descriptor));
                }
                self.split(&chunk[..count]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.open = false,
        }
    }

    fn split(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            let text = std::mem::take(&mut self.partial);
            self.lines.push_back(if std::mem::take(&mut self.overlong) {
                Line::TooLong
            } else {
                Line::Text(text)
            });
        }
        self.extend(bytes);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.overlong || self.partial.len() + bytes.len() > LINE_LIMIT {
            self.overlong = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(bytes);
        }
    }

    /// The driver's journal, once it has been sent here.
    #[must_use]
    pub fn journal(&self) -> Option<&File> {
        self.journal.as_ref()
    }

    /// The oldest line not yet taken.
    pub fn next_line(&mut self) -> Option<Line> {
        self.lines.pop_front()
    }

    /// Takes out every cancel received so far; returns whether there was one. Requests stay in order.
    pub fn take_cancel(&mut self) -> bool {
        let before = self.lines.len();
        self.lines
            .retain(|line| !matches!(line, Line::Text(text) if is_cancel(text)));
        self.lines.len() < before
    }

    /// Writes one line. A driver that no longer reads counts as gone.
    pub fn send(&mut self, message: &impl Serialize) {
        let sent = serde_json::to_vec(message).map(|mut line| {
            line.push(b'\n');
            self.stream.write_all(&line)
        });
        if !matches!(sent, Ok(Ok(()))) {
            self.open = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let (ours, _) = UnixStream::pair().expect("a socket pair");
        Channel::new(ours.into())
    }

    #[test]
    fn lines_are_put_together_from_pieces() {
        let mut channel = channel();
        channel.split(b"one\ntw");
        channel.split(b"o\n\nthr");
        assert_eq!(channel.next_line(), Some(Line::Text(b"one".to_vec())));
        assert_eq!(channel.next_line(), Some(Line::Text(b"two".to_vec())));
        assert_eq!(channel.next_line(), Some(Line::Text(Vec::new())));
        assert_eq!(channel.next_line(), None);
    }

    #[test]
    fn an_overlong_line_is_dropped_and_the_next_one_kept() {
        let mut channel = channel();
        for _ in 0..=LINE_LIMIT / CHUNK {
            channel.split(&[b'x'; CHUNK]);
        }
        channel.split(b"\nnext\n");
        assert_eq!(channel.next_line(), Some(Line::TooLong));
        assert_eq!(channel.next_line(), Some(Line::Text(b"next".to_vec())));
    }

    #[test]
    fn cancels_are_taken_from_among_the_requests() {
        let mut channel = channel();
        channel.split(b"first\n{\"cancel\":true}\n{\"cancel\":false}\n");
        assert!(channel.take_cancel());
        assert!(!channel.take_cancel());
        assert_eq!(channel.next_line(), Some(Line::Text(b"first".to_vec())));
    }
}
