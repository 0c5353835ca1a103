"""Whether disturbances fall on the launches of one side more often than chance explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.stats.arrays import BoolArray


@dataclass(frozen=True)
class Leaning:
    """The share of each side's launches that was disturbed, and the p-value of shares so uneven."""

    baseline: float
    candidate: float
    p_value: float


def leaning(disturbed: BoolArray, candidate_time: float) -> Leaning:
    """Run a sign test of which side was disturbed, over the pairs in which exactly one launch was.

    `disturbed` has shape (pairs, 2), pairs >= 1. Where nothing changed, the coin makes either side equally likely. A
    side that runs for more of a pair's time meets more of what goes on around it, so the candidate's share of that
    time, `candidate_time`, has to be rejected as an explanation as well.
    """
    baseline, candidate = disturbed.T
    hits, total = int((candidate & ~baseline).sum()), int((candidate ^ baseline).sum())
    p_value = max(binomial_p(hits, total, share) for share in (0.5, candidate_time))
    return Leaning(float(baseline.mean()), float(candidate.mean()), p_value)


def binomial_p(hits: int, total: int, share: float) -> float:
    """Two-sided p-value of `hits` out of `total`, of chance `share` each, 0 < share < 1: twice the smaller tail."""
    steps = np.arange(total)
    odds = np.log((total - steps) / (steps + 1.0)) + np.log(share / (1 - share))
    logs = np.concatenate([[0.0], np.cumsum(odds)])
    chances = np.exp(logs - logs.max())
    tail = min(chances[: hits + 1].sum(), chances[hits:].sum()) / chances.sum()
    return min(1.0, 2 * float(tail))
