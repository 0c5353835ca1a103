//! A driver for tests: starts the built server and speaks its protocol.
#![allow(dead_code, missing_docs)] // Each test file uses its own part of this.

use serde_json::{json, Value};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Far longer than anything here takes; a hang becomes a failure instead.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Driver {
    pub server: Child,
    pub hello: Value,
    writer: Option<UnixStream>,
    reader: BufReader<UnixStream>,
}

impl Driver {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    pub fn without_pidfd() -> Self {
        Self::start_with(&[("STEELYARD_LAUNCH_NO_PIDFD", "1")])
    }

    pub fn of_another_user(user: u32) -> Self {
        Self::started_by(Command::new(env!("CARGO_BIN_EXE_steelyard-launch")).uid(user))
    }

    /// A server that starts with a soft limit of `most` open files, which it may raise.
    pub fn with_files(most: u32) -> Self {
        let script = format!("ulimit -Sn {most} && exec \"$0\"");
        let server = env!("CARGO_BIN_EXE_steelyard-launch");
        Self::started_by(Command::new("/bin/sh").args(["-c", &script, server]))
    }

    /// A server that cannot adopt orphans, as under a seccomp filter or an emulator.
    pub fn without_orphans() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_steelyard-launch"));
        // SAFETY: only makes two system calls between fork and execution.
        unsafe { command.pre_exec(refuse_subreaper) };
        Self::started_by(&mut command)
    }

    fn start_with(env: &[(&str, &str)]) -> Self {
        Self::started_by(
            Command::new(env!("CARGO_BIN_EXE_steelyard-launch")).envs(env.iter().copied()),
        )
    }

    fn started_by(command: &mut Command) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        ours.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let server = command
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()
            .expect("the server starts");
        let writer = Some(ours.try_clone().expect("a second handle"));
        let mut driver = Self {
            server,
            hello: Value::Null,
            writer,
            reader: BufReader::new(ours),
        };
        driver.hello = driver.receive();
        driver
    }

    pub fn send_line(&mut self, line: &str) {
        let writer = self.writer.as_mut().expect("not hung up yet");
        writer.write_all(line.as_bytes()).expect("the server reads");
        writer.write_all(b"\n").expect("the server reads");
    }

    pub fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line in time");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line:?}"))
    }

    pub fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        self.receive()
    }

    /// Sends a request that must succeed; returns the report.
    pub fn run(&mut self, message: &Value) -> Value {
        let reply = self.ask(message);
        assert!(reply.get("error").is_none(), "{reply}");
        reply
    }

    /// Sends a request that must fail; returns the stage and errno of the error.
    pub fn fail(&mut self, message: &Value) -> (String, Value) {
        let reply = self.ask(message);
        let error = &reply["error"];
        assert!(error["message"].is_string(), "{reply}");
        let stage = error["stage"].as_str().expect("a stage").to_string();
        (stage, error["errno"].clone())
    }

    /// Closes the socket and waits for the server to end.
    pub fn hang_up(mut self) -> ExitStatus {
        let writer = self.writer.take().expect("not hung up yet");
        writer
            .shutdown(std::net::Shutdown::Both)
            .expect("a shutdown");
        self.wait_for_exit()
    }

    pub fn wait_for_exit(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("the server ends", || {
            status = self.server.try_wait().expect("our child");
            status.is_some()
        });
        status.expect("it ended")
    }

    /// The PID of the process that serves, which is the child of its guard.
    pub fn serving(&self) -> u32 {
        let guard = self.server.id();
        let children = format!("/proc/{guard}/task/{guard}/children");
        let children = fs::read_to_string(children).expect("it runs");
        children.trim().parse().expect("one child")
    }

    pub fn peak_kib(&self) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.serving())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|text| text.parse().ok()).expect("a number")
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A request that keeps standard output; `extra` replaces fields.
pub fn request(argv: &[&str], extra: &Value) -> Value {
    let mut request = json!({
        "program": argv[0], "argv": argv, "env": ["PATH=/usr/bin:/bin"], "cwd": null,
        "stdin": null, "stdout": {"tail": 4096}, "stderr": {"tail": 4096},
        "timeout_ns": null, "cpus": null,
    });
    for (name, value) in extra.as_object().expect("an object") {
        request[name] = value.clone();
    }
    request
}

pub fn sh(script: &str) -> Value {
    request(&["/bin/sh", "-c", script], &json!({}))
}

pub fn python(script: &str) -> Value {
    request(&["/usr/bin/python3", "-c", script], &json!({}))
}

pub fn with(mut request: Value, name: &str, value: Value) -> Value {
    request[name] = value;
    request
}

/// A directory that goes away with the test.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("steelyard-launch-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a directory");
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("plain names").to_string()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a target to write whitespace-separated numbers and a line feed to `path`.
pub fn pids_in(path: &Path, count: usize) -> Vec<u32> {
    let mut pids = Vec::new();
    wait_until("the target has written its numbers", || {
        let text = fs::read_to_string(path).unwrap_or_default();
        pids = text.split_whitespace().flat_map(str::parse).collect();
        text.ends_with('\n') && pids.len() >= count
    });
    pids
}

/// Whether the process exists and is not a zombie.
pub fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("Z").starts_with('Z'))
}

pub fn number(reply: &Value, name: &str) -> u64 {
    reply[name]
        .as_u64()
        .unwrap_or_else(|| panic!("no {name} in {reply}"))
}

/// The names in `left_behind`, without the PIDs.
pub fn left_behind(reply: &Value) -> Vec<String> {
    let entries = reply["left_behind"].as_array().expect("a list");
    entries
        .iter()
        .map(|entry| entry.as_str().expect("a string"))
        .map(|entry| entry.split_once(' ').expect("pid name").1.to_string())
        .collect()
}

/// Makes `PR_SET_CHILD_SUBREAPER` fail with EINVAL in this process and its descendants.
fn refuse_subreaper() -> io::Result<()> {
    const ALLOW: u32 = 0x7fff_0000;
    const REFUSE: u32 = 0x0005_0000;
    let word = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset, 0);
    let is = |value, otherwise| {
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            value,
            otherwise,
        )
    };
    let end = |answer| step(libc::BPF_RET | libc::BPF_K, answer, 0);
    // The offset of the lower half of the first argument, which follows the call's number (at 0), architecture and
    // instruction pointer.
    let argument = if cfg!(target_endian = "big") { 20 } else { 16 };
    let mut filter = [
        word(0),
        is(libc::SYS_prctl as u32, 3),
        word(argument),
        is(libc::PR_SET_CHILD_SUBREAPER as u32, 1),
        end(REFUSE | libc::EINVAL as u32),
        end(ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and its filter outlive the calls, which copy them.
    let refused = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1
            || libc::prctl(libc::PR_SET_SECCOMP, 2, &program) == -1
    };
    if refused {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// One instruction of the filter; if a comparison is false, it skips the next `otherwise` instructions.
fn step(code: u32, value: u32, otherwise: u8) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: otherwise,
        k: value,
    }
}
