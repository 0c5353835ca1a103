"""The answer of a gate, for scripts that read JSON: told anew by each gate, and kept nowhere else."""

from __future__ import annotations

from pydantic import Field

from steelyard.model.gate import GateVerdict, Standing
from steelyard.model.kept import VerdictName
from steelyard.model.parts import Record


class Held(Record):
    """One benchmark in one metric, held to its limit."""

    record: str = Field(description="the name by which the gate was given it")
    benchmark: str
    metric: str
    verdict: VerdictName = Field(description="by the margin that it was weighed with")
    change: float | None = Field(description="relative change of the candidate; +0.01 is 1 % slower")
    interval: tuple[float, float] | None
    limit: float | None = Field(description="relative change above which it fails; null for one that never does")
    standing: Standing
    deciding: bool = Field(description="whether the answer hangs on it")


class GateAnswer(Record):
    """All that a gate says."""

    verdict: GateVerdict
    status: int = Field(description="exit status of the verdict")
    headline: str
    problems: list[str] = Field(description="why there is no answer, wholly or in part")
    findings: list[str]
    judged: list[Held]
