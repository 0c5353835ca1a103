"""What is stored: a weighing of two or more subjects, or a run of one. One record = one file."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, Self

from pydantic import Field, model_validator

from steelyard.model.columns import highest
from steelyard.model.counting import Counting
from steelyard.model.derived import Derived, Summary, Verdict
from steelyard.model.findings import IDENTICAL, NEW_SUITE, SKIPPED, Finding, VerdictName
from steelyard.model.format import FORMAT, VERSION
from steelyard.model.heap import Heap
from steelyard.model.isolation import Isolation
from steelyard.model.launches import Launches
from steelyard.model.machine import MachineFacts
from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record, is_empty
from steelyard.model.settings import Settings
from steelyard.model.subject import Benchmark, Subject
from steelyard.model.watch import Watch

StopReason = Literal["decided", "pairs", "time", "futile", "interrupted", "failed"]


class _Measured(Record):
    format: Literal["steelyard"] = FORMAT
    version: Literal[2] = VERSION
    tool: str = Field(description="version of Steelyard that measured, or that merged what was measured")
    created: str = Field(description="when the measuring began, ISO 8601 in UTC")
    machine: MachineFacts
    settings: Settings
    benchmarks: list[Benchmark]
    stop: list[StopReason] = Field(
        description="why the measuring of each benchmark stopped, in the order of `benchmarks`: decided; pairs or "
        "time, when the budget was used up; futile, when no verdict was within reach any more; interrupted; failed"
    )
    preparing_s: Seconds = Field(
        default=0,
        description="elapsed time before the measuring, in which a suite's benchmarks were listed and tried, in "
        "seconds; of a merged weighing, that of all parts added up; 0 for commands",
    )
    seconds: Seconds = Field(
        description="elapsed time of the measuring, in seconds; of a merged weighing, that of all parts added up"
    )
    findings: list[Finding] = Field(
        default_factory=list, description="what the user should know, as noticed while measuring"
    )
    files: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=is_empty,
        description="SHA-256 of each file that a command names or launches read as input, by its path, or the size of "
        "a large one; without those that the warm-up wrote to, and left out if there are none",
    )
    launches: Launches
    counting: Counting | None = Field(
        default=None,
        description="what was counted under Valgrind; null if nothing was, and in records before version 2",
    )
    heap: Heap | None = Field(
        default=None,
        description="what was seen of the heap; null if it was not watched, and in records before version 2",
    )
    isolation: Isolation | None = Field(
        default=None, exclude_if=is_empty, description="control group of the launches; left out if none was asked for"
    )
    watch: Watch | None = Field(
        default=None,
        exclude_if=is_empty,
        description="what went on beside the launches; left out if they were not watched, or in a merged weighing, "
        "whose parts have it",
    )

    def watch_of(self, benchmark: int) -> Watch | None:  # noqa: ARG002 - as of merged ones
        """What went on beside a benchmark's launches."""
        return self.watch

    @property
    def members(self) -> list[Benchmark]:
        """The benchmarks except controls."""
        return [one for one in self.benchmarks if not one.control]

    @property
    def fails_one_by_one(self) -> bool:
        """Whether a benchmark that fails leaves the others as they are: inside a program, or of targets of a project.

        Other commands have their baseline or their candidate in common.
        """
        return self.settings.harness is not None or len(self.baselines) > 1

    @property
    def baselines(self) -> set[int]:
        """The indices in `subjects` of the baselines: several where the targets of a project are weighed."""
        return {one.baseline for one in self.benchmarks} or {0}

    def is_empty(self) -> bool:
        """Whether nothing was measured, and there is no answer without measuring either."""
        counts = self.counting.counts if self.counting else []
        watched = self.heap.launches if self.heap else []
        return not (len(self.launches) or counts or watched or self.unmeasured)

    @property
    def identical(self) -> Finding | None:
        """The finding that both sides are one program, so that nothing had to be measured; None without it."""
        return self._finding_of(IDENTICAL)

    @property
    def new_suite(self) -> Finding | None:
        """The finding that the baseline has no benchmark yet, so that there was nothing to compare; None without it."""
        return None if self.benchmarks else self._finding_of(NEW_SUITE)

    @property
    def skipped_part(self) -> Finding | None:
        """The finding that all benchmarks of this part of a suite skip themselves; None without it."""
        return None if self.benchmarks or self.settings.shard is None else self._finding_of(SKIPPED)

    @property
    def unmeasured(self) -> Finding | None:
        """The finding because of which nothing had to be measured, or could be compared; None without it."""
        return self.identical or self.new_suite or self.skipped_part

    def with_findings(self, found: Iterable[Finding], *, replacing: Collection[str] = ()) -> Self:
        """Return it with more findings, in place of those that have one of the codes `replacing`."""
        before = [one for one in self.findings if one.code not in replacing]
        return self.model_copy(update={"findings": [*before, *found]})

    def _finding_of(self, code: str) -> Finding | None:
        return next((finding for finding in self.findings if finding.code == code), None)

    @model_validator(mode="after")
    def _check_indices(self) -> Self:
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
    """One of the weighings that a merged one consists of."""

    created: str = Field(description="when the measuring began, ISO 8601 in UTC")
    tool: str = Field(description="version of Steelyard that measured")
    machine: MachineFacts
    seed: Count
    seconds: Seconds = Field(description="elapsed time of the measuring, in seconds")
    benchmarks: list[Count] = Field(description="indexes of its benchmarks in `benchmarks`")
    watch: Watch | None = Field(
        default=None,
        exclude_if=is_empty,
        description="what went on beside its launches; left out if they were not watched",
    )


