"""Pairs whose samples were taken in turn: their value is the centre of the ratios of neighbouring samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import PER_ITERATION
from steelyard.model.rows import Sample, has_order, judged_samples
from steelyard.stats.neighbours import centres_of_neighbours

# Below this a centre is the ratio of the medians, apart from rounding errors.
_ROUNDING = 1e-12


def pair_values(launches: Launches, positions: npt.NDArray[np.intp], metric: str) -> tuple[FloatArray, FloatArray]:
    """Return the values (baseline, candidate) that pairs are judged by; their launches are at `positions`, (pairs, 2).

    Whatever shows a pair's change takes it from here, so that it is the one of the verdict. Of times in lockstep,
    neighbouring samples decide: such pairs keep the geometric mean of their medians, and the centre becomes their
    ratio. A pair is in lockstep if all judged samples were taken in turn, as both sides say of each.
    """
    of_launches = launches.metric(metric)[positions]
    values = of_launches[:, 0], of_launches[:, 1]
    if metric not in PER_ITERATION or not launches.samples:
        return values
    tables: defaultdict[int, list[tuple[int, list[Sample], list[Sample]]]] = defaultdict(list)
    for pair, (first, second) in enumerate(positions):
        sides = launches.samples[first], launches.samples[second]
        if has_order(sides[0]) and has_order(sides[1]):
            baseline, candidate = map(judged_samples, sides)
            if _are_in_turn(baseline, candidate):
                tables[len(baseline)].append((pair, baseline, candidate))
    for rows in tables.values():
        values = _with_centres(values, rows, metric)
    return values


def _are_in_turn(baseline: Sequence[Sample], candidate: Sequence[Sample]) -> bool:
    orders = [(one.order, other.order) for one, other in zip(baseline, candidate, strict=False)]
    return len(baseline) == len(candidate) and all(order in ((0, 1), (1, 0)) for order in orders)


def _with_centres(
    values: tuple[FloatArray, FloatArray], rows: list[tuple[int, list[Sample], list[Sample]]], metric: str
) -> tuple[FloatArray, FloatArray]:
    pairs, baseline, candidate = zip(*rows, strict=True)
    order = np.array([[sample.order for sample in launch] for launch in baseline], dtype=np.intp)
    centres = centres_of_neighbours(_sample_times_ns(baseline, metric), _sample_times_ns(candidate, metric), order)
    places = np.array(pairs)
    medians = values[0][places], values[1][places]
    with np.errstate(invalid="ignore", divide="ignore"):
        shift = (centres - np.log(medians[1] / medians[0])) / 2
        shift[~(np.abs(shift) > _ROUNDING)] = 0.0  # where it is not known, too
    moved = values[0].copy(), values[1].copy()
    moved[0][places], moved[1][places] = medians[0] * np.exp(-shift), medians[1] * np.exp(shift)
    return moved


def _sample_times_ns(launches: Sequence[Sequence[Sample]], metric: str) -> FloatArray:
    return np.array([[sample.time_ns(metric) for sample in launch] for launch in launches], dtype=np.float64)
