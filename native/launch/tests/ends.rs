//! How targets are ended, with all that they started.

mod common;

use common::{is_alive, left_behind, number, pids_in, python, sh, wait_until, with};
use common::{Driver, Scratch};
use serde_json::{json, Value};

const SOON: u64 = 200_000_000;

fn timed_out(driver: &mut Driver, target: Value) -> Value {
    let reply = driver.run(&with(target, "timeout_ns", json!(SOON)));
    assert_eq!(reply["timed_out"], true, "{reply}");
    assert_eq!(reply["cancelled"], false);
    assert_eq!(reply["signal"], libc::SIGKILL);
    assert!(number(&reply, "wall_ns") >= SOON);
    reply
}

/// A target that runs until it is killed, and writes its own PID and its child's to the file `pids`.
fn lingering(scratch: &Scratch) -> Value {
    let path = scratch.text("pids");
    sh(&format!(
        "sleep 1000 & echo $$ $! > {path}.new; mv {path}.new {path}; wait"
    ))
}

#[test]
fn a_timeout_kills_the_whole_group() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    timed_out(&mut driver, lingering(&scratch));
    for pid in pids_in(&scratch.path("pids"), 2) {
        assert!(!is_alive(pid));
    }
}

#[test]
fn a_timeout_kills_what_resists() {
    let mut driver = Driver::start();
    timed_out(
        &mut driver,
        sh("trap '' TERM HUP INT; while :; do sleep 1000; done"),
    );
    timed_out(&mut driver, sh("kill -STOP $$"));
    let moved = "import os, time\nos.setpgid(0, os.getpgid(os.getppid()))\ntime.sleep(1000)";
    timed_out(&mut driver, python(moved));
    // A target that ends in time is left alone.
    let reply = driver.run(&with(sh("exit 4"), "timeout_ns", json!(20_000_000_000_u64)));
    assert_eq!(
        (&reply["exit_code"], &reply["timed_out"]),
        (&json!(4), &json!(false))
    );
}

#[test]
fn output_before_a_timeout_is_kept() {
    let mut driver = Driver::start();
    let reply = timed_out(&mut driver, sh("echo started; exec sleep 1000"));
    assert_eq!(reply["stdout"], "started\n");
}

#[test]
fn a_cancel_kills_what_is_in_flight() {
    for mut driver in [Driver::start(), Driver::without_pidfd()] {
        let scratch = Scratch::new();
        driver.send(&lingering(&scratch));
        let pids = pids_in(&scratch.path("pids"), 2);
        driver.send(&json!({"cancel": true}));
        let reply = driver.receive();
        assert_eq!(
            (&reply["cancelled"], &reply["timed_out"]),
            (&json!(true), &json!(false))
        );
        assert!(!pids.into_iter().any(is_alive));
        assert_eq!(driver.run(&sh("exit 6"))["cancelled"], false);
    }
}

#[test]
fn a_cancel_may_come_with_its_request() {
    let mut driver = Driver::start();
    let target = sh("exec sleep 1000");
    driver.send_line(&format!("{target}\n{{\"cancel\":true}}"));
    assert_eq!(driver.receive()["cancelled"], true);
}

#[test]
fn a_late_cancel_is_ignored() {
    let mut driver = Driver::start();
    driver.send(&json!({"cancel": true}));
    let reply = driver.run(&sh("exit 7"));
    assert_eq!(
        (&reply["exit_code"], &reply["cancelled"]),
        (&json!(7), &json!(false))
    );
}

#[test]
fn a_request_sent_early_waits_its_turn() {
    let mut driver = Driver::start();
    driver.send(&sh("sleep 0.1; exit 1"));
    driver.send(&sh("exit 2"));
    assert_eq!(driver.receive()["exit_code"], 1);
    assert_eq!(driver.receive()["exit_code"], 2);
}

#[test]
fn an_idle_server_ends_with_its_driver() {
    assert_eq!(Driver::start().hang_up().code(), Some(0));
}

#[test]
fn nothing_outlives_the_driver() {
    for mut driver in [Driver::start(), Driver::without_pidfd()] {
        let scratch = Scratch::new();
        let path = scratch.text("pids");
        let script = format!(
            "import os, subprocess, time
child = subprocess.Popen(['sleep', '1000'])
daemon = subprocess.Popen(['sleep', '1000'], start_new_session=True)
open('{path}', 'w').write(f'{{os.getpid()}} {{child.pid}} {{daemon.pid}}\\n')
time.sleep(1000)"
        );
        driver.send(&python(&script));
        let pids = pids_in(&scratch.path("pids"), 3);
        assert_eq!(driver.hang_up().code(), Some(0));
        assert!(!pids.into_iter().any(is_alive));
    }
}

