"""The views of `show`, by the names of their options."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from steelyard.model.derived import Derived
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.report.sheet import Sheet
from steelyard.report.views import HIST, PAIRS, RUNS, histogram, launches, pairs
from steelyard.report.views.series import Series, series_to_draw


def series_of_views(
    record: Weighing | Run | ForeignResults, derived: Derived, views: Sequence[str], patterns: Sequence[str]
) -> list[Series]:
    """Return what these views, one or more, show; raise UsageError if one of them does not apply."""
    for view in views:
        if view == PAIRS and not isinstance(record, Weighing):
            kind_of_record = "an import" if isinstance(record, ForeignResults) else "a run"
            raise UsageError(
                f"--pairs shows the pairs of a weighing, and {kind_of_record} has none: choose --hist or --runs"
            )
    return series_to_draw(record, derived, [*patterns], views[0])


def show(
    console: Console,
    record: Weighing | Run | ForeignResults,
    series: Sequence[Series],
    views: Sequence[str],
) -> None:
    """Print the requested views, one below the other."""
    sheet = Sheet(console)
    for place, view in enumerate(views):
        if place:
            sheet.blank()
        if view == HIST:
            histogram.show(sheet, series)
        elif isinstance(record, ForeignResults):
            launches.show_foreign(sheet, record, series)
        elif view == RUNS:
            launches.show(sheet, record, series)
        elif isinstance(record, Weighing):
            pairs.show(sheet, record, series)
