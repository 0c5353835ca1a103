"""How a record was measured and judged, as it keeps that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field, field_serializer, model_validator

from steelyard.model.counting import CountSettings
from steelyard.model.layouts import MOST_LAYOUTS
from steelyard.model.metrics import DEFAULT_METRIC, METRICS
from steelyard.model.numbers import Count, Seconds
from steelyard.model.parts import Record, is_empty
from steelyard.model.patterns import setting_for
from steelyard.model.secrecy import is_secret
from steelyard.model.subject import Benchmark

if TYPE_CHECKING:
    from steelyard.model.derived import Verdict

Margin = Annotated[float, Field(gt=0, lt=1)]


class Shard(Record):
    """One part of a suite that several machines share: `number` of `of`, from 1."""

    number: Count = Field(gt=0)
    of: Count = Field(gt=0)
    suite: list[str] = Field(description="names of all benchmarks of all parts, in the suite's order; they share alpha")

    @model_validator(mode="after")
    def _check_number(self) -> Self:
        if self.number > self.of:
            raise ValueError(f"a suite of {self.of} parts has no part {self.number}")
        if self.of > len(self.suite):  # missing parts are listed by name, however many a file claims
            raise ValueError(f"a suite of {len(self.suite)} benchmarks has no {self.of} parts")
        return self


class Settings(Record):
    """How it was measured: everything needed to repeat the measurement."""

    margin: Margin = Field(default=0.005, description="smallest relative change that matters; 0.01 is 1 %")
    margins: dict[str, Margin] = Field(
        default_factory=dict,
        description="margins that some benchmarks or metrics have instead, by PATTERN of names, METRIC or "
        "PATTERN:METRIC",
    )
    alpha: float = Field(default=0.01, ge=1e-9, lt=0.5, description="accepted chance of a wrong verdict")
    reserve: float = Field(
        default=0,
        ge=0,
        lt=1,
        description="part of the remaining alpha that the end of a budget keeps for a weighing that goes on",
    )
    family: Literal["holm", "fdr"] = Field(
        default="holm",
        description="what alpha limits among several benchmarks: holm, the chance of any wrong change; fdr, the "
        "share of wrong ones among the changes found",
    )
    metrics: list[str] = Field(
        default=[DEFAULT_METRIC], min_length=1, description="names of what is measured; the first metric decides"
    )
    pairs: Count | None = Field(
        default=None,
        gt=0,
        description="largest number of pairs of a benchmark, or of launches of a run; null for no such limit",
    )
    max_time_s: Seconds | None = Field(
        default=30.0, gt=0, description="budget of elapsed time, in seconds; null for none"
    )
    longest_time_s: Seconds | None = Field(
        default=None,
        gt=0,
        description="longer budget of elapsed time, in seconds, that applies until there are as few pairs as can "
        "ever decide; null if `max_time_s` is the only one",
    )
    warm_up: Count = Field(
        default=1,
        description="number of warm-up pairs of each benchmark (of launches, in a run), which are kept but not judged",
    )
    seed: Count = Field(
        default=0,
        description="seed of the plan (orders, hash seeds, padding and other draws): the same seed repeats it",
    )
    timeout_s: Seconds | None = Field(
        default=None,
        gt=0,
        description="longest time that one launch may take, in seconds; null if none was set, and a limit may "
        "follow from the budget",
    )
    cpu: Count | None = Field(
        default=None, description="processor that every launch is pinned to; null if they are not pinned"
    )
    cpu_choice: str | None = Field(
        default=None,
        exclude_if=is_empty,
        description="why that processor, where it was chosen automatically; otherwise left out",
    )
    isolate: bool = Field(
        default=False,
        exclude_if=is_empty,
        description="whether a control group of their own was asked for the launches",
    )
    ignore_failure: bool = False
    environment: list[str] = Field(
        default_factory=list, description="names of the environment variables that are passed on to launches"
    )
    variables: dict[str, str | None] = Field(
        default_factory=dict,
        description="variables that are set for launches; null in place of a value that looks secret, which is not "
        "stored",
    )
    directory: str = Field(default="/", description="working directory of the launches")
    stdin: str | None = None
    output: str | None = Field(default=None, description="file that the output of launches goes to; null discards it")
    repeat: int = Field(default=1, ge=1, lt=2**63, description="number of processes in a launch, one after the other")
    reference_output: bool = Field(
        default=False, description="whether both sides had to print the same before anything was measured"
    )
    pairing: Literal["adjacent", "tandem", "auto"] = Field(
        default="adjacent",
        description="how the launches of a pair run: adjacent, one after the other; tandem, at the same time on one "
        "processor; auto, as it turns out to be better",
    )
    wait_quiet_s: Seconds = Field(
        default=0, description="longest time to wait, in all, for other work on the machine to calm down, in seconds"
    )
    watch: bool = Field(default=True, description="whether to watch what else runs while launches do")
    setup: list[str] = Field(
        default_factory=list, description="command run once before all launches, or one for each side; empty for none"
    )
    prepare: list[str] = Field(
        default_factory=list, description="command run before each launch, or one for each side; empty for none"
    )
    conclude: list[str] = Field(
        default_factory=list, description="command run after each launch, or one for each side; empty for none"
    )
    cleanup: list[str] = Field(
        default_factory=list, description="command run once after all launches, or one for each side; empty for none"
    )
    counting: CountSettings | None = Field(
        default=None, description="how launches are counted under Valgrind; null if none are"
    )
    harness: str | None = Field(
        default=None, description="name of what drives the benchmarks inside the subjects; null for plain commands"
    )
    clock: Literal["still"] | None = Field(
        default=None,
        description="still: a harness's clock stands still while its program waits for a processor, so that samples "
        "do not include it; null for the usual clock",
    )
    starts: Literal["shared"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="shared: of a harness, one start a side serves all benchmarks of a round, each in a process "
        "forked from it; left out if each launch has a start of its own",
    )
    addresses: Literal["shared"] | None = Field(
        default=None,
        exclude_if=is_empty,
        description="shared: both launches of a pair map their memory at the same addresses, drawn for the pair, as "
        "long as one thread does all the work; left out if each launch has addresses of its own",
    )
    heap_shuffle: bool = Field(
        default=False, description="whether launches begin with the heap in a state drawn for the pair"
    )
    heap: Count | None = Field(
        default=None,
        ge=1,
        description="number of launches a side, beside the timed ones, in which the heap is watched; null for none",
    )
    layouts: Count = Field(
        default=0,
        le=MOST_LAYOUTS,
        description="number of build variants of each side, for {layout} in the commands; 0 where each side has "
        "only one build",
    )
    shard: Shard | None = Field(default=None, description="which part of a suite this is; null if it is all of it")

    def hooks(self) -> dict[str, list[str]]:
        """The hooks around launches, by the time when they run, in that order."""
        return {"setup": self.setup, "prepare": self.prepare, "conclude": self.conclude, "cleanup": self.cleanup}

    @property
    def has_unlike_hooks(self) -> bool:
        """Whether a hook runs another command for one side than for the other."""
        return any(len({*commands}) > 1 for commands in self.hooks().values())

    @property
    def has_hooks_around(self) -> bool:
        """Whether a hook runs before or after each launch."""
        return bool(self.prepare or self.conclude)

    def judged_by(self, benchmark: Benchmark, metric: str) -> Self:
        """The same settings, with the margin that applies to a benchmark in a metric."""
        margin = setting_for(self.margins, benchmark.names(), metric, self.margin)
        return self if margin == self.margin else self.model_copy(update={"margin": margin})

    def margin_of(self, verdict: Verdict) -> float:
        """The margin by which a verdict was judged; where nothing had to be measured it has none of its own."""
        return self.margin if verdict.margin is None else verdict.margin

    @field_serializer("variables")
    def _without_secrets(self, variables: dict[str, str | None]) -> dict[str, str | None]:
        """Replace secret values by None in everything that is written; the process that measures has them in memory."""
        return {name: None if is_secret(name, value or "") else value for name, value in variables.items()}

    @model_validator(mode="after")
    def _check_metrics(self) -> Self:
        for name in self.metrics:
            if name not in METRICS:
                raise ValueError(f"unknown metric {name!r}; known are {', '.join(METRICS)}")
        return self
