"""The weights of a calibration: fitted to its points, and how well a cost follows the times with them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

import numpy as np

from steelyard.model.calibration import Fit, PatternFit, Point
from steelyard.model.counting import Weights
from steelyard.model.errors import MeasurementError
from steelyard.model.grouping import grouped
from steelyard.stats.least_squares import non_negative, pearson


def fit_patterns(points: Sequence[Point]) -> tuple[Fit, list[PatternFit]]:
    """Return the weights fitted to all points, and each pattern's own with the correlations of every cost."""
    fit = fit_of(points)
    weights = weights_of(fit)
    patterns = []
    for pattern, own_points in grouped(points, lambda point: point.pattern).items():
        own_fit = fit_of(own_points)
        patterns.append(
            PatternFit(
                pattern=pattern,
                fit=own_fit,
                by_default=correlation(own_points, Weights()),
                by_calibrated=correlation(own_points, weights),
                by_own=pearson(
                    [own_fit.predicted_ns(point) for point in own_points], [point.ns for point in own_points]
                ),
            )
        )
    return fit, patterns


def fit_of(points: Sequence[Point]) -> Fit:
    """Return how long a hit of each level takes, by least squares of the relative errors, none of them below 0.

    Relative, because the times of a sweep span two orders of magnitude: absolute errors would fit only its top.
    """
    rows = np.array([(point.l1, point.ll, point.ram) for point in points])
    times = np.array([point.ns for point in points])
    l1, ll, ram = map(float, non_negative(rows / times[:, None], np.ones(len(times))))
    weights = Weights(name="calibrated", l1=1, ll=ll / l1, ram=ram / l1) if l1 > 0 else None
    return Fit(l1_ns=l1, ll_ns=ll, ram_ns=ram, weights=weights)


def fit_error(points: Sequence[Point]) -> float:
    """Return by how much the fit to the points is off: root mean square of predicted / measured - 1."""
    fit = fit_of(points)
    return math.sqrt(statistics.fmean((fit.predicted_ns(point) / point.ns - 1) ** 2 for point in points))


def weights_of(fit: Fit) -> Weights:
    """Return the weights of a fit; raises MeasurementError if it has none."""
    if fit.weights is None:
        raise MeasurementError(
            "no weights fit these times: hits of the first level would take none. This machine was too busy; wait "
            "until it is quiet, or give more --launches"
        )
    return fit.weights


def correlation(points: Iterable[Point], weights: Weights) -> float | None:
    """Return Pearson's correlation of the cost at some weights with the CPU time; None if either does not vary."""
    pairs = [(weights.l1 * one.l1 + weights.ll * one.ll + weights.ram * one.ram, one.ns) for one in points]
    return pearson([cost for cost, _ in pairs], [ns for _, ns in pairs])
