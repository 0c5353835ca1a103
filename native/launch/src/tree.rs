//! What a whole target, with all of its threads and processes, lost by waiting for processors.
//!
//! The waits of its threads cannot be added up: they overlap, and a thread that waits for another loses what the other
//! loses. So each thread carries what was lost on the way to where it is now. Its own waits add to that. A thread that
//! is woken by another continues from the waker's loss, unless it would have slept until then anyway. What the target's
//! first process has lost at its end, plus what the launch server loses until it sees the end, is the launch's loss:
//! the longest chain of work remains, as it would have run with nobody else on the machine.
//!
//! A thread that gets no processor until the event that it would have slept for has happened does not sleep, and nobody
//! wakes it: a process whose child has its processor finds the child dead when it gets to run. So at the end of a child
//! its loss is kept, for the parent to continue from when it asks for ends of children. In a pipeline nothing shows who
//! has read what: a process that is ready, or not even made, when one made before it ends is taken for its reader,
//! which cannot end earlier, unless their parent asked for ends in between. If it is not a reader, too little counts as
//! lost: a time that is too long says less, but one that is too short is wrong.
//!
//! A thread that waits while its siblings have all the processors waits for them, as it would have on an idle machine.

use crate::event::Event;
use crate::kin::{as_f64, End, Process, Roused, State, Thread};
use std::collections::HashMap;

/// A wake-up may be recorded this shortly before the sleep that it ends.
pub const CROSSING_NS: u64 = 50_000;

/// The threads of a target, and of the server that started it.
pub struct Tree {
    threads: HashMap<i32, Thread>,
    processes: HashMap<i32, Process>,
    /// How many processes were made.
    made: usize,
    /// Which of these threads is on each processor, if any.
    on: HashMap<usize, i32>,
    processors: u64,
    running: u64,
    waiting: u64,
    /// The clock of losses: what a thread that waits all the time loses.
    losses_ns: f64,
    now_ns: u64,
    /// The process that the server made first.
    first: Option<i32>,
    /// When its last thread so far began to die, and what the clock of losses showed then.
    end: Option<(End, f64)>,
    /// When one of its threads that had begun to die last left a processor, and what the clock of losses showed then.
    gone: Option<(u64, f64)>,
}

impl Tree {
    /// The tree of the server, which is running, and of all that it will start, on so many processors.
    #[must_use]
    pub fn new(server: i32, now_ns: u64, processors: u64) -> Self {
        let mut tree = Self::empty(now_ns, processors);
        tree.add_process(server, server);
        tree.add(server, server, 0.0, State::Running);
        tree
    }

    /// The tree of a process that exists and sleeps, and of all that it will start, on one processor.
    #[must_use]
    pub fn of(process: i32, now_ns: u64) -> Self {
        let mut tree = Self::empty(now_ns, 1);
        tree.first = Some(process);
        tree.add_process(process, process);
        tree.add(process, process, 0.0, State::Asleep(now_ns));
        tree
    }

    fn empty(now_ns: u64, processors: u64) -> Self {
        Self {
            threads: HashMap::new(),
            processes: HashMap::new(),
            made: 0,
            on: HashMap::new(),
            processors: processors.max(1),
            running: 0,
            waiting: 0,
            losses_ns: 0.0,
            now_ns,
            first: None,
            end: None,
            gone: None,
        }
    }

    /// What was lost until now, ns; None if the first process has not ended.
    #[must_use]
    pub fn lost_ns(&self) -> Option<u64> {
        // After its end nothing else is waited for: it dies, and the server sees that.
        self.end
            .map(|(end, losses_ns)| as_u64(end.lost_ns + self.losses_ns - losses_ns))
    }

    /// What was lost until the end was seen at `end_ns` by a server outside of this tree, which by then had waited
    /// `late_ns` for a processor, perhaps partly before the end.
    #[must_use]
    pub fn lost_until(&self, end_ns: u64, late_ns: u64) -> Option<u64> {
        let (end, at_end_ns) = self.end?;
        // Processes that it has left behind may go on losing.
        let (gone_ns, at_gone_ns) = self.gone.unwrap_or((end.at_ns, at_end_ns));
        let lost_ns = as_u64(end.lost_ns + at_gone_ns - at_end_ns);
        Some(lost_ns + late_ns.min(end_ns.saturating_sub(gone_ns)))
    }

