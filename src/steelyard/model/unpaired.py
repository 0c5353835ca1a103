"""What is said about two kept runs: derived from both whenever it is needed, and kept nowhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steelyard.model.derived import Side, SuiteMean
    from steelyard.model.findings import Finding, VerdictName
    from steelyard.model.records import Run


@dataclass(frozen=True)
class UnpairedVerdict:
    """One benchmark of two runs in one metric; changes are relative, +0.01 is 1 % slower.

    `interval` and what follows from it are None if a run has too few launches to show how its level moves.
    `block_spreads` are the relative between-block spreads of each run, `assumed` the least that is assumed for them.
    """

    benchmark: str
    metric: str
    verdict: VerdictName
    change: float | None
    interval: tuple[float, float] | None
    block_spreads: tuple[float, float] | None
    assumed: float
    resolution: float | None
    baseline: Side
    candidate: Side
    findings: list[Finding]


@dataclass(frozen=True)
class UnpairedReport:
    """Two runs, A and B, with the verdicts in the order of the benchmarks, and of the metrics within each."""

    baseline: Run
    candidate: Run
    margin: float
    alpha: float
    verdicts: list[UnpairedVerdict]
    findings: list[Finding]
    means: list[SuiteMean] = field(default_factory=list)
    """The means of each metric, for runs of a suite."""

    def deciding(self) -> list[UnpairedVerdict]:
        """The verdict of each benchmark in its first metric, which is the deciding one."""
        first: dict[str, UnpairedVerdict] = {}
        for verdict in self.verdicts:
            first.setdefault(verdict.benchmark, verdict)
        return [*first.values()]
