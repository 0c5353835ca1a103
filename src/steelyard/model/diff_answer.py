"""The answer of `steelyard diff`, for scripts that read JSON: told anew by each, and kept nowhere else."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.derived import SuiteMean
from steelyard.model.kept import VerdictName
from steelyard.model.parts import Record


class Compared(Record):
    """One benchmark of both, in one metric."""

    benchmark: str
    metric: str = Field(description="or, of results of another tool, the unit")
    verdict: VerdictName
    change: float | None = Field(description="relative change from A to B; +0.01 is 1 % more")
    interval: tuple[float, float] | None
    baseline: float = Field(description="median of A, in ns, bytes or a number, or in the unit")
    candidate: float = Field(description="median of B")
    findings: list[str]


class DiffAnswer(Record):
    """All that two records that were measured apart say of each other; the first benchmark's verdict at the top."""

    verdict: VerdictName
    change: float | None
    interval: tuple[float, float] | None
    margin: float
    alpha: float = Field(description="of each benchmark: they share what was asked for")
    verdicts: list[Compared]
    means: list[SuiteMean] = Field(description="geometric means of the changes, of each metric or unit")
    findings: list[str]
