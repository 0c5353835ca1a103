"""Calibration: probes whose use of the caches is known, timed and counted on this machine, and weights fitted to both.

Each point of the ladder is a walk over an array of one size, from well inside the first level to several times the
last one. It is measured as the difference of two launches, one that ends where the walk begins and one that walks.
Timings are interleaved in random order over all points, so that no size owns a drift of the machine.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

import steelyard
from steelyard.design.calibration.fit import calibrated, error, fitted
from steelyard.design.runner.collector import no_collector
from steelyard.design.runner.draws import first_side, round_order
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import Target
from steelyard.machine.facts import read_facts
from steelyard.measure import native
from steelyard.measure.count import pins
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind, caches_named, host_caches, last_levels_below
from steelyard.measure.launch import Launcher
from steelyard.model.calibration import Calibration, LastLevel, Point
from steelyard.model.counting import Caches, CountSettings
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError
from steelyard.model.launches import LaunchSpec
from steelyard.model.progress import Progress
from steelyard.stats.cost import hits

# What one element of each pattern takes: four arrays of i32 or of u64, or one node that fills a line.
PATTERNS = {"linear-i32": 16, "random-i32": 16, "linear-u64": 32, "random-u64": 32, "chase": 64}
SIZES = 11
REPEATS = 5
# In the first level 2 million iterations take 2 to 9 ms natively, and the start of a process varies by 0.1 ms;
# under Valgrind, where counts do not vary, 200,000 take 0.05 to 0.2 s.
TIMED_ITERATIONS = 2_000_000
COUNTED_ITERATIONS = 200_000
_SMALLEST, _LARGEST = 1 / 4, 4
# However large the last level is, the probes leave the machine room; and they take no more elements than this.
_MOST_OF_MEMORY, _MOST_ELEMENTS = 1 / 16, 1 << 28
# The random walk is index = 48271 index + 1 modulo the number of elements.
_MULTIPLIER = 48_271
_WARM_UP, _WALK = 0, 1
# The machine's own caches, with as much of the last level as explains the times best.
FITTING_CACHES = "fit"
_NOTHING_STORED = "interrupted: the calibration was not finished, and nothing of it is stored"


@dataclass(frozen=True)
class Rung:
    """What is measured at one point: a pattern, a size, and how many iterations come before the walk."""

    pattern: str
    elements: int
    before: int

    @property
    def size_bytes(self) -> int:
        """What the walk goes over."""
        return self.elements * PATTERNS[self.pattern]


@dataclass
class Instruments:
    """What measures: native launches, counters, and somebody who watches and may want to stop."""

    runner: Runner
    pool: WorkerPool
    counter: Counter
    watch: Callable[[Progress], None]
    spec: Callable[[Rung, int], LaunchSpec]
    """The launch of a rung with so many iterations."""


def calibrate(
    *,
    jobs: int,
    repeats: int,
    seed: int,
    watch: Callable[[Progress], None],
    caches: str = FITTING_CACHES,
    source: Mapping[str, str] = os.environ,
) -> Calibration:
    """Time and count the probes on this machine, and fit the weights; about two minutes on two processors.

    `caches` are what is simulated, as `caches_named` takes them, or FITTING_CACHES: what shares the last level with
    others, as virtual machines do, gets less of it than it says. Stores nothing. Raises InterruptedBeforeStart if the
    user stops it; MeasurementError where Valgrind or the probes are missing, or the times are too noisy for weights;
    UsageError for a machine that does not tell its caches.
    """
    started = time.monotonic()
    valgrind, facts = Valgrind.found(), read_facts()
    candidates = _candidates(caches, facts.caches)
    rungs = ladder(candidates[0], facts.memory_bytes)
    tried = measure(rungs, valgrind, candidates, jobs=jobs, repeats=repeats, seed=seed, watch=watch, source=source)
    last_levels = [
        LastLevel(size_bytes=each.ll[0], error=error(points)) for each, points in zip(candidates, tried, strict=True)
    ]
    best = min(range(len(candidates)), key=lambda number: last_levels[number].error)
    simulated, points = candidates[best], tried[best]
    fit, patterns = fitted(points)
    return Calibration(
        tool=steelyard.__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=facts.key,
        processor=facts.cpu_model,
        caches=simulated,
        last_levels=last_levels,
        valgrind=valgrind.version,
        repeats=repeats,
        seed=seed,
        seconds=time.monotonic() - started,
        points=points,
        fit=fit,
        weights=calibrated(fit),
        patterns=patterns,
    )


def _candidates(word: str, host: dict[str, str]) -> list[Caches]:
    if word != FITTING_CACHES:
        return [caches_named(word, host, also=(FITTING_CACHES,))]
    own = host_caches(host)
    return [own.model_copy(update={"name": FITTING_CACHES, "ll": level}) for level in (own.ll, *last_levels_below(own))]


@contextmanager
def instruments(
    valgrind: Valgrind,
    caches: Caches,
    *,
    jobs: int,
    watch: Callable[[Progress], None],
    source: Mapping[str, str] = os.environ,
) -> Iterator[Instruments]:
    """What measures on this machine, counting on `jobs` processors with some caches; until the context ends.

    Meanwhile Ctrl-C and its like ask it to stop.
    """
    program = _probes()
    environment = pins.environment(source, [], {}, preload=False, start=False)
    settings = CountSettings(cache_simulation=True, caches=caches)
    with Launcher() as launcher, WorkerPool(Launcher, jobs) as pool:

        def cancel() -> None:
            launcher.cancel()
            pool.cancel()

        with Interrupt(cancel) as interrupt:
            runner, counter = Runner(launcher, interrupt.is_requested), Counter(valgrind, settings)
            yield Instruments(runner, pool, counter, watch, partial(_spec, program, environment))


def _probes() -> Path:
    if not native.PROBES.is_file():
        raise MeasurementError(f"the probes are missing, {native.PROBES}: reinstall steelyard")
    return native.PROBES


def _spec(program: Path, environment: Mapping[str, str], rung: Rung, iterations: int) -> LaunchSpec:
    words = (str(program), rung.pattern, str(rung.elements), str(iterations))
    return LaunchSpec(
        program=os.fsencode(program),
        argv=tuple(os.fsencode(word) for word in words),
        env=tuple(os.fsencode(f"{name}={value}") for name, value in environment.items()),
        cwd=b"/",
    )


# --- the ladder


def ladder(caches: Caches, memory_bytes: int | None) -> list[Rung]:
    """Every pattern at every size, from a quarter of the first level to four times the last one."""
    smallest, largest = caches.d1[0] * _SMALLEST, float(caches.ll[0] * _LARGEST)
    if memory_bytes is not None:
        largest = max(min(largest, memory_bytes * _MOST_OF_MEMORY), 2 * smallest)
    # A walk that touches at least one line an iteration, so many times, has filled the last level, or all it can use.
    lines = caches.ll[0] // caches.ll[2]
    rungs = []
    for pattern, size in product(PATTERNS, np.geomspace(smallest, largest, SIZES)):
        elements = whole_walk(min(int(size) // PATTERNS[pattern], _MOST_ELEMENTS))
        rungs.append(Rung(pattern, elements, min(elements, lines)))
    return rungs


def whole_walk(most: int) -> int:
    """The largest number of elements up to `most` (at least 3) for which the random walk comes by nearly all of them.

    Modulo most numbers it soon runs in a short circle: of 2^20 elements over 1/8 alone, say. Modulo a prime of which
    the multiplier is a primitive root it comes by all elements but one (Knuth, TAOCP 2, 3.2.1.2).
    """
    return next(number for number in range(most, 2, -1) if number == 3 or _is_whole(number))


def _is_whole(number: int) -> bool:
    # Most numbers are no primes, and Fermat's test says so without a search for their factors.
    if pow(_MULTIPLIER, number - 1, number) != 1 or _prime_factors(number) != {number}:
        return False
    return all(pow(_MULTIPLIER, (number - 1) // factor, number) != 1 for factor in _prime_factors(number - 1))


def _prime_factors(number: int) -> set[int]:
    found, factor = set(), 2
    while factor * factor <= number:
        while number % factor == 0:
            found.add(factor)
            number //= factor
        factor += 1
    return found | ({number} if number > 1 else set())


# --- measuring


def measure(
    rungs: Sequence[Rung],
    valgrind: Valgrind,
    several: Sequence[Caches],
    *,
    jobs: int,
    repeats: int,
    seed: int,
    watch: Callable[[Progress], None],
    source: Mapping[str, str] = os.environ,
) -> list[list[Point]]:
    """Time every rung once, and count it with each of several caches: for each of these the points of all rungs."""
    times: list[Times] = []
    points = []
    for caches in several:
        with instruments(valgrind, caches, jobs=jobs, watch=watch, source=source) as tools:
            times = times or timed(rungs, tools, repeats=repeats, seed=seed)
            points.append(counted(rungs, times, tools))
    return points


Times = tuple[list[int], list[int]]
"""CPU times in ns, one a repeat: up to the walk, and with it."""


def timed(rungs: Sequence[Rung], tools: Instruments, *, repeats: int, seed: int) -> list[Times]:
    """Time every rung natively, one launch after the other."""
    with no_collector():
        return _timed(rungs, tools, repeats, seed)


def counted(rungs: Sequence[Rung], times: Sequence[Times], tools: Instruments) -> list[Point]:
    """Count every rung, side by side; points of them and of the times that they took."""
    counts = _counted(rungs, tools)
    return [_point(rung, taken, events) for rung, taken, events in zip(rungs, times, counts, strict=True)]


def _timed(rungs: Sequence[Rung], tools: Instruments, repeats: int, seed: int) -> list[Times]:
    times: list[Times] = [([], []) for _ in rungs]
    follow = _Follower("timing", len(rungs) * repeats, tools.watch)
    for repeat in range(repeats):
        for place in round_order(seed, repeat, list(range(len(rungs)))):
            first = first_side(seed, place, repeat)
            for part in (first, 1 - first):
                times[place][part].append(_time(rungs[place], part, tools))
            follow.one_more()
    return times


def _time(rung: Rung, part: int, tools: Instruments) -> int:
    try:
        measured = tools.runner.trial(_target(rung, rung.before + part * TIMED_ITERATIONS, tools)).measured
    except Interrupted:
        raise InterruptedBeforeStart(_NOTHING_STORED) from None
    return measured.user_ns + measured.sys_ns if measured.cpu_ns is None else measured.cpu_ns


def _counted(rungs: Sequence[Rung], tools: Instruments) -> list[dict[str, int]]:
    places = list(product(range(len(rungs)), (_WARM_UP, _WALK)))
    # Largest first: a long task at the end would leave the other processors idle.
    places.sort(key=lambda place: -rungs[place[0]].size_bytes)
    tasks = [
        partial(_count, _target(rungs[number], rungs[number].before + part * COUNTED_ITERATIONS, tools), tools.counter)
        for number, part in places
    ]
    follow = _Follower("counting", len(tasks), tools.watch)
    events: dict[tuple[int, int], dict[str, int]] = {}
    for task, counted in tools.pool.do_all(tasks):
        events[places[task]] = counted.events
        follow.one_more()
    if len(events) < len(places):
        raise InterruptedBeforeStart(_NOTHING_STORED)
    return [_less(events[number, _WALK], events[number, _WARM_UP]) for number in range(len(rungs))]


def _count(target: Target, counter: Counter, runner: Runner) -> Counted:
    return runner.launch(target, counter, lambda reading: reading.value)


def _less(events: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    # The end of the process may miss a few times less after a walk than without one.
    return {name: max(0, count - before.get(name, 0)) for name, count in events.items()}


def _target(rung: Rung, iterations: int, tools: Instruments) -> Target:
    return Target(
        f"the probe {rung.pattern} at {rung.size_bytes >> 10} KiB",
        tools.spec(rung, iterations),
        remedy="is there memory for it? Else reinstall steelyard",
    )


def _point(rung: Rung, times: Times, events: dict[str, int]) -> Point:
    # Each repeat's two launches ran next to each other; the median of their differences bears a few disturbed ones.
    walks = [end - begin for begin, end in zip(*times, strict=True)]
    ns = statistics.median(walks) / TIMED_ITERATIONS
    if ns <= 0:
        raise MeasurementError(
            f"the walk {rung.pattern} over {rung.size_bytes >> 10} KiB took no time beside its set-up: "
            "this machine is too busy to calibrate; wait until it is quiet, or give more --repeats"
        )
    l1, ll, ram = (max(0, number) / COUNTED_ITERATIONS for number in hits(events))
    return Point(
        pattern=rung.pattern,
        elements=rung.elements,
        size_bytes=rung.size_bytes,
        before=rung.before,
        timed_iterations=TIMED_ITERATIONS,
        counted_iterations=COUNTED_ITERATIONS,
        cpu_before_ns=times[_WARM_UP],
        cpu_with_ns=times[_WALK],
        ns=ns,
        events=events,
        l1=l1,
        ll=ll,
        ram=ram,
    )


class _Follower:
    """Tells whoever watches how much is done."""

    def __init__(self, what: str, limit: int, watch: Callable[[Progress], None]) -> None:
        self._what, self._limit, self._watch = what, limit, watch
        self._done, self._started = 0, time.monotonic()

    def one_more(self) -> None:
        self._done += 1
        each = (time.monotonic() - self._started) / self._done
        self._watch(Progress(self._what, self._done, self._limit, seconds_left=(self._limit - self._done) * each))
