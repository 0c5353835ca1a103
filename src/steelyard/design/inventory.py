"""What is kept in the user's store: its records, and the runs that were given names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Literal

from steelyard.design.outcome import is_running
from steelyard.history.store import Store, name_of
from steelyard.model.derived import deciding_of
from steelyard.model.errors import SteelyardError
from steelyard.model.files import load
from steelyard.model.inventory import Entry
from steelyard.model.records import Run, Weighing


def inventory(store: Store) -> list[Entry]:
    """Return one entry per file, the newest first; then the named ones, in that order too."""
    return [_entry(path, None) for path in store.records()] + [
        _entry(path, name_of(path)) for path in store.baselines()
    ]


def _entry(path: Path, name: str | None) -> Entry:
    try:
        record = load(path)
    except SteelyardError:
        return Entry(path=str(path), name=name, kind="unreadable", state="unreadable")
    return Entry(
        path=str(path),
        name=name,
        kind=record.kind,
        state=_state(record, path),
        created=record.created,
        subjects=_subjects(record),
        command=_command_of_revisions(record),
        benchmarks=len(record.members),
        metric=record.settings.metrics[0],
        verdicts=_verdicts(record),
    )


def _subjects(record: Weighing | Run) -> list[str]:
    """Return the names of both sides, each once, although every command of a project has subjects of its own."""
    if isinstance(record, Run):
        return [record.subjects[0].name]
    baselines, candidates = record.sides()
    return [*baselines, *candidates]


def _command_of_revisions(record: Weighing | Run) -> str | None:
    """Return the command if there is one, and subjects that do not name it, but the revisions that it ran in."""
    commands = {subject.command for subject in record.subjects if subject.revision is not None}
    return commands.pop() if len(commands) == 1 else None


def _state(record: Weighing | Run, path: Path) -> Literal["ended", "running", "interrupted", "failed"]:
    if "interrupted" in record.stop:
        return "running" if is_running(record, path) else "interrupted"
    return "failed" if "failed" in record.stop else "ended"


def _verdicts(record: Weighing | Run) -> dict[str, int]:
    """Return how many verdicts there were of each kind when it was measured: judging all anew would take long."""
    return dict(sorted(Counter(verdict.verdict for verdict in deciding_of(record.verdicts)).items()))
