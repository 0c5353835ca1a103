"""The verdict's rule, whatever an estimate and its interval rest on: adjacent pairs, two kept runs, or counts.

All changes are log-ratios, ln(candidate / baseline), so that swapping the sides mirrors the verdict.
"""

from __future__ import annotations

from math import log1p
from typing import Final, Literal

from steelyard.stats.quantiles import NINE_IN_TEN

VerdictName = Literal["slower", "faster", "same", "undecided"]
CHANGED: Final = ("slower", "faster")

Interval = tuple[float, float]


def log_margin(margin: float) -> float:
    """The relative margin as a log-ratio: one bound for both directions."""
    return log1p(margin)


def excludes_no_change(interval: Interval) -> bool:
    """Whether an interval lies wholly on one side of 0."""
    return interval[0] > 0 or interval[1] < 0


def verdict_of(estimate: float, interval: Interval, margin: float, *, is_change: bool | None = None) -> VerdictName:
    """What an estimate and its interval say, against the relative `margin`.

    A change has to be excluded from chance and at least as large as the margin; `same` has to hold for the whole
    interval. `is_change` tells whether chance is excluded, if that is for more than the interval to say. Infinite ends
    decide nothing.
    """
    bound = log_margin(margin)
    if excludes_no_change(interval) if is_change is None else is_change:
        if estimate >= bound:
            return "slower"
        if estimate <= -bound:
            return "faster"
    if -bound < interval[0] and interval[1] < bound:
        return "same"
    return "undecided"


def against_limit(
    estimate: float, interval: Interval, limit: float, *, is_change: bool
) -> Literal["above", "within", "open"]:
    """Whether a slowdown is above the relative `limit`, as `verdict_of` has it for a margin, on that one side.

    Above it is a change that is excluded from chance (`is_change`, which one interval of several does not tell) and
    larger than the limit; within it what the interval shows to be no larger. A limit of 0 lets no sure slowdown pass.
    """
    bound = log1p(limit)
    if interval[1] <= bound:
        return "within"
    return "above" if is_change and estimate > 0 and estimate >= bound else "open"


def found_nine_times_in_ten(error: float, quantile: float, margin: float) -> float:
    """The smallest change (log-ratio) that would be called one 9 times out of 10.

    `error` is the standard error of the estimate, and its interval reaches `quantile` errors to either side: what is
    found excludes "no change" and reaches the margin.
    """
    excludes_none = (quantile + NINE_IN_TEN) * error
    reaches_margin = log_margin(margin) + NINE_IN_TEN * error
    return max(excludes_none, reaches_margin)
