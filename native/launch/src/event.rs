//! What the scheduler does to the threads of a machine, as far as it may delay a target.

/// What the scheduler did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `parent` made the thread.
    Fork {
        /// Who made it.
        parent: i32,
        /// Its process: a new one, or that of `parent`.
        pid: i32,
        /// The new thread.
        tid: i32,
    },
    /// The thread begins to die.
    Exit {
        /// Its process.
        pid: i32,
        /// The thread.
        tid: i32,
    },
    /// The thread asks whether a child of its process has ended, or waits for that.
    Reap {
        /// The thread.
        tid: i32,
    },
    /// The thread was put on a processor.
    In {
        /// The thread.
        tid: i32,
        /// Which processor.
        cpu: usize,
    },
    /// The thread was taken off its processor.
    Out {
        /// The thread; one that is dying may have lost its number.
        tid: i32,
        /// Which processor.
        cpu: usize,
        /// Whether it could have gone on.
        runnable: bool,
    },
    /// The thread was woken.
    Wake {
        /// The thread that woke it; None if an interrupt did.
        by: Option<i32>,
        /// The processor on which the waker ran.
        cpu: usize,
        /// The woken thread.
        tid: i32,
    },
}
