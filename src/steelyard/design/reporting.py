"""Makes one page from files of any kind: each is read, judged anew, and becomes a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from steelyard import __version__
from steelyard.design.judging.look_back import look_back
from steelyard.design.outcome import Outcome, failure, is_running, judge_outcome
from steelyard.design.unpaired.foreign import describe_levels
from steelyard.model.bisection import Bisection
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.documents import load_document
from steelyard.model.foreign import ForeignReport, ForeignResults
from steelyard.model.records import Run, Weighing
from steelyard.model.soundness import Soundness
from steelyard.model.unpaired import UnpairedReport
from steelyard.report.page import budget, diffs, others, runs, weighings
from steelyard.report.page.page import document
from steelyard.report.page.parts import Part, sentence, with_full_stop

Reportable = (
    Outcome
    | ForeignResults
    | UnpairedReport
    | ForeignReport
    | Soundness
    | Calibration
    | InterruptedCalibration
    | Bisection
)
"""What can be a part of the page; weighings and runs with what was judged of them."""


def page_of(paths: Sequence[Path], names: Sequence[str], now: datetime) -> str:
    """Return the page of some files, each with its name; raises UsageError for one that cannot be read, naming it."""
    return page_of_shown([_load_reportable(path, name) for path, name in zip(paths, names, strict=True)], now, names)


def _load_reportable(path: Path, name: str) -> Reportable:
    document = load_document(path)
    if not isinstance(document, Weighing | Run):
        return document
    # A pipe cannot be read again.
    resumed_by = name if path.is_file() else None
    return replace(judge_outcome(document, None), resumed_by=resumed_by, is_running=is_running(document, path))


def page_of_shown(shown: Sequence[Reportable], now: datetime, names: Sequence[str] = ()) -> str:
    """Return the page of what was measured or read, or of two that differ; `names` are of the files it came from."""
    room = budget.of_rows(sum(map(_count_rows, shown)))
    parts = [_make_part(each, room, f"{number}") for number, each in enumerate(shown, start=1)]
    parts = [replace(part, lines=[*part.lines, *room.left_out(len(part.rows))]) for part in parts]
    if names:
        parts = [replace(part, source=name) for part, name in zip(parts, names, strict=True)]
    return document(parts, f"Made by Steelyard {__version__} on {now:%Y-%m-%d %H:%M} UTC.")


def _count_rows(item: Reportable) -> int:
    match item:
        case Outcome():
            return len(item.record.benchmarks) * len(item.record.settings.metrics)
        case ForeignResults():
            return len(item.benchmarks)
        case UnpairedReport() | ForeignReport():
            return len(item.verdicts)
        case _:
            return 1


def _make_part(item: Reportable, room: budget.Budget, key: str) -> Part:
    match item:
        case Outcome():
            return _outcome_part(item, room, key)
        case ForeignResults():
            return runs.of_import(item, describe_levels(item.benchmarks), room)
        case UnpairedReport():
            return diffs.of_runs(item, room, key)
        case ForeignReport():
            return diffs.of_imports(item, room, key)
        case Soundness():
            return others.of_check(item)
        case Calibration():
            return others.of_calibration(item)
        case InterruptedCalibration():
            return others.of_interrupted(item)
        case Bisection():
            return others.of_bisection(item)


def _outcome_part(outcome: Outcome, room: budget.Budget, key: str) -> Part:
    record = outcome.record
    if isinstance(record, Run):
        part = runs.of_run(record, room, running=outcome.is_running)
    else:
        part = weighings.weighing_part(
            record, list(look_back(record, record.verdicts)), room, key, running=outcome.is_running
        )
        part = replace(part, way_on=outcome.way_on() or "")
    # As the record says it: where its launches are kept is of no use to those who read the page elsewhere.
    error = outcome.error and (failure(record) or outcome.error)
    return part if error is None else _with_error(part, str(error), record)


def _with_error(part: Part, error: str, record: Weighing | Run) -> Part:
    """Return a part that begins with what failed, and has no note that repeats it."""
    notes = [note for note in part.notes if note.message != error]
    is_named = any(error.startswith(one.command) for one in record.subjects)
    return replace(part, lines=[with_full_stop(error) if is_named else sentence(error), *part.lines], notes=notes)
