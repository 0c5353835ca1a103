//! What a whole target, of however many threads and processes, lost by waiting for processors.
//!
//! The waits of its threads cannot be summed: they overlap, and a thread that waits for another loses what that one
//! loses. So each thread carries what was lost on the way to where it is. Its own waits add to that. Who is woken
//! by another goes on where that one is, unless it would have slept until then anyway. What the target's first process
//! has lost at its end, and the launch server until it sees that, is what the launch lost: the longest chain of work is
//! left, as it would have run with nobody else on the machine.
//!
//! A thread that waits while its siblings have all processors waits for them, which it would have done on
//! an idle machine as well.

use std::collections::HashMap;

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
        /// Who runs on the processor that woke it; None: an interrupt did.
        by: Option<i32>,
        /// Which processor.
        cpu: usize,
        /// The thread.
        tid: i32,
    },
}

/// A wake-up may be noted just before the sleep that it ends.
pub const CROSSING_NS: u64 = 50_000;

enum State {
    Running,
    /// Ready since the clock of losses showed this.
    Waiting(f64),
    /// Asleep since then.
    Asleep(u64),
}

struct Thread {
    state: State,
    /// What was lost on the way to where it is, ns.
    lost_ns: f64,
    /// When it was woken while it ran, and what its waker had lost.
    woken: Option<(u64, Option<f64>)>,
}

/// The threads of a target, and of the server that started it.
pub struct Tree {
    threads: HashMap<i32, Thread>,
    /// Who is on each processor, as far as it is one of these.
    on: HashMap<usize, i32>,
    server: i32,
    processors: u64,
    running: u64,
    waiting: u64,
    /// The clock of losses: what a thread loses that waits all the time.
    losses_ns: f64,
    now_ns: u64,
    /// The process that the server made first.
    first: Option<i32>,
    end: Option<End>,
}

/// When the last thread of the first process so far began to die.
#[derive(Clone, Copy)]
struct End {
    at_ns: u64,
    lost_ns: f64,
    /// What the clock of losses showed.
    losses_ns: f64,
}

impl Tree {
    /// Of the server, which runs, and of all that it will start; on so many processors.
    #[must_use]
    pub fn new(server: i32, now_ns: u64, processors: u64) -> Self {
        let mut tree = Self {
            threads: HashMap::new(),
            on: HashMap::new(),
            server,
            processors: processors.max(1),
            running: 0,
            waiting: 0,
            losses_ns: 0.0,
            now_ns,
            first: None,
            end: None,
        };
        tree.add(server, 0.0, State::Running);
        tree
    }

    /// What was lost until now, ns; None if the first process has not ended.
    #[must_use]
    pub fn lost_ns(&self) -> Option<u64> {
        // From there on nothing else is waited for: it dies, and the server sees it.
        let lost_ns = self
            .end
            .map(|end| end.lost_ns + self.losses_ns - end.losses_ns);
        // Of what is positive and far below 2^53.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        lost_ns.map(|lost_ns| lost_ns.round() as u64)
    }

    /// Takes in what happened next.
    pub fn follow(&mut self, now_ns: u64, event: Event) {
        self.advance(now_ns);
        match event {
            Event::Fork { parent, pid, tid } => {
                if let Some(lost_ns) = self.threads.get(&parent).map(|thread| thread.lost_ns) {
                    self.remove(tid);
                    self.add(tid, lost_ns, State::Waiting(self.losses_ns));
                    if parent == self.server {
                        self.first.get_or_insert(pid);
                    }
                }
            }
            Event::Exit { pid, tid } => {
                if self.first == Some(pid) {
                    self.end_with(tid);
                }
            }
            Event::In { tid, cpu } => self.put_on(tid, cpu),
            Event::Out { tid, cpu, runnable } => {
                let known = self.on.remove(&cpu);
                let is_known = self.threads.contains_key(&tid);
                match (is_known, known) {
                    (true, _) => self.take_off(tid, runnable),
                    // It has lost its number, and so is gone for good.
                    (false, Some(dead)) => self.remove(dead),
                    (false, None) => {}
                }
            }
            Event::Wake { by, cpu, tid } => {
                let waker = by.map(|by| {
                    let dying = self.on.get(&cpu).and_then(|tid| self.threads.get(tid));
                    self.threads.get(&by).or(dying)
                });
                let lost_ns = waker.flatten().map(|thread| thread.lost_ns);
                self.wake(tid, lost_ns);
            }
        }
    }

