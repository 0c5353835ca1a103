"""What a gate says of weighings: derived from their records whenever it is asked for, and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from steelyard.model.derived import Verdict
from steelyard.model.kept import Finding
from steelyard.model.limits import Limit, Limits
from steelyard.model.records import StopReason, Weighing

Standing = Literal["above", "within", "open"]
"""Of a change and its limit: a change surely, and by its estimate above; surely not above; neither."""
GateVerdict = Literal["slower", "failed", "undecided", "passed"]


@dataclass(frozen=True)
class Judged:
    """One benchmark in one metric against its limit, of the weighing in the record `source`.

    `limit` is None where the verdict itself decides, by its own margin or that of its weighing. What is not
    `deciding` is shown and changes nothing. `reason` is why its measuring stopped.
    """

    source: str
    weighing: Weighing
    verdict: Verdict
    limit: Limit | None
    standing: Standing
    deciding: bool
    reason: StopReason | None

    @property
    def above(self) -> float | None:
        """The relative change above which it fails; None if it never does."""
        if not self.deciding:
            return None
        if self.limit is not None:
            return self.limit.above
        return self.weighing.settings.margin if self.verdict.margin is None else self.verdict.margin


@dataclass(frozen=True)
class GateReport:
    """All that a gate read, benchmark by benchmark. `sources` are the names of the records of the `weighings`.

    `problems` are why there is no answer, wholly or in part: no data, a missing baseline, benchmarks that failed.
    `findings` are about the gate itself, not about a weighing.
    """

    limits: Limits
    sources: list[str] = field(default_factory=list)
    weighings: list[Weighing] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @cached_property
    def deciding(self) -> list[Judged]:
        """Those that the answer hangs on."""
        return [one for one in self.judged if one.deciding]

    @cached_property
    def slower(self) -> list[Judged]:
        """Those above their limits, the worst first."""
        return worst_first([one for one in self.deciding if one.standing == "above"])

    @cached_property
    def undecided(self) -> list[Judged]:
        """Those of which it is not known."""
        return [one for one in self.deciding if one.standing == "open"]

    @property
    def new_suites(self) -> list[Finding]:
        """What says of weighings that the baseline has no benchmark yet: they have no verdict, and need none."""
        return [one.new_suite for one in self.weighings if one.new_suite is not None]

    @property
    def is_all_new(self) -> bool:
        """Whether there is nothing else."""
        return bool(self.new_suites) and len(self.new_suites) == len(self.weighings)

    @property
    def verdict(self) -> GateVerdict:
        """The answer as a word. What is incomplete has none: `failed` comes first."""
        if self.problems:
            return "failed"
        if self.slower:
            return "slower"
        return "undecided" if self.undecided else "passed"

    @property
    def is_too_open(self) -> bool:
        """Whether it fails for what stayed open alone, as it is strict."""
        return self.verdict == "undecided" and self.limits.strict


def worst_first(judged: Sequence[Judged]) -> list[Judged]:
    """The same by their changes, the largest slowdown first."""
    return sorted(judged, key=lambda one: -(one.verdict.change or 0.0))
