"""Launches: one row while it is measured, columns once it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from steelyard.model.errors import MeasurementError
from steelyard.model.metrics import PER_ITERATION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

# numpy takes a quarter of the start of `steelyard count`, which has no use for it: whoever computes imports it.
FloatArray: TypeAlias = "npt.NDArray[np.float64]"
_Times = TypeVar("_Times", float, "FloatArray")

WARM_UP, USED, DISTURBED = "warm-up", "used", "disturbed"
ROLES = (WARM_UP, USED, DISTURBED)


@dataclass(frozen=True)
class LaunchSpec:
    """Everything that fixes one launch: what to execute and the surroundings it finds.

    Bytes, because paths, arguments and environments are bytes to the kernel. `stdin`, `stdout` and `stderr` are paths;
    None is /dev/null, and an int keeps the last so many bytes of an output for error messages.
    """

    program: bytes
    argv: tuple[bytes, ...]
    env: tuple[bytes, ...]
    cwd: bytes | None = None
    stdin: bytes | None = None
    stdout: bytes | int | None = None
    stderr: bytes | int | None = 4096
    timeout_ns: int | None = None
    cpus: tuple[int, ...] | None = None
    repeat: int = 1
    """How many processes, one after the other, make up this launch; its numbers are their sums."""
    fixed_layout: bool = False
    """Whether addresses are the same in every launch, where the system allows that; else they are random."""
    results: int | None = None
    """Of what it writes to fd 3, where a harness puts its results, the last so many bytes are kept; None closes it."""


class Draw(NamedTuple):
    """What is drawn anew for each pair and shared by its two launches, so that it cancels."""

    hash_seed: int
    padding_bytes: int


class Place(NamedTuple):
    """Where a launch stands in the plan: the first fields of its row."""

    benchmark: int
    pair: int
    side: int
    order: int
    role: int
    hash_seed: int
    padding_bytes: int


class Frame(NamedTuple):
    """A row of the journal that somebody else is to write: what stands before and after the numbers of its launch."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What one launch measured, from outside. Times in ns, sizes in bytes; None where the machine cannot tell."""

    start_ns: int
    wall_ns: int
    spawn_ns: int
    cpu_ns: int | None
    delay_ns: int | None
    timeslices: int | None
    user_ns: int
    sys_ns: int
    max_rss_bytes: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    others_ns: int | None
    pressure_ns: int | None
    steal_ns: int | None
    exit_code: int | None
    signal: int | None
    timed_out: bool = False
    cancelled: bool = False
    stdout: bytes | None = None
    stdout_bytes: int | None = None
    stderr: bytes | None = None
    stderr_bytes: int | None = None
    results: bytes | None = None
    results_bytes: int | None = None
    left_behind: tuple[str, ...] = ()

    @classmethod
    def of_row(cls, row: LaunchRow) -> Self:
        """What was measured, as far as a row has it: the numbers."""
        return cls(**{name: getattr(row, name) for name in NUMBERS})

    def has_failed(self) -> bool:
        """Whether it did not end by itself with exit status 0."""
        return self.cancelled or self.timed_out or self.signal is not None or self.exit_code != 0

    def followed_by(self, later: Measured) -> Measured:
        """Both as one launch: times and counts add up, the memory is the larger one's, a failure is either one's."""
        summed = {name: _sum(getattr(self, name), getattr(later, name)) for name in _ADD_UP}
        return replace(
            self if self.has_failed() else later,
            start_ns=self.start_ns,
            max_rss_bytes=max(self.max_rss_bytes, later.max_rss_bytes),
            left_behind=self.left_behind + later.left_behind,
            **summed,
        )


_ADD_UP = (
    "wall_ns",
    "spawn_ns",
    "cpu_ns",
    "delay_ns",
    "timeslices",
    "user_ns",
    "sys_ns",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "others_ns",
    "pressure_ns",
    "steal_ns",
)


def _sum(one: int | None, other: int | None) -> Any:
    return None if one is None or other is None else one + other


class Sample(NamedTuple):
    """One timed batch of iterations inside a launch, as its harness measured it. Times in ns, of all `loops`."""

    loops: int
    ns: int
    cpu_ns: int | None = None
    delay_ns: int | None = None

    def time_ns(self, metric: str) -> float | None:
        """`wall`, `cpu` or `active` of one iteration; None where the harness could not tell."""
        match metric:
            case "wall":
                time: int | None = self.ns
            case "cpu":
                time = self.cpu_ns
            case _:
                time = None if self.delay_ns is None else self.ns - self.delay_ns
        return None if time is None else time / self.loops


