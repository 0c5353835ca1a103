"""What was worked out from the launches: verdicts and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from steelyard.model.kept import Finding, VerdictName
from steelyard.model.layouts import LayoutFacts
from steelyard.model.parts import Record
from steelyard.model.throughput import is_empty
from steelyard.model.watch import Disturber

# How well the counts of one program repeat: equal; within 1e-5 of each other; anything else.
Stability = Literal["exact", "stable", "noisy"]


class Side(Record):
    """One side's summary in one metric, in the metric's unit."""

    median: float
    spread: float = Field(description="interquartile range / 1.349 over the median: a relative standard deviation")
    launches: int
    per_second: dict[str, float] = Field(
        default_factory=dict, exclude_if=is_empty, description="throughput at the median, by its unit"
    )


class Verdict(Record):
    """What the launches say about one benchmark in one metric. Derived: `steelyard show` derives it anew."""

    benchmark: str
    index: int = Field(default=0, ge=0, description="of the benchmark in `benchmarks`")
    control: bool = Field(default=False, description="the baseline against itself")
    metric: str
    verdict: VerdictName
    margin: float | None = Field(default=None, description="by which it was judged")
    change: float | None = Field(description="relative change of the candidate; +0.01 is 1 % slower")
    ratio: float | None = Field(default=None, description="1 + change: how many times as much the candidate takes")
    interval: tuple[float, float] | None = Field(description="repeated interval of `change` at 1 - alpha")
    p_value: float | None = Field(description="of no change, at the look that was judged")
    # Used only in the process that derived it, and not kept: a reader of a record derives its verdicts anew.
    is_change: SkipJsonSchema[bool] = Field(
        default=False, exclude=True, description="chance is excluded, as surely as for all that share alpha together"
    )
    pairs: int = Field(description="pairs that were judged")
    looks: int = Field(description="looks taken at the data, the judged one included")
    seconds: float
    resolution: float | None = Field(description="change that would have been found 9 times out of 10")
    pairs_needed: int | None = Field(default=None, description="pairs that would decide, if undecided")
    seconds_needed: float | None = Field(default=None, description="elapsed time of so many, all that was measured too")
    pairs_even: int | None = Field(default=None, description="pairs that would in half of all cases")
    seconds_even: float | None = Field(default=None, description="elapsed time of so many, all that was measured too")
    margin_needed: float | None = Field(default=None, description="margin that as many pairs would decide")
    baseline: Side | None = None
    candidate: Side | None = None
    disturbed: int = Field(default=0, description="launches that waited for a processor for over 1 % of their time")
    worst_delay: float | None = Field(default=None, description="largest share of a launch spent waiting")
    repeated: int = Field(default=0, description="disturbed pairs that were repeated")
    disturbers: list[Disturber] = Field(
        default_factory=list, exclude_if=is_empty, description="what went on beside the launches, if it was watched"
    )
    switches_per_s: float | None = Field(
        default=None, description="involuntary switches in a second of the launches, but for those in tandem"
    )
    findings: list[Finding] = Field(default_factory=list)
    stability: Stability | None = Field(default=None, description="of counts: how equal those of one side are")
    floor: float | None = Field(default=None, description="of counts: relative spread of the same program's")
    layouts: LayoutFacts | None = Field(default=None, description="of several builds of each side: how they differ")


class SuiteMean(Record):
    """What the benchmarks of a suite say together in one metric: the geometric mean of their changes."""

    metric: str = Field(description="or, of results of another tool, the unit")
    change: float = Field(description="relative; +0.01 is 1 % slower")
    interval: tuple[float, float] = Field(description="of `change`, as sure as those of the benchmarks")
    benchmarks: int = Field(description="whose mean it is")
    left_out: int = Field(default=0, description="benchmarks that have no interval, and are not in it")


class Summary(Record):
    """What a run says about one benchmark in one metric; derived, and no verdict."""

    benchmark: str
    index: int = Field(default=0, ge=0, description="of the benchmark in `benchmarks`")
    metric: str
    median: float
    spread: float
    interval: tuple[float, float] | None = Field(description="of the median, at 1 - alpha")
    lowest: float
    highest: float
    modes: list[float] = Field(description="median of each mode; more than one is worth a look")
    launches: int
    seconds: float
    quality: Literal["quiet", "noisy", "disturbed"]
    disturbed: int = 0
    worst_delay: float | None = None
    disturbers: list[Disturber] = Field(
        default_factory=list, exclude_if=is_empty, description="what went on beside the launches, if it was watched"
    )
    switches_per_s: float | None = Field(
        default=None, description="involuntary switches in a second of the launches, but for those in tandem"
    )
    per_second: dict[str, float] = Field(
        default_factory=dict, exclude_if=is_empty, description="throughput at the median, by its unit"
    )
    findings: list[Finding] = Field(default_factory=list)


class Derived(Record):
    """What was worked out from the launches; kept for other programs, never read back by Steelyard."""

    note: str = "derived from `launches`; `steelyard show` derives it anew"
    verdicts: list[Verdict] = Field(default_factory=list)
    means: list[SuiteMean] = Field(
        default_factory=list, exclude_if=is_empty, description="of a suite, those of each metric that is timed"
    )
    summaries: list[Summary] = Field(default_factory=list)

    def deciding(self) -> list[Verdict]:
        """The verdict of each benchmark except controls, in its first metric, which is the deciding one."""
        return [verdict for verdict in deciding_of(self.verdicts) if not verdict.control]


def deciding_of(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdict of each benchmark in its first metric, in order; that metric differs where one fell back."""
    found = {verdict.index: verdict for verdict in reversed(verdicts)}
    return [found[index] for index in sorted(found)]
