"""Measures a sweep: its points timed one launch after the other, and counted side by side.

Each point is the difference of two launches, one that ends where the walk begins and one that walks. Timings are
interleaved in random order over all points, so that a drift of the machine falls on no single size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

from steelyard.design.calibration.instruments import Instruments
from steelyard.design.calibration.results import Counts, Results
from steelyard.design.calibration.sweep import COUNTED_ITERATIONS, TIMED_ITERATIONS, WALK, WARM_UP, SweepPoint
from steelyard.design.runner.draws import first_side, round_order
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import Runner
from steelyard.design.runner.target import PROBE_REMEDY, Target
from steelyard.measure.count.counter import Counted
from steelyard.measure.instrument import on_processor_ns
from steelyard.model.collector import without_collection
from steelyard.model.counting import Caches
from steelyard.model.progress import Progress
from steelyard.report.figures import count


def measure(results: Results, several: Sequence[Caches], tools: Instruments, *, repeats: int, seed: int) -> None:
    """Time every point once, and count it with each of several caches.

    Raises Interrupted if the user stops it, and MeasurementError, also where a walk took no time; what was measured
    until then is in the results.
    """
    of_levels = f" with each of {len(several)} sizes of the last cache level" if len(several) > 1 else ""
    announcement = (
        f"times {len(results.sweep)} walks over memory, {count(repeats, 'time')} each, and then counts them under "
        f"Valgrind{of_levels}, which takes minutes; Ctrl-C keeps what was measured by then"
    )
    tools.watch(Progress("timing", 0, None, allowance=announcement, noun="measurement"))
    with without_collection():
        _time(results, tools, repeats, seed)
    results.check_times()
    for caches in several:
        _count(results, caches, tools)


def _time(results: Results, tools: Instruments, repeats: int, seed: int) -> None:
    """Time the points natively, one launch after the other."""
    numbers = list(range(len(results.sweep)))
    report_one_more = _reporter("timing", len(numbers) * repeats, tools)
    for repeat in range(repeats):
        for number in round_order(seed, repeat, numbers):
            first = first_side(seed, number, repeat)
            for part in (first, 1 - first):
                target = _target(results.sweep[number], part * TIMED_ITERATIONS, tools)
                results.times[number][part].append(on_processor_ns(tools.runner.trial(target).measured))
            report_one_more()


def _count(results: Results, caches: Caches, tools: Instruments) -> None:
    """Count the points under Valgrind, side by side."""
    counts: Counts = {}
    results.counts.append((caches, counts))
    places = list(product(range(len(results.sweep)), (WARM_UP, WALK)))
    # Largest first: a long task at the end would leave the other processors idle.
    places.sort(key=lambda place: -results.sweep[place[0]].size_bytes)
    targets = [_target(results.sweep[number], part * COUNTED_ITERATIONS, tools) for number, part in places]
    report_one_more = _reporter("counting", len(places), tools)
    for task, counted in count_all(targets, caches, tools):
        counts[places[task]] = counted.events
        report_one_more()
    if len(counts) < len(places):
        raise Interrupted


def count_all(targets: Sequence[Target], caches: Caches, tools: Instruments) -> Iterator[tuple[int, Counted]]:
    """Count each target; yields (its index, its counts) as they end, and fewer if the user stops it."""
    counter = tools.counter(caches)

    def count(target: Target, runner: Runner) -> Counted:
        return runner.launch(target, counter, lambda reading: reading.value)

    return tools.pool.do_all([partial(count, target) for target in targets])


def _target(point: SweepPoint, walk: int, tools: Instruments) -> Target:
    """Return the launch of a point that walks for `walk` iterations."""
    return Target(
        f"the probe {point.pattern} at {point.size_bytes >> 10} KiB",
        tools.spec(point, point.before + walk),
        remedy=PROBE_REMEDY,
    )


def _reporter(what: str, limit: int, tools: Instruments) -> Callable[[], None]:
    """Return what to call whenever one more is done: it tells whoever watches how much is."""
    done, started = 0, tools.clock()
    tools.watch(Progress(what, 0, limit, noun="measurement"))  # the first one may take long

    def report_one_more() -> None:
        nonlocal done
        done += 1
        left = (limit - done) * ((tools.clock() - started) / done)
        tools.watch(Progress(what, done, limit, seconds_left=left, noun="measurement"))

    return report_one_more
