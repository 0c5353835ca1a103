//! What a target finds when it starts, and what is reported about its end.

mod common;

use common::{number, python, request, sh, with, Driver, Scratch};
use serde_json::{json, Value};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn the_server_says_hello() {
    let driver = Driver::start();
    assert_eq!(driver.hello["hello"], "steelyard-launch");
    assert_eq!(driver.hello["version"], env!("CARGO_PKG_VERSION"));
    for feature in ["pidfd", "schedstat", "pressure", "steal", "addresses"] {
        assert!(driver.hello[feature].is_boolean(), "{feature}");
    }
    assert_eq!(driver.hello["orphans"], true);
    assert_eq!(Driver::without_orphans().hello["orphans"], false);
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let mut driver = Driver::start();
    let reply = driver.run(&sh("exit 37"));
    assert_eq!(
        (&reply["exit_code"], &reply["signal"]),
        (&json!(37), &Value::Null)
    );
    let reply = driver.run(&sh("kill -TERM $$"));
    assert_eq!(
        (&reply["exit_code"], &reply["signal"]),
        (&Value::Null, &json!(15))
    );
    assert_eq!(reply["left_behind"], json!([]));
    assert_eq!(reply["timed_out"], json!(false));
    assert_eq!(reply["cancelled"], json!(false));
}

#[test]
fn bytes_arrive_exactly() {
    let mut driver = Driver::start();
    let script = "import os, sys
print([list(os.fsencode(arg)) for arg in sys.argv[1:]], list(os.environb[b'A']))
print(list(open('/proc/self/environ', 'rb').read()))";
    let all: String = (1..=255).map(char::from).collect();
    let argv = ["/usr/bin/python3", "-c", script, "", &all, "\u{fc} \n"];
    let env = json!(["A=\u{ff}\u{1}", "B=", "LC_ALL=C"]);
    let reply = driver.run(&request(&argv, &json!({ "env": env })));
    let every: Vec<u8> = (1..=255).collect();
    let expected = format!(
        "[[], {every:?}, [252, 32, 10]] [255, 1]\n{:?}\n",
        b"A=\xff\x01\0B=\0LC_ALL=C\0"
    );
    assert_eq!(reply["stderr"], "");
    assert_eq!(reply["stdout"], expected);
}

#[test]
fn argv_zero_need_not_be_the_program() {
    let mut driver = Driver::start();
    let ask = request(
        &["another name", "-c", "echo \"$0\"; cat /proc/$$/cmdline"],
        &json!({"program": "/bin/sh"}),
    );
    let reply = driver.run(&ask);
    let text = reply["stdout"].as_str().expect("captured");
    assert!(text.contains("another name\u{0}-c\u{0}"), "{text:?}");
}

#[test]
fn large_arguments_pass() {
    let mut driver = Driver::start();
    let piece = "x".repeat(100_000);
    let mut argv = vec!["/bin/sh", "-c", "echo $#", "sh"];
    argv.extend([piece.as_str(); 15]);
    assert_eq!(driver.run(&request(&argv, &json!({})))["stdout"], "15\n");
    // Nor do they show in the memory of the targets that follow.
    let reply = driver.run(&request(&["/bin/true"], &json!({})));
    assert!(number(&reply, "max_rss_bytes") < 6 << 20, "{reply}");
}

#[test]
fn the_directory_is_the_one_asked_for() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let path = scratch.path("d");
    fs::create_dir(&path).expect("a directory");
    let by_default = driver.run(&sh("pwd -P"))["stdout"].clone();
    let reply = driver.run(&with(sh("pwd -P"), "cwd", json!(path)));
    let expected = format!("{}\n", path.canonicalize().expect("it exists").display());
    assert_eq!(reply["stdout"], expected);
    // The next target starts in the usual directory again, even after one that could not be started.
    assert_eq!(driver.run(&sh("pwd -P"))["stdout"], by_default);
    driver.fail(&with(
        request(&["/nonexistent"], &json!({})),
        "cwd",
        json!(path),
    ));
    assert_eq!(driver.run(&sh("pwd -P"))["stdout"], by_default);
}

#[test]
fn standard_input_is_the_file_or_nothing() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    fs::write(scratch.path("in"), "some input").expect("a file");
    let ask = with(sh("cat"), "stdin", json!(scratch.path("in")));
    assert_eq!(driver.run(&ask)["stdout"], "some input");
    assert_eq!(
        driver.run(&sh("readlink /proc/self/fd/0"))["stdout"],
        "/dev/null\n"
    );
}

