//! What a target loses by waiting for processors, derived from the scheduler's events.

use steelyard_launch::event::Event;
use steelyard_launch::tree::{Tree, CROSSING_NS};

const SERVER: i32 = 1;
/// The process that the server starts.
const FIRST: i32 = 2;

/// What was lost until the last of `events`, ns.
fn lost(processors: u64, events: &[(u64, Event)]) -> u64 {
    let mut tree = Tree::new(SERVER, 0, processors);
    for &(now_ns, event) in events {
        tree.follow(now_ns, event);
    }
    tree.lost_ns().unwrap()
}

/// The start of a process with one thread.
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

fn reap(tid: i32) -> Event {
    Event::Reap { tid }
}

/// A thread gets onto its processor; each thread has one of its own.
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

/// A shell that starts 3 and 4, whose events are `jobs`, and waits for both.
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
    // Four threads on two processors, one of which is taken by others: half of the time is lost, in whatever order the
    // four run.
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
    const AT: u64 = 1_000_000;
    let crossing = |asleep_at| {
        let mut events = begun();
        events.extend([(0, on(2)), (0, fork(2, 3)), (0, on(3)), (AT, wake(3, 2))]);
        events.extend([(AT, off(3, false)), (asleep_at, off(2, false))]);
        events.extend([(asleep_at + 40, on(2)), (asleep_at + 40, exit(2))]);
        events
    };
    assert_eq!(lost(2, &crossing(AT + 1)), 40);
    assert_eq!(lost(2, &crossing(AT + CROSSING_NS)), 0);
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

#[test]
fn a_child_that_ends_behind_the_first_process_does_not_end_it() {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, true)), (0, on(3))]);
    events.extend([(100, on(2)), (150, exit(2)), (150, off(2, false))]);
    events.push((200, exit(3)));
    assert_eq!(lost(2, &events), 100);
}

/// A process that makes 3 and then has no processor until `back_ns`, while 3 runs from `on_ns` to 1000.
fn displaced(on_ns: u64, back_ns: u64) -> Vec<(u64, Event)> {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, true))]);
    events.extend([(on_ns, on(3)), (1000, exit(3)), (1000, off(3, false))]);
    events.push((back_ns, on(2)));
    events
}

#[test]
fn who_finds_its_child_dead_loses_what_that_one_lost() {
    let reaped = |on_ns, back_ns| {
        let mut events = displaced(on_ns, back_ns);
        events.extend([(back_ns + 20, reap(2)), (back_ns + 30, exit(2))]);
        lost(2, &events)
    };
    // What it does before it asks for the end, it would have done while the child ran: that time is lost, too.
    assert_eq!(reaped(0, 1000), 20);
    assert_eq!(reaped(40, 1000), 40 + 20);
    assert_eq!(reaped(0, 1050), 50 + 20);
    assert_eq!(reaped(990, 1000), 990 + 10);
}

#[test]
fn commands_in_a_row_are_not_lost_one_behind_the_other() {
    let mut events = displaced(0, 1000);
    events.extend([(1000, reap(2)), (1000, fork(2, 4)), (1000, off(2, true))]);
    events.extend([(1010, on(4)), (2000, exit(4)), (2000, off(4, false))]);
    events.extend([(2000, on(2)), (2000, reap(2)), (2000, exit(2))]);
    assert_eq!(lost(2, &events), 10);
}

#[test]
fn who_asks_for_no_child_loses_what_it_waits() {
    let mut events = displaced(0, 1000);
    events.push((1030, exit(2)));
    assert_eq!(lost(2, &events), 1000);
}

#[test]
fn of_the_children_that_ended_the_last_is_waited_for() {
    let ended = |first, second| {
        let mut events = begun();
        events.extend([(0, on(2)), (0, fork(2, 3)), (0, reap(2)), (0, fork(2, 4))]);
        events.extend([(0, off(2, true)), (0, on(first)), (50, on(second))]);
        events.extend([(90, exit(3)), (90, off(3, false))]);
        events.extend([(95, exit(4)), (95, off(4, false))]);
        events.extend([(100, on(2)), (100, reap(2)), (100, exit(2))]);
        lost(3, &events)
    };
    assert_eq!(ended(3, 4), 10);
    assert_eq!(ended(4, 3), 5);
}

