"""A scripted machine with programs, and all that comes of a command line on it."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from steelyard.model.errors import SteelyardError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.golden.programs import Call, Program
from tests.world import VALGRIND, Killed, ScriptedWorld, ctrl_c, in_place, kill, measured

_PID = 4321


@dataclass(frozen=True)
class Done:
    """How a command line ended, what it printed, and what it launched."""

    words: tuple[str, ...]
    status: int | None
    """None if it was killed."""
    out: str
    err: str
    launched: list[LaunchSpec]
    at_once: int
    """How many of these launches could have run at the same time."""
    files: dict[str, bytes]
    """The files in the folder that are new or changed."""
    removed: list[str]


class World(ScriptedWorld):
    """A folder with programs in it, and a machine to run command lines on."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, self._script)
        self.done: list[Done] = []
        self._programs: dict[str, Program] = {}
        self._numbers: Counter[tuple[str, ...]] = Counter()
        self.program("bin/true", Program(wall_ns=lambda _: 1e6))

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Self]:
        """Yield a world in an empty folder; what it patches is restored at the end."""
        world = cls(folder)
        with pytest.MonkeyPatch.context() as patch:
            in_place(world, patch)
            patch.setattr(os, "getpid", lambda: _PID)  # it is part of a record's name
            yield world

    # --- for scenarios

    def program(self, name: str, program: Program | None = None) -> None:
        """Put a program into the folder."""
        program = program or Program()
        what = "knows --steelyard- words" if program.benchmarks else "is plain"
        path = self.executable(name, f"{name}, which {what}")
        self.known(path.name, program)

    def known(self, name: str, program: Program) -> None:
        """Have programs of this name, in whatever folder, behave like `program`."""
        self._programs[name] = program

    def run(self, *words: str) -> Done:
        """Run one command line to its end."""
        self.seconds += 60
        before = self._files()
        with self.printed() as printed:
            try:
                status: int | None = self.status_of(words)
            except Killed:
                status = None
        out, err = (stream.decode() for stream in printed)
        files = self._files()
        changed = {name: data for name, data in files.items() if before.get(name) != data}
        removed = [name for name in before if name not in files]
        self.done.append(Done(words, status, out, err, self.launched, self.at_once, changed, removed))
        return self.done[-1]

    def _files(self) -> dict[str, bytes]:
        paths = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.name not in self._programs)
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def journal(self) -> str:
        """Return the path of the journal that a killed command line left."""
        (found,) = (self.folder / "state").rglob("*.journal")
        return str(found.relative_to(self.folder))

    ctrl_c = staticmethod(ctrl_c)
    """Press Ctrl-C: an event of a program."""

    kill = staticmethod(kill)
    """Kill the process that measures: an event of a program."""

    # --- a launch

    def _script(self, spec: LaunchSpec, _: int) -> Measured:
        words = [os.fsdecode(word) for word in spec.argv]
        flags, words = _parted(words) if words[0] == str(VALGRIND.program) else ({}, words)
        call = self._call(words)
        event = call.event()
        if isinstance(event, SteelyardError):
            raise event
        if callable(event):
            event()
        measured = self._measured(spec, call, event if isinstance(event, dict) else {})
        if flags:
            _count(call, words, flags)
        if (folder := _variable(spec, b"STEELYARD_HEAP")) and (data := call.heap()) is not None:
            (Path(folder) / "heap.1").write_bytes(data)
        if isinstance(spec.stdout, bytes):
            Path(os.fsdecode(spec.stdout)).write_text(call.program.prints(call.words))
        return measured

    def _call(self, words: Sequence[str]) -> Call:
        """Return the call of these words; a shell's command counts as the program that it begins with."""
        if words[:2] == ["/bin/sh", "-c"]:
            words = shlex.split(words[2])
        name = Path(words[0]).name
        run = next((word for word in words if word.startswith("--steelyard-run=")), "")
        for key in ((name,), (name, run)):
            self._numbers[key] += 1
        program = self._programs.get(name, Program(wall_ns=lambda _: 1e6))
        return Call(name, program, self._numbers[name,], words[1:], self._numbers[name, run])

    def _measured(self, spec: LaunchSpec, call: Call, event: dict[str, Any]) -> Measured:
        fields = {**call.measured(), **event}
        if spec.timeout_ns is not None and fields["wall_ns"] > spec.timeout_ns:
            fields |= {"wall_ns": spec.timeout_ns, "timed_out": True, "exit_code": None, "signal": 9}
        cpu_ns = fields["wall_ns"] - fields.get("delay_ns", 0)
        sys_ns = min(cpu_ns, 900_000)
        worked = {"cpu_ns": cpu_ns, "user_ns": cpu_ns - sys_ns, "sys_ns": sys_ns, "lost_ns": None}
        return measured(0, **{**worked, **fields})


def _parted(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return Valgrind's flags, and the command that follows them."""
    end = list(words).index("--")
    flags = (word.removeprefix("--").partition("=") for word in words[1:end])
    return {name: value for name, _, value in flags}, list(words[end + 1 :])


def _count(call: Call, words: Sequence[str], flags: dict[str, str]) -> None:
    """Write the output and the log of Valgrind."""
    tool, pid = flags["tool"], 1000 + call.number
    asked = {"cached": flags["cache-sim"] == "yes", "calls": tool == "callgrind" and "instr-atstart" not in flags}
    Path(flags[f"{tool}-out-file"].replace("%p", str(pid))).write_text(call.profile(words, tool=tool, **asked))
    log = (f"Command: {' '.join(words)}", "Parent PID: 1", f"Reading syms from /valgrind/{tool}-amd64-linux")
    Path(flags["log-file"].replace("%p", str(pid))).write_text("".join(f"=={pid}== {line}\n" for line in log))


def _variable(spec: LaunchSpec, name: bytes) -> str:
    found = (entry.removeprefix(name + b"=") for entry in spec.env if entry.startswith(name + b"="))
    return os.fsdecode(next(found, b""))
