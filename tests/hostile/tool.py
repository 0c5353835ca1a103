"""The installed command among hostile targets and on odd machines, and what it leaves behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.preloaded import installed
from tests.tool import PATIENCE_S, STEELYARD, InFolder, environment_in, name_of, told_of


@dataclass(frozen=True)
class Done:
    """How a command line ended, what it printed, and the most memory that it or a process below it used."""

    status: int
    out: str
    err: str
    peak_bytes: int

    @property
    def sentence(self) -> str:
        """The only line on stderr; nothing else may have been printed."""
        match = re.fullmatch(r"steelyard: ([^\n]+)\n", self.err)
        assert match, self
        assert self.out == "", self
        return match[1]

    @property
    def words(self) -> str:
        """What was printed on stdout, on one line."""
        return " ".join(self.out.split())


@dataclass
class Tool(InFolder):
    """The `steelyard` command in a folder and an environment of its own, which identify its processes."""

    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.environment = environment_in(self.folder)

    def start(
        self,
        *words: str | Path,
        within: Sequence[str] = (),
        env: Mapping[str, str | None] | None = None,
        **options: Any,
    ) -> subprocess.Popen[bytes]:
        """Start a command line, within another command if wanted; a variable that is None is unset."""
        changed = {**self.environment, **(env or {})}
        environment = {name: value for name, value in changed.items() if value is not None}
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
            started = {"cwd": self.folder, "env": environment, **streams, **options}
            if within:
                return subprocess.Popen([*within, STEELYARD, *words], **started)
            return installed(words, **started)

    def __call__(self, *words: str | Path, **options: Any) -> Done:
        """Run a command line to its end; it may print no traceback."""
        return self.end(self.start(*words, **options))

    def end(self, process: subprocess.Popen[bytes]) -> Done:
        """Wait until a started command line ends, whoever ends it."""
        limit = time.monotonic() + PATIENCE_S
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > limit:
                process.kill()
                raise AssertionError(f"it did not end by itself: {process.args!r}")
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed = [(self.folder / name).read_bytes().decode(errors="replace") for name in ("stdout", "stderr")]
        assert "Traceback" not in printed[1], printed[1]
        return Done(process.returncode, printed[0], printed[1], usage.ru_maxrss * 1024)

    def run(self, command: str | Path, *words: str | Path, **options: Any) -> Done:
        """Measure one command, by default by two launches."""
        limit = () if {"--launches", "--max-time"} & set(words) else ("--launches", "2")
        return self("run", command, *words, *limit, **options)

    def fails(self, command: str | Path, *words: str | Path, status: int = 3, **options: Any) -> str:
        """Measure a command that must fail; return the sentence that is printed."""
        done = self.run(command, *words, **options)
        assert done.status == status, done
        return done.sentence

    def refuses(self, *words: str | Path, status: int = 2, **options: Any) -> str:
        """Run a command line that must be refused; return the sentence that it prints."""
        done = self(*words, **options)
        assert done.status == status, done
        return done.sentence

    def kept(self, suffix: str = "") -> list[Path]:
        """Return what is in the store, oldest first."""
        return sorted((self.folder / "state/steelyard").glob(f"2*{suffix}"))

    def processes(self) -> list[str]:
        """Return every process started from here: those with our folder in their environment or arguments."""
        mark = str(self.folder).encode()
        others = (pid for pid in psutil.pids() if pid != os.getpid() and mark in _marks(pid))
        return [f"{pid} {name}" for pid in others if (name := _name_of(pid))]


def _name_of(pid: int) -> str:
    try:
        return name_of(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return ""


def _marks(pid: int) -> bytes:
    return told_of(pid, "environ") + told_of(pid, "cmdline")


def python(script: str) -> str:
    """Return the command line that runs a Python script, which must not contain single quotes."""
    assert "'" not in script
    return f"{sys.executable} -IS -c '{script}'"


def edit(journal: Path, change: Callable[[Any], object]) -> None:
    """Change a journal's first line."""
    head, _, rest = journal.read_text().partition("\n")
    header = json.loads(head)
    change(header)
    journal.write_text(f"{json.dumps(header)}\n{rest}")


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command line by SIGKILL, which it cannot handle."""
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE_S)
