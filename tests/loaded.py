"""Records read back from files, each of the expected kind."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.files import load
from steelyard.model.records import Run, Weighing


def weighing_in(path: str | Path) -> Weighing:
    """Return the weighing in a file."""
    record = load(Path(path))
    assert isinstance(record, Weighing)
    return record


def run_in(path: str | Path) -> Run:
    """Return the run in a file."""
    record = load(Path(path))
    assert isinstance(record, Run)
    return record
