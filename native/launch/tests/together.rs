//! Two launches at the same time on one processor.

mod common;

use common::{is_alive, number, pids_in, python, request, sh, wait_until, with};
use common::{Driver, Scratch};
use serde_json::{json, Value};
use std::process::Command;

const MS: u64 = 1_000_000;
const TURN_NS: u64 = 309_000;

/// 100 ms of one thread's CPU time.
const BUSY: &str = "import time\nwhile time.process_time() < 0.1: pass\n";

fn both(first: &Value, second: &Value) -> Value {
    let pair =
        json!({"first": first, "second": second, "second_begins": false, "turn_ns": TURN_NS});
    json!({ "together": pair })
}

fn run(driver: &mut Driver, first: &Value, second: &Value) -> [Value; 2] {
    let reply = driver.ask(&both(first, second));
    let reports = reply.as_array().unwrap_or_else(|| panic!("{reply}"));
    [reports[0].clone(), reports[1].clone()]
}

/// A target that runs until it is killed, and writes its own PID and its child's to the file `name`.
fn lingering(scratch: &Scratch, name: &str) -> Value {
    let path = scratch.text(name);
    sh(&format!(
        "sleep 1000 & echo $$ $! > {path}.new; mv {path}.new {path}; wait"
    ))
}

fn numbers_of_both(scratch: &Scratch) -> Vec<u32> {
    let mut pids = pids_in(&scratch.path("one"), 2);
    pids.extend(pids_in(&scratch.path("other"), 2));
    pids
}

#[test]
fn both_run_at_the_same_time_and_each_has_its_own_numbers() {
    for mut driver in [Driver::start(), Driver::without_pidfd()] {
        let (mut one, mut other) = (python(BUSY), python(&format!("{BUSY}exit(3)")));
        one["stdout"] = json!(null);
        other["stdout"] = json!({"tail": 16});
        let [one, other] = run(&mut driver, &one, &other);
        assert_eq!(
            (&one["exit_code"], &other["exit_code"]),
            (&json!(0), &json!(3))
        );
        assert_eq!(one["start_ns"], other["start_ns"]);
        for report in [&one, &other] {
            if driver.hello["schedstat"] == true {
                let (cpu, delay) = (number(report, "cpu_ns"), number(report, "delay_ns"));
                assert!(cpu >= 100 * MS, "{report}");
                // Each waits while the other one runs.
                assert!(delay >= 60 * MS, "{report}");
                assert!(number(report, "others_ns") < 20 * MS, "{report}");
                assert!(number(report, "wall_ns") >= cpu + delay / 2, "{report}");
            }
        }
        assert_eq!(
            (&one["stdout"], &other["stdout"]),
            (&json!(null), &json!(""))
        );
    }
}

#[test]
fn turns_are_as_short_as_asked_for() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true || driver.hello["short_turns"] != true {
        return;
    }
    let busy = python(BUSY);
    let mut pair = both(&busy, &busy);
    let slices = |reports: &Value| number(&reports[0], "timeslices");
    let short = slices(&driver.ask(&pair));
    pair["together"]["turn_ns"] = json!(null);
    let usual = slices(&driver.ask(&pair));
    // 100 ms are 324 turns of this length. Other processes interrupt more of the usual turns, as these are longer.
    assert!(short > 160 && short > 2 * usual, "{short} {usual}");
}

#[test]
fn nothing_of_the_turns_is_left_to_what_is_started() {
    let mut driver = Driver::start();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("known");
    let mut numbers = kernel.split('.').map(|part| part.parse().unwrap_or(0));
    let is_new = (numbers.next(), numbers.next()) >= (Some(6), Some(12));
    assert_eq!(driver.hello["short_turns"], is_new);
    // Prints the slice that a process asks the scheduler for, and its timer slack.
    let asks = format!(
        "import ctypes\nlibc = ctypes.CDLL(None)\nplace = (ctypes.c_uint64 * 6)()\n\
        libc.syscall({}, 0, place, 48, 0)\nprint(place[3], libc.prctl({}, 0, 0, 0, 0))",
        libc::SYS_sched_getattr,
        libc::PR_GET_TIMERSLACK,
    );
    let ours = Command::new("/usr/bin/python3")
        .args(["-c", &asks])
        .output();
    let usual = String::from_utf8(ours.expect("its end").stdout).expect("digits");
    let asks = python(&asks);
    // By now the server has already tried whether turns can be short.
    let before = driver.run(&asks)["stdout"].clone();
    let [one, other] = run(&mut driver, &asks, &asks);
    let after = &driver.run(&asks)["stdout"];
    for stdout in [&before, &one["stdout"], &other["stdout"], after] {
        assert_eq!(*stdout, usual);
    }
}

