"""Checks of what is asked about counting, if a counted metric is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.api.options import Counting
from steelyard.model.errors import UsageError
from steelyard.model.metrics import counted, timed
from steelyard.model.placeholders import LOOPS_PLACE
from steelyard.model.values import in_range, metric_names

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.counting import Caches, CountSettings, Weights

_CACHE_METRICS = {"cost", "l1_hits", "ll_hits", "ram_hits"}
_MOST_WEIGHT = 1e6


def counted_metrics(wanted: Sequence[str] | None) -> list[str]:
    """Return the metrics for `count`, instructions by default; raise UsageError for timed ones."""
    metrics = metric_names(wanted or ["instructions"])
    if timed_metrics := timed(metrics):
        raise UsageError(f"count does not time: leave {', '.join(timed_metrics)} out, or use steelyard run")
    return metrics


def count_settings(
    options: Counting,
    metrics: Sequence[str],
    commands: Sequence[str],
    world: World,
    *,
    harness: bool,
) -> CountSettings | None:
    """Return how the counted ones of `metrics` are counted; None if there are none.

    Raises UsageError naming the option, also if an option has nothing to count.
    """
    if not counted(metrics):
        _refuse_counting_options(options)
        return None
    from steelyard.measure.count.valgrind import caches_named
    from steelyard.model.counting import CountSettings

    _check_loops(options.loops, commands)
    if options.after_start and (options.body or harness):
        option = "--body" if options.body else "--harness"
        raise UsageError(f"{option} and --after-start both say when counting begins: give one of them")
    caches = caches_named(options.caches, world.facts().caches if options.caches == "host" else None)
    if options.weights == "calibrated":
        weights, caches = _calibrated(options, caches, world)
    else:
        weights = weights_named(options.weights)
    # A harness marks what it measures; its start-up is not part of that.
    body = options.body or harness
    uses_requests = body or options.after_start
    return CountSettings(
        tool="callgrind" if options.call_graph or uses_requests else "cachegrind",
        cache_simulation=bool(_CACHE_METRICS & set(metrics)),
        caches=caches,
        weights=weights,
        call_graph=options.call_graph,
        body=body,
        after_start=options.after_start,
        loops=options.loops,
    )


def _check_loops(loops: int | None, commands: Sequence[str]) -> None:
    if loops is None:
        return
    in_range("--loops", loops, 1, 10**12)
    for command in commands:
        if LOOPS_PLACE not in command:
            raise UsageError(
                f"--loops: the command {command!r} has no {LOOPS_PLACE}, which stands for how often it loops"
            )


def jobs_checked(jobs: int | None) -> int | None:
    """Return the number of launches counted at once; None for as many as there are processors."""
    return None if jobs is None else in_range("--jobs", jobs, 1, 256)


def weights_named(name: str) -> Weights:
    """Return the weights for a preset's name, or for three numbers with commas; raise UsageError."""
    from steelyard.model.counting import Weights

    if name == "default":
        return Weights()
    if name == "article":
        return Weights(name="article", ram=30)
    try:
        l1, ll, ram = (float(part) for part in name.split(","))
        if not all(0 <= weight <= _MOST_WEIGHT for weight in (l1, ll, ram)) or l1 + ll + ram == 0:
            raise ValueError
    except ValueError:
        raise UsageError(
            f"--weights {name!r} is not known: choose default, article or calibrated, or write --weights 1,5,35 (0 to "
            "1,000,000 each, not all of them 0)"
        ) from None
    return Weights(name="own", l1=l1, ll=ll, ram=ram)


def _calibrated(options: Counting, caches: Caches, world: World) -> tuple[Weights, Caches]:
    """Return the weights of this machine's calibration and the caches they were fitted with, as they suit no others.

    Raises UsageError without a calibration, or if other `caches` were asked for.
    """
    from steelyard.history.calibrations import load_calibration

    calibration = load_calibration(world.facts().key, world.environment)
    if calibration is None:
        raise UsageError("--weights calibrated: this machine was not calibrated; run steelyard calibrate first")
    fitted = calibration.caches
    if options.is_given("caches") and _shapes(caches) != _shapes(fitted):
        raise UsageError(
            f"--weights calibrated were fitted with the caches {_caches_text(fitted)}, not with --caches "
            f"{options.caches}: leave --caches out, or run steelyard calibrate with the same --caches"
        )
    return calibration.weights, fitted


def _shapes(caches: Caches) -> tuple[tuple[int, int, int], ...]:
    return caches.i1, caches.d1, caches.ll


def _caches_text(caches: Caches) -> str:
    return ":".join(
        f"{name}={','.join(map(str, shape))}" for name, shape in zip(("I1", "D1", "LL"), _shapes(caches), strict=True)
    )


def _refuse_counting_options(options: Counting) -> None:
    given = {
        "--loops": options.loops is not None,
        "--call-graph": options.call_graph,
        "--body": options.body,
        "--after-start": options.after_start,
        "--jobs": options.jobs is not None,
        "--caches": options.is_given("caches"),
        "--weights": options.is_given("weights"),
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} applies to counting only: add --metric instructions or --metric cost")
