"""A scripted machine, on which whole command lines run within this process without starting or waiting for anything.

The test's script says what a launch measures. Only launches, and scripted waits for quiet, move the clock. All else
that a command takes from outside is fixed.
"""

from __future__ import annotations

import errno
import io
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import pytest

from steelyard.cli.app import run
from steelyard.design.runner import pool
from steelyard.design.world import World
from steelyard.machine.isolation.groups import Reach
from steelyard.machine.isolation.isolation import isolated
from steelyard.machine.quietest import Choice
from steelyard.machine.readings import Tree
from steelyard.machine.tuning.hand import Hand
from steelyard.machine.tuning.tuner import Tuner
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.conditions import Condition
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.machine import MachineFacts
from steelyard.model.measured import Measured
from steelyard.model.noise import Counted, Timer
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import Frame
from steelyard.model.watch import Stretch
from tests.tool import Done, InFolder

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
VALGRIND = Valgrind(Path("/usr/bin/valgrind"), "3.19.0")
_STARTED_S = 1000.0
_STARTED = datetime(2026, 1, 1, 12, tzinfo=UTC)
_MS = 1_000_000

# launch(spec, number) -> what the launch measures; its number counts the launches of this world, from 1. A script may
# raise what the launch server raises, and call `ctrl_c` (the user interrupts) or `kill`.
LaunchScript = Callable[[LaunchSpec, int], Measured]


def measured(ms: float, **others: Any) -> Measured:
    """Return a launch of `ms` milliseconds that never waits; `others` are what else it measures."""
    ns = round(ms * _MS)
    plain: dict[str, Any] = dict.fromkeys(NUMBERS, 0)
    usual = {"spawn_ns": 100_000, "timeslices": 1, "voluntary_switches": 1, "minor_faults": 100, "signal": None}
    worked = {"wall_ns": ns, "cpu_ns": ns, "user_ns": ns, "max_rss_bytes": 2 << 20}
    return Measured(**{**plain, **usual, **worked, **others})


def steady(ms: Mapping[str, float]) -> LaunchScript:
    """Return a script by which each program takes its `ms`, and with each launch in the world a millionth more."""
    return lambda spec, number: measured(ms[program_of(spec)] * (1 + number * 1e-6))


def alike(_: LaunchSpec, number: int) -> Measured:
    """Measure 12 ms, with each launch a little more."""
    return measured(12 + number * 1e-5)


def at_launch(number: int, happens: Callable[[], None], script: LaunchScript = alike) -> LaunchScript:
    """Return the script with something that happens in the middle of launch `number`, such as `ctrl_c` or `kill`."""

    def launch(spec: LaunchSpec, now: int) -> Measured:
        if now == number:
            happens()
        return script(spec, now)

    return launch


def program_of(spec: LaunchSpec) -> str:
    """Return the name of the program that a launch runs."""
    return Path(os.fsdecode(spec.program)).name


def ctrl_c() -> None:
    """Press Ctrl-C, as a user would."""
    signal.raise_signal(signal.SIGINT)


class Killed(BaseException):
    """Raised in the middle of a launch: the process that measures is killed."""


def kill() -> None:
    """Kill the process that measures."""
    raise Killed


