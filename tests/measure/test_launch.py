"""The launcher against the real server and real processes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchmarks.load import busy

from steelyard.measure.launch import Launcher
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.measure.launching import BUSY, PATIENCE_NS, SLEEPER, alarm, program, sh


def printed(launcher: Launcher, script: bytes, *arguments: bytes, **changes: Any) -> bytes:
    measured = launcher.launch(sh(script, *arguments, stdout=1 << 20, **changes))
    assert measured.exit_code == 0, measured
    assert measured.stdout is not None
    return measured.stdout


_IN_ANOTHER_NAMESPACE = """
from steelyard.measure.launch import Launcher
from tests.measure.launching import sh

with Launcher() as launcher:
    measured = launcher.launch(sh(b"sleep 600 & echo $!", stdout=100))
print(launcher.offers["schedstat"], measured.cpu_ns, [*measured.left_behind] == [f"{int(measured.stdout)} ?"])
"""


@pytest.mark.real
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces everywhere")
def test_another_namespace_s_proc_is_not_asked_for_our_processes() -> None:
    words = ["unshare", "--pid", "--fork", sys.executable, "-c", _IN_ANOTHER_NAMESPACE]
    told = subprocess.run(words, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2])
    if "unshare:" in told.stderr:
        pytest.skip(told.stderr)
    assert told.stdout.split() == ["False", "None", "True"], told


# --- how it ended


@pytest.mark.parametrize("code", [0, 1, 127, 255])
def test_an_exit_code_is_returned(launcher: Launcher, code: int) -> None:
    measured = launcher.launch(sh(b"exit %d" % code))
    assert (measured.exit_code, measured.signal, measured.timed_out, measured.cancelled) == (code, None, False, False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGPIPE])
def test_a_signal_is_returned(launcher: Launcher, number: signal.Signals) -> None:
    measured = launcher.launch(sh(b"kill -%d $$" % number))
    assert (measured.exit_code, measured.signal) == (None, number)


def test_what_never_ends_is_killed_when_its_time_is_over(launcher: Launcher) -> None:
    measured = launcher.launch(sh(b"echo waiting >&2; exec sleep 600", timeout_ns=200_000_000))
    assert measured.timed_out
    assert measured.signal == signal.SIGKILL
    assert measured.wall_ns >= 200_000_000
    assert measured.stderr == b"waiting\n"


def test_whoever_waits_is_told_beside_the_one_who_asked(launcher: Launcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the clock of a weighing would take a long `--prepare` before Ctrl-Z for time that it was stopped."""
    always, once = list[float](), list[float]()
    monkeypatch.setattr(launcher, "waiting", always.append)
    launcher.launch(sh(b"exec sleep 0.7"), once.append)
    assert always == once
    assert once


def test_what_a_launch_leaves_behind_is_killed_and_named(launcher: Launcher) -> None:
    measured = launcher.launch(sh(b"sleep 600 & echo $!", stdout=100))
    assert measured.stdout is not None
    pid = int(measured.stdout)
    assert [name.partition(" ")[0] for name in measured.left_behind] == [str(pid)]
    assert not psutil.pid_exists(pid)


# --- what it finds

AWKWARD = (b"", b"two words", b"'\"\\$x\n", bytes(range(1, 256)), "ünï".encode())


def test_arguments_arrive_exactly(launcher: Launcher) -> None:
    arrived = printed(launcher, b"cat /proc/$$/cmdline", *AWKWARD).split(b"\0")[:-1]
    assert arrived == [b"sh", b"-c", b"cat /proc/$$/cmdline", b"sh", *AWKWARD]


def test_the_environment_is_exactly_the_one_given(launcher: Launcher) -> None:
    env = (b"B=2", b"A=", b"NAME=" + bytes(range(1, 256)), b"A=twice")
    spec = LaunchSpec(program=b"/bin/cat", argv=(b"cat", b"/proc/self/environ"), env=env, stdout=4096)
    assert launcher.launch(spec).stdout == b"".join(entry + b"\0" for entry in env)