#[test]
fn a_turn_of_next_to_nothing_is_refused() {
    let mut driver = Driver::start();
    let mut pair = both(&sh(":"), &sh(":"));
    pair["together"]["turn_ns"] = json!(1000);
    assert_eq!(driver.fail(&pair).0, "request");
}

#[test]
fn what_is_counted_of_each_is_its_own() {
    let mut driver = Driver::start();
    let mut busy = sh("python3 -c \"$BUSY\" & wait");
    busy["env"] = json!([format!("BUSY={BUSY}"), "PATH=/usr/bin:/bin"]);
    let mut idle = sh("sleep 0.05");
    busy["counters"] = json!(["task_clock"]);
    idle["counters"] = json!(["task_clock"]);
    let clock = |report: &Value| report["counters"][0][0].as_u64();
    for _ in 0..2 {
        let [one, other] = run(&mut driver, &busy, &idle);
        assert!(clock(&one) > Some(80 * MS), "{one}");
        assert!(
            clock(&other) > Some(0) && clock(&other) < Some(50 * MS),
            "{other}"
        );
        let [other, one] = run(&mut driver, &idle, &busy);
        assert!(clock(&one) > Some(80 * MS), "{one}");
        assert!(
            clock(&other) > Some(0) && clock(&other) < Some(50 * MS),
            "{other}"
        );
    }
    idle["counters"] = json!([]);
    let [one, other] = run(&mut driver, &busy, &idle);
    assert!(clock(&one) > Some(80 * MS), "{one}");
    assert_eq!(other["counters"], json!([]));
}

#[test]
fn what_cannot_be_counted_leaves_nothing_behind() {
    let mut driver = Driver::start();
    if driver.hello["missing_counters"]["cycles"].is_null() {
        return;
    }
    let plain = sh("sleep 1000");
    let mut counted = sh("sleep 1000");
    counted["counters"] = json!(["cycles"]);
    for (first, second) in [(&plain, &counted), (&counted, &plain)] {
        let reply = driver.ask(&both(first, second));
        assert_eq!(reply["error"]["stage"], "counters", "{reply}");
        assert_eq!(driver.run(&sh(":"))["left_behind"], json!([]));
    }
}

#[test]
fn what_is_done_before_the_start_is_not_counted() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true {
        return;
    }
    let truth = request(&["/bin/true"], &json!({"stdout": null, "stderr": null}));
    let alone = (0..20).map(|_| number(&driver.run(&truth), "cpu_ns")).min();
    let together = (0..20).flat_map(|_| run(&mut driver, &truth, &truth));
    let least = together.map(|report| number(&report, "cpu_ns")).min();
    // The server forks before the start.
    assert!(least <= alone.map(|ns| ns + ns / 2), "{least:?} {alone:?}");
}

#[test]
fn what_the_kernel_counts_is_what_it_would_be_alone() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true {
        return;
    }
    let truth = request(&["/bin/true"], &json!({}));
    let alone: Vec<_> = (0..9).map(|_| driver.run(&truth)).collect();
    let together: Vec<_> = (0..9)
        .flat_map(|_| run(&mut driver, &truth, &truth))
        .collect();
    let least = |reports: &[Value], name| reports.iter().map(|report| number(report, name)).min();
    for (name, more) in [("voluntary_switches", 0), ("minor_faults", 8)] {
        let (alone, together) = (least(&alone, name), least(&together, name));
        let most = alone.map(|count| count + more);
        assert!(together <= most, "{name} {together:?} {alone:?}");
    }
    // User and system time are known to 1 us each.
    let beyond = |report: &Value| {
        let ran = number(report, "user_ns") + number(report, "sys_ns");
        ran.saturating_sub(number(report, "cpu_ns"))
    };
    assert!(together.iter().map(beyond).min() <= Some(2000));
}

