"""One launch as a row of the journal: its place in the plan, its numbers, and the samples of a harness."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Sequence
from inspect import get_annotations
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, dataclass_transform

from steelyard.model.counters import Counters
from steelyard.model.numbers import Column, Count, Numbers, declared

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_Times = TypeVar("_Times", float, "npt.NDArray[np.float64]")

WARM_UP, USED, DISTURBED, TRIED = "warm-up", "used", "disturbed", "tried"
ROLES = (WARM_UP, USED, DISTURBED, TRIED)
# A pair is disturbed if this share of its time went to other work in a way that its metric does not correct for.
DISTURBED_SHARE = 0.02


IN_TANDEM = 2
"""Added to the `order` of launches that ran at the same time as their partners, on one processor."""
ORDERS = 4
"""How many values of `order` there are."""


@dataclass_transform(frozen_default=True)
class Row(tuple[Any, ...]):
    """A named tuple that can inherit fields, unlike `typing.NamedTuple`; to mypy it is a dataclass."""

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        annotated = [name for base in reversed(cls.__mro__) for name in get_annotations(base)]
        names = [name for name in annotated if not name.startswith("_")]
        defaults = [cls.__dict__[name] for name in names if name in cls.__dict__]
        made = vars(kind := namedtuple(cls.__name__, names, defaults=defaults))
        for name in ("__new__", "__repr__", "__getnewargs__", "__match_args__", "_fields", *names):
            setattr(cls, name, made[name])
        del kind  # held on to until here: collected as garbage, it would lose what it has

    @classmethod
    def _make(cls, values: Iterable[Any]) -> Self:
        row = tuple.__new__(cls, values)
        if len(row) != len(cls._fields):
            raise TypeError(f"a row of {len(cls._fields)} fields cannot be made of {len(row)} values")
        return row

    def _replace(self, **changes: Any) -> Self:
        row = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"a row has no {', '.join(changes)}")
        return row


class Place(Row):
    """Where a launch stands in the plan: the first fields of its row.

    `role` indexes ROLES; `side` is 0 for the baseline, 1 for the candidate; `order` is 0 for the launch that ran
    first in its pair, and IN_TANDEM more where both ran at the same time. A run (one subject alone) has only side 0.
    """

    __slots__ = ()

    benchmark: Annotated[Count, Column("index of the benchmark in `benchmarks`")]
    pair: Annotated[Count, Column("number of the pair within its benchmark, from 0")]
    side: Annotated[Count, Column("0 for the baseline, 1 for the candidate")]
    order: Annotated[
        Count,
        Column("0 if it ran first in its pair, 1 if second; 2 or 3 if both ran at once, 2 for the one let go first"),
    ]
    role: Annotated[
        Count,
        Column(
            "0 warm-up; 1 used; 2 disturbed, its pair was repeated; 3 tried, to choose the way of pairing, and not "
            "judged"
        ),
    ]
    hash_seed: Annotated[Count, Column("hash seed drawn for the pair")]
    padding_bytes: Annotated[Count, Column("size of the environment padding drawn for the pair, in bytes")]
    layout: Annotated[
        Count, Column("number of the build variant drawn for the pair, from 1; 0 where each side has only one build")
    ]


class Frame(NamedTuple):
    """A row of the journal that the launch server writes: the text before and after the numbers of its launch."""

    before: str
    after: str


class Sample(NamedTuple):
    """One timed batch of iterations inside a launch, as its harness measured it. Times are in ns, of all `loops`.

    A sample taken in turn with one of the launch beside it has an `order`: 0 before the other's, 1 after it. Other
    samples are kept without an `order`.
    """

    loops: int
    ns: int
    cpu_ns: int | None = None
    delay_ns: int | None = None
    order: int | None = None

    def time_ns(self, metric: str) -> float | None:
        """`wall`, `cpu` or `active` of one iteration; None where the harness could not tell."""
        return next(iter(times_ns([self], metric)), None)

    def kept(self) -> tuple[int | None, ...]:
        """Return the sample as it is kept in a record."""
        return tuple(self[:-1] if self.order is None else self)


def judged_samples(samples: Sequence[Sequence[Any]]) -> list[Sample]:
    """The samples of a launch without the first, which pays for cold caches; if there is only one, that one."""
    return [Sample(*sample) for sample in samples[1:] or samples]


def has_order(samples: Sequence[Sequence[Any]]) -> bool:
    """Whether the last of a launch's samples says that it was taken in turn."""
    return bool(samples) and len(samples[-1]) == len(Sample._fields)


def times_ns(samples: Iterable[Sequence[Any]], metric: str) -> list[float]:
    """The time of an iteration in each sample, as by `Sample.time_ns`; empty if any of them lacks it.

    Accepts samples as a record keeps them: making millions of `Sample`s takes longer than everything else done here.
    """
    try:
        match metric:
            case "wall":
                return [sample[1] / sample[0] for sample in samples]
            case "cpu":
                return [sample[2] / sample[0] for sample in samples]
            case _:
                return [(sample[1] - sample[3]) / sample[0] for sample in samples]
    except TypeError:  # None, where the harness could not tell
        return []


class LaunchRow(Numbers, Place):
    """One launch as it is journaled: its place, its numbers, and then the fields below, in this order.

    A command has no `samples`: the launch itself is one. `counters` are set, and journaled, only if requested.
    """

    __slots__ = ()

    overhead_ns: Annotated[
        Count,
        Column("time that an empty shell takes to start, the median of the last few starts, in ns; 0 without a shell"),
    ]
    samples: tuple[Sample, ...] = ()
    counters: Counters = ()


COLUMNS = tuple(declared(LaunchRow))
"""The fields of a row that hold a single number."""


def others_allowance_ns(cpu_ns: _Times) -> _Times:
    """The most processor time (ns) beyond the main thread's that is still attributed to the main thread.

    rusage is in µs, and the exit path is billed after schedstat was read, hence the allowance.
    """
    return 100_000 + 0.005 * cpu_ns


def worked_alone(launch: Numbers) -> bool:
    """Whether the main thread did all of one launch's work, like `Launches.worked_alone` for many."""
    if launch.others_ns is None or launch.cpu_ns is None:
        return False
    return launch.others_ns <= others_allowance_ns(launch.cpu_ns)


def ran_ns(launch: Numbers) -> int:
    """How long a launch ran in all, like the metric `cpu` of `Launches.metric`; 0 where that is unknown."""
    if worked_alone(launch):
        return launch.cpu_ns or 0
    return launch.all_cpu_ns


def waited_ns(launch: Numbers) -> int | None:
    """How long a launch waited for a processor: as a whole where that is known, otherwise its main thread."""
    return launch.delay_ns if launch.lost_ns is None or worked_alone(launch) else launch.lost_ns


def knows_waits(launch: Numbers) -> bool:
    """Whether `waited_ns` covers the whole launch, whichever threads did its work."""
    return launch.lost_ns is not None or (launch.delay_ns is not None and worked_alone(launch))


def is_active_known(row: LaunchRow) -> bool:
    """Whether `active` is defined for a launch, like in `Launches.metric` for many."""
    if row.samples:
        return all(sample.time_ns("active") is not None for sample in judged_samples(row.samples))
    return knows_waits(row)