#[test]
fn a_process_ends_no_earlier_than_its_threads() {
    let thread = Event::Fork {
        parent: 3,
        pid: 3,
        tid: 4,
    };
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, false))]);
    events.extend([(0, on(3)), (0, thread), (0, off(3, true)), (0, on(4))]);
    events.extend([(100, Event::Exit { pid: 3, tid: 4 }), (100, off(4, false))]);
    events.extend([(110, on(3)), (120, exit(3)), (120, wake(3, 2))]);
    events.extend([(120, off(3, false)), (120, on(2)), (120, exit(2))]);
    assert_eq!(lost(2, &events), 20);
}

#[test]
fn a_thread_that_is_ended_behind_the_main_one_is_not_waited_for() {
    let timer = Event::Wake {
        by: None,
        cpu: 0,
        tid: 4,
    };
    let thread = Event::Fork {
        parent: 3,
        pid: 3,
        tid: 4,
    };
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, true)), (0, on(3))]);
    events.extend([
        (0, thread),
        (0, on(4)),
        (0, off(4, false)),
        (0, off(3, true)),
    ]);
    events.extend([(500, on(3)), (900, timer), (900, on(4)), (1000, exit(3))]);
    events.extend([
        (1000, off(3, false)),
        (1000, Event::Exit { pid: 3, tid: 4 }),
    ]);
    events.extend([(1000, off(4, false)), (1000, on(2)), (1000, reap(2))]);
    events.push((1000, exit(2)));
    assert_eq!(lost(2, &events), 500);
}

#[test]
fn a_thread_that_only_a_timer_wakes_is_ended_with_its_process() {
    let (pid, tid) = (2, 3);
    let parent = 2;
    let timer = |tid| Event::Wake {
        by: None,
        cpu: 0,
        tid,
    };
    let ended = |further: &[(u64, Event)]| {
        let mut events = begun();
        events.extend([(0, on(2)), (0, Event::Fork { parent, pid, tid })]);
        events.extend([(0, on(3)), (0, off(3, false)), (0, off(2, true))]);
        events.extend([(600, on(2)), (900, timer(3)), (900, on(3))]);
        events.extend([(900, off(3, false)), (1000, wake(2, 3)), (1000, on(3))]);
        events.extend(further);
        lost(2, &events)
    };
    let at_once = |events: &[Event]| {
        let further: Vec<_> = events.iter().map(|&event| (1000, event)).collect();
        ended(&further)
    };
    let thread = Event::Exit { pid, tid };
    let last = [exit(2), off(2, false), thread];
    assert_eq!(at_once(&last), 600);
    assert_eq!(at_once(&[thread, exit(2)]), 600);
    let displaced = [(1000, off(2, true)), (1300, on(2)), (1300, exit(2))];
    assert_eq!(ended(&[&displaced[..], &[(1400, thread)]].concat()), 600);
    // Not so if the process waited for this thread, or if the waker or the thread itself has slept since.
    let asleep = off(2, false);
    assert_eq!(at_once(&[asleep, wake(3, 2), on(2), thread, exit(2)]), 100);
    let slept = [asleep, timer(2), on(2)];
    assert_eq!(at_once(&[slept, last].concat()), 100);
    let slept = [off(3, false), timer(3), on(3)];
    assert_eq!(at_once(&[slept, last].concat()), 100);
}

#[test]
fn who_is_woken_before_it_sleeps_goes_on_where_its_waker_is() {
    // 2 has no processor at first. It notices the wake-up on its way to sleep (90) or once it is running again (130).
    let woken = |on_ns| {
        let mut events = begun();
        events.extend([(0, on(2)), (0, fork(2, 3)), (0, off(2, true)), (0, on(3))]);
        events.extend([(on_ns, on(2)), (100, wake(3, 2)), (100, off(3, false))]);
        events.extend([(130, on(2)), (150, exit(2))]);
        events.sort_by_key(|&(now_ns, _)| now_ns);
        lost(2, &events)
    };
    assert_eq!(woken(90), 0);
    assert_eq!(woken(130), 30);
}

/// What is lost if 2 makes 3 and 4, and 4 has no processor until 3 has ended; `between` happens between the two forks.
fn side_by_side(between: Option<Event>) -> u64 {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, on(3))]);
    events.extend(between.map(|event| (0, event)));
    events.extend([(0, fork(2, 4)), (0, off(2, false))]);
    events.extend([(100, wake(3, 2)), (100, exit(3)), (100, off(3, false))]);
    events.extend([(100, on(2)), (100, off(2, false)), (105, on(4))]);
    events.extend([(150, wake(4, 2)), (150, exit(4)), (150, off(4, false))]);
    events.extend([(150, on(2)), (150, exit(2))]);
    lost(2, &events)
}

