"""From files of any kind to one page: each is read, judged anew, and becomes a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from steelyard import __version__
from steelyard.design.judging.look_back import look_back
from steelyard.design.outcome import Outcome, judged
from steelyard.design.unpaired.counts import compare_counts
from steelyard.design.unpaired.foreign import compare_foreign, levels
from steelyard.design.unpaired.runs import compare_runs, run_of
from steelyard.model.bisection import Bisection
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.documents import Document, load_document
from steelyard.model.errors import UsageError
from steelyard.model.foreign import ForeignReport, ForeignResults
from steelyard.model.metrics import METRICS, timed
from steelyard.model.records import Run, Settings, Weighing
from steelyard.model.soundness import Soundness
from steelyard.model.unpaired import UnpairedReport
from steelyard.report.page import budget, diffs, others, runs, weighings
from steelyard.report.page.page import document
from steelyard.report.page.parts import Part, sentence

Shown = Document | UnpairedReport | ForeignReport


def page_of(paths: Sequence[Path], now: datetime, *, diff: bool = False) -> str:
    """The page of some files, or with `diff` of how the second differs from the first.

    Raises UsageError for a file that cannot be read, naming it, and for two that cannot be compared.
    """
    documents: list[Document] = [load_document(path) for path in paths]
    shown: list[Shown] = [_difference(documents, paths)] if diff else [*documents]
    room = budget.of_rows(sum(map(_rows, shown)))
    parts = [_part(each, room, f"{number}") for number, each in enumerate(shown, start=1)]
    return document(parts, f"Made by Steelyard {__version__} on {now:%Y-%m-%d %H:%M} UTC.")


def _difference(documents: Sequence[Document], paths: Sequence[Path]) -> Shown:
    if len(documents) != 2:
        raise UsageError(f"--diff takes two files, a run or an import each, and there are {len(documents)}")
    one, other = documents
    margin, alpha = Settings().margin, Settings().alpha
    if isinstance(one, ForeignResults) and isinstance(other, ForeignResults):
        return compare_foreign(one, other, margin=margin, alpha=alpha, same_conditions=False, force=False)
    both = list(_runs(documents, paths))
    metrics = both[0].settings.metrics
    if METRICS[metrics[0]].counted:
        return compare_counts(*both, margin=margin, alpha=alpha, metrics=metrics)
    return compare_runs(*both, margin=margin, alpha=alpha, metrics=timed(metrics))


def _runs(documents: Sequence[Document], paths: Sequence[Path]) -> Iterator[Run]:
    for each, path in zip(documents, paths, strict=True):
        if not isinstance(each, Weighing | Run | ForeignResults):
            raise UsageError(f"--diff compares runs or imports, and {path} is neither: leave --diff out to look at it")
        yield run_of(each, path)


def _rows(each: Shown) -> int:
    match each:
        case Weighing() | Run():
            return len(each.benchmarks) * len(each.settings.metrics)
        case ForeignResults():
            return len(each.benchmarks)
        case UnpairedReport() | ForeignReport():
            return len(each.verdicts)
        case _:
            return 1


def _part(each: Shown, room: budget.Budget, key: str) -> Part:
    match each:
        case Weighing() | Run():
            return _judged(judged(each, None), room, key)
        case ForeignResults():
            return runs.of_import(each, levels(each.benchmarks), room)
        case UnpairedReport():
            return diffs.of_runs(each, room, key)
        case ForeignReport():
            return diffs.of_imports(each, room, key)
        case Soundness():
            return others.of_check(each)
        case Calibration():
            return others.of_calibration(each)
        case InterruptedCalibration():
            return others.of_interrupted(each)
        case Bisection():
            return others.of_bisection(each)


def _judged(outcome: Outcome, room: budget.Budget, key: str) -> Part:
    record = outcome.record
    if isinstance(record, Run):
        part = runs.of_run(record, room)
    else:
        verdicts = record.derived.verdicts if record.derived else []
        part = weighings.part(record, list(look_back(record, verdicts)), room, key)
    return part if outcome.error is None else replace(part, lines=[sentence(str(outcome.error)), *part.lines])