    /// Updates the tree by the next event.
    pub fn follow(&mut self, now_ns: u64, event: Event) {
        self.advance(now_ns);
        match event {
            Event::Fork { parent, pid, tid } => self.fork(parent, pid, tid),
            Event::Exit { pid, tid } => self.end_with(pid, tid),
            Event::Reap { tid } => self.reap(tid),
            Event::In { tid, cpu } => self.put_on(tid, cpu),
            Event::Out { tid, cpu, runnable } => {
                let known = self.on.remove(&cpu);
                self.note_gone(known.unwrap_or(tid));
                let is_known = self.threads.contains_key(&tid);
                match (is_known, known) {
                    (true, _) => self.take_off(tid, runnable),
                    // The thread there has lost its number, and so is gone for good.
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
                if let Some(by) = by {
                    self.note_roused(tid, by);
                }
            }
        }
    }

    /// Advances the clock of losses to now. An idle machine would have run `most` of the `ready` threads at once.
    fn advance(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.now_ns);
        self.now_ns = self.now_ns.max(now_ns);
        let ready = self.running + self.waiting;
        let most = self.processors.min(ready);
        if self.running < most {
            // The ready threads would have progressed at the rate of `most` processors, but do at that of the running
            // ones. As each waits in its turn, one that waits stands for more than its own part of the loss.
            let [running, waiting, ready, most] =
                [self.running, self.waiting, ready, most].map(as_f64);
            self.losses_ns += as_f64(passed_ns) * (1.0 - running / most) * (ready / waiting);
        }
    }

    /// Notes that a thread leaves its processor, if it may be the last one of the first process.
    fn note_gone(&mut self, tid: i32) {
        let of = self.threads.get(&tid).map(|thread| thread.pid);
        if self.end.is_some() && of == self.first {
            self.gone = Some((self.now_ns, self.losses_ns));
        }
    }

    fn fork(&mut self, parent: i32, pid: i32, tid: i32) {
        let Some(maker) = self.threads.get(&parent) else {
            return;
        };
        let (of, mut lost_ns) = (maker.pid, maker.lost_ns);
        if of != pid {
            self.add_process(of, pid);
            // It may read what a process wrote that ended before this one was made.
            let ended = self.processes.get(&of).and_then(|of| of.of_children);
            lost_ns = ended.map_or(lost_ns, |end| lost_ns.min(end.lost_ns(self.now_ns)));
        }
        self.remove(tid);
        self.add(pid, tid, lost_ns, State::Waiting(self.losses_ns));
        // The only process known before the first one is the server.
        self.first.get_or_insert(pid);
    }

    /// Makes a process end no earlier than one of its threads.
    fn end_with(&mut self, pid: i32, tid: i32) {
        let (now_ns, unheld_ns) = (self.now_ns, self.unheld_ns(tid));
        let (Some(thread), Some(process)) =
            (self.threads.get_mut(&tid), self.processes.get_mut(&pid))
        else {
            return;
        };
        let before_ns = process.end.map(|before| before.lost_ns(now_ns));
        let own_ns = thread.lost_ns + unheld_ns;
        thread.is_dying = true;
        let lost_ns = before_ns.map_or(own_ns, |before_ns| own_ns.min(before_ns));
        let end = End {
            at_ns: now_ns,
            lost_ns,
        };
        process.end = Some(end);
        if self.first == Some(pid) {
            self.end = Some((end, self.losses_ns));
        }
        // As a rule the main thread joins the others or ends them; one that it ends may be behind it, idle until then.
        if tid == pid {
            thread.lost_ns = lost_ns;
            let maker = process.maker;
            self.hold_readers(pid, end);
            self.keep_for(maker, end);
        }
    }

    /// Notes which thread of the same process ended a sleep, and how much of its loss is not charged to the sleeper.
    fn note_roused(&mut self, tid: i32, by: i32) {
        let waker = self.threads.get(&by);
        let Some((pid, sleeps, lost_ns)) = waker.map(|one| (one.pid, one.sleeps, one.lost_ns))
        else {
            return;
        };
        let thread = self.threads.get_mut(&tid).filter(|one| one.pid == pid);
        if let Some(thread) = thread.filter(|one| matches!(one.state, State::Waiting(_))) {
            thread.roused = Some(Roused {
                by,
                sleeps,
                unheld_ns: (lost_ns - thread.lost_ns).max(0.0),
            });
        }
    }