#[test]
fn a_signal_to_the_server_ends_it_with_its_target() {
    for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
        let mut driver = Driver::start();
        let scratch = Scratch::new();
        driver.send(&lingering(&scratch));
        let pids = pids_in(&scratch.path("pids"), 2);
        let server = i32::try_from(driver.server.id()).expect("a pid");
        // SAFETY: kill takes numbers only; the server is our child and not yet reaped.
        unsafe { libc::kill(server, signal) };
        assert_eq!(driver.wait_for_exit().code(), Some(128 + signal));
        assert!(!pids.into_iter().any(is_alive));
    }
}

#[test]
fn a_background_child_is_killed_and_named() {
    for mut driver in [Driver::start(), Driver::without_pidfd()] {
        let scratch = Scratch::new();
        let path = scratch.text("pids");
        let reply = driver.run(&sh(&format!(
            "sleep 1000 & echo $! > {path}; \
             while ! grep -q sleep /proc/$!/comm; do :; done; exit 8"
        )));
        assert_eq!(reply["exit_code"], 8);
        assert_eq!(left_behind(&reply), ["sleep"]);
        assert!(!is_alive(pids_in(&scratch.path("pids"), 1)[0]));
        assert_eq!(left_behind(&driver.run(&sh("exit 0"))), [""; 0]);
    }
}

#[test]
fn what_outlives_a_target_may_still_clean_up_behind_it() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("shared");
    // Like Python's resource tracker, the child waits until a pipe that the target holds is closed. While it is busy,
    // it gets more time.
    for meanwhile in ["time.sleep(0.02)", "while time.monotonic() < end: pass"] {
        let script = format!(
            "import os, time
open('{path}', 'w').close()
r, w = os.pipe()
if os.fork() == 0:
    os.close(w)
    os.read(r, 1)
    end = time.monotonic() + 0.2
    {meanwhile}
    os.unlink('{path}')
    os._exit(0)"
        );
        let reply = driver.run(&python(&script));
        assert_eq!(reply["exit_code"], 0);
        assert!(!scratch.path("shared").exists());
    }
}

#[test]
fn what_was_left_running_on_purpose_is_asked_to_end_and_killed_if_it_does_not() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let (path, deaf) = (scratch.text("pids"), scratch.text("deaf"));
    // Like a service that removes its socket.
    let serves = format!("trap 'sleep 0.2; echo tidied > {path}.end; exit' TERM");
    let script = format!(
        "({serves}; echo $$ > {path}; while :; do sleep 0.01; done) & \
         (trap '' TERM; sh -c 'echo $PPID > {deaf}'; while :; do sleep 0.01; done) & \
         while ! [ -s {path} -a -s {deaf} ]; do sleep 0.01; done"
    );
    driver.run(&with(sh(&script), "leaves_running", json!(true)));
    driver.hang_up();
    let said = std::fs::read_to_string(scratch.path("pids.end"));
    assert_eq!(said.expect("its end"), "tidied\n");
    assert!(!is_alive(pids_in(&scratch.path("deaf"), 1)[0]));
}

#[test]
fn what_is_left_running_on_purpose_goes_on_until_the_server_ends() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("pids");
    let leaving = |script: &str| with(sh(script), "leaves_running", json!(true));
    let reply = driver.run(&leaving(&format!(
        "sleep 1000 & echo $! > {path}; \
         while ! grep -q sleep /proc/$!/comm; do :; done"
    )));
    let pid = pids_in(&scratch.path("pids"), 1)[0];
    assert_eq!(left_behind(&reply), [""; 0]);
    assert_eq!(reply["not_killed"], json!([format!("{pid} sleep")]));
    assert!(is_alive(pid));
    let again = driver.run(&leaving("exit 0"));
    assert_eq!(again["not_killed"], reply["not_killed"]);
    driver.hang_up();
    assert!(!is_alive(pid));
}