class LaunchRow(NamedTuple):
    """One launch as it is journaled: where it stands in the plan, its raw numbers, and the samples of a harness.

    `role` indexes ROLES; `side` is 0 for the baseline, 1 for the candidate; `order` is 0 for the launch that ran
    first in its pair. A run (one subject alone) has only side 0. A command has no `samples`: it is one itself.
    """

    benchmark: int
    pair: int
    side: int
    order: int
    role: int
    hash_seed: int
    padding_bytes: int
    start_ns: int
    wall_ns: int
    spawn_ns: int
    cpu_ns: int | None
    delay_ns: int | None
    timeslices: int | None
    user_ns: int
    sys_ns: int
    max_rss_bytes: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    others_ns: int | None
    pressure_ns: int | None
    steal_ns: int | None
    exit_code: int | None
    signal: int | None
    overhead_ns: int
    samples: tuple[Sample, ...] = ()


COLUMNS = LaunchRow._fields[:-1]
"""The fields of a launch that are one number each."""

NUMBERS = COLUMNS[len(Place._fields) : -1]
"""Those of them that the launch itself measured: all but its place in the plan and the overhead."""

# What a kernel can count. More would be no measurement, and has no place in an array of floats either.
Count = Annotated[int, Field(ge=0, lt=2**63)]
Time = Annotated[int, Field(gt=0, lt=2**63)]
_KeptSample = tuple[Time, Time, Count | None, Count | None]


