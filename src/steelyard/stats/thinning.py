"""Choose which values of a long series to draw, so that its chart looks as if all were drawn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import PlaceArray


def extremes(values: npt.ArrayLike, most: int) -> PlaceArray:
    """Places of at most `most` >= 4 of the values, shape (n,): the lowest and the highest of each stretch, in order.

    A stretch is what a column of pixels would show, so no outlier is lost. The first and the last value are always
    included; NaN is neither low nor high, and a stretch of NaN alone is left out.
    """
    sample = np.asarray(values, dtype=np.float64)
    if len(sample) <= most:
        return np.arange(len(sample))
    edges = np.linspace(0, len(sample), max(1, (most - 2) // 2) + 1).astype(np.intp)
    width = int(np.diff(edges).max())
    places = np.minimum(edges[:-1, None] + np.arange(width), np.maximum(edges[1:, None] - 1, 0))
    table = sample[places]
    unknown = np.isnan(table)
    rows = np.arange(len(table))
    low = places[rows, np.where(unknown, np.inf, table).argmin(axis=1)]
    high = places[rows, np.where(unknown, -np.inf, table).argmax(axis=1)]
    known = ~unknown.all(axis=1)
    return np.unique(np.concatenate([[0], low[known], high[known], [len(sample) - 1]]))


def scattered(values: npt.ArrayLike, most: int) -> PlaceArray:
    """Places of at most `most` >= 8 of the values, shape (n,), in order, each to be drawn as a point.

    Half of them are extremes; alone they would leave a hole where most values lie, which the other half fills.
    """
    count = np.size(values)
    if count <= most:
        return np.arange(count)
    return np.unique(np.concatenate([extremes(values, most // 2), evenly_spaced(count, most // 2)]))


def evenly_spaced(count: int, most: int) -> PlaceArray:
    """Places of at most `most` >= 2 of `count` values, evenly apart, the first and the last among them."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, most).round().astype(np.intp))