def test_the_directory_is_the_one_given(launcher: Launcher, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    Path(os.fsdecode(folder)).mkdir()
    assert printed(launcher, b"pwd -P", cwd=folder) == folder + b"\n"


def test_the_input_is_the_file_given_or_empty(launcher: Launcher, tmp_path: Path) -> None:
    file = tmp_path / "input"
    file.write_bytes(b"\0some\xff\n")
    assert printed(launcher, b"cat", stdin=os.fsencode(file)) == b"\0some\xff\n"
    assert printed(launcher, b"cat") == b""


def test_the_processor_is_the_one_given(launcher: Launcher) -> None:
    for cpu in sorted(os.sched_getaffinity(0)):
        allowed = printed(launcher, b"grep Cpus_allowed_list /proc/self/status", cpus=(cpu,))
        assert allowed.split()[-1] == b"%d" % cpu


def test_addresses_are_random_unless_they_are_to_be_fixed(launcher: Launcher) -> None:
    def layout(*, fixed_layout: bool) -> list[bytes]:
        spec = program(b"/bin/cat", b"/proc/self/maps")
        shown = launcher.launch(replace(spec, stdout=1 << 16, fixed_layout=fixed_layout)).stdout
        assert shown
        return shown.splitlines()

    first, fixed, between = layout(fixed_layout=False), layout(fixed_layout=True), layout(fixed_layout=False)
    if first == between:
        pytest.skip("this system lays every process out at the same addresses")
    if fixed != layout(fixed_layout=True):
        pytest.skip("this system does not let addresses be fixed")
    assert fixed not in (first, between)


def test_launches_with_one_place_for_their_memory_find_it_there(launcher: Launcher) -> None:
    if not launcher.offers["addresses"]:
        pytest.skip("this system does not let addresses be chosen")

    def libraries(pages: int) -> list[bytes]:
        maps = printed(launcher, b"cat /proc/self/maps", mapping_pages=pages).splitlines()
        return [line for line in maps if b".so" in line]

    assert libraries(40_000) == libraries(40_000)
    assert libraries(40_000) != libraries(0)


def test_signals_are_as_after_a_login(launcher: Launcher) -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with Launcher() as fresh:
            status = printed(fresh, b"grep -E 'Sig(Blk|Ign)' /proc/self/status")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert [int(line.split()[1], 16) for line in status.splitlines()] == [0, 0]
    assert printed(launcher, b"yes | head -1") == b"y\n"


# --- what it prints


def test_output_goes_nowhere_to_a_file_or_is_kept_at_its_end(launcher: Launcher, tmp_path: Path) -> None:
    script = b"echo output; echo errors >&2"
    neither = launcher.launch(sh(script, stderr=None))
    assert (neither.stdout, neither.stderr) == (None, None)
    ends = launcher.launch(sh(script, stdout=4, stderr=100))
    assert (ends.stdout, ends.stderr) == (b"put\n", b"errors\n")
    file = tmp_path / "output"
    launcher.launch(sh(script, stdout=os.fsencode(file)))
    assert file.read_bytes() == b"output\n"


def test_the_last_words_are_kept_without_being_asked_for(launcher: Launcher) -> None:
    measured = launcher.launch(sh(b"head -c 100000 /dev/zero >&2; printf 'the end\\377' >&2; exit 1"))
    assert measured.stderr is not None
    assert len(measured.stderr) == 4096
    assert measured.stderr.endswith(b"\0the end\xff")


# --- what it measured


def nothing(launcher: Launcher) -> Measured:
    return launcher.launch(LaunchSpec(program=b"/bin/true", argv=(b"true",), env=()))


@pytest.fixture
def scheduled(launcher: Launcher) -> Launcher:
    if not launcher.offers["schedstat"]:
        pytest.skip("this machine has no /proc/PID/schedstat")
    return launcher


def test_what_the_machine_offers_is_told(launcher: Launcher) -> None:
    offers = {
        "pidfd",
        "orphans",
        "schedstat",
        "pressure",
        "steal",
        "switches",
        "addresses",
        "short_turns",
        "several_processors",
        "kernel_counters",
    }
    assert set(launcher.offers) == offers
    measured = nothing(launcher)
    assert (measured.cpu_ns is not None) == launcher.offers["schedstat"]
    assert (measured.pressure_ns is not None) == launcher.offers["pressure"]
    assert (measured.steal_ns is not None) == launcher.offers["steal"]


def test_times_lie_within_each_other(launcher: Launcher) -> None:
    before = time.monotonic_ns()
    measured = nothing(launcher)
    after = time.monotonic_ns()
    assert before < measured.start_ns < after
    assert 0 < measured.spawn_ns < measured.wall_ns < after - before


def test_one_busy_thread_is_all_processor_time_and_none_of_others(scheduled: Launcher) -> None:
    idle, busy = nothing(scheduled), scheduled.launch(sh(BUSY))
    assert busy.cpu_ns is not None
    assert busy.delay_ns is not None
    assert busy.others_ns is not None
    assert busy.cpu_ns > 10 * (idle.cpu_ns or 0)
    # All but work and waiting is the spawn and the way back, for which a third of the whole is generous.
    assert busy.wall_ns * 2 / 3 < busy.cpu_ns + busy.delay_ns <= busy.wall_ns
    assert busy.cpu_ns * 0.9 < busy.user_ns + busy.sys_ns < busy.cpu_ns * 1.1
    assert busy.others_ns < 0.1 * busy.cpu_ns


def test_the_work_of_children_is_that_of_others(scheduled: Launcher) -> None:
    measured = scheduled.launch(sh(b"(%s); true" % BUSY))
    assert measured.others_ns is not None
    assert measured.others_ns > 0.8 * (measured.user_ns + measured.sys_ns)


@pytest.mark.parametrize("script", [b"(%s) | cat", b"(%s) & wait"])
def test_what_a_pipeline_and_a_child_wait_is_lost_to_the_whole(scheduled: Launcher, script: bytes) -> None:
    if not scheduled.offers["switches"]:
        pytest.skip("following all threads takes root's rights")
    cpu = min(os.sched_getaffinity(0))
    with busy(1, cpu, apart=True):
        measured = scheduled.launch(sh(script % BUSY, cpus=(cpu,)))
    assert measured.lost_ns is not None
    ran_ns = measured.user_ns + measured.sys_ns
    assert measured.lost_ns > 0.5 * ran_ns
    assert 0.8 * ran_ns < measured.wall_ns - measured.lost_ns < 1.2 * ran_ns + 20e6


def test_what_is_written_to_files_is_told_of_children_too(launcher: Launcher, tmp_path: Path) -> None:
    kind = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True).stdout
    if kind.strip() == "tmpfs":
        pytest.skip("what is written in memory is not counted")
    written = b"echo something > %b/file" % os.fsencode(tmp_path)
    assert launcher.launch(sh(written)).written_blocks
    assert launcher.launch(sh(b"(%b); true" % written)).written_blocks
    assert launcher.launch(sh(b"echo something")).written_blocks == 0


