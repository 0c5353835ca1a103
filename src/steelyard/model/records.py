"""What is stored: a weighing of two or more subjects, or a run of one. One record = one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, field_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from steelyard.model.columns import highest
from steelyard.model.counting import Counting, CountSettings
from steelyard.model.heap import Heap
from steelyard.model.isolation import Isolation
from steelyard.model.kept import FORMAT as FORMAT
from steelyard.model.kept import IDENTICAL as IDENTICAL
from steelyard.model.kept import VERSION as VERSION
from steelyard.model.kept import Finding as Finding
from steelyard.model.kept import VerdictName as VerdictName
from steelyard.model.launches import Launches
from steelyard.model.layouts import MOST_LAYOUTS, LayoutFacts
from steelyard.model.machine import MachineFacts
from steelyard.model.metrics import DEFAULT_METRIC, METRICS
from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record
from steelyard.model.patterns import said_of
from steelyard.model.secrecy import is_secret
from steelyard.model.throughput import Processed, is_empty
from steelyard.model.watch import Disturber, Watch

Margin = Annotated[float, Field(gt=0, lt=1)]
# Of the counts of one program: equal; within 1e-5 of each other; anything else.
Stability = Literal["exact", "stable", "noisy"]
StopReason = Literal["decided", "pairs", "time", "futile", "interrupted", "failed"]


class RevisionFacts(Record):
    """The revision of a git repository that a subject was built from."""

    name: str = Field(description="as it was asked for, or found: main, work tree")
    commit: str | None = Field(description="null for a work tree with changes that are not committed")
    tree: str = Field(description="git's hash of all its files")
    build: str | None = Field(description="the shell command that built it; null where nothing is built")
    layout: int | None = Field(default=None, description="which of several builds, from 0")


class Subject(Record):
    """One side of a weighing: a command as the user gave it, and what is executed for it."""

    name: str
    command: str = Field(description="as the user wrote it")
    argv: list[str] = Field(description="what is executed; bytes that are not UTF-8 as surrogate escapes")
    program: str = Field(description="the file that argv[0] was found to be")
    shell: bool = Field(default=False, description="run by /bin/sh -c, whose start is part of every launch")
    digest: str | None = Field(default=None, description="SHA-256 of the program's file, or of its layouts' digests")
    directory: str | None = Field(
        default=None,
        description="where its launches run, if not in that of the settings; {layout} in it is the number of a build",
    )
    revision: RevisionFacts | None = None

    def is_statement(self) -> bool:
        """Whether it is a statement of `timeit`: its one benchmark's name is Steelyard's, not the user's."""
        return "--timeit" in self.argv


class Benchmark(Record):
    """One named piece of work inside the subjects; a plain command is one benchmark.

    Of more than two subjects, each candidate's comparison with its baseline is a benchmark of its own.
    """

    name: str
    params: dict[str, str] = Field(
        default_factory=dict, description="values of {name} in the commands; of a harness as it gave them"
    )
    baseline: int = Field(default=0, ge=0, description="index into `subjects` of side 0")
    candidate: int = Field(default=1, ge=0, description="index into `subjects` of side 1")
    control: bool = Field(default=False, description="the baseline against itself: it must not be found changed")
    entry: str | None = Field(default=None, description="its name in the harness; null for a command")
    tags: list[str] = Field(default_factory=list, description="as the harness gave them")
    loops: Count | None = Field(default=None, gt=0, description="iterations a sample, for both sides")
    candidate_loops: Count | None = Field(
        default=None,
        gt=0,
        exclude_if=is_empty,
        description="those of side 1, where it is so much faster or slower than side 0 that they are its own",
    )
    samples: Count | None = Field(default=None, gt=0, description="samples a launch, the first of several not judged")
    clock: Literal["process"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="process: samples are timed by the processor time of their launch, less that of its start, as the "
        "harness's own times hold the waiting for a processor and one thread does the work",
    )
    processed: list[Processed] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="what one launch processes, with a harness one iteration; left out where it is not known",
    )
    ended: Count | None = Field(
        default=None,
        description="after how many pairs its first budget ended, if it went on with others; 0 if that was no look",
    )

    @property
    def is_untried(self) -> bool:
        """Whether it is one of a harness of which it is not known how much a launch runs: there was no time for that.

        Or that failed, which is why it stopped.
        """
        return self.entry is not None and self.samples is None

    def names(self) -> list[str]:
        """What it is called: by people, and in its harness."""
        return [self.name, *([self.entry] if self.entry else [])]

    def loops_of(self, side: int) -> int | None:
        """Iterations a sample of a side; None where its harness chooses them."""
        return self.candidate_loops if side == 1 and self.candidate_loops else self.loops

    def in_command(self) -> dict[str, str]:
        """The values of {name} in its command; a harness knows those of its benchmarks."""
        return self.params if self.entry is None else {}


