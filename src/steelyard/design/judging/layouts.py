"""What several layouts of each side say beside the verdict: how they differ, and where measuring more would help."""

from __future__ import annotations

from math import exp, expm1, sqrt

import numpy as np
import numpy.typing as npt

from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.layouts import MOST_LAYOUTS, UNLIKE_BELOW, LayoutFacts, Level, VariancePart
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.records import Weighing
from steelyard.model.rows import judged_samples, times_ns
from steelyard.model.settings import Settings
from steelyard.report.figures import percent
from steelyard.stats.layouts import PAIRS_EACH, Averaged
from steelyard.stats.paired import Judgement, layouts_needed
from steelyard.stats.signed_rank import fewest_differences
from steelyard.stats.variance import Components, components, layouts_p_value

LEVELS: tuple[Level, Level, Level] = ("layout", "launch", "sample")
# A level with this share of the result's variance is where more of it helps most.
_DOMINANT_SHARE = 0.5
# So few layouts of a program with two speeds may all have the same one: with this many layouts, so many of 100
# intervals at an alpha of 1 % were wrong where pairs are quiet (benchmarks/layouts.py), with 4 layouts or more no more
# than one.
_WRONG_OF_TWO_SPEEDS = {2: 10, 3: 3}
# An interval beyond ten times as long bounds nothing.
_WIDEST_BOUND = 9.0


def layout_facts(
    record: Weighing, benchmark: int, d: FloatArray, metric: str, judgement: Judgement
) -> LayoutFacts | None:
    """Return what the pairs of a judgement, with differences d (n,), say of the layouts; None if there are none."""
    averaged, launches = judgement.averaged, record.launches
    if averaged is None:
        return None
    positions = launches.complete_pairs(benchmark)[: len(d)]
    layouts = np.asarray(launches.layout, dtype=np.int64)[positions[:, 0]]
    samples = _sample_log_ratios(launches, positions, metric) if launches.samples and metric in PER_ITERATION else None
    values = samples or [np.array([one]) for one in d]
    numbers = np.unique(layouts)
    are_apart = len(d) >= PAIRS_EACH * len(numbers)
    parts = components([[values[pair] for pair in np.flatnonzero(layouts == number)] for number in numbers])
    is_open = judgement.verdict == "undecided"
    needed = layouts_needed(judgement, record.settings.margin, MOST_LAYOUTS) if is_open else None
    return LayoutFacts(
        changes={int(number): expm1(centre) for number, centre in zip(numbers, averaged.centres, strict=True)},
        p_value=layouts_p_value(d, layouts) if are_apart else None,
        parts=_variance_parts(parts, with_samples=samples is not None) if are_apart else [],
        most=_dominant_level(parts, len(numbers), len(d), sum(map(len, values))) if are_apart else None,
        assumed_normal=not averaged.is_free,
        needed=needed,
    )


def layouts_finding(facts: LayoutFacts | None, judgement: Judgement, settings: Settings) -> Finding | None:
    """Return a finding on the layouts: what keeps them from a verdict, or what a verdict of few assumes."""
    if facts is None or judgement.averaged is None:
        return None
    if judgement.verdict == "undecided":
        return _few_layouts_finding(facts, judgement, judgement.averaged, settings)
    return _normal_layouts_finding(facts, judgement.averaged)


def _few_layouts_finding(
    facts: LayoutFacts, judgement: Judgement, averaged: Averaged, settings: Settings
) -> Finding | None:
    if facts.most != "layout" or len(facts.changes) < 2:
        return None
    number, width = len(facts.changes), exp(averaged.floor * (judgement.upper - judgement.lower) / 2) - 1
    remedy = f"about {facts.needed} layouts of each side would decide" if facts.needed else None
    differ = facts.p_value is not None and facts.p_value < UNLIKE_BELOW
    why = "the layouts differ by more than their pairs explain" if differ else f"{number} layouts tell little of others"
    reach = percent(width) if width < _WIDEST_BOUND else "any size"
    return Finding(
        code="few-layouts",
        message=f"{why}: with {number} of them the interval reaches {reach} to either side, however many pairs "
        "there are",
        remedy=remedy or f"no sensible number of layouts decides at a margin of {percent(settings.margin)}: raise it",
    )


def _normal_layouts_finding(facts: LayoutFacts, averaged: Averaged) -> Finding | None:
    if not facts.assumed_normal:
        return None
    number = len(facts.changes)
    wrong = _WRONG_OF_TWO_SPEEDS.get(number)
    unless = f"; of programs with two speeds {wrong} in 100 such ones are wrong at an alpha of 1 %" if wrong else ""
    return Finding(
        code="normal-layouts",
        message=f"{number} layouts are too few to do without an assumption: this interval takes their effects to be "
        f"roughly normal{unless}",
        remedy=f"from {fewest_differences(averaged.level)} on no assumption is needed",
    )


def _sample_log_ratios(launches: Launches, positions: npt.NDArray[np.intp], metric: str) -> list[FloatArray] | None:
    """Return for each pair the log-ratios of its samples, by their place in the launch; None if one lacks them."""
    log_ratios = []
    for pair in positions:
        times = [times_ns(judged_samples(launches.samples[place]), metric) for place in pair]
        with np.errstate(divide="ignore", invalid="ignore"):
            sides = [np.log(each) for each in times]
        if not all(len(side) and np.isfinite(side).all() for side in sides):
            return None
        length = min(map(len, sides))
        log_ratios.append(sides[1][:length] - sides[0][:length])
    return log_ratios


def _variance_parts(variances: Components, *, with_samples: bool) -> list[VariancePart]:
    rows = zip(LEVELS, variances, variances.shares(), strict=True)
    parts = [VariancePart(level=level, spread=expm1(sqrt(variance)), share=share) for level, variance, share in rows]
    return parts if with_samples else parts[:2]


def _dominant_level(variances: Components, layouts: int, pairs: int, samples: int) -> Level | None:
    """Return the level that has most of the variance of the result, if one clearly has."""
    of_result = [part / number for part, number in zip(variances, (layouts, pairs, samples), strict=True)]
    whole, largest = sum(of_result), max(range(3), key=of_result.__getitem__)
    return LEVELS[largest] if whole > 0 and of_result[largest] >= _DOMINANT_SHARE * whole else None
