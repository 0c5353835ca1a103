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
# What could steer a terminal.
_CONTROLS = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")

# Launches that take less run behind another one, of which nothing is kept: where launches are counted, they are longer.
SOME_TIME = "sleep 0.025"
# A few ms of work in one thread, and twice as much: far apart on any machine.
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
        """What was printed on stdout and `show` prints again: without how it goes on, and what an exit status means."""
        return re.split(rb"\n(?:go on|exit) ", self.out)[0].rstrip(b"\n") + b"\n"

    @property
    def sentence(self) -> str:
        """What was printed on stderr; it has to be one sentence, and nothing may be on stdout."""
        assert self.out == b""
        self.check_is_tidy()
        match = re.fullmatch(r"steelyard: ([^\n]+)\n", self.err.decode())
        assert match, self.err
        return match[1]

    def check_is_tidy(self) -> None:
        """Neither a traceback nor a control character nor a byte that is no UTF-8 reached the terminal."""
        for printed in (self.out, self.err):
            assert b"Traceback" not in printed, printed.decode(errors="replace")
            assert not _CONTROLS.search(printed), printed
            printed.decode()


@dataclass
class InFolder:
    """A command line with a folder of its own."""

    folder: Path

    def write(self, name: str, content: str, mode: int = 0o755) -> str:
        """Make a file, executable if nothing else is said, and return the way to it."""
        path = self.folder / name
        path.write_text(content)
        path.chmod(mode)
        return f"./{name}"

    def lines(self, name: str = "log") -> list[str]:
        """The lines of a file in the folder."""
        return (self.folder / name).read_text().splitlines()

    def json(self, name: str = "record.json") -> dict[str, Any]:
        """A JSON file in the folder."""
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
        usual = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        fed = {} if given is None else {"stdin": subprocess.PIPE}
        with installed(words, **self.surroundings, **{**usual, **options, **fed}) as process:
            try:
                out, err = process.communicate(given, patience)
            except BaseException:
                process.kill()
                raise
        return Done(process.returncode, out or b"", err or b"")

    def through(self, *words: str, **options: Any) -> Done:
        """Run by way of a shell: `/bin/sh -c SCRIPT`, which finds the tool as $0, and the words for it as $@."""
        shell, words = words[:3], words[3:]
        done = subprocess.run(
            [*shell, STEELYARD, *words],
            **self.surroundings,
            **{"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": PATIENCE_S, **options},
        )
        return Done(done.returncode, done.stdout or b"", done.stderr or b"")

    def compare(self, *words: str | Path, **options: Any) -> Done:
        """Weigh, by 12 pairs of `true` if nothing else is said."""
        commands = () if words and not str(words[0]).startswith("-") else ("true", "true")
        limit = () if {"--pairs", "--max-time"} & set(words) else ("--pairs", "12")
        return self("compare", *commands, *words, *limit, **options)

    def compared(self, *words: str | Path, **options: Any) -> dict[str, Any]:
        """Weigh what noise may decide, and return the record: whatever its verdict, the exit status is that one's."""
        done = self.compare(*words, "--json", "record.json", **options)
        record = self.json()
        assert (done.status, done.err) == (status_of(record), b"")
        return record

    def shown(self, *words: str | Path) -> dict[str, Any]:
        """A kept record as `show` writes it; the latest, if none is named."""
        assert self("show", *words, "--json", "shown.json").status == 0
        return self.json("shown.json")

    def refuses(self, *words: str | Path, status: int = 2, **options: Any) -> str:
        """Run what has to fail, and return the sentence it says."""
        done = self(*words, **options)
        assert done.status == status, done
        return done.sentence

    @contextmanager
    def started(self, *words: str | Path) -> Iterator[subprocess.Popen[bytes]]:
        """The command line while it runs, from when `main` answers to signals: before it imports anything."""
        program = """
import os
from steelyard.cli import main

go_on = main._status
main._status = lambda: go_on() if os.write(1, b".") else 0
main.main()
"""
        with subprocess.Popen(
            [sys.executable, "-c", program, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **self.surroundings,
        ) as process:
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

    def kept(self) -> list[Path]:
        """What is on the store, oldest first."""
        return sorted((self.folder / "state/steelyard").glob("*"))

    def processes(self) -> list[str]:
        """Every process that was started from here, be it by way of the tool: they have our folder as their home."""
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
        """Every process of it that is still there."""


Lent = TypeVar("Lent", bound=Starts)


def tidy_at_the_end(tool: Lent) -> Iterator[Lent]:
    """Lend a command line; whatever it starts has to be gone afterwards."""
    yield tool
    wait_until(lambda: not tool.processes(), "no process is left")


def environment_in(folder: Path) -> dict[str, str]:
    """One in which all that the tool keeps is in that folder."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "TMPDIR": str(folder),
        "LANG": "C.UTF-8",
    }


def status_of(record: dict[str, Any]) -> int:
    """The exit status that goes with a finished weighing's verdicts; of several metrics the first one's."""
    first: dict[int, str] = {}
    for verdict in record["derived"]["verdicts"]:
        if not verdict["control"]:
            first.setdefault(verdict["index"], verdict["verdict"])
    assert first, "a weighing without a verdict"
    return 1 if "slower" in first.values() else 0


def told_of(pid: int, name: str) -> bytes:
    """A file of /proc about a process; nothing where it has ended, or is none of ours.

    It is asked of all processes, after every test and all the while that one waits: psutil takes four times as long.
    """
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:  # noqa: PTH123 - to make a path takes longer
            return file.read()
    except OSError:
        return b""


def name_of(process: psutil.Process) -> str:
    """The name of a process, which is nothing once it has gone."""
    try:
        return str(process.name())
    except psutil.NoSuchProcess:
        return ""


def ended(process: subprocess.Popen[bytes]) -> Done:
    """Wait for the end of what was started."""
    out, err = process.communicate(timeout=PATIENCE_S)
    return Done(process.returncode, out, err)


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition."""
    limit = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < limit, f"waited in vain until {what}"
        time.sleep(0.01)


def announced(err: bytes | str) -> str:
    """What is said on stderr of a weighing before it is carried on; nothing else may have been."""
    said = err.decode() if isinstance(err, bytes) else err
    assert re.fullmatch(r"steelyard: carrying on [^\n]+\n(  [^\n]+\n)+", said), said
    return said


def sh(script: str) -> str:
    """The command line of a shell script without single quotes."""
    assert "'" not in script
    return f"sh -c '{script}'"


def rows(record: dict[str, Any], *names: str) -> list[Sequence[Any]]:
    """Some columns of a record's launches, row by row."""
    return list(zip(*(record["launches"][name] for name in names), strict=True))
