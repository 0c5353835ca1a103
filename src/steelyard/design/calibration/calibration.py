"""Calibration: probes whose use of the caches is known, timed and counted here, and weights fitted to both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import steelyard
from steelyard.design.calibration.fit import fit_error, fit_patterns, weights_of
from steelyard.design.calibration.instruments import instruments
from steelyard.design.calibration.measuring import measure
from steelyard.design.calibration.results import Results
from steelyard.design.calibration.sweep import sweep
from steelyard.design.runner.failure import Interrupted
from steelyard.design.world import World
from steelyard.history import calibrations
from steelyard.measure.count.valgrind import caches_named, host_caches, last_levels_below
from steelyard.model.calibration import Calibration, CountedPoints, InterruptedCalibration, LastLevel
from steelyard.model.counting import Caches
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError
from steelyard.model.progress import Watch

# The machine's own caches, with as much of the last level as explains the times best.
FITTING_CACHES = "fit"


@dataclass(frozen=True)
class KeptCalibration:
    """A calibration, or what was measured for one that ended early; and its file in the user's store."""

    record: Calibration | InterruptedCalibration
    path: Path
    failure: MeasurementError | None = None
    """What ended it early; None if the user did, or if it is whole."""


def calibrate(
    world: World,
    watch: Watch,
    *,
    repeats: int,
    jobs: int | None = None,
    caches: str = FITTING_CACHES,
) -> KeptCalibration:
    """Time and count the probes on this machine, fit the weights and keep them; about two minutes on two processors.

    `jobs` launches are counted at once, by default one per processor. `caches` are the simulated ones, as
    `caches_named` takes them, or FITTING_CACHES: a machine that shares the last level with others, as virtual ones do,
    gets less of it than it says. What fails after something was measured, even the fit to times that are too noisy, is
    the `failure` beside what was measured. Raises InterruptedBeforeStart if the user stops it before that;
    MeasurementError if Valgrind or the probes are missing, or the first of them fails; UsageError for a machine that
    does not tell its caches.
    """
    started, seed = world.clock(), world.new_seed()
    valgrind, facts = world.valgrind(world.search_path), world.facts()
    candidates = _candidates(caches, facts.caches)
    results = Results(sweep(candidates[0], facts.memory_bytes))

    def fields() -> dict[str, Any]:
        return {
            "tool": steelyard.__version__,
            "created": world.created(),
            "machine": facts.key,
            "processor": facts.cpu_model,
            "valgrind": valgrind.version,
            "repeats": repeats,
            "seed": seed,
            "seconds": world.clock() - started,
        }

    with instruments(valgrind, world, jobs=jobs or len(world.processors()), watch=watch) as tools:
        try:
            measure(results, candidates, tools, repeats=repeats, seed=seed)
            calibration = _calibration(results, fields())
            return KeptCalibration(calibration, calibrations.store(calibration, world.environment))
        except (Interrupted, KeyboardInterrupt):  # after one Ctrl-C, or two
            record, failure = _interrupted_calibration(results, fields()), None
        except MeasurementError as error:
            record, failure = _interrupted_calibration(results, fields()), error
        if record.measurements() == 0:
            raise failure or InterruptedBeforeStart
        return KeptCalibration(record, calibrations.store_interrupted(record, world.environment), failure)


def _candidates(word: str, host: dict[str, str]) -> list[Caches]:
    if word != FITTING_CACHES:
        return [caches_named(word, host, also=(FITTING_CACHES,))]
    own = host_caches(host)
    return [own.model_copy(update={"name": FITTING_CACHES, "ll": level}) for level in (own.ll, *last_levels_below(own))]


def _calibration(results: Results, fields: Mapping[str, Any]) -> Calibration:
    """Return the weights that fit best, with the caches with which they do."""
    tried = [(caches, results.points(number)) for number, (caches, _) in enumerate(results.counts)]
    last_levels = [LastLevel(size_bytes=caches.ll[0], error=fit_error(points)) for caches, points in tried]
    simulated, points = min(zip(tried, last_levels, strict=True), key=lambda each: each[1].error)[0]
    fit, patterns = fit_patterns(points)
    return Calibration(
        **fields,
        caches=simulated,
        last_levels=last_levels,
        points=points,
        fit=fit,
        weights=weights_of(fit),
        patterns=patterns,
    )


def _interrupted_calibration(results: Results, fields: Mapping[str, Any]) -> InterruptedCalibration:
    """Return what was measured, even if that is nothing."""
    counted = [
        CountedPoints(caches=caches, points=results.points(number)) for number, (caches, _) in enumerate(results.counts)
    ]
    known = {(point.pattern, point.elements) for each in counted for point in each.points}
    times = [each for each in results.timed() if (each.pattern, each.elements) not in known]
    return InterruptedCalibration(**fields, counted=[each for each in counted if each.points], times=times)
