"""The installed command line, run as a user would run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import psutil

from tests.preloaded import STEELYARD as STEELYARD
from tests.preloaded import installed

# Far longer than anything here takes; a hang becomes a failure instead.
PATIENCE_S = 60
_CAPTURED: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
# Characters that could steer a terminal.
_CONTROLS = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")

# Before shorter launches the tool makes another one, of which it keeps nothing: commands that count their launches
# take this long.
SOME_TIME = "sleep 0.025"
# A few ms of work in one thread, and twice as much: easy to tell apart on any machine.
WORK = "sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done'"
TWICE_THE_WORK = WORK.replace("2000", "4000")


@dataclass(frozen=True)
class Done:
    """How a command line ended and what it printed."""

    status: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """What was printed on stdout."""
        return self.out.decode()

    @property
    def report(self) -> bytes:
        """What `show` would print again of stdout: all but how to go on, and what the exit status means."""
        return re.split(rb"\n(?:go on|exit) ", self.out)[0].rstrip(b"\n") + b"\n"

    @property
    def sentence(self) -> str:
        """The sentence on stderr, which must be the only output."""
        assert self.out == b""
        self.check_is_tidy()
        match = re.fullmatch(r"steelyard: ([^\n]+)\n", self.err.decode())
        assert match, self.err
        return match[1]

    def check_is_tidy(self) -> None:
        """Check that no traceback, no control character and no byte that is not UTF-8 was printed."""
        for printed in (self.out, self.err):
            assert b"Traceback" not in printed, printed.decode(errors="replace")
            assert not _CONTROLS.search(printed), printed
            printed.decode()


@dataclass
class InFolder:
    """A command line with a folder of its own."""

    folder: Path

    def write(self, name: str, content: str, mode: int = 0o755) -> str:
        """Write a file, executable by default, and return its path as the command line takes it."""
        path = self.folder / name
        path.write_text(content)
        path.chmod(mode)
        return f"./{name}"

    def kept(self) -> list[Path]:
        """Return what is in the store, oldest first."""
        return sorted((self.folder / "state/steelyard").glob("*"))

    def lines(self, name: str = "log") -> list[str]:
        """Return the lines of a file in the folder."""
        return (self.folder / name).read_text().splitlines()

    def json(self, name: str = "record.json") -> dict[str, Any]:
        """Return the content of a JSON file in the folder."""
        record: dict[str, Any] = json.loads((self.folder / name).read_bytes())
        return record


@dataclass
class Tool(InFolder):
    """The `steelyard` command in a folder and an environment of its own."""

    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = {**environment_in(self.folder), "COLUMNS": "100", **self.environment}

    def __call__(self, *words: str | Path, **options: Any) -> Done:
        """Run one command line to its end."""
        patience, given = options.pop("timeout", PATIENCE_S), options.pop("input", None)
        fed = {} if given is None else {"stdin": subprocess.PIPE}
        with installed(words, **self.surroundings, **{**_CAPTURED, **options, **fed}) as process:
            try:
                out, err = process.communicate(given, patience)
            except BaseException:
                process.kill()
                raise
        return Done(process.returncode, out or b"", err or b"")

    def through(self, *words: str, **options: Any) -> Done:
        """Run `/bin/sh -c SCRIPT` (the first three words), which finds the tool as $0 and its arguments as $@."""
        shell, words = words[:3], words[3:]
        done = subprocess.run(
            [*shell, STEELYARD, *words],
            **self.surroundings,
            **{"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": PATIENCE_S, **options},
        )
        return Done(done.returncode, done.stdout or b"", done.stderr or b"")

    def compare(self, *words: str | Path, **options: Any) -> Done:
        """Weigh; by default `true` against `true` by 12 pairs."""
        commands = () if words and not str(words[0]).startswith("-") else ("true", "true")
        limit = () if {"--pairs", "--max-time"} & set(words) else ("--pairs", "12")
        return self("compare", *commands, *words, *limit, **options)

    def compared(self, *words: str | Path, **options: Any) -> dict[str, Any]:
        """Weigh and return the record; noise may decide the verdict, but the exit status must agree with it."""
        done = self.compare(*words, "--json", "record.json", **options)
        record = self.json()
        assert (done.status, done.err) == (status_of(record), b"")
        return record

    def shown(self, *words: str | Path) -> dict[str, Any]:
        """Return a kept record as `show` writes it, by default the latest."""
        assert self("show", *words, "--json", "shown.json").status == 0
        return self.json("shown.json")

    def refuses(self, *words: str | Path, status: int = 2, **options: Any) -> str:
        """Run a command line that must fail; return the sentence that it prints."""
        done = self(*words, **options)
        assert done.status == status, done
        return done.sentence

    @contextmanager
    def started(self, *words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
        """Yield a running command line; whoever interrupts it waits until it has come to what is interrupted."""
        with installed(words, **_CAPTURED, **self.surroundings) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def started_afresh(self, *words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
        """Yield a running command line, from when `main` handles signals, which is before it imports anything."""
        program = """