class Shard(Record):
    """One part of a suite that several machines share: `number` of `of`, from 1."""

    number: Count = Field(gt=0)
    of: Count = Field(gt=0)
    suite: list[str] = Field(description="all benchmarks of all parts, in their order; they share alpha")

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.of:
            raise ValueError(f"a suite of {self.of} parts has no part {self.number}")
        return self


class Settings(Record):
    """How it was measured: whatever would be needed to measure the same again."""

    margin: Margin = Field(default=0.005, description="relative change that matters")
    margins: dict[str, Margin] = Field(
        default_factory=dict, description="that of some: by PATTERN of names, METRIC or PATTERN:METRIC"
    )
    alpha: float = Field(default=0.01, ge=1e-9, lt=0.5, description="chance of a wrong verdict that is accepted")
    reserve: float = Field(
        default=0, ge=0, lt=1, description="part of the alpha that is left which the end of a budget keeps for going on"
    )
    family: Literal["holm", "fdr"] = Field(default="holm", description="what alpha limits among several benchmarks")
    metrics: list[str] = Field(default=[DEFAULT_METRIC], min_length=1, description="the first decides")
    pairs: Count | None = Field(default=None, gt=0, description="most pairs (or launches of a run)")
    max_time_s: Seconds | None = Field(default=30.0, gt=0, description="budget of elapsed time")
    longest_time_s: Seconds | None = Field(
        default=None, gt=0, description="budget of as many pairs as can ever decide, if that is another"
    )
    warm_up: Count = Field(default=1, description="warm-up pairs, kept but not judged")
    seed: Count = Field(default=0, description="repeats the plan: orders, hash seeds, padding")
    timeout_s: Seconds | None = Field(default=None, gt=0, description="longest that one launch may take")
    cpu: Count | None = Field(default=None, description="processor that every launch is pinned to")
    cpu_choice: str | None = Field(
        default=None, exclude_if=is_empty, description="why that one, where it was not said by its number"
    )
    isolate: bool = Field(
        default=False, exclude_if=is_empty, description="launches run in a control group of their own"
    )
    ignore_failure: bool = False
    environment: list[str] = Field(default_factory=list, description="names passed on from the environment")
    variables: dict[str, str | None] = Field(
        default_factory=dict, description="variables set outright; null for a value that looks secret: it is not stored"
    )
    directory: str = Field(default="/", description="working directory of the launches")
    stdin: str | None = None
    output: str | None = Field(default=None, description="file for the targets' output; null discards it")
    repeat: int = Field(default=1, ge=1, lt=2**63, description="processes a launch, one after the other")
    reference_output: bool = Field(default=False, description="both sides have to print the same")
    pairing: Literal["adjacent", "tandem", "auto"] = Field(
        default="adjacent",
        description="the launches of a pair one after the other, at the same time on one processor, or as it turns out",
    )
    wait_quiet_s: Seconds = Field(default=0, description="longest wait in all for other work to calm down")
    watch: bool = Field(default=True, description="look who else runs, while launches do")
    setup: list[str] = Field(default_factory=list, description="run once before all launches")
    prepare: list[str] = Field(default_factory=list, description="run before each launch")
    conclude: list[str] = Field(default_factory=list, description="run after each launch")
    cleanup: list[str] = Field(default_factory=list, description="run once after all launches")
    counting: CountSettings | None = Field(default=None, description="how launches are counted, if they are")
    harness: str | None = Field(default=None, description="how the benchmarks inside the subjects are driven")
    clock: Literal["still"] | None = Field(
        default=None, description="still: of a harness, left out of the samples is what they waited for a processor"
    )
    starts: Literal["shared"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="shared: of a harness, one start a side serves all benchmarks of a round, each in a forked process",
    )
    addresses: Literal["shared"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="shared: memory is mapped at addresses drawn for the pair, while one thread does all the work",
    )
    heap_shuffle: bool = Field(default=False, description="launches begin with a heap in a state drawn for the pair")
    heap: Count | None = Field(default=None, ge=1, description="launches a side whose heap is watched, untimed")
    layouts: Count = Field(
        default=0, le=MOST_LAYOUTS, description="build variants of each side, {layout} in the commands; 0: but one"
    )
    shard: Shard | None = Field(default=None, description="which part of a suite it is, if it is not all of it")

    def hooks(self) -> dict[str, list[str]]:
        """The commands around launches, by when they run, in that order."""
        return {"setup": self.setup, "prepare": self.prepare, "conclude": self.conclude, "cleanup": self.cleanup}

    @property
    def has_hooks_around(self) -> bool:
        """Whether something runs before or after each launch."""
        return bool(self.prepare or self.conclude)

    def judged_by(self, benchmark: Benchmark, metric: str) -> Self:
        """The same settings, with the margin that holds for a benchmark in a metric."""
        margin = said_of(self.margins, benchmark.names(), metric, self.margin)
        return self if margin == self.margin else self.model_copy(update={"margin": margin})

    @field_serializer("variables")
    def _without_secrets(self, variables: dict[str, str | None]) -> dict[str, str | None]:
        """Whoever measures knows them; whatever is written goes this way, and has only their names."""
        return {name: None if is_secret(name, value or "") else value for name, value in variables.items()}

    @model_validator(mode="after")
    def _known_metrics(self) -> Self:
        for name in self.metrics:
            if name not in METRICS:
                raise ValueError(f"unknown metric {name!r}; known are {', '.join(METRICS)}")
        return self


