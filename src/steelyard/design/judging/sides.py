"""Whose launches a finding speaks of, in words."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.model.records import Run, Weighing
from steelyard.model.sides import SIDES
from steelyard.report.figures import whole_percent


def of_sides(record: Weighing | Run, sides: Collection[int]) -> str:
    """Return what follows a noun: ` of either side`, ` of the candidate`; empty if there is one version only."""
    if not isinstance(record, Weighing):
        return ""
    return " of either side" if len(sides) == 2 else f" of the {SIDES[next(iter(sides))]}"


def least_share(shares: Collection[float]) -> str:
    """Return a share that each side has at least: `40 %`, or `40 % or more` where they differ."""
    least, most = whole_percent(min(shares)), whole_percent(max(shares))
    return least if least == most else f"{least} or more"
