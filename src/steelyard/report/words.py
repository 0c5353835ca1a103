"""How much faster or slower in the words that people use, beside the percentage.

"Times faster" is read in two ways, and so is "times slower": 2 times faster is twice as fast to some, and three times
to others. Of what is faster it is said here how many times as fast it is, of what is slower how many times as long it
takes: both are numbers above 1, and neither can be read otherwise.
"""

from __future__ import annotations

import math

from steelyard.model.metrics import METRICS
from steelyard.report import figures

# Below this a percentage says more: of +1.2 % and "1.01 times as long" the first is the plainer one.
_FROM = 0.05
# From here on the percentage of a time saved no longer tells how large the difference is: -90 % is 10 times as fast.
LARGE = 2.0


def speed(change: float | None, metric: str) -> str | None:
    """Write a relative change as `1.25 times as fast` or `1.08 times as long`; None where a percentage says more.

    Of what is no time, as `3.02 times as much`, from twice as much on (or half of it).
    """
    if change is None or not math.isfinite(change) or change <= -1:
        return None
    ratio = 1 + change
    if not is_time(metric):
        return f"{times(ratio)} as much" if is_large(change) else None
    if abs(change) < _FROM:
        return None
    return f"{times(ratio)} as long" if ratio > 1 else f"{times(1 / ratio)} as fast"


def is_time(metric: str) -> bool:
    """Whether a metric is a time, of which less is faster."""
    return metric in METRICS and METRICS[metric].unit == "ns"


def is_large(change: float) -> bool:
    """Whether it is at least twice as much, or half of it."""
    return not 1 / LARGE < 1 + change < LARGE


def times(ratio: float) -> str:
    """Write a ratio: `1.08 times`, `12.3 times`, `1,204 times`."""
    return f"{number(ratio)} times"


def number(ratio: float) -> str:
    """Write a ratio with three digits, two of them behind the point of what is below 10."""
    if ratio < 0.995:
        return f"{ratio:.3g}"
    return f"{ratio:.2f}" if ratio < 9.995 else f"{ratio:.1f}" if ratio < 99.95 else f"{ratio:,.0f}"


def needs(change: float, interval: tuple[float, float] | None, metric: str, than: str) -> str:
    """Say what a subject needs compared with another: `needs 8.00 % more time than A: 1.08 times as long`.

    Large changes are told by the words alone, with their interval.
    """
    said = speed(change, metric)
    if said is None or not is_large(change):
        amount = f"{figures.extent(change)} {_more_or_less(change, metric)} {'time' if is_time(metric) else metric}"
        return f"needs {amount} than {than}" + (f": {said}" if said else "")
    bounds = _bounds(change, interval, metric)
    if not is_time(metric):
        return f"needs {times(1 + change)} the {metric} of {than}{bounds}"
    return f"{'takes' if change > 0 else 'is'} {said} as {than}{bounds}"


def _more_or_less(change: float, metric: str) -> str:
    if change > 0:
        return "more"
    is_count = metric in METRICS and METRICS[metric].unit == "count"
    return "fewer" if is_count and metric != "cost" else "less"


def _bounds(change: float, interval: tuple[float, float] | None, metric: str) -> str:
    if interval is None or interval[0] == interval[1]:
        return ""
    ends = [1 + end for end in interval]
    if is_time(metric) and change < 0:
        ends = [1 / end if end > 0 else math.inf for end in reversed(ends)]
    return f" [{', '.join(number(end) if math.isfinite(end) else 'inf' for end in ends)}]"
