"""The level of one side or of a run: its median, and how much the launches vary about it, where that has a meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.report import figures

if TYPE_CHECKING:
    from steelyard.model.derived import Side, Summary

SEEN_ONCE = "seen once"


def level(side: Side, metric: str) -> str:
    """Write a median with its spread: `12.81 ms ± 0.3 %`."""
    median = figures.quantity(side.median, metric)
    if side.launches == 1:
        return f"{median}, {SEEN_ONCE}"
    return f"{median} ± {figures.percent(side.spread)}" if _is_relative(side) else median


def spread(part: Side | Summary) -> str:
    """Write how much the launches vary relative to their median, for a table cell."""
    if part.launches == 1:
        return SEEN_ONCE
    return figures.percent(part.spread) if _is_relative(part) else figures.NOT_KNOWN


def interval(summary: Summary) -> str:
    """Write the interval of a run's median, `[12.7 ms, 12.9 ms]`; empty if it is not known."""
    ends = [figures.quantity(end, summary.metric) for end in summary.interval or ()]
    return f"[{', '.join(ends)}]" if ends else ""


def variation_sentence(part: Side | Summary) -> str:
    """Say how much the launches vary; nothing is relative to a median of 0, so say what that means."""
    if part.launches == 1:
        return SEEN_ONCE
    return f"varies by {figures.percent(part.spread)}" if _is_relative(part) else "half of them or more are 0"


def _is_relative(part: Side | Summary) -> bool:
    """Return whether the spread, which is relative to the median, means anything."""
    from steelyard.model.derived import Summary  # already loaded by any caller that has one

    return part.median != 0 or (isinstance(part, Summary) and part.lowest == part.highest)
