"""Counts: what a launch executed under Valgrind, in events instead of seconds."""

from __future__ import annotations

from functools import cached_property
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
    """The simulated caches: each is (bytes, ways, bytes a line).

    `i1` and `d1` are the first level, for instructions and for data; `ll` is the last level.
    """

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
    call_graph: bool = Field(
        default=False,
        description="whether the counts of a function are also known together with those of all that it calls "
        "(callgrind only)",
    )
    body: bool = Field(
        default=False,
        description="whether counting is limited to what runs between the target's own start and stop requests "
        "(callgrind only)",
    )
    after_start: bool = Field(
        default=False, description="whether counting begins only once the program is loaded (callgrind only)"
    )
    loops: int | None = Field(
        default=None,
        ge=1,
        lt=2**63,
        description="iterations of the body: each count is the difference of two launches, with {loops} set to "
        "twice this and to this; null if whole launches are counted",
    )


class CountTool(Record):
    """The tool that counted: counts of different tools, versions or C libraries are not comparable."""

    tool: Tool
    version: str = Field(description="version of the tool, as it says it, e.g. 3.19.0")
    program: str = Field(description="path of the tool's executable")
    flags: list[str] = Field(description="options that the tool was run with, except those that only name output files")
    fingerprint: dict[str, str] = Field(
        default_factory=dict,
        description="SHA-256 of the files whose code is counted with every program (C library, loader, preloaded "
        "library), by file name",
    )
    not_pinned: list[str] = Field(default_factory=list, description="what may change counts and could not be fixed")


class CountedProcess(Record):
    """One process of a counted launch: the target itself, or a program that it executed."""

    command: str
    events: dict[str, Difference] = Field(
        description="counts by event; with `loops` differences of two launches, which may be less than 0"
    )


class Count(Record):
    """One counted launch: the summed events of the target and of the programs that it executed."""

    benchmark: int = Field(ge=0, description="index of the benchmark in `benchmarks`")
    side: int = Field(ge=0, le=1, description="0 for the baseline, 1 for the candidate")
    events: dict[str, _Number] = Field(
        description="counts by event, summed over all counted processes; with `loops` differences of two launches, "
        "0 or more"
    )
    processes: list[CountedProcess] = Field(
        default_factory=list, description="counts of each process, if there were several; otherwise empty"
    )
    forked: _Number = Field(
        default=0, description="number of processes that forked and executed no program; they are not in `events`"
    )
    seconds: Seconds = Field(description="elapsed time of the counting, in seconds")

    @model_validator(mode="after")
    def _counts_instructions(self) -> Self:
        if INSTRUCTIONS not in self.events:
            raise ValueError("a count needs instructions")
        return self


class Functions(Record):
    """The functions of one side of a benchmark, one list per column; they add up to its first judged count."""

    benchmark: int = Field(ge=0)
    side: int = Field(ge=0, le=1)
    name: list[str] = Field(description="name of the function, as Valgrind demangles it")
    file: list[str] = Field(description="source file; ??? without debug information")
    object: list[str] = Field(description="program or library; empty where the tool does not say")
    line: list[_Number] = Field(
        description="line of the function with the most instructions; 0 without debug information"
    )
    # A difference is negative if, say, a printed number has a digit less after twice the loops: printing it did less.
    events: dict[str, list[Difference]] = Field(
        description="counts of each function by event, without those of what it calls; with `loops` differences of "
        "two launches, some of which may be less than 0"
    )
    inclusive: list[Difference] | None = Field(
        default=None,
        description="instructions of each function with those of all that it calls; null without a call graph",
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
    counts: list[Count] = Field(default_factory=list, description="all counts, in the order in which they ended")
    functions: list[Functions] = Field(default_factory=list)

    def by_benchmark(self, number: int) -> list[Self]:
        """Return the counts of each of `number` benchmarks separately."""
        counts: list[list[Count]] = [[] for _ in range(number)]
        for count in self.counts:
            counts[count.benchmark].append(count)
        return [self.model_copy(update={"counts": mine}) for mine in counts]

    @cached_property
    def functions_by_place(self) -> dict[tuple[int, int], Functions]:
        """The functions of each side, by the place of its benchmark and by side; the last, if others were set aside."""
        return {(part.benchmark, part.side): part for part in self.functions}

    def places(self) -> set[int]:
        """The benchmarks that something was counted for."""
        return {count.benchmark for count in self.counts} | {part.benchmark for part in self.functions}