class Weighing(_Measured):
    """One comparison of candidates with a baseline over all their benchmarks.

    `verdict`, `change`, `ratio`, `interval` and `pairs` repeat those of the first benchmark's first metric at the top
    level, for scripts; they are derived, like everything in `derived`.
    """

    kind: Literal["weighing"] = "weighing"
    verdict: VerdictName | None = None
    change: float | None = None
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int | None = None
    subjects: list[Subject] = Field(
        min_length=2, description="baselines and candidates of the benchmarks, which refer to them by index"
    )
    parts: list[Part] = Field(
        default_factory=list, description="weighings that were merged into this one; empty if none were"
    )
    derived: Derived | None = None

    @property
    def verdicts(self) -> list[Verdict]:
        """What was judged of it; empty if nothing was."""
        return self.derived.verdicts if self.derived else []

    @property
    def machines(self) -> list[MachineFacts]:
        """The machine that it was measured on; of a merged weighing, that of each part."""
        return [part.machine for part in self.parts] or [self.machine]

    def watch_of(self, benchmark: int) -> Watch | None:
        """What went on beside a benchmark's launches; in a merged weighing, on the machine that it ran on."""
        return next((part.watch for part in self.parts if benchmark in part.benchmarks), self.watch)

    def sides(self) -> tuple[list[str], list[str]]:
        """The names of the baselines and of the candidates, each once."""
        baselines, named = self.baselines, dict[bool, dict[str, None]]({True: {}, False: {}})
        for place, subject in enumerate(self.subjects):
            named[place in baselines][subject.name] = None
        return [*named[True]], [*named[False]]

    @model_validator(mode="after")
    def _check_subjects(self) -> Self:
        if any(max(one.baseline, one.candidate) >= len(self.subjects) for one in self.benchmarks):
            raise ValueError("`benchmarks` names a baseline or candidate that is not in `subjects`")
        if any(place >= len(self.benchmarks) for part in self.parts for place in part.benchmarks):
            raise ValueError("`parts` names a benchmark that is not in `benchmarks`")
        return self


class Run(_Measured):
    """One subject measured alone, kept for later."""

    kind: Literal["run"] = "run"
    subjects: list[Subject] = Field(min_length=1, max_length=1)
    derived: Derived | None = None

    @property
    def machines(self) -> list[MachineFacts]:
        """The machine that it was measured on."""
        return [self.machine]

    @property
    def verdicts(self) -> list[Verdict]:
        """None: what is measured alone has nothing to be judged against."""
        return []

    @property
    def summaries(self) -> list[Summary]:
        """What is said of its benchmarks; empty if nothing is."""
        return self.derived.summaries if self.derived else []

    @model_validator(mode="after")
    def _check_side(self) -> Self:
        sides = [*self.launches.side]
        if self.counting:
            sides += [count.side for count in self.counting.counts] + [part.side for part in self.counting.functions]
        if self.heap:
            sides += [launch.side for launch in self.heap.launches]
        if any(sides):
            raise ValueError("there is a second side, but a run has one")
        return self