    /// What an ending thread has lost beyond its own loss: if its process ended it, it would have been ended sooner, in
    /// whichever sleep it was then, like a thread that only a timer wakes now and again.
    ///
    /// A thread that ends all others wakes those that sleep, and dies without sleeping again.
    fn unheld_ns(&self, tid: i32) -> f64 {
        let Some(roused) = self.threads.get(&tid).and_then(|thread| thread.roused) else {
            return 0.0;
        };
        let has_slept = |by: &Thread| by.sleeps != roused.sleeps;
        if self.threads.get(&roused.by).is_some_and(has_slept) {
            return 0.0;
        }
        roused.unheld_ns
    }

    /// Keeps the end of a child until its maker asks for it.
    fn keep_for(&mut self, maker: i32, end: End) {
        let now_ns = self.now_ns;
        if let Some(maker) = self.processes.get_mut(&maker) {
            let is_later = |before: &End| before.lost_ns(now_ns) < end.lost_ns;
            maker.of_children = maker.of_children.filter(is_later).or(Some(end));
        }
    }

    /// Makes threads that may read what a process wrote, but were kept from it, continue no earlier than at its end.
    fn hold_readers(&mut self, pid: i32, end: End) {
        let Some(ended) = self.processes.get(&pid) else {
            return;
        };
        let is_behind = |other: &Process| {
            (other.maker, other.batch) == (ended.maker, ended.batch) && other.place > ended.place
        };
        let may_read = |thread: &Thread| {
            matches!(thread.state, State::Waiting(_))
                && self.processes.get(&thread.pid).is_some_and(is_behind)
        };
        let readers = self.threads.iter().filter(|(_, thread)| may_read(thread));
        for tid in readers.map(|(&tid, _)| tid).collect::<Vec<_>>() {
            self.hold(tid, end.lost_ns);
        }
    }

    /// Makes a thread continue no earlier than at the ends of the children of its process.
    fn reap(&mut self, tid: i32) {
        let of = self.threads.get(&tid).map(|thread| thread.pid);
        let Some(process) = of.and_then(|pid| self.processes.get_mut(&pid)) else {
            return;
        };
        process.asked += 1;
        if let Some(end) = process.of_children.take() {
            self.hold(tid, end.lost_ns(self.now_ns));
        }
    }

    /// Limits what a thread that does not sleep has lost by now.
    fn hold(&mut self, tid: i32, lost_ns: f64) {
        let losses_ns = self.losses_ns;
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        if let State::Waiting(since) = &mut thread.state {
            thread.lost_ns += losses_ns - *since;
            *since = losses_ns;
        }
        thread.lost_ns = thread.lost_ns.min(lost_ns);
    }

    fn add_process(&mut self, maker: i32, pid: i32) {
        let process = Process {
            maker,
            place: self.made,
            batch: self.processes.get(&maker).map_or(0, |of| of.asked),
            asked: 0,
            end: None,
            of_children: None,
        };
        self.made += 1;
        self.processes.insert(pid, process);
    }

    fn add(&mut self, pid: i32, tid: i32, lost_ns: f64, state: State) {
        self.count(&state, true);
        let thread = Thread {
            pid,
            state,
            lost_ns,
            woken: None,
            sleeps: 0,
            is_dying: false,
            roused: None,
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
        thread.sleeps += u64::from(!thread.is_dying);
        thread.roused = None;
        self.change(tid, State::Asleep(self.now_ns));
        if let Some((_, lost_ns)) = woken.filter(|(at, _)| self.now_ns - at < CROSSING_NS) {
            self.wake(tid, lost_ns);
        }
    }

    /// Makes a sleeping thread ready, woken by one that had lost so much, or by something outside. A running thread is
    /// woken from the sleep that it was about to begin.
    fn wake(&mut self, tid: i32, by_lost_ns: Option<f64>) {
        let now_ns = self.now_ns;
        let Some(thread) = self.threads.get_mut(&tid) else {
            return;
        };
        if let State::Asleep(since_ns) = thread.state {
            // Without the waker's waits it would have been woken earlier, but not before it fell asleep.
            thread.lost_ns += by_lost_ns.map_or(0.0, |_| as_f64(now_ns - since_ns));
            self.change(tid, State::Waiting(self.losses_ns));
        } else if matches!(thread.state, State::Running) {
            thread.woken = Some((now_ns, by_lost_ns));
        }
        if let Some(lost_ns) = by_lost_ns {
            self.hold(tid, lost_ns);
        }
    }
}

/// For numbers that are positive and far below 2^53.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn as_u64(number: f64) -> u64 {
    number.round() as u64
}