class ScriptedServer:
    """Stands in for the launch server."""

    version, server_pid = "scripted", 0
    missing_counters: Mapping[str, int] = MappingProxyType({"cycles": errno.ENOENT, "migrations": errno.EACCES})
    offers = OFFERS
    waiting: Callable[[float], None] | None = None

    def __init__(
        self,
        launch_once: Callable[[LaunchSpec], Measured],
        paired: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._once, self._paired, self._journal, self._cancelled = launch_once, paired, -1, False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def cancel(self) -> None:
        self._cancelled = True

    def forget_cancel(self) -> None:
        self._cancelled = False

    def launch(self, spec: LaunchSpec, waiting: Callable[[float], None] | None = None) -> Measured:
        measured = self._single(spec)
        for tell in filter(None, (self.waiting, waiting)):
            tell(measured.wall_ns / 1e9)
        for _ in range(1, spec.repeat):
            if measured.cancelled or measured.timed_out:
                break
            measured = measured.followed_by(self._single(spec))
        return measured

    def _single(self, spec: LaunchSpec) -> Measured:
        measured = self._once(spec)
        cancelled, self._cancelled = self._cancelled, False
        return replace(measured, cancelled=True, exit_code=None, signal=9) if cancelled else measured

    def launch_together(
        self, first: LaunchSpec, second: LaunchSpec, *, second_begins: bool, followed: bool = False
    ) -> tuple[Measured, Measured]:
        """Give each launch the processor time that the script says; each waits while the other one runs."""
        specs = (second, first) if second_begins else (first, second)
        with self._paired():
            one, other = (self._single(replace(spec, timeout_ns=None)) for spec in specs)
        longest_ns = one.wall_ns + other.wall_ns
        one, other = (
            replace(
                each,
                start_ns=one.start_ns,
                wall_ns=longest_ns,
                delay_ns=(each.delay_ns or 0) + longest_ns - each.wall_ns,
                lost_ns=(each.lost_ns or 0) + longest_ns - each.wall_ns if followed else None,
            )
            for each in (one, other)
        )
        return (other, one) if second_begins else (one, other)

    def keep_rows_in(self, journal: int) -> None:
        self._journal = journal

    def launch_series(self, specs: Sequence[LaunchSpec], frames: Sequence[Frame | None]) -> list[Any]:
        """Skip the launches of which nothing is kept: here no launch takes longer after a pause."""
        results: list[Measured | SteelyardError] = []
        kept = [frame for frame in frames if frame is not None]
        for number, spec in enumerate(specs[len(frames) - len(kept) :]):
            try:
                measured = self.launch(spec)
            except MeasurementError as error:
                return [*results, error]
            results.append(measured)
            if measured.has_failed():
                break
            if number < len(kept):
                numbers = ",".join("null" if (one := getattr(measured, name)) is None else str(one) for name in NUMBERS)
                os.write(self._journal, f"{kept[number].before}{numbers}{kept[number].after}\n".encode())
        return results


class ScriptedWatch:
    """Reports each of the world's stretches once it is over."""

    def __init__(self, world: ScriptedWorld) -> None:
        self._world, self._left = world, [*world.stretches]

    def __enter__(self) -> Self:
        self._world.watches += 1
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def taken(self) -> list[Stretch]:
        now_ns = self._world.seconds * 1e9
        seen = [one for one in self._left if one.end_ns <= now_ns]
        self._left = self._left[len(seen) :]
        return seen


@dataclass
class ScriptedWorld(InFolder):
    """Runs command lines in a folder, on a machine whose launches are scripted."""

    script: LaunchScript
    seconds: float = _STARTED_S
    """The time on the clock."""
    quiet_after_s: list[float] = field(default_factory=list)
    """How long each wait for quiet takes; 0 s once the list is used up."""
    stretches: list[Stretch] = field(default_factory=list)
    """What goes on beside the launches, in the order of time."""
    watches: int = 0
    """How often a command line has begun to watch the machine."""
    processors: set[int] = field(default_factory=lambda: {0})
    """The processors that may be used, each a core of its own."""
    counted: list[Counted] = field(default_factory=list)
    """What the system has counted, at each moment when it is asked; nothing once these are used up."""
    launched: list[LaunchSpec] = field(default_factory=list)
    """The launches of the latest command line."""
    at_once: int = 1
    """How many of these launches could have run at the same time."""
    launches: int = 0
    """How many launches all command lines together have made."""
    reach: Reach | None = None
    """How control groups are reached; None if the machine has none."""
    is_paired: bool = False
    """Whether the launch that the script is called for runs at the same time as another."""
    pairs_at_once: int = 0
    """How many pairs have been launched at the same time."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the command lines, in which they keep everything in the folder."""
        return {
            "PATH": f"{self.folder}/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "LANG": "C.UTF-8",
            "COLUMNS": "100",
        }

    @property
    def hand(self) -> Hand:
        """What sets the machine's files, which are in the folder too."""
        return Hand(Tree(self.folder / "machine"))

    def outside(self) -> World:
        """Return everything that a command takes from outside."""
        return World(
            launcher=lambda: ScriptedServer(self.launch, self.paired),
            foreground=lambda spec: 0,  # noqa: ARG005 - whatever it is, it ends well
            environment=self.environment,
            clock=lambda: self.seconds,
            now=self.now,
            facts=lambda: MACHINE,
            settle=self._settle,
            watch_over=lambda launcher, processor: ScriptedWatch(self),  # noqa: ARG005
            tuner=lambda: Tuner(self.hand),
            examine=lambda: [Condition(code="load", severity="fine", evidence="nothing else runs")],
            valgrind=lambda _: VALGRIND,
            new_seed=lambda: SEED,
            sweep=lambda: None,
            processors=lambda: self.processors,
            kept_free=lambda: {3},
            quietest=lambda: Choice(3, "0 % busy over half a second"),
            isolated=partial(isolated, reach=self.reach or Reach(self.hand), clock=lambda: self.seconds),
            counted=lambda: self.counted.pop(0) if self.counted else Counted(),
            timer=lambda: Timer(step_ns=1, cost_ns=20),
            cores=lambda: [frozenset({number}) for number in self.processors],
        )

    def __call__(self, *arguments: str | Path) -> Done:
        """Run one command line to its end."""
        with self.printed() as printed:
            status = self.status_of([str(argument) for argument in arguments])
        done = Done(status, *printed)
        done.check_is_tidy()
        return done

    def status_of(self, arguments: Sequence[str]) -> int:
        """Run one command line, which prints to the real streams; return its exit status. Raises Killed."""
        self.launched, self.at_once = [], 1
        return run(arguments, self.outside())

    @contextmanager
    def printed(self) -> Iterator[list[bytes]]:
        """Yield a list that holds what the context printed once it has ended: on stdout, and on stderr."""
        printed: list[bytes] = []
        out, err = io.BytesIO(), io.BytesIO()
        with (
            redirect_stdout(io.TextIOWrapper(out, "utf-8", write_through=True)),
            redirect_stderr(io.TextIOWrapper(err, "utf-8", "backslashreplace", write_through=True)),
        ):
            yield printed
            printed += [out.getvalue(), err.getvalue()]

    def refuses(self, *arguments: str | Path, status: int = 2) -> str:
        """Run a command line that must fail; return the sentence that it prints."""
        done = self(*arguments)
        assert done.status == status, done
        return done.sentence

    def executable(self, name: str, comment: str = "") -> Path:
        """Put a program into the folder; what it does is up to the script."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n# {comment or name}\n")
        path.chmod(0o755)
        return path

    def launch(self, spec: LaunchSpec) -> Measured:
        """Run one process from start to end, on a clock of microseconds."""
        self.launched.append(spec)
        self.launches += 1
        started_ns = round(self.seconds * 1e6) * 1000
        measured = replace(self.script(spec, self.launches), start_ns=started_ns)
        if spec.timeout_ns is not None and measured.wall_ns > spec.timeout_ns:
            measured = replace(measured, wall_ns=spec.timeout_ns, timed_out=True, exit_code=None, signal=9)
        self.seconds += measured.wall_ns / 1e9
        return measured

    @contextmanager
    def paired(self) -> Iterator[None]:
        """Have the launches within the context run at the same time."""
        self.is_paired, self.pairs_at_once = True, self.pairs_at_once + 1
        try:
            yield
        finally:
            self.is_paired = False

    def now(self) -> datetime:
        """Return the date that goes with the clock."""
        return _STARTED + timedelta(seconds=self.seconds - _STARTED_S)

    def executor(self, at_once: int) -> OneAfterTheOther:
        """Stand in for a pool of threads."""
        self.at_once = max(self.at_once, at_once)
        return OneAfterTheOther()

    def _settle(self, give_up: Callable[[], bool], most_s: float) -> float:  # noqa: ARG002 - as the real one's
        waited = min(most_s, self.quiet_after_s.pop(0) if self.quiet_after_s else 0.0)
        self.seconds += waited
        return waited


class _Task(Future[Any]):
    """Work that is done when `run` is called."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work

    def run(self) -> None:
        try:
            self.set_result(self._work())
        except Exception as error:
            self.set_exception(error)


class OneAfterTheOther:
    """An executor without threads: submitted work is done when `iterate_ended` comes to it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *arguments: Any) -> _Task:
        return _Task(lambda: work(*arguments))


def in_place(world: ScriptedWorld, patch: pytest.MonkeyPatch) -> None:
    """Move this process to the world's folder, and have it do one after the other what it would do side by side."""
    patch.chdir(world.folder)
    patch.setattr(pool, "ThreadPoolExecutor", world.executor)
    patch.setattr(pool, "iterate_ended", lambda futures, _: (future for future in futures if future.run() is None))


@pytest.fixture
def scripted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScriptedWorld:
    """A scripted machine with the programs `./old` (12 ms) and `./new` (18 ms)."""
    world = ScriptedWorld(tmp_path, steady({"old": 12.0, "new": 18.0}))
    in_place(world, monkeypatch)
    world.executable("old")
    world.executable("new")
    return world