#[test]
fn one_that_ends_before_the_other_is_executing_took_no_longer_for_that() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true {
        return;
    }
    let truth = request(&["/bin/true"], &json!({}));
    // The kernel has so much to copy for this one that the other ends meanwhile.
    let long = "x".repeat(100_000);
    let slow = request(
        &["/bin/true"],
        &json!({ "env": vec![format!("A={long}"); 18] }),
    );
    let rest = |report: &Value| {
        let own = number(report, "cpu_ns") + number(report, "delay_ns");
        number(report, "wall_ns").saturating_sub(own)
    };
    let mut rests: Vec<_> = (0..13)
        .map(|_| rest(&run(&mut driver, &truth, &slow)[0]))
        .collect();
    rests.sort_unstable();
    let executing = number(&driver.run(&slow), "cpu_ns");
    assert!(rests[9] < executing / 3, "{rests:?} {executing}");
}

#[test]
fn one_that_ends_while_it_leads_is_timed_to_its_end() {
    let mut driver = Driver::start();
    if driver.hello["schedstat"] != true {
        return;
    }
    let truth = request(&["/bin/true"], &json!({}));
    let rest = |report: &Value| {
        let own = number(report, "cpu_ns") + number(report, "delay_ns");
        number(report, "wall_ns").saturating_sub(own)
    };
    let mut pair = both(&truth, &truth);
    pair["together"]["lead_ns"] = json!(100 * MS);
    let reports: Vec<_> = (0..25).map(|_| driver.ask(&pair)[0].clone()).collect();
    let mut rests: Vec<_> = reports.iter().map(rest).collect();
    rests.sort_unstable();
    let ran = reports.iter().map(|report| number(report, "cpu_ns")).min();
    // Letting the other one go takes a quarter as long as this one runs, and must not count towards this one's time.
    assert!(Some(rests[8]) < ran.map(|ns| ns / 6), "{rests:?} {ran:?}");
}

#[test]
fn the_time_of_the_other_one_begins_behind_the_lead() {
    let mut driver = Driver::start();
    let mut pair = both(&sh("sleep 0.3"), &sh("exit 0"));
    pair["together"]["lead_ns"] = json!(150 * MS);
    let reports = driver.ask(&pair);
    let start_ns = |place: usize| number(&reports[place], "start_ns");
    assert!(start_ns(1) >= start_ns(0) + 150 * MS, "{reports}");
}

#[test]
fn either_may_begin() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("order");
    let [one, other] = ["one", "other"].map(|name| sh(&format!("echo {name} >> {path}")));
    for second_begins in [false, true] {
        let mut pair = both(&one, &other);
        pair["together"]["second_begins"] = json!(second_begins);
        pair["together"]["lead_ns"] = json!(5_000 * MS); // or until the first one ends
        assert_eq!(driver.ask(&pair).as_array().map(Vec::len), Some(2));
    }
    let text = std::fs::read_to_string(path).expect("both wrote");
    assert_eq!(text, "one\nother\nother\none\n");
}

#[test]
fn they_share_the_processor_that_they_are_given() {
    let mut driver = Driver::start();
    let asks = "import os\nprint(*os.sched_getaffinity(0))";
    let [one, other] = run(&mut driver, &python(asks), &python(asks));
    assert_eq!(one["stdout"], other["stdout"]);
    let cpu: u16 = one["stdout"]
        .as_str()
        .and_then(|text| text.trim().parse().ok())
        .expect("one processor");
    let given = with(python(asks), "cpus", json!([cpu]));
    assert_eq!(run(&mut driver, &given, &given)[0]["stdout"], one["stdout"]);
    // The server has all processors again.
    let alone = driver.run(&python("import os\nprint(len(os.sched_getaffinity(0)))"));
    let count = std::thread::available_parallelism().expect("known").get();
    assert_eq!(alone["stdout"], format!("{count}\n"));
    assert_eq!(driver.fail(&both(&given, &python(asks))).0, "request");
}

