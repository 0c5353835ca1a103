"""Counts: what a launch executed under Valgrind, in events instead of seconds."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from steelyard.model.numbers import Count as _Number
from steelyard.model.numbers import Difference, Seconds
from steelyard.model.parts import Record

Tool = Literal["cachegrind", "callgrind"]

INSTRUCTIONS: Final = "Ir"

_Weight = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
_Positive = Annotated[_Number, Field(gt=0)]
_Shape = tuple[_Positive, _Positive, _Positive]


class Weights(Record):
    """What a hit of each level costs, in hits of the first level: a named convention, not a time."""

    name: str = "default"
    l1: _Weight = 1
    ll: _Weight = 5
    ram: _Weight = 35


class Caches(Record):
    """The simulated caches: each is (bytes, ways, bytes a line)."""

    name: str = "article"
    i1: _Shape = (32 << 10, 8, 64)
    d1: _Shape = (32 << 10, 8, 64)
    ll: _Shape = (8 << 20, 16, 64)


class CountSettings(Record):
    """What is counted, and how: two counts can be compared only if all of this is equal."""

    tool: Tool = "cachegrind"
    cache_simulation: bool = False
    # Constructed without validation, for which every start would have to build the validators.
    caches: Caches = Caches.model_construct()
    weights: Weights = Weights.model_construct()
    call_graph: bool = Field(default=False, description="count what each function calls, too (callgrind)")
    body: bool = Field(default=False, description="only between the target's own start and stop requests (callgrind)")
    after_start: bool = Field(default=False, description="only once the program is loaded (callgrind)")
    loops: int | None = Field(
        default=None,
        ge=1,
        lt=2**63,
        description="count {loops} = this and twice this, and take the difference: the body alone",
    )


class CountTool(Record):
    """The tool that counted: counts of different tools, versions or C libraries are not comparable."""

    tool: Tool
    version: str = Field(description="as the tool says it, e.g. 3.19.0")
    program: str = Field(description="the file that was run")
    flags: list[str] = Field(description="without those that only name output files")
    fingerprint: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 of files whose code is counted along: C library, loader, preload"
    )
    not_pinned: list[str] = Field(default_factory=list, description="what may move counts and could not be fixed")


class CountedProcess(Record):
    """One process of a counted launch: the target itself, or a program that it executed."""

    command: str
    events: dict[str, Difference] = Field(description="with `loops` a difference, which may be less than 0")


class Count(Record):
    """One counted launch: the summed events of the target and of the programs that it executed."""

    benchmark: int = Field(ge=0, description="index into `benchmarks`")
    side: int = Field(ge=0, le=1, description="0 baseline, 1 candidate")
    events: dict[str, _Number] = Field(description="event to count; with `loops` the difference of two launches")
    processes: list[CountedProcess] = Field(default_factory=list, description="each process, if there were several")
    forked: _Number = Field(default=0, description="processes that forked and executed nothing: not in `events`")
    seconds: Seconds = Field(description="how long the counting took")

    @model_validator(mode="after")
    def _counts_instructions(self) -> Self:
        if INSTRUCTIONS not in self.events:
            raise ValueError("a count needs instructions")
        return self


class Functions(Record):
    """The functions of one side of a benchmark, one list per column; they add up to its first judged count."""

    benchmark: int = Field(ge=0)
    side: int = Field(ge=0, le=1)
    name: list[str] = Field(description="as Valgrind demangles it")
    file: list[str] = Field(description="source file; ??? without debug information")
    object: list[str] = Field(description="program or library; empty where the tool does not say")
    line: list[_Number] = Field(description="the line with the most instructions; 0 without debug information")
    # A difference is negative if, say, a printed number has a digit less after twice the loops: printing it did less.
    events: dict[str, list[Difference]] = Field(
        description="event to self counts; with `loops` differences, some of which may be less than 0"
    )
    inclusive: list[Difference] | None = Field(
        default=None, description="instructions with those of callees (callgrind)"
    )

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        columns = [self.name, self.file, self.object, self.line, *self.events.values(), self.inclusive or self.name]
        if len({len(column) for column in columns}) > 1:
            raise ValueError("the columns of `functions` differ in length")
        if self.name and INSTRUCTIONS not in self.events:
            raise ValueError("`functions` has no column of instructions")
        return self


class Counting(Record):
    """All that was counted for a record."""

    tool: CountTool
    counts: list[Count] = Field(default_factory=list, description="in the order in which they were begun")
    functions: list[Functions] = Field(default_factory=list)

    def by_benchmark(self, number: int) -> list[Self]:
        """Return the counts of each of `number` benchmarks separately."""
        counts: list[list[Count]] = [[] for _ in range(number)]
        for count in self.counts:
            counts[count.benchmark].append(count)
        return [self.model_copy(update={"counts": mine}) for mine in counts]

    def places(self) -> set[int]:
        """The benchmarks that something was counted for."""
        return {count.benchmark for count in self.counts} | {part.benchmark for part in self.functions}
