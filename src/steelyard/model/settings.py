"""How a record was measured and judged, as it keeps that."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, field_serializer, model_validator

from steelyard.model.counting import CountSettings
from steelyard.model.layouts import MOST_LAYOUTS
from steelyard.model.metrics import DEFAULT_METRIC, METRICS
from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record
from steelyard.model.patterns import said_of
from steelyard.model.secrecy import is_secret
from steelyard.model.subject import Benchmark
from steelyard.model.throughput import is_empty

Margin = Annotated[float, Field(gt=0, lt=1)]


class Shard(Record):
    """One part of a suite that several machines share: `number` of `of`, from 1."""

    number: Count = Field(gt=0)
    of: Count = Field(gt=0)
    suite: list[str] = Field(description="all benchmarks of all parts, in their order; they share alpha")

    @model_validator(mode="after")
    def _is_one_of_them(self) -> Self:
        if self.number > self.of:
            raise ValueError(f"a suite of {self.of} parts has no part {self.number}")
        if self.of > len(self.suite):  # missing parts are listed by name, however many a file claims
            raise ValueError(f"a suite of {len(self.suite)} benchmarks has no {self.of} parts")
        return self


class Settings(Record):
    """How it was measured: everything needed to repeat the measurement."""

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
        """The hooks around launches, by the time when they run, in that order."""
        return {"setup": self.setup, "prepare": self.prepare, "conclude": self.conclude, "cleanup": self.cleanup}

    @property
    def has_hooks_around(self) -> bool:
        """Whether a hook runs before or after each launch."""
        return bool(self.prepare or self.conclude)

    def judged_by(self, benchmark: Benchmark, metric: str) -> Self:
        """The same settings, with the margin that applies to a benchmark in a metric."""
        margin = said_of(self.margins, benchmark.names(), metric, self.margin)
        return self if margin == self.margin else self.model_copy(update={"margin": margin})

    @field_serializer("variables")
    def _without_secrets(self, variables: dict[str, str | None]) -> dict[str, str | None]:
        """Replace secret values by None in everything that is written; the process that measures has them in memory."""
        return {name: None if is_secret(name, value or "") else value for name, value in variables.items()}

    @model_validator(mode="after")
    def _known_metrics(self) -> Self:
        for name in self.metrics:
            if name not in METRICS:
                raise ValueError(f"unknown metric {name!r}; known are {', '.join(METRICS)}")
        return self