#[test]
fn a_target_that_cannot_be_executed_takes_the_other_one_along() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let missing = request(&["/no/such/program"], &json!({}));
    let stays = lingering(&scratch, "one");
    for pair in [both(&stays, &missing), both(&missing, &stays)] {
        let (stage, errno) = driver.fail(&pair);
        assert_eq!((stage.as_str(), errno), ("spawn", json!(libc::ENOENT)));
    }
    let nowhere = with(sh("exit 0"), "cwd", json!("/no/such/folder"));
    assert_eq!(driver.fail(&both(&sh("exit 0"), &nowhere)).0, "cwd");
    let serving = driver.serving();
    let children = std::fs::read_to_string(format!("/proc/{serving}/task/{serving}/children"));
    assert_eq!(children.expect("it runs").trim(), "");
    assert_eq!(driver.run(&sh("exit 6"))["exit_code"], 6);
}

#[test]
fn each_has_its_own_time() {
    let mut driver = Driver::start();
    let late = with(sh("exec sleep 1000"), "timeout_ns", json!(200 * MS));
    let [one, other] = run(&mut driver, &late, &sh("sleep 0.4; echo done"));
    assert_eq!(
        (&one["timed_out"], &one["signal"]),
        (&json!(true), &json!(libc::SIGKILL))
    );
    assert_eq!(
        (&other["timed_out"], &other["stdout"]),
        (&json!(false), &json!("done\n"))
    );
    // The timeout of a target that has already ended passes while the other one still runs.
    let timely = with(sh("exit 6"), "timeout_ns", json!(200 * MS));
    let [one, _] = run(&mut driver, &timely, &sh("sleep 0.4"));
    assert_eq!(
        (&one["timed_out"], &one["exit_code"]),
        (&json!(false), &json!(6))
    );
}

#[test]
fn a_cancel_kills_both() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    driver.send(&both(
        &lingering(&scratch, "one"),
        &lingering(&scratch, "other"),
    ));
    let pids = numbers_of_both(&scratch);
    driver.send(&json!({"cancel": true}));
    let reply = driver.receive();
    assert_eq!(
        (&reply[0]["cancelled"], &reply[1]["cancelled"]),
        (&json!(true), &json!(true))
    );
    assert!(!pids.into_iter().any(is_alive));
    assert_eq!(driver.run(&sh("exit 6"))["exit_code"], 6);
}

/// A target whose child removes the file `name` after the target has ended, and then writes the time to `name.at`.
fn tidied(scratch: &Scratch, name: &str) -> Value {
    let path = scratch.text(name);
    python(&format!(
        "import os, time
open('{path}', 'w').close()
r, w = os.pipe()
if os.fork() == 0:
    os.close(w)
    os.read(r, 1)
    time.sleep(0.02)
    os.unlink('{path}')
    with open('{path}.new', 'w') as file: file.write(str(time.monotonic_ns()))
    os.rename('{path}.new', '{path}.at')
    os._exit(0)"
    ))
}

#[test]
fn what_outlives_one_cleans_up_behind_it_once_both_have_ended() {
    for mut driver in [Driver::start(), Driver::without_pidfd()] {
        let scratch = Scratch::new();
        let long = python("import time\ntime.sleep(0.3)\n");
        let [_, other] = run(&mut driver, &tidied(&scratch, "shared"), &long);
        assert!(!scratch.path("shared").exists());
        let at = std::fs::read_to_string(scratch.path("shared.at")).expect("a time");
        let ended_ns = number(&other, "start_ns") + number(&other, "wall_ns");
        assert!(at.parse::<u64>().expect("a number") >= ended_ns);
        let both = [tidied(&scratch, "one"), tidied(&scratch, "other")];
        run(&mut driver, &both[0], &both[1]);
        assert!(!scratch.path("one").exists() && !scratch.path("other").exists());
    }
}

#[test]
fn neither_outlives_the_driver_the_server_or_its_guard() {
    let ends: [fn(&mut Driver); 3] = [
        |driver| kill(driver.serving(), libc::SIGKILL),
        |driver| kill(driver.server.id(), libc::SIGKILL),
        |driver| kill(driver.server.id(), libc::SIGTERM),
    ];
    for end in ends {
        let mut driver = Driver::start();
        let scratch = Scratch::new();
        driver.send(&both(
            &lingering(&scratch, "one"),
            &lingering(&scratch, "other"),
        ));
        let pids = numbers_of_both(&scratch);
        end(&mut driver);
        wait_until("both are gone", || !pids.iter().any(|&pid| is_alive(pid)));
    }
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    driver.send(&both(
        &lingering(&scratch, "one"),
        &lingering(&scratch, "other"),
    ));
    let pids = numbers_of_both(&scratch);
    assert_eq!(driver.hang_up().code(), Some(0));
    assert!(!pids.into_iter().any(is_alive));
}

