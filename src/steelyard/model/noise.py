"""What `steelyard doctor --measure` measured of a machine's noise, and how many pairs weighings need with it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.model.parts import Record

Work = Literal["loop", "memory"]
"""A loop of arithmetic, or a walk over 4 MiB of memory in random order."""
Way = Literal["adjacent", "tandem"]


class Timer(Record):
    """The clock that launches are timed by."""

    step_ns: float = Field(description="smallest difference of two readings that are not the same")
    cost_ns: float = Field(description="what a reading takes, the driver's part of it included")


class Counted(Record):
    """The system's counters since its start, at one moment."""

    interrupts: dict[int, int] = Field(default_factory=dict, description="by processor; empty where it does not tell")
    ticks: dict[str, int] = Field(default_factory=dict, description="of all processors, by what they were spent on")


class Spread(Record):
    """How far the two launches of a pair of identical programs are apart."""

    work: Work
    pairing: Way
    cpu: int | None = Field(description="the processor that they were pinned to")
    wanted_ms: float = Field(description="how long a launch was to take")
    median_ns: float = Field(description="how long it took: the metric that a weighing would judge")
    seconds_per_pair: float = Field(description="elapsed, all that lies between launches included")
    differences: list[float] = Field(description="ln(second side / first side) of each pair, in the order they ran")
    deviation: float = Field(description="of a pair, as the test weighs it: a normal noise that takes as many pairs")


class Expected(Record):
    """The pairs that finding a change takes here, for a program of this kind and length."""

    work: Work
    pairing: Way
    ms: float = Field(description="how long the program takes")
    deviation: float = Field(description="of a pair, told from all lengths: what the pairs follow from")
    change: float = Field(description="relative")
    pairs: int = Field(description="after which half of the weighings find it")
    low: int = Field(
        description="weighings soon afterwards took as many or more, and at most `high`, 9 times in 10 on a busy "
        "machine; no more than those of the calmest quarter of the time, if that was clearly calmer"
    )
    high: int = Field(description="see `low`; no fewer than those of the noisiest quarter")
    seconds: float = Field(description="that `pairs` take")


class Beside(Record):
    """Launches alone on a processor, and launches with another one like them on a second processor."""

    work: Work
    cpus: tuple[int, int]
    alone_ns: list[int] = Field(description="time on the processor")
    beside_ns: list[int]


class Noise(Record):
    """The noise of a machine: all that was measured, and what follows from it."""

    seconds: float
    interrupted: bool = Field(description="whether the user stopped it before its time was up")
    timer: Timer
    interrupts_per_s: dict[int, float] = Field(description="by processor, meanwhile")
    stolen: float | None = Field(description="share of the processors' time that a hypervisor gave to others meanwhile")
    spreads: list[Spread]
    beside: list[Beside]
    expected: list[Expected]
    pairing: dict[Work, Way] = Field(
        description="in which way commands of one thread that take 40 ms or more and write no files are weighed here"
    )
    cpu: int | None = Field(description="the processor that is worth taking; null where the scheduler does as well")
