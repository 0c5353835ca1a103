"""How a quantity grows with the work requested: the constant part of a time, memory that grows, and trends.

All judgements use differences of logs of launches that ran next to each other in random order, and the interval of
`signed_rank`: something is shown if the whole interval lies beyond a threshold. So the level is the error for an effect
exactly at the threshold; where there is no effect at all, a wrong finding is far rarer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import expm1, log, log1p
from typing import Literal

import numpy as np
import numpy.typing as npt

from steelyard.stats import rank_sum
from steelyard.stats.arrays import FloatArray
from steelyard.stats.signed_rank import estimate

_LEAST_STEP_SHARE = 0.1

Shown = Literal["beyond", "perhaps", "within"]
_MOST_SHOWN_FIRST: tuple[Shown, ...] = ("beyond", "perhaps", "within")


@dataclass(frozen=True)
class Effect:
    """An effect and its threshold: `perhaps` if only the estimate lies beyond it, so that more launches may show it."""

    shown: Shown
    figure: float


def _effect(figure: float, *, surely: bool, probably: bool) -> Effect:
    """Return an effect whose whole interval, or at least its estimate, lies beyond the threshold."""
    return Effect("beyond" if surely else "perhaps" if probably else "within", figure)


def shift(differences: npt.ArrayLike, threshold: float, level: float) -> Effect:
    """Whether log-ratios show a relative change of more than the threshold, up or down; the figure is the change."""
    found = estimate(differences, level)
    limit = log1p(threshold)
    surely = found.lower > limit or found.upper < -limit
    return _effect(expm1(found.centre), surely=surely, probably=abs(found.centre) > limit)


def constant_share(log_ratios: npt.ArrayLike, threshold: float, level: float, times: float = 2) -> Effect:
    """What share of the time of a sample of N loops does not depend on N.

    The log-ratios are of the time per iteration, in samples of `times` as many loops over samples of N loops, in
    neighbouring launches. With t(N) = a + b N and k times the loops, a / t(N) = (k - t(kN) / t(N)) / (k - 1).
    """
    found = estimate(log_ratios, level)
    whole = times / (times - 1)
    limit, share = log1p(-threshold / whole), -expm1(found.centre) * whole
    return _effect(share, surely=found.upper < limit, probably=found.centre < limit)


def excess(log_ratios: npt.ArrayLike, threshold: float, level: float, times: float = 2) -> Effect:
    """How much longer an iteration takes in a sample of twice the loops, as when each is slower than the one before.

    The log-ratios are those of `constant_share`; if `times` is not 2, they are scaled as for a power of the loops.
    """
    found = estimate(np.asarray(log_ratios, dtype=np.float64) * (log(2) / log(times)), level)
    limit = log1p(threshold)
    return _effect(expm1(found.centre), surely=found.lower > limit, probably=found.centre > limit)


def rise(thirds: FloatArray, threshold: float, level: float) -> Effect:
    """Whether times rise from the beginning of a launch to its end; the figure is the relative rise.

    `thirds` has the times of the first, middle and last third of each launch, shape (launches, 3). Each launch is one
    value, however much its samples depend on each other. If a rise comes in one step, or comes to an end, one of the
    two steps between thirds has next to nothing of it. Any steady growth has more than a tenth in each; even a cube has
    two tenths.
    """
    found = estimate(np.log(thirds[:, 2] / thirds[:, 0]), level)
    steps = np.median(np.diff(thirds, axis=1) / thirds[:, :1], axis=0)
    limit, figure = log1p(threshold), expm1(found.centre)
    if found.centre <= limit or min(steps) < _LEAST_STEP_SHARE * sum(steps):
        return Effect("within", figure)
    return Effect("beyond" if found.lower > limit else "perhaps", figure)


@dataclass(frozen=True)
class Memory:
    """The memory of launches: after how many samples they ended, and the peak of each in bytes."""

    samples: int
    bytes: FloatArray


def memory(few: Memory, more: Memory, most: Memory, threshold_bytes: float, level: float) -> Effect:
    """Whether memory keeps growing with the samples; the figure is bytes a sample, over the last stretch.

    It must grow by more than the threshold from `few` to `most` samples, by a rank test, and at least half as fast from
    `more` to `most` as from `few` to `more`: growth that fills a cache, or awaits a collector, comes to an end.
    """
    grown = rank_sum.shift(few.bytes, most.bytes, level)
    before = float(np.median(more.bytes) - np.median(few.bytes)) / (more.samples - few.samples)
    after = float(np.median(most.bytes) - np.median(more.bytes)) / (most.samples - more.samples)
    goes_on = after > 0 and after >= before / 2
    surely, probably = (goes_on and grown_bytes > threshold_bytes for grown_bytes in (grown.lower, grown.centre))
    return _effect(max(after, 0.0), surely=surely, probably=probably)


def trend(
    values: npt.ArrayLike, blocks: int, threshold: float, level: float, beside: npt.ArrayLike | None = None
) -> Effect:
    """Whether values in order of time rise or fall from block to block, by Kendall's test on the blocks' minima.

    Other work that comes and goes within a block hardly affects its minimum. The figure is the change from the first
    third of the blocks to the last. A machine that gets slower all the time gives everything a trend: with values
    `beside` them, of constant work at the same times, a trend is shown only as far as these do not have it too.
    """
    lows = _block_lows(values, blocks)
    if lows is None:
        return Effect("within", 0.0)
    found = _trend_of(lows, threshold, level)
    others = None if beside is None else _block_lows(beside, blocks)
    if others is None:
        return found
    own = _trend_of(lows - others, threshold, level)
    if own.figure * found.figure <= 0:
        return replace(found, shown="within")
    return replace(found, shown=max(found.shown, own.shown, key=_MOST_SHOWN_FIRST.index))


def _block_lows(values: npt.ArrayLike, blocks: int) -> FloatArray | None:
    """The logs of the blocks' minima, shape (blocks,); None for too few values."""
    sample = np.log(np.asarray(values, dtype=np.float64))
    if len(sample) < 2 * blocks:
        return None
    return np.array([block.min() for block in np.array_split(sample, blocks)])


def _trend_of(lows: FloatArray, threshold: float, level: float) -> Effect:
    blocks = len(lows)
    rising = int(sum(np.sign(later - lows[i]) for i in range(blocks) for later in lows[i + 1 :]))
    third = max(1, blocks // 3)
    change = float(np.median(lows[-third:]) - np.median(lows[:third]))
    is_beyond = abs(change) > log1p(threshold)
    surely = is_beyond and 2 * _kendall_tail(blocks, abs(rising)) <= level
    return _effect(expm1(change), surely=surely, probably=is_beyond)


@lru_cache(maxsize=16)
def _kendall_tail(n: int, score: int) -> float:
    """P(S >= score) of Kendall's S under the null hypothesis, from the number of orders with so many inversions."""
    probabilities = np.ones(1)
    for size in range(2, n + 1):
        probabilities = np.convolve(probabilities, np.ones(size) / size)
    pairs = n * (n - 1) // 2
    inversions = (pairs - score) // 2
    return float(probabilities[: inversions + 1].sum()) if inversions >= 0 else 0.0
