"""What a gate says about weighings: derived from their records whenever it is needed, and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from steelyard.model.derived import Verdict
from steelyard.model.findings import Finding
from steelyard.model.limits import Accepted, Limit, Limits
from steelyard.model.records import StopReason, Weighing

Standing = Literal["above", "accepted", "within", "open"]
"""How a change stands to its limit: certain, and above it by its estimate; the same, but accepted; certainly not above
it; none of these."""
GateVerdict = Literal["slower", "failed", "undecided", "passed"]


@dataclass(frozen=True)
class Judged:
    """One benchmark in one metric against its limit, in the weighing of the record `source`.

    `limit` is None where the verdict itself decides, by its own margin or that of its weighing. A result that is not
    `deciding` is shown without affecting the answer. `acceptable` is what would be accepted of it, and `accepted` what
    is, of a slowdown above its limit, and then decides its `standing`.
    """

    source: str
    weighing: Weighing
    verdict: Verdict
    limit: Limit | None
    standing: Standing
    deciding: bool
    acceptable: Sequence[Accepted] = ()
    accepted: Accepted | None = None

    @property
    def reason(self) -> StopReason:
        """Why its measuring stopped."""
        return self.weighing.stop[self.verdict.index]

    @property
    def above(self) -> float | None:
        """The relative change above which it fails; None if it never does."""
        if not self.deciding:
            return None
        if self.limit is not None:
            return self.limit.above
        return self.weighing.settings.margin_of(self.verdict)

    @property
    def has_no_data(self) -> bool:
        """Whether it has not one pair to judge: where that fails the gate, a problem says so."""
        is_measured = self.verdict.pairs or self.weighing.identical is not None
        return self.verdict.change is None or not is_measured

    @property
    def decided_by(self) -> float | None:
        """The relative change above which it fails, with what is accepted; None if it never does."""
        return self.above if self.accepted is None else self.accepted.above


@dataclass(frozen=True)
class GateReport:
    """All that a gate read, benchmark by benchmark. `sources` are the names of the records of the `weighings`.

    `problems` say why there is no answer, or only part of one: no data, a missing baseline, benchmarks that failed.
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
        """The results that the answer depends on."""
        return [one for one in self.judged if one.deciding]

    @cached_property
    def slower(self) -> list[Judged]:
        """The results above their limits, the worst first."""
        return worst_first([one for one in self.deciding if one.standing == "above"])

    @cached_property
    def accepted(self) -> list[Judged]:
        """The results above their limits that are accepted, the worst first."""
        return worst_first([one for one in self.deciding if one.standing == "accepted"])

    @cached_property
    def undecided(self) -> list[Judged]:
        """The results of which it is open whether they are above their limits."""
        return [one for one in self.deciding if one.standing == "open"]

    @cached_property
    def undecided_with_data(self) -> list[Judged]:
        """Those of the undecided results that are no problem already."""
        return [one for one in self.undecided if not one.has_no_data]

    @property
    def new_suites(self) -> list[Finding]:
        """The findings that a weighing's baseline has no benchmark yet: it has no verdict, and needs none."""
        return [one.new_suite for one in self.weighings if one.new_suite is not None]

    @property
    def is_all_new(self) -> bool:
        """Whether all weighings are such new suites."""
        return bool(self.new_suites) and len(self.new_suites) == len(self.weighings)

    @property
    def is_all_skipped(self) -> bool:
        """Whether all weighings are parts of suites, of which every benchmark skips itself."""
        return bool(self.weighings) and all(one.skipped_part is not None for one in self.weighings)

    @property
    def nothing_compared(self) -> list[Finding]:
        """Why there is no verdict where none is needed: all weighings are new suites, or parts that skip themselves."""
        if not (self.is_all_new or self.is_all_skipped):
            return []
        return list(dict.fromkeys(one.unmeasured for one in self.weighings if one.unmeasured is not None))

    @property
    def verdict(self) -> GateVerdict:
        """The answer as a word. `failed` comes first, as incomplete results give no answer."""
        if self.problems:
            return "failed"
        if self.slower:
            return "slower"
        return "undecided" if self.undecided else "passed"

    @property
    def is_too_open(self) -> bool:
        """Whether the gate fails only for what stayed open, because it is strict."""
        return self.verdict == "undecided" and self.limits.strict


def worst_first(judged: Sequence[Judged]) -> list[Judged]:
    """Sort results by their changes, the largest slowdown first."""
    return sorted(judged, key=lambda one: -(one.verdict.change or 0.0))
