"""The rule for verdicts, whatever the estimate and interval come from: adjacent pairs, two kept runs, or counts.

All changes are log-ratios, ln(candidate / baseline), so that swapping the sides mirrors the verdict.
"""

from __future__ import annotations

from math import inf, log1p
from typing import Final, Literal

from steelyard.stats.quantiles import NINE_IN_TEN

VerdictName = Literal["slower", "faster", "same", "undecided"]
CHANGED: Final = ("slower", "faster")

Interval = tuple[float, float]


def log_margin(margin: float) -> float:
    """The relative margin as a log-ratio: one bound for both directions."""
    return log1p(margin)


def log_ratio(change: float) -> float:
    """A relative change as a log-ratio; minus infinity where nothing is left."""
    return log1p(change) if change > -1 else -inf


def excludes_no_change(interval: Interval) -> bool:
    """Whether an interval lies wholly on one side of 0."""
    return interval[0] > 0 or interval[1] < 0


def verdict_of(estimate: float, interval: Interval, margin: float, *, is_change: bool | None = None) -> VerdictName:
    """Return the verdict of an estimate and its interval with the relative `margin`.

    A change has to be more than chance and at least as large as the margin; `same` has to hold for the whole interval.
    `is_change` says whether it is more than chance, where the interval alone does not decide that. Infinite ends decide
    nothing.
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
    """Return whether a slowdown is above the relative `limit`: `verdict_of` for this one side.

    A change is above it if it is more than chance (`is_change`, as one interval of several does not show it) and at
    least as large as the limit, and within it if the whole interval is no larger. A limit of 0 lets no certain slowdown
    pass.
    """
    bound = log1p(limit)
    if interval[1] <= bound:
        return "within"
    return "above" if is_change and estimate > 0 and estimate >= bound else "open"


def found_nine_times_in_ten(error: float, quantile: float, margin: float) -> float:
    """The smallest change (log-ratio) that would be called one 9 times out of 10.

    `error` is the standard error of the estimate, whose interval reaches `quantile` errors to either side. A change is
    called one if its interval excludes "no change" and its estimate reaches the margin.
    """
    excludes_none = (quantile + NINE_IN_TEN) * error
    reaches_margin = log_margin(margin) + NINE_IN_TEN * error
    return max(excludes_none, reaches_margin)
