"""From counts to a verdict: the spread of equal inputs is the noise floor, and it is measured, not assumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log1p
from statistics import fmean, median
from typing import Literal

from steelyard.stats.verdict import VerdictName, excludes_no_change, verdict_of

Stability = Literal["exact", "stable", "noisy"]

# Counts of one program that are this close, relatively, are called stable.
STABLE_WITHIN = 1e-5
# How often each side is counted before it is known whether its counts repeat.
FIRST_COUNTS = 2


@dataclass(frozen=True)
class CountJudgement:
    """What the counts of two sides say. Changes are relative: +0.01 is 1 % more."""

    verdict: VerdictName
    is_change: bool
    """Whether the sides do not overlap, with enough counts of each for that not to be chance."""
    change: float
    interval: tuple[float, float]
    stability: Stability
    floor: float


def counts_needed(alpha: float) -> int:
    """How many counts a side are needed, where they do not repeat, for equal sides to fail to overlap only rarely.

    If both sides are alike, every order of 2k different counts is equally likely, and in 2 out of C(2k, k) cases all
    counts of one side lie beyond all of the other. Return the smallest k for which that is at most alpha.
    """
    counts = FIRST_COUNTS
    while 2 / comb(2 * counts, counts) > alpha:
        counts += 1
    return counts


def stability(baseline: Sequence[float], candidate: Sequence[float]) -> Stability:
    """How equal the counts of one side are; the worse side decides."""
    floor = max(spread(baseline), spread(candidate))
    if floor == 0:
        return "exact"
    return "stable" if floor <= STABLE_WITHIN else "noisy"


def spread(counts: Sequence[float]) -> float:
    """Range over median, or mean where the median is 0; 0 for counts that are all the same, and for none."""
    if not counts or max(counts) == min(counts):
        return 0.0
    return (max(counts) - min(counts)) / (median(counts) or fmean(counts))


def judge_counts(
    baseline: Sequence[float], candidate: Sequence[float], margin: float, alpha: float
) -> CountJudgement | None:
    """Judge the counts of both sides, shapes (k,), positive; None before there are two of each.

    If the counts of each side are equal, any change is real, and the interval is a point. Otherwise the interval
    reaches from the lowest candidate over the highest baseline to the highest candidate over the lowest baseline. It
    excludes "no change" only if the sides do not overlap, which is rare by chance with `counts_needed(alpha)` counts a
    side; with fewer nothing is decided.
    """
    if min(len(baseline), len(candidate)) < FIRST_COUNTS:
        return None
    kind = stability(baseline, candidate)
    estimate, lowest, highest = (
        (median(baseline), median(candidate)),
        (max(baseline), min(candidate)),
        (min(baseline), max(candidate)),
    )
    ends = (_log_ratio(*lowest), _log_ratio(*highest))
    has_enough = kind == "exact" or min(len(baseline), len(candidate)) >= counts_needed(alpha)
    verdict = verdict_of(_log_ratio(*estimate), ends, margin) if has_enough else "undecided"
    is_change = has_enough and excludes_no_change(ends)
    # With a single rounding, a change of exactly a gate's limit equals that limit.
    change, *interval = ((after - before) / before for before, after in (estimate, lowest, highest))
    floor = max(spread(baseline), spread(candidate))
    return CountJudgement(verdict, is_change, change, (interval[0], interval[1]), kind, floor)


def _log_ratio(baseline: float, candidate: float) -> float:
    """ln(candidate / baseline), from the exact difference: a change of exactly the margin is not rounded below it."""
    if candidate < baseline:
        return -_log_ratio(candidate, baseline)
    return log1p((candidate - baseline) / baseline)
