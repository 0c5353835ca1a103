"""Foreign results, which Steelyard did not measure but read from another tool's file: a separate kind of record.

Nothing is known of their launches but the values: neither when each began nor what ran beside it. So they are shown,
and compared with each other, but never with what Steelyard measured.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from steelyard.model.findings import Finding, VerdictName
from steelyard.model.format import FORMAT, VERSION
from steelyard.model.numbers import Seconds
from steelyard.model.samples import Samples
from steelyard.model.structs import Kept, struct_field
from steelyard.model.throughput import Processed

if TYPE_CHECKING:
    from steelyard.model.derived import SuiteMean

PROCESSOR: Final = "processor"
CORES: Final = "cores"
"""The facts in `machine` that show whether results are of different machines; its other facts may have any name."""


@dataclass(frozen=True, kw_only=True)
class ForeignFile(Kept):
    """One file that was read: its name, and the digest of its contents."""

    name: str
    sha256: str = struct_field(
        "SHA-256 of the file as it was stored, before anything was unpacked", pattern=r"^[0-9a-f]{64}$"
    )


@dataclass(frozen=True, kw_only=True)
class Provenance(Kept):
    """Where the results come from."""

    format: str = struct_field("name of the files' format, as --format takes it")
    tool: str = struct_field("program that measured")
    version: str | None = struct_field(
        "version of that program, several joined by commas; null if no file says", default=None
    )
    measured: list[str] = struct_field(
        "when each file was measured, in its own words, for those that say so", default_factory=list
    )
    files: list[ForeignFile] = struct_field(min_length=1)


@dataclass(frozen=True, kw_only=True)
class ForeignBenchmark(Kept):
    """One benchmark: its values in the unit and with the direction that the tool measured it in."""

    name: str = struct_field(min_length=1)
    params: dict[str, str] = field(default_factory=dict)
    unit: str = struct_field(
        'unit of the values, such as "ns", "s" or "ops/s"; they are of one iteration', min_length=1
    )
    higher_is_better: bool = False
    values: Samples = struct_field("one list of samples for each process, in the order in which they ran")
    processed: list[Processed] = struct_field("what one iteration processes; empty if unknown", default_factory=list)
    seconds: Seconds | None = struct_field(
        "elapsed time that all samples took together, in seconds; null if any file does not say", default=None
    )


@dataclass(frozen=True, kw_only=True)
class ForeignResults(Kept):
    """Results of another tool, kept to be shown and to be compared with other results of that tool."""

    kind: Literal["import"] = "import"
    format: Literal["steelyard"] = FORMAT
    version: Literal[2] = VERSION
    tool: str = struct_field("version of Steelyard that imported")
    created: str = struct_field("when it was imported, ISO 8601 in UTC")
    provenance: Provenance
    machine: dict[str, str] = struct_field(
        "facts of the machine on which all files agree, as they describe it", default_factory=dict
    )
    benchmarks: list[ForeignBenchmark] = struct_field(min_length=1)
    findings: list[Finding] = struct_field(
        "what the user should know, as noticed while importing", default_factory=list
    )
    originals: list[str] = struct_field(
        "of pyperf, all that each file held except the values, as JSON that is compressed by zlib and in base64",
        default_factory=list,
    )


def other_machine(one: dict[str, str], other: dict[str, str]) -> str:
    """The fact that shows two descriptions to be of different machines; empty if none does."""
    for name in (PROCESSOR, CORES):
        if name in one and name in other and one[name] != other[name]:
            return f"{name} {one[name]}, {name} {other[name]}"
    return ""


@dataclass(frozen=True)
class Level:
    """One benchmark described: the median of its processes' medians, in its unit.

    `between` is the relative spread of the processes' medians, `within` the median over the processes of the spread of
    their samples; None where there is only one.
    """

    median: float
    between: float | None
    within: float | None
    processes: int
    samples: int


@dataclass(frozen=True)
class ForeignVerdict:
    """One benchmark of two such results. `change` is that of the value: for a throughput, -0.1 is slower.

    `interval` allows for at least as much drift as is `assumed`, and for more if `block_spreads` are larger: these are
    the relative between-block spreads within A and B, None where they cannot be seen. `findings` say why there is no
    verdict.
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
    means: list[SuiteMean] = field(default_factory=list)
    """The means of each unit, separately for values where lower is better and where higher is."""