class Side(Record):
    """One side's summary in one metric, in the metric's unit."""

    median: float
    spread: float = Field(description="interquartile range / 1.349 over the median: a relative standard deviation")
    launches: int
    per_second: dict[str, float] = Field(
        default_factory=dict, exclude_if=is_empty, description="throughput at the median, by its unit"
    )


class Verdict(Record):
    """What the launches say of one benchmark in one metric. Derived: `steelyard show` derives it anew."""

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
    # Asked for by what derived it, and not kept: whatever reads a record derives its verdicts anew.
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


class Summary(Record):
    """What a run says of one benchmark in one metric; derived, and no verdict."""

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


class _Kept(Record):
    format: Literal["steelyard"] = FORMAT
    version: Literal[2] = VERSION
    tool: str = Field(description="the Steelyard version that measured")
    created: str = Field(description="start, ISO 8601 in UTC")
    machine: MachineFacts
    settings: Settings
    benchmarks: list[Benchmark]
    stop: list[StopReason] = Field(description="why each benchmark stopped")
    preparing_s: Seconds = Field(default=0, description="elapsed time before it: a suite's benchmarks are tried")
    seconds: Seconds = Field(description="elapsed time of the measuring")
    findings: list[Finding] = Field(default_factory=list, description="seen while measuring")
    launches: Launches
    counting: Counting | None = Field(default=None, description="what was counted, since version 2")
    heap: Heap | None = Field(default=None, description="what was seen of the heap, since version 2")
    isolation: Isolation | None = Field(
        default=None, exclude_if=is_empty, description="the control group of the launches, if they had one"
    )
    watch: Watch | None = Field(
        default=None, exclude_if=is_empty, description="what went on beside the launches, if it was watched"
    )

    def watch_of(self, benchmark: int) -> Watch | None:  # noqa: ARG002 - as of merged ones
        """What went on beside a benchmark's launches."""
        return self.watch

    def is_empty(self) -> bool:
        """Whether nothing was measured, and nothing is known without."""
        counts = self.counting.counts if self.counting else []
        watched = self.heap.launches if self.heap else []
        return not (len(self.launches) or counts or watched or self.identical)

    @property
    def identical(self) -> Finding | None:
        """What says that both sides are one program, so that nothing had to be measured."""
        return next((finding for finding in self.findings if finding.code == IDENTICAL), None)

    @model_validator(mode="after")
    def _places(self) -> Self:
        if len(self.stop) != len(self.benchmarks):
            raise ValueError("`stop` has to say of each benchmark why it stopped")
        if highest(self.launches.benchmark) >= len(self.benchmarks):
            raise ValueError("`launches` names a benchmark that is not in `benchmarks`")
        if highest(self.launches.layout) > self.settings.layouts:
            raise ValueError("`launches` names a layout that is not among those of `settings`")
        if self.counting and any(place >= len(self.benchmarks) for place in self.counting.places()):
            raise ValueError("`counting` names a benchmark that is not in `benchmarks`")
        if self.heap and any(one.benchmark >= len(self.benchmarks) for one in self.heap.launches):
            raise ValueError("`heap` names a benchmark that is not in `benchmarks`")
        return self


