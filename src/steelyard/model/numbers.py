"""The numbers of a launch, each declared here once.

The fields that are measured, journaled and kept are derived from this declaration. Only the launch server repeats it
(`native/launch/src/protocol.rs`), and `tests/native` checks that the two agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args, get_type_hints

from steelyard.model.structs import Within

# The most that a kernel can count. More would be no measurement, and does not fit into an array of floats either.
MOST_COUNT = 2**63
Count = Annotated[int, Within(ge=0, lt=MOST_COUNT)]
Difference = Annotated[int, Within(gt=-MOST_COUNT, lt=MOST_COUNT)]
Time = Annotated[int, Within(gt=0, lt=MOST_COUNT)]
# Thirty thousand years: anything longer is no real time, and sums of such might not be finite.
MOST_SECONDS = 1e12
Seconds = Annotated[float, Within(ge=0, le=MOST_SECONDS, allow_inf_nan=False)]
# In no unit does a result lie outside of these, and within them ratios and squares are finite.
LEAST_VALUE = 1e-100
MOST_VALUE = 1e100


@dataclass(frozen=True)
class Column:
    """The description of one number of a launch, beside its name and type."""

    description: str
    adds_up: bool = False
    """Whether it is summed over the processes of a launch that consists of several."""


# No generated methods: `Measured` makes them for all of its fields, and a row, as a tuple, has them already.
@dataclass(frozen=True, init=False, repr=False, eq=False)
class Numbers:
    """What one launch measured, in numbers: their names, order and types. None where the machine cannot tell."""

    __slots__ = ()

    start_ns: Annotated[Count, Column("time just before the spawn, by the monotonic clock, in ns")]
    wall_ns: Annotated[
        Time, Column("elapsed time, from just before the spawn to the wake-up at its end, in ns", adds_up=True)
    ]
    spawn_ns: Annotated[
        Count, Column("part of `wall_ns` that went by until the program was executing, in ns", adds_up=True)
    ]
    cpu_ns: Annotated[Count | None, Column("run time of the main thread, as the scheduler has it, in ns", adds_up=True)]
    delay_ns: Annotated[
        Count | None,
        Column(
            "time that the main thread was ready but waited for a processor, and that the launch server waited after "
            "its end, in ns",
            adds_up=True,
        ),
    ]
    timeslices: Annotated[
        Count | None, Column("number of times that the main thread was put on a processor", adds_up=True)
    ]
    user_ns: Annotated[
        Count, Column("processor time in user mode, of all threads and waited-for children, in ns", adds_up=True)
    ]
    sys_ns: Annotated[
        Count, Column("processor time in the kernel, of all threads and waited-for children, in ns", adds_up=True)
    ]
    max_rss_bytes: Annotated[Count, Column("largest resident set, in bytes; of several processes, that of the largest")]
    minor_faults: Annotated[Count, Column("number of page faults served without I/O", adds_up=True)]
    major_faults: Annotated[Count, Column("number of page faults that needed I/O", adds_up=True)]
    voluntary_switches: Annotated[
        Count, Column("number of voluntary context switches, in which it gave its processor up", adds_up=True)
    ]
    involuntary_switches: Annotated[
        Count, Column("number of involuntary context switches, in which it lost its processor", adds_up=True)
    ]
    others_ns: Annotated[
        Count | None,
        Column("processor time of threads other than the main one, and of waited-for children, in ns", adds_up=True),
    ]
    pressure_ns: Annotated[
        Count | None,
        Column("time meanwhile in which some task on the machine waited for a processor, in ns", adds_up=True),
    ]
    steal_ns: Annotated[
        Count | None,
        Column("time meanwhile that the hypervisor gave to others, summed over all processors, in ns", adds_up=True),
    ]
    lost_ns: Annotated[
        Count | None,
        Column("time that all threads and processes, as a whole, lost by waiting for processors, in ns", adds_up=True),
    ]
    written_blocks: Annotated[
        Count | None,
        Column("number of blocks of 512 bytes that it gave the kernel to write to files on disks", adds_up=True),
    ]
    exit_code: Annotated[Count | None, Column("exit status; null if a signal ended it")]
    signal: Annotated[Count | None, Column("number of the signal that ended it; null if none did")]

    @property
    def all_cpu_ns(self) -> int:
        """The processor time of all threads and waited-for children, in both modes."""
        return self.user_ns + self.sys_ns


@cache
def declared(fields: type) -> dict[str, tuple[Any, Column]]:
    """Map the names of a class's fields that are declared as columns to type and description, in their order."""
    return {
        name: (hint, column)
        for name, hint in get_type_hints(fields, include_extras=True).items()
        for column in getattr(hint, "__metadata__", ())
        if isinstance(column, Column)
    }


NUMBERS = tuple(declared(Numbers))
"""The names of the numbers."""

ADD_UP = tuple(name for name, (_, column) in declared(Numbers).items() if column.adds_up)
"""The names of the numbers that are summed over the processes of a launch."""

ALWAYS_KNOWN = tuple(
    name for name, (hint, _) in declared(Numbers).items() if type(None) not in get_args(get_args(hint)[0])
)
"""The names of the numbers that every machine can provide."""
