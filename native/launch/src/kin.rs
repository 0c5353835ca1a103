//! What is known of the threads and processes of a target.

pub enum State {
    Running,
    /// Ready since the clock of losses showed this.
    Waiting(f64),
    /// Asleep since then.
    Asleep(u64),
}

pub struct Thread {
    /// Its process.
    pub pid: i32,
    pub state: State,
    /// What was lost on the way to where it is, ns.
    pub lost_ns: f64,
    /// When it was woken while it ran, and what its waker had lost.
    pub woken: Option<(u64, Option<f64>)>,
    /// How often it has slept, and whether it dies: then it sleeps no more.
    pub sleeps: u64,
    pub is_dying: bool,
    /// Which thread of its process has ended its last sleep, if one has.
    pub roused: Option<Roused>,
}

/// A sleep's end by another thread.
#[derive(Clone, Copy)]
pub struct Roused {
    pub by: i32,
    /// How often that one had slept by then.
    pub sleeps: u64,
    /// What that one had lost more than is held against the sleeper, which had slept for less.
    pub unheld_ns: f64,
}

/// Somebody's end.
#[derive(Clone, Copy)]
pub struct End {
    pub at_ns: u64,
    pub lost_ns: f64,
}

impl End {
    /// What one has lost that goes on now, and only waited for it.
    pub fn lost_ns(self, now_ns: u64) -> f64 {
        self.lost_ns + as_f64(now_ns - self.at_ns)
    }
}

pub struct Process {
    /// The process that made it.
    pub maker: i32,
    /// How many processes were there before it.
    pub place: usize,
    /// How often `maker` had asked for ends of children by then.
    pub batch: u64,
    /// How often it has done so itself.
    pub asked: u64,
    /// That of its threads which would have died last with nobody else on the machine.
    pub end: Option<End>,
    /// That of the children for which it has not asked yet, likewise.
    pub of_children: Option<End>,
}

/// Of counts, and of times far below 2^53 ns.
#[allow(clippy::cast_precision_loss)]
pub fn as_f64(number: u64) -> f64 {
    number as f64
}