#[test]
fn who_may_read_what_another_wrote_ends_after_it() {
    assert_eq!(side_by_side(None), 5);
    // On an idle machine, 4 would have ended at 45, and 3 at 100.
    assert_eq!(side_by_side(Some(reap(2))), 50);
}

#[test]
fn who_may_read_what_another_wrote_loses_what_it_waits_itself() {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (50, on(3)), (80, fork(2, 4))]);
    events.extend([(80, off(2, false)), (100, exit(3)), (100, off(3, false))]);
    events.extend([(105, on(4)), (150, wake(4, 2)), (150, exit(4))]);
    events.extend([(150, off(4, false)), (150, on(2)), (150, exit(2))]);
    assert_eq!(lost(3, &events), 20 + 5);
}

#[test]
fn a_number_that_is_used_again_is_another_thread() {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, fork(2, 3)), (0, on(3))]);
    events.extend([(0, off(2, true)), (100, on(2)), (100, exit(2))]);
    assert_eq!(lost(2, &events), 100);
}

#[test]
fn who_writes_does_not_wait_for_the_end_of_its_reader() {
    let mut events = begun();
    events.extend([(0, on(2)), (0, fork(2, 3)), (0, fork(2, 4))]);
    events.extend([(0, off(2, false)), (0, on(4)), (80, exit(4))]);
    events.extend([(80, off(4, false)), (80, on(3)), (180, wake(3, 2))]);
    events.extend([(180, exit(3)), (180, off(3, false)), (180, on(2))]);
    events.push((180, exit(2)));
    assert_eq!(lost(2, &events), 80);
}

#[test]
fn a_reader_that_is_made_after_the_end_of_the_writer_begins_there() {
    let mut events = displaced(0, 1000);
    events.extend([(1000, fork(2, 4)), (1000, off(2, false)), (1000, on(4))]);
    events.extend([(1500, wake(4, 2)), (1500, exit(4)), (1500, off(4, false))]);
    events.extend([(1500, on(2)), (1500, reap(2)), (1500, exit(2))]);
    assert_eq!(lost(2, &events), 0);
}

/// A process that sleeps until 100, shares its processor with an unknown partner, and dies at 300.
fn beside_another() -> Tree {
    let mut tree = Tree::of(FIRST, 100);
    for (now_ns, event) in [
        (100, wake(9, FIRST)),
        (110, on(FIRST)),
        (150, off(FIRST, true)),
        (150, on(9)),
        // An event from another processor may be slightly older.
        (149, wake(9, 9)),
        (250, off(9, true)),
        (250, on(FIRST)),
        (300, exit(FIRST)),
        (310, off(FIRST, false)),
    ] {
        tree.follow(now_ns, event);
    }
    tree
}

#[test]
fn one_of_two_loses_the_turns_of_the_other() {
    assert_eq!(beside_another().lost_until(310, 0), Some(10 + 100));
}

#[test]
fn one_of_two_loses_no_turns_of_its_own_on_its_processor() {
    let mut tree = Tree::of(FIRST, 0);
    for (now_ns, event) in [
        (0, wake(9, FIRST)),
        (0, on(FIRST)),
        (0, fork(FIRST, 3)),
        (100, off(FIRST, false)),
        (100, on(3)),
        (200, wake(3, FIRST)),
        (200, exit(3)),
        (200, off(3, false)),
        (200, on(FIRST)),
        (300, exit(FIRST)),
    ] {
        tree.follow(now_ns, event);
    }
    assert_eq!(tree.lost_until(300, 0), Some(0));
}

#[test]
fn who_sees_the_end_of_one_of_two_may_have_waited_before_it_too() {
    let tree = beside_another();
    assert_eq!(tree.lost_until(330, 5), Some(110 + 5));
    assert_eq!(tree.lost_until(330, 5000), Some(110 + 20));
    assert_eq!(tree.lost_until(305, 5), Some(110));
}

#[test]
fn what_one_of_two_leaves_behind_loses_nothing_more() {
    let mut tree = beside_another();
    tree.follow(320, fork(FIRST, 3));
    tree.follow(400, on(3));
    tree.follow(450, exit(3));
    tree.follow(460, off(3, false));
    assert_eq!(tree.lost_until(310, 0), Some(110));
    assert_eq!(tree.lost_until(330, 5000), Some(110 + 20));
}

#[test]
fn of_two_nothing_is_known_of_one_that_goes_on() {
    assert_eq!(Tree::of(FIRST, 100).lost_until(200, 10), None);
}
