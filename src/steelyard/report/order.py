"""The order in which the benchmarks of a suite are shown."""

from __future__ import annotations

import math
from typing import Final

from steelyard.model.derived import Derived, Verdict

BY_CHANGE, BY_NAME, BY_VERDICT = "change", "name", "verdict"
ORDERS: Final = (BY_CHANGE, BY_NAME, BY_VERDICT)
_WORST_FIRST = ("slower", "faster", "undecided", "same")


def sorted_by(derived: Derived, by: str) -> Derived:
    """Return derived data with the benchmarks reordered; all metrics of one stay together, and a control comes last.

    By `change`, the largest slowdown comes first and the largest gain last, in the metric that decides. By `verdict`,
    slower come first, then faster, undecided and same, each by decreasing change. Summaries are only sorted by name.
    """
    first: dict[int, Verdict] = {}
    for verdict in derived.verdicts:
        first.setdefault(verdict.index, verdict)

    def key(verdict: Verdict) -> tuple[bool, float, float, str]:
        first_verdict = first[verdict.index]
        change = first_verdict.change if first_verdict.change is not None else math.nan
        is_known = math.isfinite(change)
        if by == BY_CHANGE:
            return verdict.control, not is_known, -change if is_known else 0.0, ""
        if by == BY_VERDICT:
            return verdict.control, _WORST_FIRST.index(first_verdict.verdict), -abs(change) if is_known else 0.0, ""
        return verdict.control, 0.0, 0.0, first_verdict.benchmark

    summaries = sorted(derived.summaries, key=lambda summary: summary.benchmark) if by == BY_NAME else derived.summaries
    return derived.model_copy(update={"verdicts": sorted(derived.verdicts, key=key), "summaries": [*summaries]})


def can_sort(derived: Derived, by: str) -> bool:
    """Return whether there is anything to sort this way: only weighings have changes and verdicts."""
    return by == BY_NAME or bool(derived.verdicts) or not derived.summaries
