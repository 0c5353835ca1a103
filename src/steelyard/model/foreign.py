"""Foreign results, which Steelyard did not measure: as another tool's file tells them, a record of its own kind.

Nothing is known of their launches but the values: neither when each began nor what ran beside it. So they are shown,
and compared with each other, but never with what Steelyard measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from steelyard.model.errors import UsageError
from steelyard.model.kept import FORMAT, VERSION, Finding, Record, VerdictName
from steelyard.model.numbers import LEAST_VALUE, MOST_VALUE, Seconds
from steelyard.model.samples import PACKED
from steelyard.model.throughput import Processed, is_empty

PROCESSOR: Final = "processor"
CORES: Final = "cores"
"""What tells in `machine` that results are of two different machines; other facts of it may be called anything."""

Value = Annotated[float, Field(ge=LEAST_VALUE, le=MOST_VALUE)]


class ForeignFile(Record):
    """One file that was read: what it was called, and what was in it."""

    name: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$", description="of the file as it stood there")


class Provenance(Record):
    """Where the results come from."""

    format: str = Field(description="as --format names it")
    tool: str = Field(description="the program that measured")
    version: str | None = Field(default=None, description="its version, if it says so")
    measured: list[str] = Field(default_factory=list, description="when, of each file that says so, in its own words")
    files: list[ForeignFile] = Field(min_length=1)


class ForeignBenchmark(Record):
    """One benchmark: its values in the unit and with the direction that the tool measured it in."""

    name: str = Field(min_length=1)
    params: dict[str, str] = Field(default_factory=dict)
    unit: str = Field(min_length=1, description='such as "ns", "s" or "ops/s"; of one iteration')
    higher_is_better: bool = False
    values: Annotated[list[Annotated[list[Value], Field(min_length=1)]], *PACKED] = Field(
        min_length=1, description="one list of samples for each process, in the order in which they ran"
    )
    processed: list[Processed] = Field(
        default_factory=list, exclude_if=is_empty, description="what one iteration processes"
    )
    seconds: Seconds | None = Field(default=None, description="what the samples took in all, as far as that is told")


class ForeignResults(Record):
    """Results of another tool, kept to look at them and to compare them with more of its results."""

    kind: Literal["import"] = "import"
    format: Literal["steelyard"] = FORMAT
    version: Literal[2] = VERSION
    tool: str = Field(description="the Steelyard version that imported")
    created: str = Field(description="when it was imported, ISO 8601 in UTC")
    provenance: Provenance
    machine: dict[str, str] = Field(default_factory=dict, description="as the files describe it")
    benchmarks: list[ForeignBenchmark] = Field(min_length=1)
    findings: list[Finding] = Field(default_factory=list, description="seen while importing")
    originals: list[str] = Field(
        default_factory=list,
        description="of pyperf: what each file told beside the values, as JSON, compressed by zlib, in base64",
    )


def other_machine(one: dict[str, str], other: dict[str, str]) -> str:
    """What tells that two descriptions are of different machines; empty if nothing does."""
    for name in (PROCESSOR, CORES):
        if name in one and name in other and one[name] != other[name]:
            return f"{name} {one[name]}, {name} {other[name]}"
    return ""


class NotMeasuredError(UsageError):
    """What was read is an import, where a record was wanted that Steelyard measured."""

    def __init__(self, message: str, record: ForeignResults) -> None:
        super().__init__(message)
        self.record = record


@dataclass(frozen=True)
class Level:
    """One benchmark described: the median of its processes' medians, in its unit.

    `between` is the relative spread of the processes' medians, `within` that of the samples within a process (their
    median); None where there is only one.
    """

    median: float
    between: float | None
    within: float | None
    processes: int
    samples: int


@dataclass(frozen=True)
class ForeignVerdict:
    """One benchmark of two such results. `change` is that of the value: of a throughput, -0.1 is slower.

    `interval` has as much drift in it as is `assumed` at least, and more if `block_spreads` are larger: the relative
    between-block spreads within A and B, None where they cannot be seen. `findings` say why there is no verdict.
    """

    benchmark: str
    unit: str
    higher_is_better: bool
    verdict: VerdictName
    change: float
    interval: tuple[float, float] | None
    block_spreads: tuple[float, float] | None
    assumed: float
    baseline: Level
    candidate: Level
    findings: list[Finding]


@dataclass(frozen=True)
class ForeignReport:
    """Two such results, A and B, with the verdicts in the order of A's benchmarks."""

    baseline: ForeignResults
    candidate: ForeignResults
    margin: float
    alpha: float
    verdicts: list[ForeignVerdict]
    findings: list[Finding]