#[test]
fn standard_output_is_dropped_where_no_program_does_less_for_it() {
    let script = python("import os; os.write(2, os.readlink(b'/proc/self/fd/1'))");
    let ask = with(script, "stdout", Value::Null);
    assert_eq!(Driver::start().run(&ask)["stderr"], "/dev/zero");
}

#[test]
fn only_the_three_streams_are_handed_down() {
    let mut driver = Driver::start();
    let reply = driver.run(&python("import os; print(sorted(os.listdir('/dev/fd')))"));
    // 3 is the directory being listed.
    assert_eq!(reply["stdout"], "['0', '1', '2', '3']\n");
}

#[test]
fn results_have_a_descriptor_of_their_own() {
    let mut driver = Driver::start();
    let script = "echo out; echo err >&2; echo one >&3; ls /proc/self/fd >&3";
    let reply = driver.run(&with(sh(script), "results", json!(4096)));
    assert_eq!(reply["stdout"], "out\n");
    assert_eq!(reply["stderr"], "err\n");
    // 4 is the directory that ls is listing.
    assert_eq!(reply["results"], "one\n0\n1\n2\n3\n4\n");
    assert_eq!(reply["results_bytes"], 14);
    let reply = driver.run(&sh("echo one >&3"));
    assert_eq!(reply["results"], json!(null));
    assert_ne!(reply["exit_code"], 0);
}

#[test]
fn of_too_many_results_the_last_are_kept_and_all_counted() {
    let mut driver = Driver::start();
    let script = "import os\nfor _ in range(1000): os.write(3, b'x' * 1000)\nos.write(3, b'end')";
    let reply = driver.run(&with(python(script), "results", json!(5)));
    assert_eq!(reply["results"], "xxend");
    assert_eq!(reply["results_bytes"], 1_000_003);
}

