//! What is lost, by what the scheduler did.

use steelyard_launch::tree::{Event, Tree, CROSSING_NS};

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
