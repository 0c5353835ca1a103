"""Whether what disturbs the launches of two sides falls on one of them more than chance explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Leaning:
    """Which share of each side's launches was disturbed (baseline, candidate), and how likely so uneven a one is."""

    baseline: float
    candidate: float
    p_value: float


def leaning(disturbed: npt.NDArray[np.bool_], candidate_time: float) -> Leaning:
    """The sign test of which side was the disturbed one, over the pairs in which one was and the other was not.

    `disturbed` has shape (pairs, 2), pairs >= 1. The coin makes either side as likely where nothing changed. A side
    that runs for a longer part of a pair's time meets more of what is around it, so the candidate's share of that,
    `candidate_time`, has to be excluded as well.
    """
    baseline, candidate = disturbed.T
    hits, of = int((candidate & ~baseline).sum()), int((candidate ^ baseline).sum())
    p_value = max(binomial_p(hits, of, share) for share in (0.5, candidate_time))
    return Leaning(float(baseline.mean()), float(candidate.mean()), p_value)


def binomial_p(hits: int, of: int, share: float) -> float:
    """Two-sided p-value of so many hits, each with the chance `share` (0 < share < 1): twice the smaller tail."""
    steps = np.arange(of)
    odds = np.log((of - steps) / (steps + 1.0)) + np.log(share / (1 - share))
    logs = np.concatenate([[0.0], np.cumsum(odds)])
    chances = np.exp(logs - logs.max())
    tail = min(chances[: hits + 1].sum(), chances[hits:].sum()) / chances.sum()
    return min(1.0, 2 * float(tail))
