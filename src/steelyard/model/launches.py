"""Launches as a record keeps them, in columns."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import chain, repeat, starmap
from math import nan
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeAlias, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from steelyard.model.columns import (
    AS_LIST,
    Packed,
    are_distinct,
    column_of,
    highest,
    packed_integers,
    positions_by_number,
    values_at,
)
from steelyard.model.counters import EVENTS, Counted, scaled
from steelyard.model.errors import MeasurementError
from steelyard.model.lazy import LazyModule
from steelyard.model.metrics import METRICS, PER_ITERATION, timed
from steelyard.model.numbers import Count, Time, declared
from steelyard.model.parts import are_alike, is_empty
from steelyard.model.rows import (
    COLUMNS,
    IN_TANDEM,
    ORDERS,
    ROLES,
    USED,
    LaunchRow,
    Sample,
    has_order,
    others_allowance_ns,
    times_ns,
)
from steelyard.model.tandem import shares_of_others

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    # Importing it takes a quarter of the start of `steelyard count`, which does not use it.
    np = LazyModule("numpy")

FloatArray: TypeAlias = "npt.NDArray[np.float64]"

DISTURBED_FROM: Final = 0.01
"""A launch that waited for a processor for longer than this share of its time counts as disturbed in the report."""

# The columns that cannot be 0.
_POSITIVE_COLUMNS = frozenset({"wall_ns"})

_Order = Annotated[int, Field(ge=0, le=1)]
_KeptSample = Annotated[
    tuple[Time, Time, Count | None, Count | None] | tuple[Time, Time, Count | None, Count | None, _Order],
    Field(union_mode="left_to_right"),
]


_Method = TypeVar("_Method", bound="Callable[..., npt.NDArray[Any]]")


def _computed_once(compute: _Method) -> _Method:
    """Have a method compute an array when it is first needed, and return the same one, read-only, from then on."""

    @wraps(compute)
    def shared(launches: Launches, *given: object) -> npt.NDArray[Any]:
        key = (compute.__name__, *given)
        if key not in launches._computed:
            launches._computed[key] = compute(launches, *given)
            launches._computed[key].flags.writeable = False
        return launches._computed[key]

    return cast("_Method", shared)


if TYPE_CHECKING:

    class _Columns(BaseModel):
        def __getattr__(self, name: str) -> Packed: ...
else:
    # Its validators are built as part of Launches, and not before.
    _Columns = create_model(
        "_Columns",
        __config__=ConfigDict(defer_build=True),
        **{
            name: (
                Annotated[list[kind], packed_integers(1 if name in _POSITIVE_COLUMNS else 0), AS_LIST],
                Field(default_factory=lambda: column_of(()), description=column.description),
            )
            for name, (kind, column) in declared(LaunchRow).items()
        },
    )


class Launches(_Columns):
    """The raw launches of a record, one list per column, in the order in which they ran (fields as in LaunchRow).

    A number that the machine cannot tell is null.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    samples: list[list[_KeptSample]] = Field(
        default_factory=list,
        description="with a harness, the samples of each launch as [loops, ns, cpu_ns, delay_ns], the times being "
        "those of all loops together, or null if unknown; the first of several is not judged; those that both "
        "launches of a pair took in turn have a fifth number, 0 if it came before the other's, 1 if after it; empty "
        "without a harness",
    )
    counters: list[list[Counted | None]] = Field(
        default_factory=list,
        exclude_if=is_empty,
        description="the counters of each launch: for each of " + ", ".join(EVENTS) + ", [count, ns that it should "
        "cover, ns that it does cover], or null if it was not counted; left out if none were asked for",
    )

    @model_validator(mode="before")
    @classmethod
    def _with_later_columns(cls, fields: Any) -> Any:
        """Fill in the columns that older records lack: no layout in any pair, and unknown values for the others."""
        if isinstance(fields, dict) and isinstance(fields.get("pair"), list | array):
            launches = len(fields["pair"])
            unknown = [None] * launches
            return {"layout": [0] * launches, "lost_ns": unknown, "written_blocks": unknown, **fields}
        return fields

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        lengths = {len(getattr(self, name)) for name in COLUMNS}
        if len(lengths) > 1 or any(len(lists) not in (0, len(self)) for lists in (self.samples, self.counters)):
            raise ValueError("the columns of `launches` differ in length")
        if highest(self.role) >= len(ROLES) or highest(self.side) > 1 or highest(self.order) >= ORDERS:
            raise ValueError("`launches` has a side, a role or an order out of range")
        if not are_distinct(self.benchmark, self.pair, self.side):
            raise ValueError("`launches` has two launches in the place of one")
        return self

    @classmethod
    def of_rows(cls, rows: list[LaunchRow]) -> Launches:
        """Turn journaled rows into columns, without validating the numbers, as they were measured and not read."""
        if not rows:
            return cls()
        *numbers, samples, counters = zip(*rows, strict=True)
        return cls.of_columns(numbers, samples, counters)

    @classmethod
    def of_columns(
        cls,
        numbers: Iterable[Sequence[int | None]],
        samples: Sequence[tuple[Sample, ...]],
        counters: Sequence[Sequence[Any]],
    ) -> Launches:
        """Take the numbers of rows column by column, in the order of COLUMNS, as `of_rows` does."""
        packed: dict[str, Any] = {name: column_of(values) for name, values in zip(COLUMNS, numbers, strict=True)}
        kept = [[sample.kept() for sample in launch] for launch in samples] if any(samples) else []
        return cls.model_construct(**packed, samples=kept, counters=[*map(list, counters)] if any(counters) else [])

    @classmethod
    def joined(cls, parts: Sequence[tuple[Launches, Mapping[int, int]]]) -> Launches:
        """Join the launches of several records, each with a mapping from its number of a benchmark to the new one."""
        columns: dict[str, Any] = {
            name: column_of([*chain.from_iterable(getattr(part, name) for part, _ in parts)]) for name in COLUMNS
        }
        columns["benchmark"] = column_of([places[number] for part, places in parts for number in part.benchmark])
        for name in ("samples", "counters"):
            each = [getattr(part, name) or [[]] * len(part) for part, _ in parts]
            columns[name] = [*chain.from_iterable(each)] if any(map(any, each)) else []
        return cls.model_construct(**columns)

    def by_benchmark(self, count: int) -> list[Launches]:
        """Return the launches of each of `count` benchmarks separately, so that callers need not search all of them.

        The same objects are returned each time, so whatever is computed from them is computed once.
        """
        if count == 1:
            return [self]
        if count not in self._parts:
            self._parts[count] = [self._subset(positions) for positions in positions_by_number(self.benchmark, count)]
        return self._parts[count]

    def _subset(self, positions: npt.NDArray[np.intp]) -> Launches:
        columns: dict[str, Any] = {name: values_at(getattr(self, name), positions) for name in COLUMNS}
        samples = [self.samples[position] for position in positions] if self.samples else []
        counters = [self.counters[position] for position in positions] if self.counters else []
        return Launches.model_construct(**columns, samples=samples if any(samples) else [], counters=counters)

    def rows(self) -> list[LaunchRow]:
        """Return the launches as rows again, to continue from."""
        numbers = zip(*(getattr(self, name) for name in COLUMNS), strict=True)
        samples = (tuple(starmap(Sample, launch)) for launch in self.samples or repeat((), len(self)))
        counters = (tuple(launch) for launch in self.counters or repeat((), len(self)))
        inner = zip(samples, counters, strict=True)
        return [LaunchRow._make((*row, *of_launch)) for row, of_launch in zip(numbers, inner, strict=True)]

    def __len__(self) -> int:
        return len(self.wall_ns)

    def __eq__(self, other: object) -> bool:
        """Whether the same was measured, whatever has been computed from either."""
        return isinstance(other, Launches) and are_alike(self, other)

    @_computed_once
    def column(self, name: str) -> FloatArray:
        """One raw column as read-only floats; NaN where the machine could not tell."""
        return np.array(getattr(self, name), dtype=np.float64)

    @cached_property
    def _computed(self) -> dict[tuple[object, ...], npt.NDArray[Any]]:
        return {}

    @cached_property
    def _parts(self) -> dict[int, list[Launches]]:
        return {}

    @_computed_once
    def metric(self, name: str) -> FloatArray:
        """A metric of every launch, in its unit, read-only; NaN where it is not defined for a launch.

        `wall` is the measured time, less the start of an empty shell where a shell was requested. `active` is
        wall - delay where the main thread did all the work (`worked_alone`), and otherwise wall - lost, where that is
        known; `cpu` is the scheduler's exact run time in the first case, and the kernel's total of user and sys
        otherwise. With a harness these three are per iteration: the median over a launch's samples. The `wall` of a
        launch that ran at the same time as its partner is not its own time, and not defined, unless their samples took
        turns.
        """
        if self.samples and name in PER_ITERATION:
            values = np.array([_iteration_time_ns(samples, name) for samples in self.samples])
            return np.where(self._is_shared(), np.nan, values) if name == "wall" else values
        match name:
            case "wall":
                return np.where(self.in_tandem(), np.nan, self._elapsed())
            case "active":
                return np.where(self.knows_waits(), self._elapsed() - self.waited_ns(), np.nan)
            case "cpu":
                return np.where(self.worked_alone(), self.column("cpu_ns"), self._all_cpu_ns())
            case _ if name in EVENTS:
                return self.of_counters(name, scaled)
            case _ if name in timed(METRICS):
                return self.column(METRICS[name].column)
        raise MeasurementError(f"no launch has a metric named {name!r}")

    def of_counters(self, name: str, convert: Callable[[Sequence[int] | None], float]) -> FloatArray:
        """Apply `convert` to every launch's count of an event; NaN where there is none."""
        position = EVENTS.index(name)
        launches = self.counters or repeat((), len(self))
        # In files from before this event existed, or made by hand, a launch may have fewer.
        counted = (launch[position] if position < len(launch) else None for launch in launches)
        return np.array([convert(one) for one in counted], dtype=np.float64)

    def _is_shared(self) -> npt.NDArray[np.bool_]:
        """Whether a launch of a harness ran beside its partner, with samples of both at the same time."""
        tandem = self.in_tandem()
        for position in np.flatnonzero(tandem):
            tandem[position] = not has_order(self.samples[position])
        return tandem

    def _elapsed(self) -> FloatArray:
        return self.column("wall_ns") - self.of_shell_ns()

    def _all_cpu_ns(self) -> FloatArray:
        return self.column("user_ns") + self.column("sys_ns")

    @_computed_once
    def of_shell_ns(self) -> FloatArray:
        """How long the shell's start took in each launch; 0 for a benchmark if nothing would be left of one launch."""
        overhead, benchmark = self.column("overhead_ns"), np.asarray(self.benchmark)
        if not overhead.any():
            return overhead
        waited = np.where(self.knows_waits(), self.waited_ns(), 0.0)
        nothing_left = (overhead > 0) & (self.column("wall_ns") - overhead - waited <= 0)
        return np.where(np.isin(benchmark, benchmark[nothing_left]), 0.0, overhead)

    def in_tandem(self) -> npt.NDArray[np.bool_]:
        """Whether a launch ran at the same time as its partner, on one processor."""
        return np.asarray(self.order, dtype=np.int64) >= IN_TANDEM

    @_computed_once
    def spans_ns(self) -> FloatArray:
        """Start and end of every launch, shape (n, 2), read-only."""
        start = self.column("start_ns")
        return np.stack([start, start + self.column("wall_ns")], axis=1)

    @_computed_once
    def taken_ns(self) -> FloatArray:
        """How much of the weighing's time each launch took: its own, or half of the time shared with its partner."""
        return np.where(self.in_tandem(), 0.5, 1.0) * self.column("wall_ns")

    @_computed_once
    def share_of_elapsed(self, name: str) -> FloatArray:
        """A column of ns as a share of each launch's elapsed time; NaN where the machine could not tell."""
        return self.column(name) / self.column("wall_ns")

    def waiting_share(self) -> FloatArray:
        """The share of each launch's elapsed time in which it waited for a processor, not counting its partner's turns.

        For two at the same time it is the time that neither ran, when other work had their processor, but no more than
        the launch was ready to run: it may have slept.
        """
        tandem = self.in_tandem()
        share = self.waited_ns() / self.column("wall_ns")
        if tandem.any():
            places = np.asarray([self.benchmark, self.pair], dtype=np.int64)[:, tandem]
            ran_ns = self._all_cpu_ns()[tandem]
            share[tandem] = np.fmin(share[tandem], shares_of_others(places, ran_ns, self.spans_ns()[tandem]))
        return share

    @_computed_once
    def waited_ns(self) -> FloatArray:
        """How long each launch waited for a processor, like the function `waited_ns`; NaN where that is not known."""
        delay, lost = self.column("delay_ns"), self.column("lost_ns")
        return np.where(self.worked_alone() | np.isnan(lost), delay, lost)

    def knows_waits(self) -> npt.NDArray[np.bool_]:
        """Whether `waited_ns` covers each launch as a whole, like the function `knows_waits`."""
        return np.asarray(self.worked_alone() | ~np.isnan(self.column("lost_ns")))

    @_computed_once
    def worked_alone(self) -> npt.NDArray[np.bool_]:
        """Whether the main thread did all of a launch's work, so that its delay is the launch's delay."""
        others, cpu = self.column("others_ns"), self.column("cpu_ns")
        with np.errstate(invalid="ignore"):
            return np.asarray(others <= others_allowance_ns(cpu))

    def of(self, benchmark: int, *roles: str) -> npt.NDArray[np.bool_]:
        """Which launches are of a benchmark, and have one of the given roles, if any are given."""
        is_of_benchmark: npt.NDArray[np.bool_] = np.asarray(self.benchmark, dtype=np.int64) == benchmark
        if not roles:
            return is_of_benchmark
        # numpy.isin takes ten times as long for the few launches of one benchmark.
        return np.asarray(is_of_benchmark & np.logical_or.reduce([*map(self.in_role, roles)]))

    def in_role(self, role: str) -> npt.NDArray[np.bool_]:
        """Which launches have a role."""
        return np.asarray(np.asarray(self.role, dtype=np.int64) == ROLES.index(role))

    def select(self, *, benchmark: int, role: int, side: int) -> npt.NDArray[np.intp]:
        """Positions of one side's launches of one benchmark in one role, in order of their pair."""
        columns = (self.benchmark, self.role, self.side, self.pair)
        benchmarks, roles, sides, pairs = (np.asarray(column, dtype=np.int64) for column in columns)
        positions = np.flatnonzero((benchmarks == benchmark) & (roles == role) & (sides == side))
        return positions[np.argsort(pairs[positions], kind="stable")]

    def judged(self, benchmark: int, side: int = 0) -> npt.NDArray[np.intp]:
        """Positions of the judged launches of one side of a benchmark, in order of their pair; a run has one side."""
        return self.select(benchmark=benchmark, role=ROLES.index(USED), side=side)

    @_computed_once
    def can_be_judged(self, sides: int) -> npt.NDArray[np.bool_]:
        """Whether a verdict may rest on each launch: it is used, and where there are two sides, its pair is whole."""
        used = self.in_role(USED)
        if sides > 1 and used.any():
            places = np.asarray([self.benchmark, self.pair], dtype=np.int64)[:, used]
            _, pairs, launches = np.unique(places, axis=1, return_inverse=True, return_counts=True)
            used[used] = launches[pairs.ravel()] == sides
        return used

    def metric_of_pairs(self, benchmark: int, metric: str) -> tuple[FloatArray, FloatArray]:
        """The metric of the complete pairs of a benchmark: (baseline, candidate), in order of their pair."""
        values, positions = self.metric(metric), self.complete_pairs(benchmark)
        return values[positions[:, 0]], values[positions[:, 1]]

    @_computed_once
    def complete_pairs(self, benchmark: int, role: str = USED) -> npt.NDArray[np.intp]:
        """Positions of the launches of a benchmark's complete pairs in a role, shape (pairs, 2), in their order."""
        pairs = np.asarray(self.pair, dtype=np.int64)
        baseline = self.select(benchmark=benchmark, role=ROLES.index(role), side=0)
        candidate = self.select(benchmark=benchmark, role=ROLES.index(role), side=1)
        if not np.array_equal(pairs[baseline], pairs[candidate]):
            complete = np.intersect1d(pairs[baseline], pairs[candidate])
            baseline = baseline[np.isin(pairs[baseline], complete)]
            candidate = candidate[np.isin(pairs[candidate], complete)]
        return np.stack([baseline, candidate], axis=1)


def _iteration_time_ns(samples: Sequence[Sequence[Any]], metric: str) -> float:
    """The median over a launch's samples of one iteration's time in ns; NaN if any sample lacks it."""
    times = times_ns(samples[1:] or samples, metric)
    return median(times) if times else nan