import os
from steelyard.cli import main

go_on = main._run_to_status
main._run_to_status = lambda: go_on() if os.write(1, b".") else 0
main.main()
"""
        with subprocess.Popen([sys.executable, "-c", program, *words], **_CAPTURED, **self.surroundings) as process:
            assert process.stdout is not None
            assert process.stdout.read(1) == b"."
            try:
                yield process
            finally:
                process.kill()

    @property
    def surroundings(self) -> dict[str, Any]:
        """The folder and the environment, as subprocess takes them."""
        return {"cwd": self.folder, "env": self.environment}

    def processes(self) -> list[str]:
        """Return every process started from here, directly or by the tool: those whose HOME is our folder."""
        home = os.fsencode(f"HOME={self.folder}")
        found = []
        for pid in psutil.pids():
            with suppress(psutil.Error):
                if home in told_of(pid, "environ").split(b"\0"):
                    process = psutil.Process(pid)
                    if process.status() != psutil.STATUS_ZOMBIE:
                        found.append(" ".join(process.cmdline()))
        return found


class Starts(Protocol):
    """A command line that knows what it started."""

    def processes(self) -> list[str]:
        """Return those of its processes that are still there."""


Lent = TypeVar("Lent", bound=Starts)


def tidy_at_the_end(tool: Lent) -> Iterator[Lent]:
    """Yield a command line, and then wait until everything that it started is gone."""
    yield tool
    wait_until(lambda: not tool.processes(), "no process is left")


def environment_in(folder: Path) -> dict[str, str]:
    """Return an environment in which the tool keeps everything in that folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
    }


def status_of(record: dict[str, Any]) -> int:
    """Return the exit status that goes with a finished weighing's verdicts; of several metrics the first one counts."""
    first: dict[int, str] = {}
    for verdict in record["derived"]["verdicts"]:
        if not verdict["control"]:
            first.setdefault(verdict["index"], verdict["verdict"])
    assert first, "a weighing without a verdict"
    return 1 if "slower" in first.values() else 0


def told_of(pid: int, name: str) -> bytes:
    """Return the content of a file in /proc/PID; empty if the process has ended or belongs to another user.

    This is asked about all processes, after every test and all the while a test waits: psutil takes four times as long.
    """
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - to make a path takes longer
            return file.read()
    except OSError:
        return b""


def name_of(process: psutil.Process) -> str:
    """Return the name of a process, or "" if it has gone."""
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""


def ended(process: subprocess.Popen[bytes]) -> Done:
    """Wait for the end of a command line that was started."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return Done(process.returncode, out, err)


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit, f"waited in vain until {what}"
        time.sleep(0.01)


def announced(err: bytes | str) -> str:
    """Return what stderr says about a weighing that is carried on; it may say nothing else."""
    said = err.decode() if isinstance(err, bytes) else err
    assert re.fullmatch(r"steelyard: carrying on [^\n]+\n(  [^\n]+\n)+", said), said
    return said


def sh(script: str) -> str:
    """Return the command line that runs a shell script, which must not contain single quotes."""
    assert "'" not in script
    return f"sh -c '{script}'"


def rows(record: dict[str, Any], *names: str) -> list[Sequence[Any]]:
    """Return the named columns of a record's launches, row by row."""
    return list(zip(*(record["launches"][name] for name in names), strict=True))
