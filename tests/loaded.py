"""Records read back from files, each of the kind that it has to be."""

from __future__ import annotations

from pathlib import Path

from steelyard.model.files import load
from steelyard.model.records import Run, Weighing


def weighing_in(path: str | Path) -> Weighing:
    """The weighing in a file."""
    record = load(Path(path))
    assert isinstance(record, Weighing)
    return record


def run_in(path: str | Path) -> Run:
    """The run in a file."""
    record = load(Path(path))
    assert isinstance(record, Run)
    return record
