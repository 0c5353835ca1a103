"""The names of a record's sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from steelyard.model.records import Run, Weighing

SideName = Literal["baseline", "candidate"]
SIDES: tuple[SideName, ...] = ("baseline", "candidate")


def side_names(record: Weighing | Run) -> Sequence[str]:
    """The names of a record's sides; a run has only one."""
    return SIDES if isinstance(record, Weighing) else ("subject",)
