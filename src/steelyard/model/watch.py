"""What went on beside the launches: looks at the machine while they ran, and what happened between two looks."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from steelyard.model.lazy import LazyModule
from steelyard.model.numbers import Count
from steelyard.model.parts import Record, are_alike

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = LazyModule("numpy")

# A low clock rate, as a part of the usual one: with a governor it moves by a few percent all the time.
_LOW_CLOCK = 0.9
# Slow work, relative to the time of the fixed work in the quickest quarter of the looks; within a phase it varies by
# under 1 %.
_SLOW_WORK = 1.03

# Interrupts per second, beyond those of the quietest quarter of the looks. A rule of thumb: one takes a few µs with
# all that it triggers, so these are about half a percent of a processor.
_MANY_INTERRUPTS = 2000.0

Kind = Literal["program", "hidden", "steal", "limit", "heat", "clock", "speed", "interrupts", "still"]
Cause: TypeAlias = tuple[Kind, str]
"""What disturbs, and the name of a program, or of what interrupts."""


class Beside(Record):
    """The processes of one name that had no part in the measuring."""

    name: str = Field(
        description="name of the program, as the kernel has it, with the script that an interpreter runs; a kernel "
        "thread's is in brackets"
    )
    processes: Count = Field(description="number of processes of that name that ran")
    ran_ns: Count = Field(description="processor time of all of them, with that of children that ended unseen, in ns")
    cpu: Count | None = Field(
        default=None, description="processor on which the busiest of them was last seen; null if unknown"
    )


class Interrupting(Record):
    """A source of interrupts (a device, the kernel or other processors), and how many `times` it interrupted."""

    source: str = Field(
        description="where the interrupts come from, in words: the timer, the network card virtio2, ..."
    )
    times: Count


class Stretch(Record):
    """What went on between two looks. What the machine does not tell is null."""

    start_ns: Count = Field(description="when the first look was, by the clock of the launches' `start_ns`, in ns")
    end_ns: Count = Field(description="when the second look was, by the same clock, in ns")
    beside: list[Beside] = Field(
        default_factory=list,
        description="programs that ran beside the launches and had at least 2 % of a processor, the busiest first, "
        "at most eight",
    )
    hidden_ns: Count | None = Field(
        default=None, description="processor time that no process seen here had, mostly that of other containers, in ns"
    )
    pressure_ns: Count | None = Field(default=None, description="time in which some task waited for a processor, in ns")
    steal_ns: Count | None = Field(
        default=None,
        description="time that the hypervisor gave to other machines of the host, summed over all processors, in ns",
    )
    stopped_ns: Count | None = Field(
        default=None, description="time in which our control group, or one above it, stood still at its limit, in ns"
    )
    still_ns: Count | None = Field(
        default=None,
        exclude_if=lambda told: told is None,
        description="time just before the second look in which nothing of this command ran, as its control group was "
        "frozen or its machine stood still, in ns; left out if there was none",
    )
    slowed: Count | None = Field(
        default=None, description="number of times that the processor was slowed, as it was too hot"
    )
    interrupts: Count | None = Field(default=None, description="number of interrupts on all processors")
    interrupting: list[Interrupting] = Field(
        default_factory=list,
        description="sources that interrupted the launches' processor (all processors, if none was chosen) over "
        "1,000 times a second, the busiest first, at most six",
    )
    mhz: float | None = Field(
        default=None,
        gt=0,
        description="clock rate at the end, in MHz: of the launches' processor, or the mean of the first four",
    )
    celsius: float | None = Field(default=None, description="temperature of the processor at the end, in °C")
    work_ns: Count | None = Field(
        default=None, description="time that a fixed piece of work, of about a microsecond, took at the end, in ns"
    )
    cost_ns: Count = Field(default=0, description="processor time that the second look took, in ns")


class Watch(Record):
    """All that was seen while a record's launches ran, in its order."""

    stretches: list[Stretch] = Field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Whether the same was seen, whatever has been computed from either."""
        return isinstance(other, Watch) and are_alike(self, other)

    @cached_property
    def edges_ns(self) -> npt.NDArray[np.float64]:
        """Start and end of every stretch, shape (stretches, 2)."""
        return np.array([(stretch.start_ns, stretch.end_ns) for stretch in self.stretches], dtype=np.float64).reshape(
            -1, 2
        )

    @cached_property
    def still_ns(self) -> npt.NDArray[np.float64]:
        """Start and end of the times in which nothing of ours ran, shape (times, 2), in their order."""
        still = [
            (max(stretch.start_ns, stretch.end_ns - stretch.still_ns), stretch.end_ns)
            for stretch in self.stretches
            if stretch.still_ns
        ]
        return np.array(still, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def ran_ns(self) -> npt.NDArray[np.float64]:
        """The processor time of all named programs beside the launches in every stretch."""
        return np.array(
            [sum(program.ran_ns for program in stretch.beside) for stretch in self.stretches], dtype=np.float64
        )

    @cached_property
    def amounts(self) -> dict[Cause, npt.NDArray[np.float64]]:
        """How much there was of each cause in every stretch, in ns; some causes have all of a stretch or nothing.

        These are heat, ("clock", "") where the clock rate was below nine tenths of the usual one, ("speed", "") where
        fixed work took 3 % longer than in the quickest quarter of the looks, and, say, ("interrupts", "the timer")
        where the timer interrupted 2,000 times a second more than in the quarter of the looks with the fewest.
        """
        found: dict[Cause, npt.NDArray[np.float64]] = {}
        rates = [stretch.mhz for stretch in self.stretches if stretch.mhz is not None]
        slow = _LOW_CLOCK * float(np.median(rates)) if rates else 0.0
        work = [stretch.work_ns for stretch in self.stretches if stretch.work_ns is not None]
        long_ns = _SLOW_WORK * float(np.quantile(work, 0.25)) if work else np.inf
        for index, stretch in enumerate(self.stretches):
            length_ns = stretch.end_ns - stretch.start_ns
            causes: list[tuple[Cause, float | None]] = [
                *((("program", program.name), float(program.ran_ns)) for program in stretch.beside),
                (("hidden", ""), stretch.hidden_ns),
                (("steal", ""), stretch.steal_ns),
                (("limit", ""), stretch.stopped_ns),
                (("heat", ""), length_ns if stretch.slowed else 0),
                (("clock", ""), length_ns if stretch.mhz is not None and stretch.mhz < slow else 0),
                (("speed", ""), length_ns if stretch.work_ns is not None and stretch.work_ns > long_ns else 0),
                *((("interrupts", source), length_ns if many[index] else 0) for source, many in self._storms.items()),
            ]
            for cause, amount in causes:
                if amount:
                    found.setdefault(cause, np.zeros(len(self.stretches)))[index] += amount
        return found

    @cached_property
    def _storms(self) -> dict[str, npt.NDArray[np.bool_]]:
        """In which stretches each source interrupted more than usual; a source that is not listed did so rarely."""
        rates_by_source: dict[str, npt.NDArray[np.float64]] = {}
        for index, stretch in enumerate(self.stretches):
            for interrupter in stretch.interrupting:
                rates = rates_by_source.setdefault(interrupter.source, np.zeros(len(self.stretches)))
                rates[index] = interrupter.times / max(stretch.end_ns - stretch.start_ns, 1) * 1e9
        return {
            source: rates > np.quantile(rates, 0.25) + _MANY_INTERRUPTS for source, rates in rates_by_source.items()
        }


class Disturber(Record):
    """Something that went on beside some launches of a benchmark; derived from the watch."""

    kind: Kind = Field(
        description="program: other programs of one name ran; hidden: work ran that cannot be seen from here; "
        "steal: the host gave time to its other machines; limit: our control group was stopped at its limit; heat: "
        "the processor was slowed, as it was too hot; clock: its clock rate was low, and these launches took longer; "
        "speed: fixed work took longer, and so did these launches; interrupts: they came more often than usual, and "
        "these launches took longer; "
        "still: nothing of this command ran"
    )
    name: str = Field(
        default="", description="name of the program, or source of the interrupts; empty for the other kinds"
    )
    launches: Count = Field(description="number of launches beside which it went on")
    of: Count = Field(description="number of launches that were watched, those of repeated pairs included")
    share: float = Field(
        ge=0,
        description="mean over the launches beside which it went on: of program, hidden and steal, how many "
        "processors it had (0.5 is half of one); of limit and heat, its share of a launch's time; of clock, speed "
        "and interrupts, by how much these launches took longer (0.01 is 1 %)",
    )