    /// Brings the clock of losses up to now. Of `ready` threads an idle machine would have run `most` at once.
    fn advance(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.now_ns);
        self.now_ns = self.now_ns.max(now_ns);
        let ready = self.running + self.waiting;
        let most = self.processors.min(ready);
        if self.running < most {
            // All of the ready would have got on by `most` of them, and got on by those that run; as each waits
            // in its turn, a wait stands for more than its own part of that.
            let [running, waiting, ready, most] =
                [self.running, self.waiting, ready, most].map(as_f64);
            self.losses_ns += as_f64(passed_ns) * (1.0 - running / most) * (ready / waiting);
        }
    }

    /// Has the first process end no earlier than one of its threads.
    fn end_with(&mut self, tid: i32) {
        let Some(mut lost_ns) = self.threads.get(&tid).map(|thread| thread.lost_ns) else {
            return;
        };
        if let Some(before) = self.end {
            lost_ns = lost_ns.min(before.lost_ns + as_f64(self.now_ns - before.at_ns));
        }
        self.end = Some(End {
            at_ns: self.now_ns,
            lost_ns,
            losses_ns: self.losses_ns,
        });
    }

    fn add(&mut self, tid: i32, lost_ns: f64, state: State) {
        self.count(&state, true);
        let thread = Thread {
            state,
            lost_ns,
            woken: None,
        };
        self.threads.insert(tid, thread);
    }

    fn remove(&mut self, tid: i32) {
        if let Some(thread) = self.threads.remove(&tid) {
            self.count(&thread.state, false);
        }
    }

    fn count(&mut self, state: &State, more: bool) {
        let of_state = match state {
            State::Running => &mut self.running,
            State::Waiting(_) => &mut self.waiting,
            State::Asleep(_) => return,
        };
        *of_state = if more { *of_state + 1 } else { *of_state - 1 };
    }

    fn change(&mut self, tid: i32, state: State) {
        self.count(&state, true);
        if let Some(thread) = self.threads.get_mut(&tid) {
            let before = std::mem::replace(&mut thread.state, state);
            self.count(&before, false);
        }
    }

    fn put_on(&mut self, tid: i32, cpu: usize) {
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        if let State::Waiting(since) = thread.state {
            thread.lost_ns += self.losses_ns - since;
        }
        thread.woken = None;
        self.on.insert(cpu, tid);
        self.change(tid, State::Running);
    }

    fn take_off(&mut self, tid: i32, runnable: bool) {
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        let woken = thread.woken.take();
        if runnable {
            self.change(tid, State::Waiting(self.losses_ns));
            return;
        }
        self.change(tid, State::Asleep(self.now_ns));
        if let Some((_, lost_ns)) = woken.filter(|(at, _)| self.now_ns - at < CROSSING_NS) {
            self.wake(tid, lost_ns);
        }
    }

    /// Has a thread that sleeps be ready, by one that had lost so much, or by something outside.
    fn wake(&mut self, tid: i32, by_lost_ns: Option<f64>) {
        let now_ns = self.now_ns;
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        match thread.state {
            State::Running => thread.woken = Some((now_ns, by_lost_ns)),
            State::Waiting(_) => {}
            State::Asleep(since_ns) => {
                if let Some(lost_ns) = by_lost_ns {
                    // Without the waker's waits it would have been woken earlier, but not before it slept.
                    thread.lost_ns = lost_ns.min(thread.lost_ns + as_f64(now_ns - since_ns));
                }
                self.change(tid, State::Waiting(self.losses_ns));
            }
        }
    }
}

/// Of counts, and of times far below 2^53 ns.
#[allow(clippy::cast_precision_loss)]
fn as_f64(number: u64) -> f64 {
    number as f64
}