#[test]
fn where_orphans_are_not_handed_over_all_is_killed_that_stays_in_the_session() {
    let mut driver = Driver::without_orphans();
    let scratch = Scratch::new();
    let path = scratch.text("pids");
    let script = format!(
        "import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setpgid(0, 0)
    if os.fork() == 0:
        open('{path}', 'w').write(f'{{os.getpid()}}\\n')
        os.write(w, b'x')
        time.sleep(1000)
    os._exit(0)
os.wait()
os.read(r, 1)
{{}}"
    );
    let reply = driver.run(&python(&script.replace("{}", "")));
    assert_eq!(reply["exit_code"], 0);
    assert_eq!(left_behind(&reply), ["python3"]);
    assert!(!is_alive(pids_in(&scratch.path("pids"), 1)[0]));
    assert_eq!(left_behind(&driver.run(&sh("exit 0"))), [""; 0]);

    // The orphan also ends with the driver (`None`) or the server.
    for signal in [None, Some(libc::SIGKILL)] {
        let mut driver = Driver::without_orphans();
        std::fs::remove_file(scratch.path("pids")).expect("it is there");
        driver.send(&python(&script.replace("{}", "time.sleep(1000)")));
        let pid = pids_in(&scratch.path("pids"), 1)[0];
        if let Some(signal) = signal {
            let server = i32::try_from(driver.serving()).expect("a pid");
            // SAFETY: kill takes numbers only; the server is not yet reaped.
            unsafe { libc::kill(server, signal) };
            driver.wait_for_exit();
        } else {
            driver.hang_up();
        }
        assert!(!is_alive(pid));
    }
}

#[test]
fn a_daemon_is_killed_and_named() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("pids");
    let script = format!(
        "import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('/proc/self/comm', 'w').write('my daemon')
        open('{path}', 'w').write(f'{{os.getpid()}}\\n')
        os.write(w, b'x')
        time.sleep(1000)
    os._exit(0)
os.wait()
os.read(r, 1)"
    );
    let reply = driver.run(&python(&script));
    assert_eq!(reply["exit_code"], 0);
    assert_eq!(left_behind(&reply), ["my daemon"]);
    assert!(!is_alive(pids_in(&scratch.path("pids"), 1)[0]));
}

#[test]
fn a_family_outside_the_group_is_killed_to_the_last() {
    let mut driver = Driver::start();
    // Each is killed only once its parent is dead and it has become a child of the server.
    let script = "import os, time
r, w = os.pipe()
for depth in range(5):
    if os.fork() != 0:
        if depth == 0: os.read(r, 1); os._exit(0)
        time.sleep(1000)
    os.setsid()
os.write(w, b'x')
time.sleep(1000)";
    let reply = driver.run(&python(script));
    assert_eq!(left_behind(&reply), ["python3"; 5]);
}

#[test]
fn children_that_have_ended_are_not_left_behind() {
    let mut driver = Driver::start();
    // A child that is never waited for, and an orphan that ends just as soon.
    let script = "import os, time
if os.fork() == 0:
    if os.fork() == 0: os._exit(0)
    os._exit(0)
time.sleep(0.1)";
    assert_eq!(left_behind(&driver.run(&python(script))), [""; 0]);
    // Nor are they if the target itself is killed.
    let late = python(&format!("{script}\ntime.sleep(1000)"));
    let reply = driver.run(&with(late, "timeout_ns", json!(400_000_000)));
    assert_eq!(reply["timed_out"], true);
    assert_eq!(left_behind(&reply), [""; 0]);
}

#[test]
fn a_pipe_held_open_is_not_waited_for() {
    let mut driver = Driver::start();
    let reply = driver.run(&sh("(trap '' TERM; sleep 1000) & echo done"));
    assert_eq!(reply["stdout"], "done\n");
    // Nor is one that is written to forever, or one that was closed long before the end.
    let reply = driver.run(&sh("yes & exit 9"));
    assert_eq!(reply["exit_code"], 9);
    let reply = driver.run(&sh("exec >&- 2>&-; sleep 0.1; exit 10"));
    assert_eq!(reply["exit_code"], 10);
}

#[test]
fn a_stopped_server_harms_nothing() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("pids");
    driver.send(&sh(&format!("echo $$ > {path}; sleep 0.2; exit 11")));
    let target = pids_in(&scratch.path("pids"), 1)[0];
    let server = i32::try_from(driver.serving()).expect("a pid");
    // SAFETY: kill takes numbers only; the server is not yet reaped.
    unsafe { libc::kill(server, libc::SIGSTOP) };
    wait_until("the target has ended", || !is_alive(target));
    assert_eq!(driver.receive()["exit_code"], 11);
}

#[test]
fn nothing_outlives_a_killed_server() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    driver.send(&lingering(&scratch));
    let pids = pids_in(&scratch.path("pids"), 2);
    let server = i32::try_from(driver.serving()).expect("a pid");
    // SAFETY: kill takes numbers only; the server is not yet reaped.
    unsafe { libc::kill(server, libc::SIGKILL) };
    assert_eq!(driver.wait_for_exit().code(), Some(128 + libc::SIGKILL));
    assert!(!pids.into_iter().any(is_alive));
}

