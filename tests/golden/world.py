"""A machine made of numbers, on which whole command lines run in this process: nothing is started or waited for.

What the command line takes from outside is one value, of which this makes a scripted one. What else is replaced:
the environment and the number of this process, a pool of threads (one task after the other, in an order that repeats),
and typer's command, which takes longer to make than most of these run.
"""

from __future__ import annotations

import io
import os
import pkgutil
import shlex
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest
from typer.main import get_command

import steelyard
from steelyard.cli.app import run
from steelyard.design.world import World as Outside
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.launches import NUMBERS, Frame, LaunchSpec, Measured
from steelyard.model.records import MachineFacts
from tests.golden.programs import PLAIN, Call, Program

MACHINE = MachineFacts(
    key="0123456789abcdef",
    cpu_model="A processor",
    architecture="x86_64",
    cores_logical=1,
    caches={"L1d": "32K", "L1i": "32K", "L2": "1M", "L3": "8M"},
    memory_bytes=8 << 30,
    kernel="Linux 6.1",
    libc="glibc 2.36",
    aslr=2,
)
OFFERS = {"schedstat": True, "pressure": True, "steal": True}
SEED = 20_260_101
_VALGRIND = Valgrind(Path("/usr/bin/valgrind"), "3.19.0")
_BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
_PID = 4321


class Killed(BaseException):
    """The end of the process, in the middle of a launch."""


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
    """How many of them might have run at the same time."""
    files: dict[str, bytes]
    """Those in the folder that are new or changed."""
    removed: list[str]


class World:
    """A folder with programs in it, and a machine to run command lines on."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.now = 1000.0
        self.quiet_after_s: list[float] = []
        """How long each wait for quiet will take."""
        self.done: list[Done] = []
        self._programs: dict[str, Program] = {}
        self._numbers: Counter[tuple[str, ...]] = Counter()
        self._launched: list[LaunchSpec] = []
        self._at_once = 1
        self._put_in_place(patch)
        self._outside = Outside(
            launcher=lambda: _Launcher(self.launch),
            clock=lambda: self.now,
            now=lambda: _BEGINNING + timedelta(seconds=self.now - 1000),
            facts=lambda: MACHINE,
            settle=self._wait_until_quiet,
            valgrind=lambda _: _VALGRIND,
            new_seed=lambda: SEED,
            processors=lambda: {0},
        )
        self.program("bin/true", Program(wall_ns=lambda _: 1e6))

    @classmethod
    @contextmanager
    def opened(cls, folder: Path) -> Iterator[Self]:
        """A world in an empty folder; at the end everything is as it was."""
        with pytest.MonkeyPatch.context() as patch:
            yield cls(folder, patch)

    # --- for whoever writes a scenario

    def program(self, name: str, program: Program | None = None) -> None:
        """Put a program into the folder."""
        program = program or Program()
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            f"#!/bin/sh\n# {name}, which {'knows --steelyard- words' if program.benchmarks else 'is plain'}\n"
        )
        path.chmod(0o755)
        self.known(path.name, program)

    def known(self, name: str, program: Program) -> None:
        """Have programs of this name, wherever they are, behave so."""
        self._programs[name] = program

    def run(self, *words: str) -> Done:
        """Run one command line to its end."""
        self.now += 60
        self._launched, self._at_once, before = [], 1, self._files()
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with redirect_stdout(out), redirect_stderr(err):
            try:
                status: int | None = run(words, self._outside)
            except Killed:
                status = None
        printed = [stream.buffer.getvalue().decode() for stream in (out, err)]
        files = self._files()
        changed = {name: data for name, data in files.items() if before.get(name) != data}
        removed = [name for name in before if name not in files]
        self.done.append(Done(words, status, printed[0], printed[1], self._launched, self._at_once, changed, removed))
        return self.done[-1]

    def _files(self) -> dict[str, bytes]:
        paths = (path for path in sorted(self.folder.rglob("*")) if path.is_file() and path.name not in self._programs)
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def journal(self) -> str:
        """The journal of what was killed."""
        (found,) = (self.folder / "state").rglob("*.journal")
        return str(found.relative_to(self.folder))

    @staticmethod
    def ctrl_c() -> None:
        """Have the user press Ctrl-C: an event of a program."""
        signal.raise_signal(signal.SIGINT)

    @staticmethod
    def kill() -> None:
        """End the process that measures: an event of a program."""
        raise Killed

    # --- a launch

    def launch(self, spec: LaunchSpec) -> Measured:
        """One process, from its start to its end."""
        self._launched.append(spec)
        words = [os.fsdecode(word) for word in spec.argv]
        flags, words = _parted(words) if words[0] == str(_VALGRIND.program) else ({}, words)
        call = self._call(words)
        event = call.event()
        if isinstance(event, SteelyardError):
            raise event
        if callable(event):
            event()
        measured = self._measured(spec, call, event if isinstance(event, dict) else {})
        self.now += measured.wall_ns / 1e9
        if flags:
            _count(call, words, flags)
        if (folder := _variable(spec, b"STEELYARD_HEAP")) and (data := call.heap()) is not None:
            (Path(folder) / "heap.1").write_bytes(data)
        if isinstance(spec.stdout, bytes):
            Path(os.fsdecode(spec.stdout)).write_text(call.program.prints(call.words))
        return measured

    def _call(self, words: Sequence[str]) -> Call:
        """A shell's command is as the program that it begins with."""
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
        worked = {
            "cpu_ns": cpu_ns,
            "user_ns": cpu_ns - sys_ns,
            "sys_ns": sys_ns,
            "start_ns": round(self.now * 1e6) * 1000,
        }
        return replace(PLAIN, **{**worked, **fields})

    # --- what stands in the place of the machine

    def _put_in_place(self, patch: pytest.MonkeyPatch) -> None:
        patch.chdir(self.folder)
        for name in list(os.environ):
            patch.delenv(name)
        state, path = self.folder / "state", f"{self.folder}/bin:/usr/bin:/bin"
        surroundings = {"PATH": path, "HOME": str(self.folder), "XDG_STATE_HOME": str(state), "LANG": "C.UTF-8"}
        for name, value in {**surroundings, "COLUMNS": "100"}.items():
            patch.setenv(name, value)
        patch.setattr(os, "getpid", lambda: _PID)
        stands_for: dict[Any, Any] = {
            get_command: _command_once,
            ThreadPoolExecutor: self._pool,
            as_completed: lambda futures: (future for future in futures if future.run() is None),
        }
        for original, double in stands_for.items():
            for module, name in _places(original):
                patch.setattr(module, name, double)

    def _pool(self, at_once: int) -> _OneAfterTheOther:
        self._at_once = max(self._at_once, at_once)
        return _OneAfterTheOther()

    def _wait_until_quiet(self, most_s: float, **_: object) -> float:
        waited = min(most_s, self.quiet_after_s.pop(0) if self.quiet_after_s else 0.0)
        self.now += waited
        return waited


