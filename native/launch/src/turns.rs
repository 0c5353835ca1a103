//! Short turns for two targets that share a processor.
//!
//! The scheduler leaves the processor to each of them for some milliseconds, as long as many disturbances that slow a
//! processor down last, which would then hit only one of the two. So the server itself wakes up there more often, takes
//! the processor from the one that has it, and sleeps again at once; then the scheduler sees which of the two has had
//! less. And as the server is there already, neither end costs the wake-up of another processor, for which the one that
//! ends first would pay.

use crate::sys;

/// Makes the server wake up after each turn, for as long as this lives.
pub struct Turns {
    turn_ns: u64,
    due_ns: u64,
}

impl Turns {
    /// Turns of so many ns each; `None` where the kernel does not let us wake up as soon as we want to. Processes that
    /// the server starts from here on would wake up that way, too.
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

    /// How long the current turn has left.
    pub fn left_ns(&mut self) -> u64 {
        let now_ns = sys::now_ns();
        if self.due_ns <= now_ns {
            // Missed turns are not made up for.
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
