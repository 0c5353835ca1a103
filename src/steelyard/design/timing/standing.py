"""How a benchmark stands while it is weighed, for whoever watches."""

from __future__ import annotations

from math import expm1, isfinite

from steelyard.model.progress import Member
from steelyard.model.records import StopReason
from steelyard.stats.paired import Judgement


def known(judgement: Judgement | None) -> tuple[float | None, tuple[float, float] | None]:
    """(change, interval) of the last look, relative; None before there is an interval."""
    if judgement is None or not isfinite(judgement.estimate.lower):
        return None, None
    return expm1(judgement.estimate.centre), (expm1(judgement.lower), expm1(judgement.upper))


def member(name: str, pairs: int, judgement: Judgement | None, stop: StopReason | None, *, is_next: bool) -> Member:
    """One benchmark of several: one that stopped without a verdict is undecided."""
    change, interval = known(judgement)
    word = "failed" if stop == "failed" else judgement.verdict if judgement is not None else "undecided"
    return Member(name, None if stop is None else word, pairs, change, interval, is_next)
