"""What measures a sweep on this machine: one launcher for times, several for counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from steelyard.design.calibration.sweep import SweepPoint
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.running_clock import RunningClock
from steelyard.design.world import World
from steelyard.measure import native
from steelyard.measure.count import pins
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind
from steelyard.measure.instrument import Instrument
from steelyard.model.counting import Caches, CountSettings
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.progress import Watch


@dataclass(frozen=True)
class Instruments:
    """What measures: native launches, counters, and somebody who watches."""

    runner: Runner
    pool: WorkerPool
    counter: Callable[[Caches], Instrument[Counted]]
    """Returns the counter that simulates some caches."""
    spec: Callable[[SweepPoint, int], LaunchSpec]
    """Returns the launch of a point with a number of iterations."""
    watch: Watch
    clock: Callable[[], float]


@contextmanager
def instruments(valgrind: Valgrind, world: World, *, jobs: int, watch: Watch) -> Iterator[Instruments]:
    """Yield what measures on this machine, counting on `jobs` processors, until the context ends.

    Meanwhile Ctrl-C and its like ask it to stop. Raises MeasurementError if the probes are missing.
    """
    program = native.probes()
    environment = pins.environment(world.environment, [], {}, preload=False, start=False)

    def counter(caches: Caches) -> Counter:
        return Counter(valgrind, CountSettings(cache_simulation=True, caches=caches), world.clock)

    with (
        world.launcher() as launcher,
        WorkerPool(world.launcher, jobs) as pool,
        Interrupt((launcher.cancel, pool.cancel), world.clock) as interrupt,
        RunningClock(world.clock) as clock,
    ):
        launcher.waiting, pool.waiting = lambda _: clock.while_waiting(watch), partial(clock.while_waiting, watch)
        runner = Runner(launcher, interrupt.is_requested)
        yield Instruments(runner, pool, counter, partial(_spec, program, environment), watch, clock)


def _spec(program: Path, environment: Mapping[str, str], point: SweepPoint, iterations: int) -> LaunchSpec:
    argv = (str(program), point.pattern, str(point.elements), str(iterations))
    return LaunchSpec(
        program=os.fsencode(program),
        argv=tuple(map(os.fsencode, argv)),
        env=tuple(os.fsencode(f"{name}={value}") for name, value in environment.items()),
        cwd=b"/",
    )