class Part(Record):
    """One of the weighings that a merged one was made of."""

    created: str = Field(description="start, ISO 8601 in UTC")
    tool: str = Field(description="the Steelyard version that measured")
    machine: MachineFacts
    seed: Count
    seconds: Seconds = Field(description="elapsed time of the measuring")
    benchmarks: list[Count] = Field(description="indexes into `benchmarks`")
    watch: Watch | None = Field(default=None, exclude_if=is_empty, description="what went on beside its launches")


class Derived(Record):
    """What was worked out from the launches; kept for other programs, never read back by Steelyard."""

    note: str = "derived from `launches`; `steelyard show` derives it anew"
    verdicts: list[Verdict] = Field(default_factory=list)
    summaries: list[Summary] = Field(default_factory=list)

    def deciding(self) -> list[Verdict]:
        """The verdict of each benchmark but controls, in its first metric: of several that decides."""
        return [verdict for verdict in deciding_of(self.verdicts) if not verdict.control]


def deciding_of(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Of each benchmark the verdict in its own first metric, in their order: where one fell back, that is another."""
    found = {verdict.index: verdict for verdict in reversed(verdicts)}
    return [found[index] for index in sorted(found)]


class Weighing(_Kept):
    """One comparison of candidates with a baseline over all their benchmarks.

    `verdict`, `change`, `ratio`, `interval` and `pairs` repeat the first benchmark's first metric at the top level, for
    scripts; they are derived, like all that `derived` holds.
    """

    kind: Literal["weighing"] = "weighing"
    verdict: VerdictName | None = None
    change: float | None = None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int | None = None
    subjects: list[Subject] = Field(min_length=2, description="the baselines and candidates of the benchmarks")
    parts: list[Part] = Field(default_factory=list, description="of several weighings that were merged; else empty")
    derived: Derived | None = None

    def watch_of(self, benchmark: int) -> Watch | None:
        """What went on beside a benchmark's launches: where several were merged, on the machine that it ran on."""
        return next((part.watch for part in self.parts if benchmark in part.benchmarks), self.watch)

    def sides(self) -> tuple[list[str], list[str]]:
        """The names of the baselines and of the candidates, each once."""
        baselines = {one.baseline for one in self.benchmarks} or {0}
        named = dict[bool, dict[str, None]]({True: {}, False: {}})
        for place, subject in enumerate(self.subjects):
            named[place in baselines][subject.name] = None
        return [*named[True]], [*named[False]]

    @model_validator(mode="after")
    def _known_sides(self) -> Self:
        if any(max(one.baseline, one.candidate) >= len(self.subjects) for one in self.benchmarks):
            raise ValueError("`benchmarks` names a baseline or candidate that is not in `subjects`")
        if any(place >= len(self.benchmarks) for part in self.parts for place in part.benchmarks):
            raise ValueError("`parts` names a benchmark that is not in `benchmarks`")
        return self


class Run(_Kept):
    """One subject measured alone, kept for later."""

    kind: Literal["run"] = "run"
    subjects: list[Subject] = Field(min_length=1, max_length=1)
    derived: Derived | None = None

    @model_validator(mode="after")
    def _one_side(self) -> Self:
        sides = [*self.launches.side]
        if self.counting:
            sides += [count.side for count in self.counting.counts] + [part.side for part in self.counting.functions]
        if self.heap:
            sides += [launch.side for launch in self.heap.launches]
        if any(sides):
            raise ValueError("there is a second side, but a run has one")
        return self
