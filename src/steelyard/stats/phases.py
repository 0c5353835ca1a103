"""How noisy each pair was, told from what the coin cannot touch: the sizes of the differences and the pairs' levels.

Noise comes in phases of seconds: a pair in a storm says little, and the rank of its large difference says much. The
scores made here give such pairs less weight. They may use the sizes |d - t|, the order of the pairs and the level of
each pair (the mean of its two logs), as a swap of a pair's two sides changes none of these: given them, under the
hypothesis of a change t, the signs are fair coins (`stats.sign_flip`), whatever the noise is like.

Shapes: n pairs in the order in which they ran; r hypotheses at once.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

# So many pairs before a pair and after it are in its phase.
_NEIGHBOURS = 4
# A feature's correlation with the sizes, times sqrt(n): noise reaches 1.5 now and then, and 3.5 next to never. Between
# them the feature counts in part. Calm weighings, whose features are noise, so pay nothing for it.
_NOISE, _CERTAIN = 1.5, 3.5
# Of the median size: a difference of 0 is not infinitely quiet.
_LEAST = 0.05
# Degrees of freedom of the Student's t whose score a difference gets: 3, unless another is clearly the better one.
_USUAL_TAIL, _OTHER_TAILS = 3.0, (1.0, 10.0)
_TINY = 1e-300
# The median of |Student's t| with few degrees of freedom, about.
_MEDIAN_SIZE = 0.7


def scores(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return each pair's score, shape (r, n), at least 0, for the sizes |d - t| (r, n) and the levels (n,).

    It is the score of Student's t at the pair's own scale: it grows with the size of the difference, falls again where
    that is far out of scale, and is divided by the scale.
    """
    scale = scales(sizes, levels)
    units = sizes / scale
    best, efficacy = _student(units, scale, _USUAL_TAIL)
    slack = 1 / np.sqrt(sizes.shape[1])  # of the logarithm of an efficacy, by which noise alone may be better
    for tail in _OTHER_TAILS:
        other, its_efficacy = _student(units, scale, tail)
        better = its_efficacy - slack > efficacy
        best = np.where(better[:, None], other, best)
        efficacy = np.where(better, its_efficacy - slack, efficacy)
    return best


def scales(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return the scale of each pair's noise, shape (r, n), which its size is to be like: sizes (r, n), levels (n,).

    A regression of the sizes' logarithms on those of the neighbours and on how far a pair's level is above the calm.
    """
    logs = np.log(sizes + _LEAST * np.median(sizes, axis=1, keepdims=True) + _TINY)
    excess = np.broadcast_to(_excess(levels), logs.shape)
    features = np.stack([_centred(_of_neighbours(logs)), _centred(excess)], axis=1)
    features /= np.sqrt((features**2).sum(axis=2, keepdims=True)) + 1e-9
    logs = _centred(logs)
    along = np.einsum("rfn,rn->rf", features, logs)
    correlation = along / (np.sqrt((logs**2).sum(axis=1, keepdims=True)) + 1e-12)
    trusted = np.clip((correlation * np.sqrt(sizes.shape[1]) - _NOISE) / (_CERTAIN - _NOISE), 0, 1)
    features *= (trusted > 0)[:, :, None]
    gram = np.einsum("rfn,rgn->rfg", features, features) + 1e-2 * np.eye(2)
    slopes = np.linalg.solve(gram, (along * (trusted > 0))[:, :, None])[:, :, 0] * trusted
    scale = np.exp(np.einsum("rfn,rf->rn", features, slopes))
    return np.asarray(scale * np.median(sizes / scale, axis=1, keepdims=True) / _MEDIAN_SIZE + 1e-12)


def _student(units: FloatArray, scale: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
    """Scores (r, n), and the logarithm of their efficacy (r,): how much they make of the pairs at hand."""
    below = tail + units**2
    score = (tail + 1) * units / below / scale
    slope = ((tail + 1) * (tail - units**2) / below**2 / scale**2).sum(axis=1)
    efficacy = 2 * np.log(np.maximum(slope, _TINY)) - np.log((score**2).sum(axis=1) + _TINY)
    return score, efficacy


def _of_neighbours(values: FloatArray) -> FloatArray:
    """The mean of each value's neighbours, itself left out."""
    rows, n = values.shape
    sums = np.concatenate([np.zeros((rows, 1)), values.cumsum(axis=1)], axis=1)
    place = np.arange(n)
    first, end = np.maximum(0, place - _NEIGHBOURS), np.minimum(n, place + _NEIGHBOURS + 1)
    return np.asarray((sums[:, end] - sums[:, first] - values) / np.maximum(1, end - first - 1))


def _excess(levels: FloatArray) -> FloatArray:
    """How far a pair's level is above the calm (the lowest fifth), as a logarithm; small excesses are all alike."""
    above = np.maximum(levels - _quantile(np.sort(levels), 0.2), 0)
    return np.asarray(np.log(above + _quantile(np.sort(above), 0.75) + 1e-9))


def _quantile(ordered: FloatArray, share: float) -> float:
    """Do as `numpy.quantile`, in a tenth of its time for hundreds of values, as a look asks dozens of times."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (place - below))


def _centred(values: FloatArray) -> FloatArray:
    return np.asarray(values - values.mean(axis=1, keepdims=True))
