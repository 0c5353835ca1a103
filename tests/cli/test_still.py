"""`steelyard still`: arguments, input, output and exit status are the command's; and what it says at the end."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from steelyard.cli.app import run
from steelyard.design.world import World
from steelyard.measure import still
from steelyard.measure.foreground import NotExecutableError, _wait_for_end, run_in_foreground
from steelyard.measure.native import CLOCK
from steelyard.model.launch_spec import LaunchSpec
from tests.tool import Tool, ended, wait_until


@dataclass
class Foreground:
    """Stands in for running a command: notes its spec, and writes the account that its processes would write."""

    status: int = 0
    numbers: dict[str, int] = field(default_factory=dict)
    spec: LaunchSpec | None = None

    def __call__(self, spec: LaunchSpec) -> int:
        self.spec = spec
        variables = dict(entry.split(b"=", 1) for entry in spec.env)
        if still.FILE_NAME in variables:
            names = ("programs", "clocks", "left_out_ns", "several", "unknown", "deadlines", "slow")
            told = struct.pack("=8s7Q", b"STEELYC1", *(self.numbers.get(name, 0) for name in names))
            Path(os.fsdecode(variables[still.FILE_NAME])).write_bytes(told)
        return self.status


Still = Callable[..., tuple[int, str]]


@pytest.fixture
def foreground() -> Foreground:
    return Foreground(numbers={"programs": 1, "clocks": 1, "left_out_ns": 1_234_567_890})


@pytest.fixture
def said(foreground: Foreground, capsys: pytest.CaptureFixture[str]) -> Still:
    def said(*words: str) -> tuple[int, str]:
        world = World(environment={"PATH": os.environ["PATH"], "OURS": "1"}, foreground=foreground, sweep=lambda: None)
        status = run(["still", *words], world)
        printed = capsys.readouterr()
        assert printed.out == ""
        return status, printed.err

    return said


# --- the words


@pytest.mark.parametrize("dashes", [(), ("--",)])
def test_all_words_are_the_commands_own(said: Still, foreground: Foreground, dashes: tuple[str, ...]) -> None:
    words = ("sh", "--pairs", "-N", "-L", "a b", "--", "--help", "-S", "")
    assert said(*dashes, *words)[0] == 0
    assert foreground.spec is not None
    assert foreground.spec.argv == tuple(word.encode() for word in words)
    assert foreground.spec.program == os.fsencode(shutil.which("sh") or "")


def test_the_environment_is_passed_on_whole(said: Still, foreground: Foreground) -> None:
    said("true")
    assert foreground.spec is not None
    assert b"OURS=1" in foreground.spec.env
    assert any(entry.startswith(b"LD_PRELOAD=" + os.fsencode(CLOCK)) for entry in foreground.spec.env)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ((), 2, "COMMAND... is missing"),
        (("--pairs", "3", "true"), 2, "no such option: --pairs"),
        (("no such program",), 127, "was not found on PATH: write its words apart, without quotes"),
        (("no-such-program",), 127, "was not found on PATH: check the spelling"),
    ],
)
def test_what_cannot_be_begun_is_said(said: Still, words: tuple[str, ...], status: int, says: str) -> None:
    found, err = said(*words)
    assert (found, says in err) == (status, True), err


def test_without_its_library_there_is_no_such_clock(
    said: Still, foreground: Foreground, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(still, "CLOCK", tmp_path / "steelyard-clock.so")
    status, err = said("true")
    assert (status, foreground.spec) == (3, None)
    assert "is missing, by which a clock stands still: reinstall steelyard" in err


# --- what is said at the end


@pytest.mark.parametrize("status", [0, 1, 5, 137])
def test_how_much_was_left_out_is_said_and_the_status_is_the_commands(
    said: Still, foreground: Foreground, status: int
) -> None:
    foreground.status = status
    assert said("true") == (status, "steelyard: the clock stood still for 1.235 s of waiting (1 process)\n")


def test_limits_that_were_met_are_said(said: Still, foreground: Foreground) -> None:
    foreground.numbers |= {"clocks": 1200, "several": 2, "unknown": 1, "slow": 3}
    assert said("true")[1].splitlines() == [
        "steelyard: the clock stood still for 1.235 s of waiting (1,200 processes, all together: "
        "those that start or build the benchmarks, too)",
        "  2 processes asked for the time in several threads: the clock went on as usual there",
        "  1 process could not read the wait: the clock went on as usual there",
        "  3 processes read the wait at every question, some 0.4 µs: shorter samples than 50 µs are too long by it",
    ]


def test_that_nothing_asked_is_said(said: Still, foreground: Foreground) -> None:
    foreground.numbers = {"programs": 3}
    why = "nothing that ran as this user, and was passed LD_PRELOAD, asked the C library for the time"
    sentence = f"no clock stood still: {why}"
    assert said("true")[1] == f"steelyard: {sentence}\n"
    foreground.numbers = {}
    assert "no process has loaded the library" in said("true")[1]


def test_a_program_in_go_is_told_from_others(said: Still, foreground: Foreground, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\xff Go buildinf: and more")
    program.chmod(0o755)
    foreground.numbers = {}
    assert "programs in Go do not ask the C library for the time" in said(str(program))[1]


# --- real commands


def test_input_output_and_status_are_the_commands(tool: Tool) -> None:
    script = "import sys, time; time.time(); time.monotonic(); print(sys.stdin.read()); sys.exit(7)"
    done = tool("still", "--", sys.executable, "-c", script, input=b"abc", stdin=None)
    assert (done.status, done.out) == (7, b"abc\n")
    assert done.err.startswith(b"steelyard: the clock stood still for ")
    assert list(tool.folder.glob("steelyard-*")) == []


@pytest.mark.real
def test_a_killed_command_has_a_shells_status() -> None:
    assert run_in_foreground(_sh("kill -9 $$")) == 137
    assert run_in_foreground(_sh("exit 200")) == 200


@pytest.mark.real
def test_the_status_is_known_though_whoever_started_us_ignores_ends() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert run_in_foreground(_sh("exit 5")) == 5
        assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.real
def test_signals_are_as_without_us() -> None:
    # Python itself ignores SIGPIPE, and we block some signals meanwhile.
    program = "import signal, sys; sys.exit(signal.pthread_sigmask(0, []) != set())"
    words = (sys.executable, "-c", program)
    assert run_in_foreground(LaunchSpec(words[0].encode(), tuple(map(os.fsencode, words)), ())) == 0
    assert run_in_foreground(_sh("kill -PIPE $$")) == 128 + signal.SIGPIPE


@pytest.mark.real
def test_a_variable_without_a_name_is_left_out() -> None:
    words = ("sh", "-c", 'test "$OURS" = 1')
    spec = LaunchSpec(os.fsencode(shutil.which("sh") or ""), tuple(map(os.fsencode, words)), (b"=C:=C:", b"OURS=1"))
    assert run_in_foreground(spec) == 0


def test_a_signal_that_comes_as_it_ends_is_not_for_us(tool: Tool) -> None:
    for _ in range(3):
        done = tool("still", "sh", "-c", "trap '' TERM; kill -TERM $PPID; exit 6")
        assert (done.status, done.err[:11]) == (6, b"steelyard: ")


@pytest.mark.real
def test_what_the_kernel_refuses_is_said(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo\n")
    for mode, why in ((0o644, "Permission denied"), (0o755, "its first line has to name the interpreter")):
        script.chmod(mode)
        with pytest.raises(NotExecutableError, match=why):
            run_in_foreground(LaunchSpec(os.fsencode(script), (b"script",), ()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_for_us_is_passed_on(tool: Tool, number: signal.Signals) -> None:
    script = "trap 'echo heard; exit 9' TERM INT HUP; : > begun; while :; do sleep 0.01; done"
    with tool.started("still", "sh", "-c", script) as process:
        wait_until((tool.folder / "begun").exists, "it has begun")
        process.send_signal(number)
        done = ended(process)
    assert (done.status, done.out) == (9, b"heard\n")


def test_what_the_terminal_sends_to_the_command_too_is_not_sent_to_it_once_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Many programs end at once, without results, at a second Ctrl-C."""
    by_the_kernel, by_a_process = 0x80, 0
    came = iter([(signal.SIGINT, by_the_kernel), (signal.SIGTERM, by_a_process), (signal.SIGCHLD, 1), None])
    ends, sent = iter([(0, 0)] * 4 + [(7, 0)]), list[tuple[int, int]]()

    def heard(*_: object) -> SimpleNamespace | None:
        one = next(came)
        return one and SimpleNamespace(si_signo=one[0], si_code=one[1])

    monkeypatch.setattr(signal, "sigtimedwait", heard)
    monkeypatch.setattr(os, "waitpid", lambda *_: next(ends))
    monkeypatch.setattr(os, "kill", lambda *what: sent.append(what))
    assert _wait_for_end(7) == 0
    assert sent == [(7, signal.SIGTERM)]


def test_a_command_that_may_not_be_sent_a_signal_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the one of sudo, to which an ordinary user may send none."""
    came = iter([SimpleNamespace(si_signo=signal.SIGTERM, si_code=0), None])
    ends = iter([(0, 0), (7, 3 << 8)])

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(signal, "sigtimedwait", lambda *_: next(came))
    monkeypatch.setattr(os, "waitpid", lambda *_: next(ends))
    monkeypatch.setattr(os, "kill", refused)
    assert _wait_for_end(7) == 3


def _sh(script: str) -> LaunchSpec:
    return LaunchSpec(b"/bin/sh", (b"sh", b"-c", script.encode()), ())
