"""What went on beside the launches: looks at the machine while they ran, and what took place between two of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import Field

from steelyard.model.parts import Record, are_alike

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_Number = Annotated[int, Field(ge=0, lt=2**63)]
# Of the usual clock rate; what follows a governor moves by a few percent all the time.
_LOW_CLOCK = 0.9
# Of what fixed work takes in the quicker quarter of the looks; within a phase it varies by under 1 %.
_SLOW_WORK = 1.03

# Interrupts in a second, more than in the quieter quarter of the looks. A rule of thumb: one takes a few µs with all
# that it begins, so these are about half a percent of a processor.
_MANY_INTERRUPTS = 2000.0

Kind = Literal["program", "hidden", "steal", "limit", "heat", "clock", "speed", "interrupts", "still"]
Cause: TypeAlias = tuple[Kind, str]
"""What disturbs, and the name of a program, or of what interrupts."""


class Beside(Record):
    """The processes of one name that were no part of the measuring."""

    name: str = Field(
        description="as the kernel has it, with an interpreter's script; that of a kernel thread in brackets"
    )
    processes: _Number = Field(description="how many of that name ran")
    ran_ns: _Number = Field(description="processor time of all of them, and of children that ended unseen, ns")
    cpu: _Number | None = Field(default=None, description="processor on which the busiest of them was last seen")


class Interrupting(Record):
    """What interrupted, by a device, the kernel or other processors."""

    source: str = Field(description="in words: the timer, the network card virtio2, ...")
    times: _Number


class Stretch(Record):
    """What went on between two looks. What the machine does not tell is null."""

    start_ns: _Number = Field(description="the first look, by the clock of the launches' `start_ns`")
    end_ns: _Number = Field(description="the second look")
    beside: list[Beside] = Field(default_factory=list, description="who ran beside the launches, the busiest first")
    hidden_ns: _Number | None = Field(
        default=None, description="processor time that no process seen here had: of other containers, mostly"
    )
    pressure_ns: _Number | None = Field(default=None, description="some task waited for a processor")
    steal_ns: _Number | None = Field(default=None, description="all processors: given to other machines of the host")
    stopped_ns: _Number | None = Field(default=None, description="our control group stood still at its limit")
    still_ns: _Number | None = Field(
        default=None,
        exclude_if=lambda told: told is None,
        description="nothing of this command ran until the second look: its control group was frozen, or its machine "
        "stood still; left out where that was not so",
    )
    slowed: _Number | None = Field(default=None, description="times that the processor was slowed, as it was too hot")
    interrupts: _Number | None = Field(default=None, description="on all processors")
    interrupting: list[Interrupting] = Field(
        default_factory=list,
        description="what interrupted the processor of the launches, or all if none was chosen, over 1,000 times a "
        "second, the busiest first",
    )
    mhz: float | None = Field(default=None, gt=0, description="clock rate at the end, MHz")
    celsius: float | None = Field(default=None, description="temperature at the end, °C")
    work_ns: _Number | None = Field(default=None, description="what fixed work of a microsecond took at the end, ns")
    cost_ns: _Number = Field(default=0, description="processor time that the second look took")


class Watch(Record):
    """All that was seen while a record's launches ran, in its order."""

    stretches: list[Stretch] = Field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Whether the same was seen, whatever has been computed of either."""
        return isinstance(other, Watch) and are_alike(self, other)

    @cached_property
    def edges_ns(self) -> npt.NDArray[np.float64]:
        """Start and end of every stretch, shape (stretches, 2)."""
        import numpy as np

        return np.array([(one.start_ns, one.end_ns) for one in self.stretches], dtype=np.float64).reshape(-1, 2)

    @cached_property
    def still_ns(self) -> npt.NDArray[np.float64]:
        """Start and end of the times in which nothing of ours ran, shape (times, 2), in their order."""
        import numpy as np

        still = [(max(one.start_ns, one.end_ns - one.still_ns), one.end_ns) for one in self.stretches if one.still_ns]
        return np.array(still, dtype=np.float64).reshape(-1, 2)

    @cached_property
    def ran_ns(self) -> npt.NDArray[np.float64]:
        """The processor time that all programs beside had in every stretch, as far as they are named."""
        import numpy as np

        return np.array([sum(each.ran_ns for each in one.beside) for one in self.stretches], dtype=np.float64)

    @cached_property
    def amounts(self) -> dict[Cause, npt.NDArray[np.float64]]:
        """How much there was of each cause in every stretch: ns, and for heat and a low clock rate all of it or none.

        The cause ("clock", "") is where the clock rate was below nine tenths of its usual one, ("speed", "") where
        fixed work took 3 % longer than in the quicker quarter of the looks, and ("interrupts", "the timer") where that
        interrupted 2,000 times a second more than in the quarter of the looks with the fewest.
        """
        import numpy as np

        found: dict[Cause, npt.NDArray[np.float64]] = {}
        rates = [one.mhz for one in self.stretches if one.mhz is not None]
        slow = _LOW_CLOCK * float(np.median(rates)) if rates else 0.0
        work = [one.work_ns for one in self.stretches if one.work_ns is not None]
        long_ns = _SLOW_WORK * float(np.quantile(work, 0.25)) if work else np.inf
        for place, one in enumerate(self.stretches):
            length_ns = one.end_ns - one.start_ns
            told: list[tuple[Cause, float | None]] = [
                *((("program", each.name), float(each.ran_ns)) for each in one.beside),
                (("hidden", ""), one.hidden_ns),
                (("steal", ""), one.steal_ns),
                (("limit", ""), one.stopped_ns),
                (("heat", ""), length_ns if one.slowed else 0),
                (("clock", ""), length_ns if one.mhz is not None and one.mhz < slow else 0),
                (("speed", ""), length_ns if one.work_ns is not None and one.work_ns > long_ns else 0),
                *((("interrupts", source), length_ns if many[place] else 0) for source, many in self._storms.items()),
            ]
            for cause, amount in told:
                if amount:
                    found.setdefault(cause, np.zeros(len(self.stretches)))[place] += amount
        return found

    @cached_property
    def _storms(self) -> dict[str, npt.NDArray[np.bool_]]:
        """In which stretches each source interrupted more than usual; where it is not told, it was seldom."""
        import numpy as np

        found: dict[str, npt.NDArray[np.float64]] = {}
        for place, one in enumerate(self.stretches):
            for each in one.interrupting:
                rates = found.setdefault(each.source, np.zeros(len(self.stretches)))
                rates[place] = each.times / max(one.end_ns - one.start_ns, 1) * 1e9
        return {source: rates > np.quantile(rates, 0.25) + _MANY_INTERRUPTS for source, rates in found.items()}


class Disturber(Record):
    """Something that went on beside some launches of a benchmark; derived from what was watched."""

    kind: Kind = Field(
        description="a program; hidden: work that is not seen from here; steal: the host's other machines; limit: our "
        "control group was stopped; heat, clock: the processor was slowed, or its clock rate was low; speed: fixed "
        "work took longer, and so did these launches; interrupts: came more often than usual, and these took longer; "
        "still: nothing of this command ran"
    )
    name: str = Field(default="", description="of a program, or of what interrupted")
    launches: _Number = Field(description="beside which it went on")
    of: _Number = Field(description="launches that were watched, those of repeated pairs too")
    share: float = Field(
        ge=0,
        description="how much of a processor, or of the time, beside these on average; speed, interrupts: by how much "
        "these were longer",
    )
