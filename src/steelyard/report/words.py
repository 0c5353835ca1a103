"""How much faster or slower, in everyday words beside the percentage.

"Times faster" is read in two ways, and so is "times slower": 2 times faster is twice as fast to some, and three times
as fast to others. So this module says how many times as fast something faster is, and how many times as long something
slower takes: both numbers are above 1, and neither can be misread.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.model.metrics import METRICS
from steelyard.report import figures

if TYPE_CHECKING:
    from steelyard.model.derived import Verdict

# Below this a percentage says more: `+1.2 %` is plainer than `1.01 times as long`.
_SMALLEST_SPEED_CHANGE = 0.05
# From this ratio on, a percentage no longer shows how large a saving is: -90 % is 10 times as fast.
LARGE_RATIO = 2.0


def speed(change: float | None, metric: str) -> str | None:
    """Write a relative change as `1.25 times as fast` or `1.08 times as long`; None where a percentage says more.

    A metric that is not how long it takes is written as `3.02 times as much`, if it at least doubled or halved.
    """
    if change is None or not math.isfinite(change) or change <= -1:
        return None
    ratio = 1 + change
    if not is_duration(metric):
        return f"{times_text(ratio)} as much" if is_large(change) else None
    if abs(change) < _SMALLEST_SPEED_CHANGE:
        return None
    return f"{times_text(ratio)} as long" if ratio > 1 else f"{times_text(1 / ratio)} as fast"


def speed_of(verdict: Verdict) -> str | None:
    """Write the change of a verdict as `speed` does; None if it is none of a change."""
    from steelyard.stats.verdict import CHANGED  # imports numpy, which sentences alone do without

    return speed(verdict.change, verdict.metric) if verdict.verdict in CHANGED else None


def is_time(metric: str) -> bool:
    """Return whether a metric is a time."""
    return metric in METRICS and METRICS[metric].unit == "ns"


def is_duration(metric: str) -> bool:
    """Return whether a metric is how long a launch takes: less of another time, such as sys, need not be faster."""
    return metric in ("active", "wall")


def is_large(change: float) -> bool:
    """Return whether something at least doubled or halved."""
    return not 1 / LARGE_RATIO < 1 + change < LARGE_RATIO


def times_text(ratio: float) -> str:
    """Write a ratio: `1.08 times`, `12.3 times`, `1,204 times`."""
    return f"{ratio_text(ratio)} times"


def ratio_text(ratio: float) -> str:
    """Write a ratio with three digits; below 10, two of them are decimals."""
    if ratio < 0.995:
        return f"{ratio:.3g}"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:,.0f}"


def needs_text(change: float, interval: tuple[float, float] | None, metric: str, other: str) -> str:
    """Say what a subject needs compared with another: `needs 8.00 % more time than A: 1.08 times as long`.

    Large changes are told in words alone, with their interval.
    """
    speed_text = speed(change, metric)
    what = "time" if is_duration(metric) else f"{metric} time" if is_time(metric) else metric
    if speed_text is None or not is_large(change):
        amount = f"{figures.extent(change)} {_more_or_less(change, metric)} {what}"
        return f"needs {amount} than {other}" + (f": {speed_text}" if speed_text else "")
    bounds = _bounds(change, interval, metric)
    if not is_duration(metric):
        return f"needs {times_text(1 + change)} the {what} of {other}{bounds}"
    return f"{'takes' if change > 0 else 'is'} {speed_text} as {other}{bounds}"


def _more_or_less(change: float, metric: str) -> str:
    if change > 0:
        return "more"
    is_count = metric in METRICS and METRICS[metric].unit == "count"
    return "fewer" if is_count and metric != "cost" else "less"


def _bounds(change: float, interval: tuple[float, float] | None, metric: str) -> str:
    if interval is None or interval[0] == interval[1]:
        return ""
    ends = [1 + end for end in interval]
    if is_duration(metric) and change < 0:
        ends = [1 / end if end > 0 else math.inf for end in reversed(ends)]
    return f" [{', '.join(ratio_text(end) if math.isfinite(end) else 'inf' for end in ends)}]"