class Launches(BaseModel):
    """The raw launches of a record, one list a column, in the order in which they ran (fields as in LaunchRow)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    benchmark: list[Count] = Field(default_factory=list, description="index into `benchmarks`")
    pair: list[Count] = Field(default_factory=list, description="number of the pair within its benchmark")
    side: list[Count] = Field(default_factory=list, description="0 baseline, 1 candidate")
    order: list[Count] = Field(default_factory=list, description="0 ran first in its pair, 1 second")
    role: list[Count] = Field(default_factory=list, description="0 warm-up, 1 used, 2 disturbed and repeated")
    hash_seed: list[Count] = Field(default_factory=list, description="hash seed drawn for the pair")
    padding_bytes: list[Count] = Field(default_factory=list, description="environment padding drawn for the pair")
    start_ns: list[Count] = Field(default_factory=list, description="monotonic clock just before the spawn, ns")
    wall_ns: list[Time] = Field(default_factory=list, description="elapsed time, ns")
    spawn_ns: list[Count] = Field(default_factory=list, description="time the spawn itself took, ns")
    cpu_ns: list[Count | None] = Field(default_factory=list, description="scheduler's run time, main thread, ns")
    delay_ns: list[Count | None] = Field(default_factory=list, description="runnable but waiting, main thread, ns")
    timeslices: list[Count | None] = Field(default_factory=list, description="times put on a processor")
    user_ns: list[Count] = Field(default_factory=list, description="user time of all threads, ns")
    sys_ns: list[Count] = Field(default_factory=list, description="system time of all threads, ns")
    max_rss_bytes: list[Count] = Field(default_factory=list, description="largest resident set, bytes")
    minor_faults: list[Count] = Field(default_factory=list, description="page faults without I/O")
    major_faults: list[Count] = Field(default_factory=list, description="page faults with I/O")
    voluntary_switches: list[Count] = Field(default_factory=list, description="voluntary context switches")
    involuntary_switches: list[Count] = Field(default_factory=list, description="involuntary context switches")
    others_ns: list[Count | None] = Field(default_factory=list, description="cpu of other threads and children, ns")
    pressure_ns: list[Count | None] = Field(default_factory=list, description="machine's CPU pressure meanwhile, ns")
    steal_ns: list[Count | None] = Field(default_factory=list, description="machine's stolen time meanwhile, ns")
    exit_code: list[Count | None] = Field(default_factory=list, description="exit status; null if a signal ended it")
    signal: list[Count | None] = Field(default_factory=list, description="the signal that ended it; else null")
    overhead_ns: list[Count] = Field(default_factory=list, description="start of an empty shell in this pair, ns, or 0")
    samples: list[list[_KeptSample]] = Field(
        default_factory=list,
        description="of a harness: each launch's samples as [loops, ns, cpu_ns, delay_ns], the first one not judged; "
        "else empty",
    )

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        lengths = {len(getattr(self, name)) for name in COLUMNS}
        if len(lengths) > 1 or len(self.samples) not in (0, len(self)):
            raise ValueError("the columns of `launches` differ in length")
        if any(role not in range(len(ROLES)) for role in self.role) or any(side not in (0, 1) for side in self.side):
            raise ValueError("`launches` has a side or a role out of range")
        if len(set(zip(self.benchmark, self.pair, self.side, strict=True))) < len(self.pair):
            raise ValueError("`launches` has two launches in the place of one")
        return self

    @classmethod
    def of_rows(cls, rows: list[LaunchRow]) -> Launches:
        """Turn journaled rows into columns without validating each number again: they were measured, not read."""
        if not rows:
            return cls()
        columns: dict[str, Any] = dict(zip(LaunchRow._fields, map(list, zip(*rows, strict=True)), strict=True))
        samples = columns["samples"]
        columns["samples"] = [list(map(tuple, launch)) for launch in samples] if any(samples) else []
        return cls.model_construct(**columns)

    def by_benchmark(self, count: int) -> list[Launches]:
        """The launches of each of `count` benchmarks, apart: what asks for one of them need not search them all."""
        rows: list[list[LaunchRow]] = [[] for _ in range(count)]
        for row in self.rows():
            rows[row.benchmark].append(row)
        return [Launches.of_rows(mine) for mine in rows]

    def rows(self) -> list[LaunchRow]:
        """The launches as rows again, to go on from."""
        numbers = zip(*(getattr(self, name) for name in COLUMNS), strict=True)
        if not self.samples:
            return [LaunchRow._make((*row, ())) for row in numbers]
        samples = (tuple(map(Sample._make, launch)) for launch in self.samples)
        return [LaunchRow._make((*row, of_launch)) for row, of_launch in zip(numbers, samples, strict=True)]

    def __len__(self) -> int:
        return len(self.wall_ns)

    def column(self, name: str) -> FloatArray:
        """One raw column as floats; NaN where the machine could not tell."""
        import numpy as np

        return np.array(getattr(self, name), dtype=np.float64)

    def metric(self, name: str) -> FloatArray:
        """A metric of every launch, in its unit; NaN where it is not defined for a launch.

        `wall` is what was measured less the start of an empty shell, where a shell was asked for; `active` is
        wall - delay and is defined only where the main thread did all the work (`worked_alone`); `cpu` is the
        scheduler's exact run time there, and the kernel's total of user and sys elsewhere. With a harness these
        three are of one iteration: the median over a launch's samples.
        """
        import numpy as np

        if self.samples and name in PER_ITERATION:
            return np.array([_of_iteration(samples, name) for samples in self.samples])
        match name:
            case "wall":
                return self.column("wall_ns") - self.column("overhead_ns")
            case "active":
                return np.where(self.worked_alone(), self.metric("wall") - self.column("delay_ns"), np.nan)
            case "cpu":
                total = self.column("user_ns") + self.column("sys_ns")
                return np.where(self.worked_alone(), self.column("cpu_ns"), total)
            case "max_rss":
                return self.column("max_rss_bytes")
            case "user" | "sys" | "delay":
                return self.column(f"{name}_ns")
            case _ if name in COLUMNS:
                return self.column(name)
        raise MeasurementError(f"no launch has a metric named {name!r}")

    def worked_alone(self) -> npt.NDArray[np.bool_]:
        """Whether the main thread did all of a launch's work, so that its delay is the launch's delay."""
        import numpy as np

        others, cpu = self.column("others_ns"), self.column("cpu_ns")
        with np.errstate(invalid="ignore"):
            return np.asarray(others <= most_of_others(cpu))

    def select(self, *, benchmark: int, role: int, side: int) -> npt.NDArray[np.intp]:
        """Positions of one side's launches of one benchmark in one role, in order of their pair."""
        import numpy as np

        chosen = (np.array(self.benchmark) == benchmark) & (np.array(self.role) == role) & (np.array(self.side) == side)
        positions = np.flatnonzero(chosen)
        return positions[np.argsort(np.array(self.pair)[positions], kind="stable")]

    def pair_values(self, benchmark: int, metric: str) -> tuple[FloatArray, FloatArray]:
        """The metric of the complete used pairs of a benchmark: (baseline, candidate), in order of their pair."""
        import numpy as np

        values, pairs = self.metric(metric), np.array(self.pair)
        baseline = self.select(benchmark=benchmark, role=ROLES.index(USED), side=0)
        candidate = self.select(benchmark=benchmark, role=ROLES.index(USED), side=1)
        complete = np.intersect1d(pairs[baseline], pairs[candidate])
        return (
            values[baseline[np.isin(pairs[baseline], complete)]],
            values[candidate[np.isin(pairs[candidate], complete)]],
        )


def most_of_others(cpu_ns: _Times) -> _Times:
    """Up to how much processor time (ns) beside the main thread's is still put down to that.

    rusage is in µs and the exit path is billed after schedstat was read, hence the allowance.
    """
    return 100_000 + 0.005 * cpu_ns


def judged_samples(samples: Sequence[Sequence[Any]]) -> list[Sample]:
    """The samples of a launch but for the first, which pays for cold caches; the only one, if there is just one."""
    return [Sample._make(sample) for sample in samples[1:] or samples]


def _of_iteration(samples: Sequence[Sequence[Any]], metric: str) -> float:
    """The median over a launch's samples of one iteration's time in ns; NaN where a sample does not tell it."""
    times = [sample.time_ns(metric) for sample in judged_samples(samples)]
    known = [time for time in times if time is not None]
    return median(known) if known and len(known) == len(times) else nan
