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
const CROSSING_NS: u64 = 50_000;

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

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: i32 = 1;
    /// The process that it starts.
    const FIRST: i32 = 2;

    /// What was lost until the last of `events`.
    fn lost(processors: u64, events: &[(u64, Event)]) -> u64 {
        let mut tree = Tree::new(SERVER, 0, processors);
        for &(now_ns, event) in events {
            tree.follow(now_ns, event);
        }
        tree.lost_ns().unwrap()
    }

    /// A process of one thread.
    fn fork(parent: i32, tid: i32) -> Event {
        Event::Fork {
            parent,
            pid: tid,
            tid,
        }
    }

    fn exit(tid: i32) -> Event {
        Event::Exit { pid: tid, tid }
    }

    /// A processor of its own for each.
    fn on(tid: i32) -> Event {
        let cpu = usize::try_from(tid).unwrap();
        Event::In { tid, cpu }
    }

    fn off(tid: i32, runnable: bool) -> Event {
        let cpu = usize::try_from(tid).unwrap();
        Event::Out { tid, cpu, runnable }
    }

    fn wake(by: i32, tid: i32) -> Event {
        let cpu = usize::try_from(by).unwrap();
        let by = Some(by);
        Event::Wake { by, cpu, tid }
    }

    /// The server has started the first process, and sleeps.
    fn begun() -> Vec<(u64, Event)> {
        vec![(0, fork(SERVER, FIRST)), (0, off(SERVER, false))]
    }

    #[test]
    fn nothing_is_known_before_the_end() {
        let mut tree = Tree::new(SERVER, 0, 2);
        tree.follow(0, fork(SERVER, FIRST));
        tree.follow(10, on(FIRST));
        assert_eq!(tree.lost_ns(), None);
    }

    #[test]
    fn one_process_loses_what_it_waits_and_what_the_server_does_behind_its_end() {
        let mut events = begun();
        events.extend([(10, on(2)), (100, off(2, true)), (140, on(2))]);
        events.extend([(200, exit(2)), (200, wake(2, SERVER))]);
        events.extend([(200, off(2, false)), (205, on(SERVER))]);
        assert_eq!(lost(2, &events), 10 + 40 + 5);
    }

    #[test]
    fn what_wakes_the_server_meanwhile_loses_nothing() {
        let device = Event::Wake {
            by: None,
            cpu: 0,
            tid: SERVER,
        };
        let mut events = begun();
        events.extend([(10, on(2)), (100, off(2, true)), (120, device)]);
        events.extend([(130, on(SERVER)), (140, on(2)), (200, exit(2))]);
        assert_eq!(lost(2, &events), 10 + 40);
    }

    #[test]
    fn sleep_is_no_loss() {
        let timer = Event::Wake {
            by: None,
            cpu: 0,
            tid: 2,
        };
        let mut events = begun();
        events.extend([(0, on(2)), (10, off(2, false)), (500, timer)]);
        events.extend([(530, on(2)), (600, exit(2))]);
        assert_eq!(lost(2, &events), 30);
    }

    /// A shell that starts 3 and 4, which go on as `jobs` say, and waits for both.
    fn shell(jobs: &[(u64, Event)], end_ns: u64) -> Vec<(u64, Event)> {
        let mut events = begun();
        events.extend([(0, on(2)), (0, fork(2, 3)), (0, fork(2, 4))]);
        events.push((0, off(2, false)));
        events.extend_from_slice(jobs);
        events.extend([(end_ns, on(2)), (end_ns, exit(2))]);
        events
    }

    #[test]
    fn waits_at_the_same_time_are_lost_once() {
        let mut jobs = vec![(100, on(3)), (100, on(4))];
        jobs.extend([3, 4].map(|job| (200, wake(job, 2))));
        jobs.extend([3, 4].map(|job| (200, off(job, false))));
        assert_eq!(lost(2, &shell(&jobs, 200)), 100);
    }

    #[test]
    fn the_wait_of_one_that_nobody_waits_for_is_not_lost() {
        let jobs = [
            (0, on(3)),
            (90, on(4)),
            (95, off(4, false)),
            (200, wake(3, 2)),
            (200, off(3, false)),
        ];
        assert_eq!(lost(2, &shell(&jobs, 200)), 0);
    }

    #[test]
    fn who_waits_for_another_loses_what_that_one_loses_but_no_more_than_it_slept() {
        let until = |slept_from| {
            let mut events = begun();
            events.extend([(0, on(2)), (0, fork(2, 3)), (slept_from, off(2, false))]);
            events.extend([(90, on(3)), (100, wake(3, 2)), (100, on(2)), (100, exit(2))]);
            events
        };
        assert_eq!(lost(2, &until(0)), 90);
        assert_eq!(lost(2, &until(70)), 30);
    }

    #[test]
    fn more_threads_than_processors_wait_for_each_other() {
        let jobs = [
            (0, on(3)),
            (100, off(3, false)),
            (100, on(4)),
            (200, wake(4, 2)),
            (200, off(4, false)),
        ];
        assert_eq!(lost(1, &shell(&jobs, 200)), 0);
        assert_eq!(lost(2, &shell(&jobs, 200)), 100);
    }

    #[test]
    fn of_too_many_threads_each_loses_what_all_lose_together() {
        // Four on two processors, of which others have one: half of the time is lost, whoever runs when.
        let mut events = begun();
        events.push((0, on(2)));
        events.extend((3..7).map(|tid| (0, fork(2, tid))));
        events.push((0, off(2, false)));
        for (turn, tid) in (0..).zip(3..7) {
            events.push((turn * 100, on(tid)));
            if tid == 6 {
                events.push((400, wake(tid, 2)));
            }
            events.push((turn * 100 + 100, off(tid, tid < 6)));
        }
        events.extend([(400, on(2)), (400, exit(2))]);
        assert_eq!(lost(2, &events), 200);
    }

    #[test]
    fn a_wake_up_that_crosses_the_sleep_ends_it() {
        let crossing = |asleep_at| {
            let mut events = begun();
            events.extend([(0, on(2)), (0, fork(2, 3)), (0, on(3)), (100, wake(3, 2))]);
            events.extend([(100, off(3, false)), (asleep_at, off(2, false))]);
            events.extend([(asleep_at + 40, on(2)), (asleep_at + 40, exit(2))]);
            events
        };
        assert_eq!(lost(2, &crossing(101)), 40);
        assert_eq!(lost(2, &crossing(100 + CROSSING_NS)), 0);
    }

    #[test]
    fn one_that_is_dying_still_wakes_and_leaves_without_its_number() {
        let nameless = |runnable| Event::Out {
            tid: -1,
            cpu: 3,
            runnable,
        };
        let parting = Event::Wake {
            by: Some(-1),
            cpu: 3,
            tid: 2,
        };
        let mut events = begun();
        events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, false))]);
        events.extend([(50, on(3)), (100, exit(3)), (100, parting)]);
        events.extend([(100, nameless(false)), (110, on(2)), (150, exit(2))]);
        assert_eq!(lost(1, &events), 60);
    }

    #[test]
    fn the_last_thread_of_the_first_process_ends_it() {
        let thread = Event::Fork {
            parent: 2,
            pid: 2,
            tid: 3,
        };
        let last = Event::Exit { pid: 2, tid: 3 };
        let mut events = begun();
        events.extend([(0, on(2)), (0, thread), (10, exit(2)), (10, off(2, false))]);
        events.extend([(50, on(3)), (100, last)]);
        assert_eq!(lost(2, &events), 50);
    }
}