#[test]
fn the_server_ends_with_its_guard() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    driver.send(&lingering(&scratch));
    let mut pids = pids_in(&scratch.path("pids"), 2);
    pids.push(driver.serving());
    driver.server.kill().expect("our child");
    wait_until("all of it has ended", || {
        !pids.iter().any(|&pid| is_alive(pid))
    });
}

#[test]
fn a_target_that_stops_itself_is_noticed_and_killed() {
    let ways = [
        (Driver::start(), "STOP", libc::SIGSTOP),
        (Driver::without_pidfd(), "TTIN", libc::SIGTTIN),
    ];
    for (mut driver, word, signal) in ways {
        let reply = driver.run(&sh(&format!("kill -{word} $$; exit 3")));
        assert_eq!(
            (&reply["stopped"], &reply["signal"], &reply["timed_out"]),
            (&json!(signal), &json!(libc::SIGKILL), &json!(false))
        );
        assert_eq!(driver.run(&sh("exit 6"))["exit_code"], 6);
    }
}

#[test]
fn a_target_that_goes_on_after_a_stop_is_left_alone() {
    let mut driver = Driver::start();
    let script = "(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; exit 5";
    for _ in 0..2 {
        let reply = driver.run(&sh(script));
        assert_eq!(
            (&reply["stopped"], &reply["exit_code"]),
            (&Value::Null, &json!(5))
        );
    }
}

#[test]
fn the_target_ends_with_guard_and_server() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.text("pids");
    driver.send(&sh(&format!("echo $$ > {path}; exec sleep 1000")));
    let target = pids_in(&scratch.path("pids"), 1)[0];
    let serving = i32::try_from(driver.serving()).expect("a pid");
    let guard = i32::try_from(driver.server.id()).expect("a pid");
    // SAFETY: kill takes numbers only; neither is reaped yet. The guard is stopped first so that it cannot clean up.
    unsafe {
        libc::kill(guard, libc::SIGSTOP);
        libc::kill(serving, libc::SIGKILL);
        libc::kill(guard, libc::SIGKILL);
    }
    wait_until("the target has ended", || !is_alive(target));
}

/// A driver of a server that is not root, and the start of a shell command that runs whatever command follows it as
/// root; `None` where that is impossible.
fn with_another_s_rights(scratch: &Scratch) -> Option<(Driver, String)> {
    use std::os::unix::fs::PermissionsExt;
    let program = scratch.path("as-root");
    // SAFETY: geteuid takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root || std::fs::copy("/usr/bin/setpriv", &program).is_err() {
        eprintln!("not tested: it takes root, and setpriv");
        return None;
    }
    let folder = program.parent().expect("a folder");
    for (path, mode) in [(folder, 0o755), (program.as_path(), 0o4755)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("ours");
    }
    let command = format!("{} --reuid=0", scratch.text("as-root"));
    let mut driver = Driver::of_another_user(65_534);
    let ran = driver.ask(&sh(&format!("{command} true")));
    // On a file system that ignores the set-user-ID bit, the program is not allowed to become root.
    (ran["exit_code"] == 0).then_some((driver, command))
}

#[test]
fn what_cannot_be_killed_is_said_to_go_on() {
    let scratch = Scratch::new();
    let Some((mut driver, command)) = with_another_s_rights(&scratch) else {
        return;
    };
    // First a target that runs too long, then a process that a target leaves behind.
    let late = sh(&format!("exec {command} sleep 3"));
    let late = with(late, "timeout_ns", json!(SOON));
    assert_eq!(driver.fail(&late), ("kill".into(), json!(libc::EPERM)));
    let reply = driver.run(&sh(&format!("{command} sleep 3 & sleep 0.3; exit 4")));
    assert_eq!(reply["exit_code"], 4);
    assert_eq!(left_behind(&reply), [""; 0]);
    let surviving = reply["not_killed"].as_array().expect("a list");
    assert_eq!(surviving.len(), 1, "{reply}");
    assert!(surviving[0].as_str().expect("a name").ends_with(" sleep"));
    // A survivor is reported only once.
    let reply = driver.run(&sh("exit 5"));
    assert_eq!(
        (
            &reply["exit_code"],
            &reply["not_killed"],
            &reply["left_behind"]
        ),
        (&json!(5), &json!([]), &json!([]))
    );
}
