"""What was worked out from the launches: verdicts and summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from steelyard.model.findings import Finding, VerdictName
from steelyard.model.layouts import LayoutFacts
from steelyard.model.parts import Record, is_empty
from steelyard.model.watch import Disturber

# How well the counts of one program repeat: equal; within 1e-5 of each other; anything else.
Stability = Literal["exact", "stable", "noisy"]
# Fields of several records.
_PER_SECOND: dict[str, float] = Field(
    default_factory=dict,
    exclude_if=is_empty,
    description="amount processed per second at the median time, by unit; left out if unknown",
)
_DISTURBERS: list[Disturber] = Field(
    default_factory=list,
    exclude_if=is_empty,
    description="what went on beside the launches, those of repeated pairs included; what took most of their "
    "time comes first; left out if nothing did, or if they were not watched",
)
_SWITCHES_PER_S: float | None = Field(
    default=None,
    description="involuntary context switches per second of the judged launches' elapsed time, without those in "
    "tandem; null if unknown",
)


class Side(Record):
    """One side's launches, or counts, summarised in one metric, in that metric's unit.

    With a harness, `wall`, `active` and `cpu` are per iteration.
    """

    median: float
    spread: float = Field(
        description="relative standard deviation, estimated as the interquartile range / 1.349 over the median; of "
        "counts, their range over the median"
    )
    launches: int
    per_second: dict[str, float] = _PER_SECOND


class Verdict(Record):
    """What the launches say about one benchmark in one metric. Derived: `steelyard show` derives it anew.

    `seconds` is the elapsed time from the start of the benchmark's first launch to the end of its last; of counts, how
    long the counting took.
    """

    benchmark: str
    index: int = Field(default=0, ge=0, description="index of the benchmark in `benchmarks`")
    control: bool = Field(default=False, description="whether this is the baseline weighed against itself")
    metric: str
    verdict: VerdictName
    margin: float | None = Field(
        default=None,
        description="smallest relative change that matters, by which the verdict was judged; null where nothing had "
        "to be measured",
    )
    change: float | None = Field(
        description="relative change from the baseline to the candidate, +0.01 is 1 % slower (1 % more); null if "
        "unknown"
    )
    ratio: float | None = Field(
        default=None, description="1 + `change`: how many times as much the candidate takes; null if `change` is"
    )
    interval: tuple[float, float] | None = Field(
        description="repeated interval of `change` at confidence 1 - alpha, valid at whichever look the measuring "
        "stopped; of counts, from the smallest to the largest change between any two of both sides; null if unknown"
    )
    p_value: float | None = Field(
        description="p-value of the hypothesis of no change, at the look that was judged; null for counts, and "
        "where there was no look"
    )
    # Used only in the process that derived it, and not kept: a reader of a record derives its verdicts anew.
    is_change: SkipJsonSchema[bool] = Field(
        default=False,
        exclude=True,
        description="whether chance is ruled out, as surely as it has to be for all benchmarks that share alpha "
        "together",
    )
    pairs: int = Field(
        description="number of pairs that the verdict is based on; of counts, how many there are of each side"
    )
    looks: int = Field(
        description="number of looks taken at the data, including the judged one; 0 where there were too few pairs "
        "for one"
    )
    seconds: float
    resolution: float | None = Field(
        description="smallest relative change that so many pairs with this noise would have found 9 times out of "
        "10; null for counts, and if unknown"
    )
    pairs_needed: int | None = Field(
        default=None,
        description="number of pairs in all (of counts, how many a side) that would probably decide, 4 times out of "
        "5; null if decided or unknown",
    )
    seconds_needed: float | None = Field(
        default=None,
        description="elapsed seconds of the whole weighing, or of its part of a merged one, until there are "
        "`pairs_needed` pairs, including what was measured already; null if unknown",
    )
    pairs_even: int | None = Field(
        default=None,
        description="number of pairs in all that would decide in half of all cases; null if decided or unknown",
    )
    seconds_even: float | None = Field(
        default=None,
        description="elapsed seconds of the whole weighing, or of its part of a merged one, until there are "
        "`pairs_even` pairs, including what was measured already; null if unknown",
    )
    margin_needed: float | None = Field(
        default=None,
        description="relative margin at which as many new pairs as these would decide 4 times out of 5; null if "
        "decided or unknown",
    )
    baseline: Side | None = None
    candidate: Side | None = None
    disturbed: int = Field(
        default=0, description="number of judged launches that waited for a processor for over 1 % of their time"
    )
    worst_delay: float | None = Field(
        default=None,
        description="largest share of its time that a judged launch waited for a processor; null if unknown",
    )
    repeated: int = Field(default=0, description="number of disturbed pairs that were repeated")
    disturbers: list[Disturber] = _DISTURBERS
    switches_per_s: float | None = _SWITCHES_PER_S
    findings: list[Finding] = Field(default_factory=list)
    stability: Stability | None = Field(
        default=None,
        description="how well the counts of one side repeat, by the worse side: exact (all equal), stable (within "
        "1e-5 of each other) or noisy; null for times",
    )
    floor: float | None = Field(
        default=None,
        description="noise floor of counts: their range over their median, on the side where that is larger; null "
        "for times",
    )
    layouts: LayoutFacts | None = Field(
        default=None, description="with several builds of each side, how these layouts differ; null with one build"
    )

    @property
    def launches(self) -> int:
        """The number of launches of both sides that it rests on."""
        return sum(side.launches for side in (self.baseline, self.candidate) if side)


class SuiteMean(Record):
    """What the benchmarks of a suite say together in one metric: the geometric mean of their changes."""

    metric: str = Field(description="metric; of results of another tool, their unit")
    change: float = Field(
        description="geometric mean of the benchmarks' changes, relative; +0.01 is 1 % more, which for times is slower"
    )
    interval: tuple[float, float] = Field(
        description="interval of `change`, at the confidence of the benchmarks' own intervals"
    )
    benchmarks: int = Field(description="number of benchmarks that the mean is taken of")
    left_out: int = Field(
        default=0, description="number of benchmarks that are not in the mean, as they have no interval"
    )


class Summary(Record):
    """What a run says about one benchmark in one metric; derived, and no verdict.

    Its values are in the metric's unit; `spread`, `seconds`, `disturbed` and `worst_delay` are as in a verdict and its
    sides. `quality` is disturbed if a launch waited for a processor for over 10 % of its time, else noisy if `spread`
    is over 2 % (of counts, over 1e-5), else quiet.
    """

    benchmark: str
    index: int = Field(default=0, ge=0, description="index of the benchmark in `benchmarks`")
    metric: str
    median: float
    spread: float
    interval: tuple[float, float] | None = Field(
        description="interval of the median at confidence 1 - alpha; null for counts, and with too few launches"
    )
    lowest: float
    highest: float
    modes: list[float] = Field(
        description="median of each mode, lowest first: two or more are worth a look; empty for counts"
    )
    launches: int
    seconds: float
    quality: Literal["quiet", "noisy", "disturbed"]
    disturbed: int = 0
    worst_delay: float | None = None
    disturbers: list[Disturber] = _DISTURBERS
    switches_per_s: float | None = _SWITCHES_PER_S
    per_second: dict[str, float] = _PER_SECOND
    findings: list[Finding] = Field(default_factory=list)


class Derived(Record):
    """What was worked out from the launches; kept for other programs, never read back by Steelyard."""

    note: str = "derived from `launches`; `steelyard show` derives it anew"
    verdicts: list[Verdict] = Field(default_factory=list)
    means: list[SuiteMean] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="geometric means of a suite's changes, one for each timed metric; left out if there are none",
    )
    summaries: list[Summary] = Field(default_factory=list)


def deciding_of(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdict of each benchmark except controls in its first metric, in order; that differs where one fell back."""
    found = {verdict.index: verdict for verdict in reversed(verdicts) if not verdict.control}
    return [found[index] for index in sorted(found)]
