"""How noisy each pair was, told from what the coin cannot touch: the sizes of the differences and the pairs' levels.

Noise comes in phases of seconds: a pair in a storm says little, and the rank of its large difference says much. The
scores made here give such pairs less weight. They may use the sizes |d - t|, the order of the pairs and the level of
each pair (the mean of its two logs), as a swap of a pair's two sides changes none of these: given them, under the
hypothesis of a change t, the signs are fair coins (`stats.sign_flip`), whatever the noise is like.

Shapes: n pairs in the order in which they ran; r hypotheses at once.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.stats.summary import row_medians

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# So many pairs before a pair and after it are in its phase.
_NEIGHBOURS = 4
# A feature's correlation with the sizes, times sqrt(n): noise reaches 1.5 now and then, and 3.5 next to never. Between
# them the feature counts in part. Calm weighings, whose features are noise, so pay nothing for it.
_NOISE, _CERTAIN = 1.5, 3.5
# Of the median size: a difference of 0 is not infinitely quiet.
_LEAST = 0.05
# Degrees of freedom of the Student's t whose score a difference gets: 3, unless another is clearly the better one.
_TAILS = np.array([3.0, 1.0, 10.0])[:, None, None]
# Keeps two features that are one from being told apart.
_RIDGE = 1e-2 * np.eye(2)
_TINY = 1e-300
# The median of |Student's t| with few degrees of freedom, about.
_MEDIAN_SIZE = 0.7
# Numbers at once: they and what comes of them stay in the processor's cache.
_AT_ONCE = 8192


def scores(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return each pair's score, shape (r, n), at least 0, for the sizes |d - t| (r, n) and the levels (n,).

    It is the score of Student's t at the pair's own scale: it grows with the size of the difference, falls again where
    that is far out of scale, and is divided by the scale.
    """
    rows = max(1, _AT_ONCE // sizes.shape[1])
    if len(sizes) <= rows:
        return _scores(sizes, levels)
    return np.concatenate([_scores(sizes[row : row + rows], levels) for row in range(0, len(sizes), rows)])


def _scores(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    scale = scales(sizes, levels)
    units = sizes / scale
    squares = np.square(units)
    # Of each tail, shape (tails, r, n): the scores, and the logarithm of how much they make of the pairs at hand.
    below = _TAILS + squares
    score = (_TAILS + 1) * units / below / scale
    slope = _summed((_TAILS + 1) * (_TAILS - squares) / np.square(below) / np.square(scale))
    efficacy = 2 * np.log(np.maximum(slope, _TINY)) - np.log(_summed(np.square(score)) + _TINY)
    efficacy[1:] -= 1 / np.sqrt(sizes.shape[1])  # by which noise alone may make another one better than the usual
    return np.asarray(score[np.argmax(efficacy, axis=0), np.arange(len(sizes))])


def scales(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the scale of each pair's noise, shape (r, n), which its size is to be like: sizes (r, n), levels (n,).

    A regression of the sizes' logarithms on those of the neighbours and on how far a pair's level is above the calm.
    """
    logs = np.log(sizes + _LEAST * row_medians(sizes)[:, None] + _TINY)
    features = np.empty((len(sizes), 2, sizes.shape[1]))
    features[:, 0] = _feature(_of_neighbours(logs))
    features[:, 1] = _excess(levels.tobytes())
    logs = _centred(logs)
    along = np.einsum("rfn,rn->rf", features, logs)
    correlation = along / (np.sqrt(_summed(np.square(logs)))[:, None] + 1e-12)
    trusted = ((correlation * np.sqrt(sizes.shape[1]) - _NOISE) / (_CERTAIN - _NOISE)).clip(0, 1)
    features *= (trusted > 0)[:, :, None]
    gram = np.einsum("rfn,rgn->rfg", features, features) + _RIDGE
    slopes = np.linalg.solve(gram, (along * (trusted > 0))[:, :, None])[:, :, 0] * trusted
    scale = np.exp(np.einsum("rfn,rf->rn", features, slopes))
    return np.asarray(scale * row_medians(sizes / scale)[:, None] / _MEDIAN_SIZE + 1e-12)


def _of_neighbours(values: FloatArray) -> FloatArray:
    """The mean of each value's neighbours, itself left out."""
    rows, n = values.shape
    sums = np.zeros((rows, n + 1))
    np.add.accumulate(values, axis=1, out=sums[:, 1:])
    first, end, many = _neighbours(n)
    return np.asarray((sums.take(end, axis=1) - sums.take(first, axis=1) - values) / many)


@lru_cache(maxsize=256)
def _neighbours(n: int) -> tuple[IntArray, IntArray, IntArray]:
    """Of each of n pairs the first of its neighbours, what is behind the last, and how many there are, (n,) each."""
    place = np.arange(n)
    first, end = np.maximum(0, place - _NEIGHBOURS), np.minimum(n, place + _NEIGHBOURS + 1)
    return first, end, np.maximum(1, end - first - 1)


@lru_cache(maxsize=64)
def _excess(of_levels: bytes) -> FloatArray:
    """How far a pair's level is above the calm (the lowest fifth), as a feature; small excesses are all alike.

    The same levels are asked for with every hypothesis.
    """
    levels = np.frombuffer(of_levels)
    above = np.maximum(levels - _quantile(np.sort(levels), 0.2), 0)
    logs = np.log(above + _quantile(np.sort(above), 0.75) + 1e-9)
    return np.asarray(_feature(logs[None, :])[0])


def _feature(values: FloatArray) -> FloatArray:
    """Centred, and of length 1."""
    centred = _centred(values)
    return np.asarray(centred / (np.sqrt(_summed(np.square(centred)))[:, None] + 1e-9))


def _quantile(ordered: FloatArray, share: float) -> float:
    """Do as `numpy.quantile`, in a tenth of its time for hundreds of values, as a look asks dozens of times."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def _centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - _summed(values)[:, None] / values.shape[1])


def _summed(values: FloatArray) -> FloatArray:
    """The sums over the pairs: numpy's functions of arrays take longer than their sums of dozens of numbers do."""
    return np.asarray(np.add.reduce(values, axis=-1))
