"""From files of any kind to one page: each is read, judged anew, and becomes a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from steelyard import __version__
from steelyard.design.judging.look_back import look_back
from steelyard.design.outcome import judged
from steelyard.design.unpaired.foreign import levels
from steelyard.model.documents import Document, load_document
from steelyard.model.errors import SteelyardError
from steelyard.model.foreign import ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.report.page import budget, runs, weighings
from steelyard.report.page.page import document
from steelyard.report.page.parts import Part


def page_of(paths: Sequence[Path], now: datetime, *, diff: bool = False) -> str:
    """The page of some files; raises UsageError for one that cannot be read, naming it."""
    documents = [load_document(path) for path in paths]
    rows = sum(_rows(each) for each in documents)
    room = budget.of_rows(rows)
    parts = [_part(each, room, f"{number}") for number, each in enumerate(documents, start=1)]
    return document(parts, f"Made by Steelyard {__version__} on {now:%Y-%m-%d %H:%M} UTC.")


def _rows(each: Document) -> int:
    if isinstance(each, Weighing | Run):
        return len(each.benchmarks) * len(each.settings.metrics)
    return len(each.benchmarks) if isinstance(each, ForeignResults) else 1


def _part(each: Document, room: budget.Budget, key: str) -> Part:
    if isinstance(each, Weighing):
        record = judged(each, None).record
        assert isinstance(record, Weighing)
        verdicts = record.derived.verdicts if record.derived else []
        return weighings.part(record, list(look_back(record, verdicts)), room, key)
    if isinstance(each, Run):
        record = judged(each, None).record
        assert isinstance(record, Run)
        return runs.of_run(record, room)
    if isinstance(each, ForeignResults):
        return runs.of_import(each, levels(each.benchmarks), room)
    raise NotImplementedError
