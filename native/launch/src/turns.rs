//! Short turns for two targets that share a processor.
//!
//! The scheduler leaves it to each of them for some milliseconds, which is as long as much of what slows a processor
//! down: that would hit one of them alone. So the server itself wakes up there more often, takes the processor from the
//! one that has it, and sleeps again at once; then the scheduler sees who of the two has had less. And as it is there
//! already, the end of neither costs the wake-up of another processor, which the one that ends first would pay for.

use crate::sys;

/// The server as one that wakes up after each turn, for as long as this lives.
pub struct Turns {
    turn_ns: u64,
    due_ns: u64,
}

impl Turns {
    /// Of so many ns each; `None` where the kernel does not let us wake up as soon as we want to. What the server starts
    /// from here on would wake up so, too.
    #[must_use]
    pub fn of(turn_ns: u64) -> Option<Self> {
        let turns = Self { turn_ns, due_ns: 0 };
        sys::run_at_wake_ups().ok().map(|()| turns)
    }

    /// Whether there can be short turns here.
    #[must_use]
    pub fn can_be_short() -> bool {
        Self::of(0).is_some()
    }

    /// How long the turn has yet to go.
    pub fn left_ns(&mut self) -> u64 {
        let now_ns = sys::now_ns();
        if self.due_ns <= now_ns {
            // Turns that were missed are over.
            self.due_ns = (self.due_ns + self.turn_ns).max(now_ns + self.turn_ns / 2);
        }
        self.due_ns - now_ns
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        sys::run_as_usual();
    }
}