#[test]
fn output_goes_nowhere_to_a_file_or_into_a_tail() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let script = sh("echo out; echo err >&2");
    let reply = driver.run(&with(script.clone(), "stdout", Value::Null));
    assert_eq!(
        (&reply["stdout"], &reply["stdout_bytes"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(
        (&reply["stderr"], &reply["stderr_bytes"]),
        (&json!("err\n"), &json!(4))
    );

    fs::write(scratch.path("out"), "older and longer").expect("a file");
    let file = json!({"file": scratch.path("out")});
    let ask = with(script, "stdout", file.clone());
    driver.run(&ask);
    assert_eq!(
        fs::read_to_string(scratch.path("out")).expect("a file"),
        "out\n"
    );
    driver.run(&with(ask, "stderr", file));
    assert_eq!(
        fs::read_to_string(scratch.path("out")).expect("a file"),
        "out\nerr\n"
    );
}

#[test]
fn a_flood_of_output_leaves_its_end_in_flat_memory() {
    let mut driver = Driver::start();
    let before = driver.peak_kib();
    let script = "import os
for _ in range(200): os.write(1, b'x' * 1000000)
os.write(1, b'the end')";
    let reply = driver.run(&with(python(script), "stdout", json!({"tail": 10})));
    assert_eq!(reply["stdout"], "xxxthe end");
    assert_eq!(number(&reply, "stdout_bytes"), 200_000_007);
    assert!(driver.peak_kib() < before + 4096, "{before}");
}

#[test]
fn signals_are_default_and_unblocked_and_the_group_is_its_own() {
    let mut driver = Driver::start();
    let reply = driver.run(&request(&["/bin/cat", "/proc/self/status"], &json!({})));
    let text = reply["stdout"].as_str().expect("captured");
    for field in ["SigBlk", "SigIgn", "SigCgt"] {
        assert!(
            text.contains(&format!("{field}:\t0000000000000000")),
            "{text}"
        );
    }
    let reply = driver.run(&sh("kill -PIPE $$"));
    assert_eq!(reply["signal"], 13);
    let reply = driver.run(&python("import os; print(os.getpgrp() == os.getpid())"));
    assert_eq!(reply["stdout"], "True\n");
}

#[test]
fn what_cannot_be_executed_is_named() {
    let mut driver = Driver::start();
    let scratch = Scratch::new();
    let script = |name: &str, text: &str, mode| {
        fs::write(scratch.path(name), text).expect("a file");
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(scratch.path(name), permissions).expect("our file");
        request(&[&scratch.text(name)], &json!({}))
    };
    let spawn = |errno| (String::from("spawn"), json!(errno));
    let missing = request(&["/nonexistent/program"], &json!({}));
    assert_eq!(driver.fail(&missing), spawn(libc::ENOENT));
    let plain = script("plain", "#!/bin/sh\n", 0o644);
    assert_eq!(driver.fail(&plain), spawn(libc::EACCES));
    let garbage = script("garbage", "\u{1}\u{2}", 0o755);
    assert_eq!(driver.fail(&garbage), spawn(libc::ENOEXEC));
    let orphan = script("orphan", "#!/nonexistent/interpreter\n", 0o755);
    let reply = driver.ask(&orphan);
    assert_eq!(reply["error"]["errno"], libc::ENOENT);
    let message = reply["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains("does not: /nonexistent/interpreter)"),
        "{message}"
    );
    let reply = driver.ask(&script("windows", "#!/bin/sh\r\n", 0o755));
    let message = reply["error"]["message"].as_str().expect("a message");
    assert!(message.contains("ends in CR LF: sed -i"), "{message}");
    // The server is none the worse.
    assert_eq!(driver.run(&sh("exit 3"))["exit_code"], 3);
}

#[test]
fn what_cannot_be_opened_is_named() {
    let mut driver = Driver::start();
    let missing = "/nonexistent/file";
    let fail = |driver: &mut Driver, name: &str, value: Value| {
        driver.fail(&with(sh("exit 0"), name, value))
    };
    let expect = |stage: &str, errno| (stage.to_string(), json!(errno));
    assert_eq!(
        fail(&mut driver, "stdin", json!(missing)),
        expect("stdin", libc::ENOENT)
    );
    assert_eq!(
        fail(&mut driver, "stdout", json!({"file": missing})),
        expect("stdout", libc::ENOENT)
    );
    assert_eq!(
        fail(&mut driver, "stderr", json!({"file": "/"})),
        expect("stderr", libc::EISDIR)
    );
    assert_eq!(
        fail(&mut driver, "cwd", json!(missing)),
        expect("cwd", libc::ENOENT)
    );
    assert_eq!(
        fail(&mut driver, "cwd", json!("/bin/sh")),
        expect("cwd", libc::ENOTDIR)
    );
}

#[test]
fn the_layout_is_fixed_only_when_asked_for() {
    const NO_RANDOMIZE: i64 = 0x004_0000;
    let mut driver = Driver::start();
    let personality = request(&["/bin/cat", "/proc/self/personality"], &json!({}));
    let mut is_fixed = |asked: Value| {
        let reply = driver.run(&with(personality.clone(), "fixed_layout", asked));
        let text = reply["stdout"].as_str().expect("captured").trim();
        // Some systems let nobody read this file.
        let bits = i64::from_str_radix(text, 16).ok()?;
        Some(bits & NO_RANDOMIZE != 0)
    };
    if is_fixed(json!(true)) == Some(true) {
        // The server is back to random addresses after each of these.
        assert_eq!(is_fixed(json!(false)), Some(false));
    }
}

#[test]
fn a_pipe_without_another_end_is_not_waited_for() {
    let (mut driver, scratch) = (Driver::start(), Scratch::new());
    let pipe = scratch.text("pipe");
    driver.run(&sh(&format!("mkfifo {pipe}")));
    let to_it = with(sh("echo"), "stdout", json!({ "file": pipe }));
    assert_eq!(driver.fail(&to_it), ("stdout".into(), json!(libc::ENXIO)));
    let from_it = with(sh("cat; echo end"), "stdin", json!(pipe));
    assert_eq!(driver.run(&from_it)["stdout"], "end\n");
    // Files are opened non-blocking, but the target finds them blocking.
    let file = scratch.text("file");
    let script = "import os; os.write(1, repr([os.get_blocking(fd) for fd in range(3)]).encode())";
    driver.run(&with(python(script), "stdout", json!({ "file": file })));
    let found = fs::read_to_string(file).expect("written");
    assert_eq!(found, "[True, True, True]");
}

#[test]
fn a_low_limit_on_open_files_is_the_targets_and_not_the_servers() {
    let (mut usual, mut limited) = (Driver::start(), Driver::with_files(10));
    for one in ["pid", "hello", "version"] {
        usual.hello[one] = Value::Null;
        limited.hello[one] = Value::Null;
    }
    assert_eq!(limited.hello, usual.hello);
    let show = sh("ulimit -Sn; ulimit -Hn");
    let most = usual.run(&sh("ulimit -Hn"))["stdout"].clone();
    let expected = json!(format!("10\n{}", most.as_str().expect("captured")));
    assert_eq!(limited.run(&show)["stdout"], expected);
    let both = json!({"together": {"first": show, "second": show, "second_begins": false}});
    assert_eq!(limited.ask(&both)[1]["stdout"], expected);
}

#[test]
fn what_is_mapped_lies_where_the_request_has_it() {
    let mut driver = Driver::start();
    if driver.hello["addresses"] == json!(false) {
        return; // such as under a seccomp filter: the addresses stay random
    }
    let show = request(
        &[
            "/bin/sh",
            "-c",
            "grep -m1 libc /proc/self/maps; ulimit -S -s",
        ],
        &json!({}),
    );
    let mut shown = |pages: Value| {
        let reply = driver.run(&with(show.clone(), "mapping_pages", pages));
        reply["stdout"].as_str().expect("captured").to_owned()
    };
    let (plain, low) = (shown(Value::Null), shown(json!(60_000)));
    assert_eq!(low, shown(json!(60_000)));
    assert_ne!(low, shown(json!(0)));
    // The server has its own stack limit and random addresses again.
    let again = shown(Value::Null);
    assert_eq!(again.lines().last(), plain.lines().last());
    assert_ne!(again, plain);
    // A fixed layout is the same whatever `mapping_pages` says.
    let fixed = with(show.clone(), "fixed_layout", json!(true));
    let both = with(fixed.clone(), "mapping_pages", json!(60_000));
    assert_eq!(driver.run(&both)["stdout"], driver.run(&fixed)["stdout"]);
}

#[test]
fn malformed_requests_are_refused_and_the_next_one_served() {
    let mut driver = Driver::start();
    let good = sh("exit 5");
    let bad = [
        String::from("not JSON"),
        String::new(),
        String::from("{}"),
        String::from("{\"cancel\":false}"),
        "[".repeat(100_000),
        with(good.clone(), "argv", json!([])).to_string(),
        with(good.clone(), "argv", json!(["a\u{0}b"])).to_string(),
        with(good.clone(), "program", json!("\u{100}")).to_string(),
        with(good.clone(), "timeout_ns", json!(-1)).to_string(),
        with(good.clone(), "cpus", json!([-1])).to_string(),
        with(good.clone(), "mapping_pages", json!(65536)).to_string(),
        with(good.clone(), "stdout", json!({"tail": 1_u64 << 60})).to_string(),
        with(good.clone(), "results", json!(1_u64 << 60)).to_string(),
        with(good.clone(), "misspelt", Value::Null).to_string(),
    ];
    for line in bad {
        driver.send_line(&line);
        let reply = driver.receive();
        assert_eq!(reply["error"]["stage"], "request", "{reply}");
        assert_eq!(reply["error"]["errno"], Value::Null);
    }
    assert_eq!(driver.run(&good)["exit_code"], 5);
}

#[test]
fn the_cpus_are_the_ones_asked_for() {
    let mut driver = Driver::start();
    let script = "import os; print(sorted(os.sched_getaffinity(0)))";
    let free = driver.run(&python(script))["stdout"].clone();
    let cpus: Vec<u16> = serde_json::from_value(
        serde_json::from_str(free.as_str().expect("captured")).expect("a list"),
    )
    .expect("numbers");
    let last = cpus.last().expect("a CPU");
    let reply = driver.run(&with(python(script), "cpus", json!([last])));
    assert_eq!(reply["stdout"], format!("[{last}]\n"));
    let expected = (String::from("affinity"), json!(libc::EINVAL));
    for refused in [json!([9999]), json!([last, 9999]), json!([])] {
        let ask = with(sh("exit 0"), "cpus", refused);
        assert_eq!(driver.fail(&ask), expected);
    }
    // The server is back on all its CPUs after each of these.
    assert_eq!(driver.run(&python(script))["stdout"], free);
}
