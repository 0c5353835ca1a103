"""Compare the samples that two launches took in turn with their neighbours in time, as noise hits both alike."""

from __future__ import annotations

import numpy as np

from steelyard.stats.arrays import FloatArray, PlaceArray


def centres_of_neighbours(baseline: FloatArray, candidate: FloatArray, order: PlaceArray) -> FloatArray:
    """The centre of the log-ratios ln(candidate / baseline) of neighbouring samples, for each pair of launches.

    Both tables have times of shape (pairs, rounds); times not above 0 are left out, together with their neighbours.
    `order`, of the same shape, is 0 where the baseline's sample is the first of its round and 1 where it is the second.
    The centre is the median over the rounds. Where the sides alternate throughout, it is the mean of that and of the
    median over the last sample of each round and the first of the next: a drift enlarges the one by as much as it
    reduces the other. Shape (pairs,), NaN for a pair of which nothing is left. Exchanging the sides only changes the
    sign.
    """
    first, second = _logarithms(baseline), _logarithms(candidate)
    within = _medians(second - first)
    if baseline.shape[1] == 1:
        return within
    first_order = order[:, :1]
    across = np.where(first_order == 1, second[:, 1:] - first[:, :-1], second[:, :-1] - first[:, 1:])
    across[(order != first_order).any(axis=1)] = np.nan
    between = _medians(across)
    return np.where(np.isnan(between), within, (within + between) / 2)


def _logarithms(times: FloatArray) -> FloatArray:
    return np.log(np.where(times > 0, times, np.nan))


def _medians(rows: FloatArray) -> FloatArray:
    """Return the median of the known values of each row; numpy's own loops over the rows."""
    ordered = np.sort(rows, axis=1)  # NaN comes last
    known = np.isfinite(ordered).sum(axis=1)
    indices = np.arange(len(ordered))
    # In a row without known values, the first one is NaN.
    low, high = np.maximum(known - 1, 0) // 2, np.minimum(known // 2, rows.shape[1] - 1)
    return np.asarray((ordered[indices, low] + ordered[indices, high]) / 2)