class _Launcher:
    """Stands in the place of the launch server."""

    version = "scripted"
    offers = OFFERS

    def __init__(self, once: Callable[[LaunchSpec], Measured]) -> None:
        self._once, self._journal, self._cancelled = once, -1, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def cancel(self) -> None:
        self._cancelled = True

    def launch(self, spec: LaunchSpec) -> Measured:
        measured = self._single(spec)
        for _ in range(1, spec.repeat):
            if measured.cancelled or measured.timed_out:
                break
            measured = measured.followed_by(self._single(spec))
        return measured

    def _single(self, spec: LaunchSpec) -> Measured:
        measured = self._once(spec)
        cancelled, self._cancelled = self._cancelled, False
        return replace(measured, cancelled=True, exit_code=None, signal=9) if cancelled else measured

    def keep_rows_in(self, journal: int) -> None:
        self._journal = journal

    def launch_series(self, specs: Sequence[LaunchSpec], frames: Sequence[Frame]) -> list[Measured | SteelyardError]:
        results: list[Measured | SteelyardError] = []
        for number, spec in enumerate(specs):
            try:
                measured = self.launch(spec)
            except MeasurementError as error:
                return [*results, error]
            results.append(measured)
            if measured.has_failed():
                break
            if number < len(frames):
                numbers = ",".join("null" if (one := getattr(measured, name)) is None else str(one) for name in NUMBERS)
                os.write(self._journal, f"{frames[number].before}{numbers}{frames[number].after}\n".encode())
        return results


class _Task(Future[Any]):
    """What is done when it is asked for."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work

    def run(self) -> None:
        try:
            self.set_result(self._work())
        except Exception as error:
            self.set_exception(error)


class _OneAfterTheOther:
    """Stands in the place of a pool of threads."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *words: Any) -> _Task:
        return _Task(lambda: work(*words))


# It takes longer to make than most scenarios, and is always the same.
_command_once = cache(get_command)


@cache
def _modules() -> list[ModuleType]:
    """All of Steelyard, imported: what is imported later would keep what stands in the place of something for ever."""
    return [
        import_module(found.name)
        for found in pkgutil.walk_packages(steelyard.__path__, "steelyard.")
        if not found.name.startswith(("steelyard.harness.", "steelyard.native.", "steelyard.subjects.adapters.in_"))
        and not found.name.endswith("__main__")
    ]


@cache
def _places(original: object) -> list[tuple[ModuleType, str]]:
    return [(module, name) for module in _modules() for name, value in vars(module).items() if value is original]


def _parted(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Valgrind's flags, and the command behind them."""
    end = list(words).index("--")
    flags = (word.removeprefix("--").partition("=") for word in words[1:end])
    return {name: value for name, _, value in flags}, list(words[end + 1 :])


def _count(call: Call, words: Sequence[str], flags: dict[str, str]) -> None:
    """Write what Valgrind writes."""
    tool, pid = flags["tool"], 1000 + call.number
    asked = {"cached": flags["cache-sim"] == "yes", "calls": tool == "callgrind" and "instr-atstart" not in flags}
    Path(flags[f"{tool}-out-file"].replace("%p", str(pid))).write_text(call.profile(words, tool=tool, **asked))
    log = (f"Command: {' '.join(words)}", "Parent PID: 1", f"Reading syms from /valgrind/{tool}-amd64-linux")
    Path(flags["log-file"].replace("%p", str(pid))).write_text("".join(f"=={pid}== {line}\n" for line in log))


def _variable(spec: LaunchSpec, name: bytes) -> str:
    found = (entry.removeprefix(name + b"=") for entry in spec.env if entry.startswith(name + b"="))
    return os.fsdecode(next(found, b""))