def test_sleep_is_no_loss(launcher: Launcher) -> None:
    measured = launcher.launch(sh(b"sleep 0.1; sleep 0.1"))
    assert (measured.lost_ns is not None) == launcher.offers["switches"]
    assert measured.wall_ns - (measured.lost_ns or 0) > 200e6


@pytest.mark.real
def test_without_rights_nothing_is_said_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_LAUNCH_NO_SWITCHES", "1")
    with Launcher() as launcher:
        assert not launcher.offers["switches"]
        assert launcher.launch(sh(b"true")).lost_ns is None


def test_sleeping_is_neither_work_nor_waiting(scheduled: Launcher) -> None:
    measured = scheduled.launch(sh(b"exec sleep 0.3"))
    assert measured.cpu_ns is not None
    assert measured.wall_ns >= 300_000_000
    assert measured.cpu_ns < measured.wall_ns / 4
    assert measured.voluntary_switches > 0


@pytest.mark.real
def test_memory_is_that_of_the_launch_and_not_of_this_process() -> None:
    ballast = b"x" * (200 << 20)
    with Launcher() as launcher:
        assert nothing(launcher).max_rss_bytes < 50 << 20
        script = "x = b'x' * (100 << 20)"
        python = launcher.launch(
            LaunchSpec(program=os.fsencode(sys.executable), argv=(b"python", b"-c", script.encode()), env=())
        )
    assert python.exit_code == 0
    assert 100 << 20 < python.max_rss_bytes < 190 << 20
    del ballast


# --- several processes in one launch


