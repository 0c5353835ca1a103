"""Keeps in the store what was measured, in place of its journal; and makes the record of what was not measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import steelyard
from steelyard.design.outcome import Outcome, judge_outcome
from steelyard.design.request import Request
from steelyard.design.world import World
from steelyard.history.store import Store
from steelyard.model.errors import MeasurementError, SteelyardError, UnwrittenError
from steelyard.model.files import save
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.typed import typed


def unmeasured_outcome(record: Weighing | Run, world: World) -> Outcome:
    """Return the outcome of what is known without a launch; it is kept like any other."""
    store = world.store()
    kept = store.new_name(record.kind)
    return keep_in_place(judge_outcome(record, None), kept.with_name(f"{kept.name}.journal"), kept, store)


def unmeasured_record(request: Request, stop: StopReason, machine: MachineFacts, world: World) -> Weighing | Run:
    """Return the record of what was asked for, with what is known before any launch."""
    fields: dict[str, Any] = {
        "tool": steelyard.__version__,
        "created": world.created(),
        "machine": machine,
        "settings": request.settings,
        "subjects": list(request.subjects),
        "benchmarks": list(request.benchmarks),
        "stop": [stop] * len(request.benchmarks),
        "seconds": 0.0,
        "findings": list(request.findings),
        "launches": Launches(),
    }
    return Weighing(**fields) if len(request.subjects) > 1 else Run(**fields)


def unstarted_outcome(request: Request, error: SteelyardError, world: World) -> Outcome:
    """Return the outcome of what could not even start: a record that says why, which is not stored."""
    failed = replace(request, findings=[Finding(code="failed", message=str(error))])
    return Outcome(unmeasured_record(failed, "failed", world.facts(), world), error)


@contextmanager
def named_if_insisted(record: Weighing | Run, journal: Path, kept: Path) -> Iterator[None]:
    """Add to a second Ctrl-C, which ends all at once, where the record so far is and how to go on from there."""
    try:
        yield
    except KeyboardInterrupt as insisted:
        path = journal if journal.exists() else kept.with_name(f"{kept.name}.json.gz")
        can_be_resumed = isinstance(record, Weighing) and "interrupted" in record.stop
        way_on = "; to carry on: steelyard compare --resume" if can_be_resumed else ": steelyard show"
        insisted.add_note(f"what was measured is kept{way_on} {typed(path)}")
        raise


def keep_in_place(outcome: Outcome, journal: Path, kept: Path, store: Store) -> Outcome:
    """Return the outcome, with its record in the place of its journal, if anything was measured.

    What goes wrong here takes nothing from what was measured, so it is reported in `unkept` and raises nothing.
    """
    is_ours = journal.parent.resolve() == store.folder.resolve()
    if outcome.record.is_empty():
        return replace(outcome, unkept=_remove_journal(journal, "nothing was measured") if is_ours else None)
    path, unkept = kept.with_name(f"{kept.name}.json.gz"), None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # whoever removed it did not mean this record
        save(outcome.record, path, private=True)
    except (MeasurementError, OSError) as error:
        unkept, path = _unwritten_reason(error, path, journal), journal
    else:
        unkept = (
            _remove_journal(journal, f"its record is {path}")
            if is_ours
            else f"the record of {journal} is kept in {path}"
        )
        unkept = unkept or store.elsewhere(path)
    store.admit(path)
    kept_path = path if path.exists() else None
    resumed_by = kept_path.name if kept_path else None
    if outcome.error is None:
        return replace(outcome, kept=kept_path, resumed_by=resumed_by, unkept=unkept)
    # Not wrong usage, whatever the error was: the measurement had begun well.
    where = f"The launches measured until then are kept in {path}." if kept_path else f"{unkept}."
    if isinstance(outcome.error, UnwrittenError) and outcome.record.kind == "weighing" and kept_path:
        where += (
            f" Carry it on by: steelyard compare --resume {path.name if path.parent == store.folder else typed(path)}"
        )
    message = str(outcome.error)
    failure = MeasurementError(f"{message}{'' if message.endswith(('.', '.)', '?')) else '.'} {where}")
    failure.__cause__, failure.lines = outcome.error, outcome.error.lines  # its cause tells of which kind it was
    unkept = unkept if path != journal else None
    return Outcome(outcome.record, failure, kept=kept_path, unkept=unkept, resumed_by=resumed_by)


def _unwritten_reason(error: MeasurementError | OSError, record: Path, journal: Path) -> str:
    cause = error if isinstance(error, OSError) else error.__cause__
    why = getattr(cause, "strerror", None) or error
    rest = f"what was measured is kept in {journal}" if journal.exists() else "nothing is kept; --json FILE would have"
    return f"cannot write the record {record}: {why}; {rest}"


def _remove_journal(journal: Path, because: str) -> str | None:
    """Remove a journal that is no longer needed; return what to say if that fails."""
    try:
        journal.unlink(missing_ok=True)
    except OSError as error:
        return f"the journal {journal} could not be removed: {error.strerror}; {because}"
    return None