fn kill(pid: u32, signal: i32) {
    let pid = i32::try_from(pid).expect("a pid");
    // SAFETY: kill takes numbers only; the process is ours and not yet reaped.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

#[test]
fn what_either_leaves_behind_is_killed_and_told_of_once() {
    let mut driver = Driver::start();
    let daemon =
        python("import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)");
    let [one, other] = run(&mut driver, &daemon, &daemon);
    let told = |report: &Value| report["left_behind"].as_array().map_or(0, Vec::len);
    assert_eq!(told(&one) + told(&other), 2);
}

#[test]
fn what_one_that_has_ended_leaves_stands_still_beside_the_other() {
    let (mut driver, scratch) = (Driver::start(), Scratch::new());
    let path = scratch.text("pid");
    let leaves = sh(&format!(
        "sleep 1000 & echo $! > {path}.new; mv {path}.new {path}"
    ));
    let waits = sh(&format!(
        "until [ -s {path} ]; do sleep 0.01; done; \
         until grep -q ') T' /proc/$(cat {path})/stat; do sleep 0.01; done"
    ));
    let waits = with(waits, "timeout_ns", json!(5_000 * MS));
    let [_, other] = run(&mut driver, &leaves, &waits);
    assert_eq!(other["exit_code"], 0, "{other}");
}

#[test]
fn many_pairs_leak_nothing() {
    let mut driver = Driver::start();
    let truth = request(&["/bin/true"], &json!({}));
    let descriptors = |driver: &Driver| {
        let path = format!("/proc/{}/fd", driver.serving());
        std::fs::read_dir(path).expect("it runs").count()
    };
    run(&mut driver, &truth, &truth);
    let before = descriptors(&driver);
    for _ in 0..100 {
        assert_eq!(run(&mut driver, &truth, &truth)[1]["exit_code"], 0);
    }
    assert_eq!(descriptors(&driver), before);
}

/// A target that exchanges a byte with its partner, and then does `then`.
fn in_step(then: &str) -> Value {
    let meets = "import os\nos.write(4, b'x')\nassert os.read(4, 2) == b'x'\n";
    python(&format!("{meets}{then}\n"))
}

#[test]
fn those_in_lockstep_have_a_socket_that_ends_with_either() {
    let mut driver = Driver::start();
    let (mut one, mut other) = (in_step("assert os.read(4, 1) == b''"), in_step(""));
    for target in [&mut one, &mut other] {
        target["results"] = json!(16);
    }
    let mut pair = both(&one, &other);
    pair["together"]["lockstep"] = json!(true);
    let reports = driver.ask(&pair);
    assert_eq!(
        (&reports[0]["exit_code"], &reports[1]["exit_code"]),
        (&json!(0), &json!(0)),
        "{reports}"
    );
    // Without lockstep, the same two have no fd 4.
    let [one, other] = run(&mut driver, &one, &other);
    assert_eq!(
        (&one["exit_code"], &other["exit_code"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn what_one_leaves_behind_keeps_nobody_in_step() {
    let mut driver = Driver::start();
    let leaves =
        "import time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(1000)\ntime.sleep(0.2)";
    let (mut one, mut other) = (in_step("assert os.read(4, 1) == b''"), in_step(leaves));
    for target in [&mut one, &mut other] {
        target["results"] = json!(16);
        target["timeout_ns"] = json!(10_000 * MS);
    }
    let mut pair = both(&one, &other);
    pair["together"]["lockstep"] = json!(true);
    let reports = driver.ask(&pair);
    assert_eq!(reports[0]["exit_code"], 0, "{reports}");
}

#[test]
fn lockstep_stands_behind_results() {
    let mut driver = Driver::start();
    let mut pair = both(&in_step(""), &in_step(""));
    pair["together"]["lockstep"] = json!(true);
    let refusal = driver.ask(&pair);
    assert_eq!(refusal["error"]["stage"], "request", "{refusal}");
}