def test_repeated_processes_are_one_launch(launcher: Launcher, tmp_path: Path) -> None:
    once = launcher.launch(sh(b"sleep 0.05; echo x >> log", cwd=os.fsencode(tmp_path)))
    thrice = launcher.launch(sh(b"sleep 0.05; echo x >> log", cwd=os.fsencode(tmp_path), repeat=3))
    assert (tmp_path / "log").read_text() == "x\n" * 4
    assert thrice.wall_ns >= 150_000_000
    assert thrice.minor_faults > 2 * once.minor_faults
    assert thrice.max_rss_bytes < 2 * once.max_rss_bytes
    assert thrice.exit_code == 0


def test_one_failure_among_repeated_processes_is_that_of_the_launch(launcher: Launcher, tmp_path: Path) -> None:
    second_fails = b"echo x >> log; test $(wc -l < log) -ne 2 || { echo sorry >&2; exit 7; }"
    measured = launcher.launch(sh(second_fails, cwd=os.fsencode(tmp_path), repeat=3))
    assert (measured.exit_code, measured.stderr) == (7, b"sorry\n")
    assert (tmp_path / "log").read_text() == "x\n" * 3


def test_no_process_follows_one_that_was_killed(launcher: Launcher, tmp_path: Path) -> None:
    spec = sh(b"echo x >> log; exec sleep 600", cwd=os.fsencode(tmp_path), repeat=20, timeout_ns=500_000_000)
    assert launcher.launch(spec).timed_out
    with alarm(0.1, launcher.cancel):
        assert launcher.launch(replace(spec, timeout_ns=PATIENCE_NS)).cancelled
    assert (tmp_path / "log").read_text() in ("x\n" * 2, "x\n", "")  # fewer if the shell had no time to start


@pytest.mark.parametrize("script", [b"echo x >> log; sleep 0.1", b"echo x >> log"])
def test_repeated_processes_share_the_time_of_their_launch(launcher: Launcher, tmp_path: Path, script: bytes) -> None:
    spec = sh(script, cwd=os.fsencode(tmp_path), repeat=1_000_000, timeout_ns=500_000_000)
    measured = launcher.launch(spec)
    assert measured.timed_out
    assert measured.wall_ns < 5_000_000_000
    if b"sleep" in script:
        assert len((tmp_path / "log").read_text()) <= len("x\n" * 5)


def test_a_cancel_among_repeated_processes_ends_their_launch(launcher: Launcher) -> None:
    moments = random.Random(1)
    for _ in range(20):
        # Most of the time none of the processes is running.
        with alarm(moments.uniform(1e-3, 3e-2), launcher.cancel):
            assert launcher.launch(replace(sh(b"exit 0"), repeat=100_000)).cancelled


# --- cancelling


def test_a_launch_is_cancelled_from_a_signal_handler(launcher: Launcher) -> None:
    with alarm(0.2, launcher.cancel):
        measured = launcher.launch(SLEEPER)
    assert (measured.cancelled, measured.timed_out, measured.signal) == (True, False, signal.SIGKILL)


def test_a_cancel_is_never_lost_whenever_it_comes(launcher: Launcher) -> None:
    moments = random.Random(1)
    for _ in range(100):
        # From before the request is put together until after the target has started.
        with alarm(moments.uniform(1e-6, 2e-3), launcher.cancel):
            assert launcher.launch(SLEEPER).cancelled


def test_a_cancel_hits_one_launch_and_not_the_one_after_it(launcher: Launcher) -> None:
    launcher.cancel()
    assert launcher.launch(SLEEPER).cancelled
    for _ in range(3):
        measured = launcher.launch(sh(b"exit 3"))
        assert (measured.cancelled, measured.exit_code) == (False, 3)


def test_a_cancel_just_after_the_end_harms_nothing(launcher: Launcher) -> None:
    launcher.launch(sh(b"exit 0"))
    launcher._send_cancel()  # as `cancel` does between the arrival of a reply and its reading
    assert launcher.launch(sh(b"exit 3")).exit_code == 3


def test_a_cancel_can_be_forgotten(launcher: Launcher) -> None:
    launcher.cancel()
    launcher.forget_cancel()
    # The sleep gives a cancel that was sent with the request the time to arrive.
    assert launcher.launch(sh(b"sleep 0.05; exit 3")).exit_code == 3
