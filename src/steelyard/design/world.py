"""What a command takes from outside, as one value: the launcher, the clock, the store, the machine, chance.

With a scripted world a whole command line runs in milliseconds and without a process (`tests/world.py`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from steelyard.history.store import Store, utc_now

if TYPE_CHECKING:
    from steelyard.design.runner.runner import LaunchServer
    from steelyard.design.timing.watched import Watching
    from steelyard.machine.isolation.isolation import Isolated
    from steelyard.machine.quietest import Choice
    from steelyard.machine.tuning.tuner import Tuner
    from steelyard.measure.count.valgrind import Valgrind
    from steelyard.model.conditions import Condition
    from steelyard.model.launch_spec import LaunchSpec
    from steelyard.model.machine import MachineFacts
    from steelyard.model.noise import Counted, Timer


# Each is imported only where it is used: a command that measures nothing does not wait for what measures.


def _launcher() -> AbstractContextManager[LaunchServer]:
    from steelyard.measure.launch import Launcher

    return Launcher()


def _run_in_foreground(spec: LaunchSpec) -> int:
    from steelyard.measure.foreground import run_in_foreground

    return run_in_foreground(spec)


def _read_facts() -> MachineFacts:
    from steelyard.machine.facts import read_facts

    return read_facts()


def _wait_until_quiet(give_up: Callable[[], bool], most_s: float) -> float:
    from steelyard.machine.pressure import wait_until_quiet

    return wait_until_quiet(most_s, give_up=give_up)


def _watch_over(launchers: Collection[int], processor: int | None) -> AbstractContextManager[Watching]:
    from steelyard.machine.watch.watcher import Watcher

    return Watcher(launchers, processor)


def _valgrind(path: str | None) -> Valgrind:
    from steelyard.measure.count.valgrind import Valgrind

    return Valgrind.found(path)


def _new_seed() -> int:
    from secrets import randbelow

    return randbelow(2**32)


def _sweep() -> None:
    from steelyard.machine.isolation.groups import Reach
    from steelyard.machine.isolation.groups import sweep as sweep_groups
    from steelyard.measure.scratch import sweep

    sweep()
    sweep_groups(Reach())


def _examine() -> list[Condition]:
    from steelyard.machine.conditions.kernel import Following
    from steelyard.machine.examination import examine
    from steelyard.measure.launch import SERVER
    from steelyard.model.errors import MeasurementError

    try:
        with _launcher() as launcher:
            told, missing = launcher.offers.get("switches"), launcher.missing_counters
    except MeasurementError:
        told, missing = None, {}
    following = Following(told, str(SERVER), is_root=os.geteuid() == 0)
    return [*examine(following=following, missing_counters=missing), _valgrind_here()]


def _valgrind_here() -> Condition:
    """Report whether instructions can be counted, which no noise reaches."""
    from steelyard.machine.conditions.words import fine
    from steelyard.model.errors import MeasurementError

    try:
        return fine("valgrind", f"{_valgrind(None).version}: instructions can be counted, which no noise reaches")
    except MeasurementError as error:
        return fine("valgrind", str(error))


def _counted() -> Counted:
    from steelyard.machine.counted import read_counted

    return read_counted()


def _timer() -> Timer:
    from steelyard.machine.counted import read_timer

    return read_timer()


def _cores() -> list[frozenset[int]]:
    from steelyard.machine.conditions.processors import cores

    return cores()


def _tuner() -> Tuner:
    from steelyard.machine.tuning.tuner import Tuner

    return Tuner()


def _quietest() -> Choice:
    from steelyard.machine.isolation.groups import Reach, in_use
    from steelyard.machine.quietest import kept_free, quietest

    taken = set[int]().union(*in_use(Reach()).values())
    return quietest(os.sched_getaffinity(0) | kept_free(), taken=taken)


def _kept_free() -> set[int]:
    from steelyard.machine.quietest import kept_free

    return kept_free()


def _isolated(processor: int | None) -> AbstractContextManager[Isolated]:
    from steelyard.machine.isolation.isolation import isolated

    return isolated(processor)


@dataclass(frozen=True)
class World:
    """The outside of one command. The default of each field is the real one."""

    launcher: Callable[[], AbstractContextManager[LaunchServer]] = _launcher
    """A launch server of its own, for as long as the context lasts."""
    foreground: Callable[[LaunchSpec], int] = _run_in_foreground
    """Runs a command that nobody measures, with our own input and output; returns its exit status."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """Where the variables to pass on, the store and programs are looked up."""
    clock: Callable[[], float] = time.monotonic
    """Seconds, monotonic."""
    now: Callable[[], datetime] = utc_now
    facts: Callable[[], MachineFacts] = _read_facts
    settle: Callable[[Callable[[], bool], float], float] = _wait_until_quiet
    """settle(give_up, most_s): waits for other work to calm down, at most so many seconds; returns how long it took."""
    watch_over: Callable[[Collection[int], int | None], AbstractContextManager[Watching]] = _watch_over
    """Watches who else runs while the context lasts, given the processes of the launch servers and the launches'
    processor."""
    examine: Callable[[], list[Condition]] = _examine
    """Looks at what on the machine disturbs measurements."""
    counted: Callable[[], Counted] = _counted
    """What the system counts while others measure."""
    timer: Callable[[], Timer] = _timer
    cores: Callable[[], list[frozenset[int]]] = _cores
    """The processors of each core; empty where the system does not tell."""
    tuner: Callable[[], Tuner] = _tuner
    valgrind: Callable[[str | None], Valgrind] = _valgrind
    """Finds Valgrind by a search path, None for that of this process; raises MeasurementError where there is none."""
    new_seed: Callable[[], int] = _new_seed
    """A seed for a plan that nobody asked to repeat; short enough to type again."""
    sweep: Callable[[], None] = _sweep
    """Removes the temporary files and control groups that killed processes have left."""
    processors: Callable[[], set[int]] = lambda: os.sched_getaffinity(0)
    kept_free: Callable[[], set[int]] = _kept_free
    """Processors that run only what asks for one of them."""
    quietest: Callable[[], Choice] = field(default_factory=lambda: cache(_quietest))
    """The processor that was quietest when first asked for: all weighings of a command have the same."""
    isolated: Callable[[int | None], AbstractContextManager[Isolated]] = _isolated
    """A control group for launches on one processor, or on all, for as long as the context lasts."""

    @property
    def search_path(self) -> str | None:
        """Where programs are looked up."""
        return self.environment.get("PATH")

    def store(self) -> Store:
        """Return the store of the user's records; raises UsageError where there can be none."""
        return Store.of_user(self.environment, self.now)

    def created(self) -> str:
        """Return the time now, as records have it: ISO 8601 in UTC."""
        return self.now().isoformat(timespec="seconds")
