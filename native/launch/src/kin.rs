//! What is known of the threads and processes of a target.

pub enum State {
    Running,
    /// Ready since the clock of losses showed this.
    Waiting(f64),
    /// Asleep since this time, ns.
    Asleep(u64),
}

pub struct Thread {
    /// Its process.
    pub pid: i32,
    pub state: State,
    /// What was lost on the way to where it is now, ns.
    pub lost_ns: f64,
    /// When it was woken while it ran, and what its waker had lost.
    pub woken: Option<(u64, Option<f64>)>,
    /// How often it has slept, and whether it is dying: then it sleeps no more.
    pub sleeps: u64,
    pub is_dying: bool,
    /// Which thread of its process ended its last sleep, if one did.
    pub roused: Option<Roused>,
}

/// The end of a sleep by another thread.
#[derive(Clone, Copy)]
pub struct Roused {
    pub by: i32,
    /// How often the waker had slept by then.
    pub sleeps: u64,
    /// How much more the waker had lost than was charged to the sleeper, which had slept for less than that.
    pub unheld_ns: f64,
}

/// The end of a thread or process.
#[derive(Clone, Copy)]
pub struct End {
    pub at_ns: u64,
    pub lost_ns: f64,
}

impl End {
    /// What a thread has lost that goes on now, after only waiting for this end.
    pub fn lost_ns(self, now_ns: u64) -> f64 {
        self.lost_ns + as_f64(now_ns - self.at_ns)
    }
}

pub struct Process {
    /// The process that made it.
    pub maker: i32,
    /// How many processes were made before it.
    pub place: usize,
    /// How often `maker` had asked for ends of children by then.
    pub batch: u64,
    /// How often it has asked for ends of children itself.
    pub asked: u64,
    /// The end of the thread that would have died last with nobody else on the machine.
    pub end: Option<End>,
    /// The same for the children whose ends it has not asked for yet.
    pub of_children: Option<End>,
}

/// For counts, and for times far below 2^53 ns.
#[allow(clippy::cast_precision_loss)]
pub fn as_f64(number: u64) -> f64 {
    number as f64
}
