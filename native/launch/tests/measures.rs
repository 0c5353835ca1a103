//! Whether the numbers mean what they say, to within an order of magnitude.

mod common;

use common::{number, python, request, sh, Driver};
use serde_json::{json, Value};

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

/// 300 ms of one thread's CPU time.
const BUSY: &str = "import time\nwhile time.process_time() < 0.3: pass\n";

fn both() -> [Driver; 2] {
    let (with, without) = (Driver::start(), Driver::without_pidfd());
    assert_eq!(without.hello["pidfd"], false);
    [with, without]
}

fn truth() -> Value {
    request(&["/bin/true"], &json!({"stdout": null, "stderr": null}))
}

#[test]
fn times_fit_together() {
    for mut driver in both() {
        let before = driver.run(&truth());
        let reply = driver.run(&sh("sleep 0.2"));
        let (start, wall) = (number(&reply, "start_ns"), number(&reply, "wall_ns"));
        assert!(start >= number(&before, "start_ns") + number(&before, "wall_ns"));
        assert!((200 * MS..5000 * MS).contains(&wall), "{wall}");
        assert!(number(&reply, "spawn_ns") < wall);
        assert!(number(&reply, "voluntary_switches") > 0);
    }
}

#[test]
fn memory_is_the_targets_own() {
    for mut driver in both() {
        let reply = driver.run(&truth());
        assert!(number(&reply, "max_rss_bytes") < 20 * MIB, "{reply}");
        let reply = driver.run(&python("x = b'x' * 100_000_000"));
        let peak = number(&reply, "max_rss_bytes");
        assert!((95 * MIB..150 * MIB).contains(&peak), "{peak}");
        assert!(number(&reply, "minor_faults") > 0);
    }
}

#[test]
fn cpu_time_of_one_thread_is_all_there_is() {
    for mut driver in both() {
        let reply = driver.run(&python(BUSY));
        let used = number(&reply, "user_ns") + number(&reply, "sys_ns");
        assert!((290 * MS..3000 * MS).contains(&used), "{reply}");
        if driver.hello["schedstat"] == true {
            assert!(number(&reply, "cpu_ns") >= 290 * MS, "{reply}");
            assert!(number(&reply, "timeslices") > 0);
            assert!(reply["delay_ns"].is_u64());
            assert!(number(&reply, "others_ns") < 60 * MS, "{reply}");
        } else {
            assert_eq!(reply["others_ns"], Value::Null);
        }
    }
}

#[test]
fn cpu_time_of_children_and_threads_is_that_of_others() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true {
        return;
    }
    let child = sh(&format!("/usr/bin/python3 -c '{BUSY}' & wait"));
    let reply = driver.run(&child);
    assert!(number(&reply, "others_ns") > 200 * MS, "{reply}");
    assert!(number(&reply, "cpu_ns") < 150 * MS, "{reply}");
    let thread = "import threading, time
def work():
    while time.thread_time() < 0.3: pass
thread = threading.Thread(target=work); thread.start(); thread.join()";
    let reply = driver.run(&python(thread));
    assert!(number(&reply, "others_ns") > 200 * MS, "{reply}");
}

#[test]
fn the_machine_is_read_where_it_can_be() {
    let mut driver = Driver::start();
    let reply = driver.run(&truth());
    for (feature, field) in [("pressure", "pressure_ns"), ("steal", "steal_ns")] {
        assert_eq!(
            reply[field].is_u64(),
            driver.hello[feature] == true,
            "{reply}"
        );
    }
}

#[test]
fn many_launches_leak_nothing() {
    for mut driver in both() {
        let target = request(&["/bin/true"], &json!({}));
        let descriptors = |driver: &Driver| {
            let path = format!("/proc/{}/fd", driver.serving());
            std::fs::read_dir(path).expect("it runs").count()
        };
        driver.run(&target);
        let before = descriptors(&driver);
        for _ in 0..100 {
            assert_eq!(driver.run(&target)["exit_code"], 0);
        }
        assert_eq!(descriptors(&driver), before);
    }
}

#[test]
fn what_the_kernel_counts_is_of_all_threads_and_children_from_the_program_on() {
    let mut driver = Driver::start();
    let mut two = sh("python3 -c \"$BUSY\" & python3 -c \"$BUSY\"; wait");
    two["env"] = json!([format!("BUSY={BUSY}"), "PATH=/usr/bin:/bin"]);
    two["counters"] = json!(["task_clock"]);
    let reply = driver.run(&two);
    let clock = &reply["counters"][0];
    let (count, enabled, running) = (&clock[0], &clock[1], &clock[2]);
    let used = number(&reply, "user_ns") + number(&reply, "sys_ns");
    assert!(
        count.as_u64().expect("a count").abs_diff(used) < used / 10,
        "{reply}"
    );
    assert_eq!(enabled, running);
    // The next launch has counters of its own, or none.
    let mut next = truth();
    next["counters"] = json!(["task_clock"]);
    assert!(
        driver.run(&next)["counters"][0][0]
            .as_u64()
            .expect("a count")
            < 50 * MS
    );
    assert_eq!(driver.run(&truth())["counters"], json!([]));
}

#[test]
fn a_counter_that_is_not_there_is_a_failure_of_its_own_stage() {
    let mut driver = Driver::start();
    let mut counted = truth();
    counted["counters"] = json!([
        "cycles",
        "retired_instructions",
        "branch_misses",
        "cache_misses"
    ]);
    let reply = driver.ask(&counted);
    if let Some(error) = reply.get("error") {
        assert_eq!(error["stage"], "counters");
        assert!(error["message"]
            .as_str()
            .expect("words")
            .starts_with("cannot count cycles: "));
    } else {
        assert!(
            reply["counters"][3][0].as_u64().expect("a count") > 10_000,
            "{reply}"
        );
    }
    driver.run(&truth());
}
