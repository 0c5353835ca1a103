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

    step_ns: float = Field(description="smallest difference between two unequal readings, in ns")
    cost_ns: float = Field(description="time that one reading takes, including the driver's part of it, in ns")


class Counted(Record):
    """The system's counters since its start, at one moment."""

    interrupts: dict[int, int] = Field(
        default_factory=dict, description="number of interrupts by processor; empty where the system does not tell"
    )
    ticks: dict[str, int] = Field(
        default_factory=dict, description="clock ticks of all processors together, by what they were spent on"
    )


class Spread(Record):
    """How far the two launches of a pair of identical programs are apart."""

    work: Work
    pairing: Way
    cpu: int | None = Field(description="processor that the launches were pinned to; null if they were not")
    wanted_ms: float = Field(description="intended length of a launch, in ms")
    median_ns: float = Field(
        description="median length of the launches, in the metric that a weighing would judge, in ns"
    )
    seconds_per_pair: float = Field(
        description="elapsed time of a pair, including all that lies between launches, in seconds"
    )
    differences: list[float] = Field(
        description="ln(second side / first side) of each pair, in the order in which they ran"
    )
    deviation: float = Field(
        description="standard deviation of a pair's difference, as the test weighs it: that of normal noise in "
        "which a change takes as many pairs"
    )


class Expected(Record):
    """The pairs that finding a change takes here, for a program of this kind and length."""

    work: Work
    pairing: Way
    ms: float = Field(description="length of the program, in ms")
    deviation: float = Field(
        description="standard deviation of a pair's difference at this length, estimated from all lengths; `pairs` "
        "follows from it"
    )
    change: float = Field(description="relative change that is to be found; 0.01 is 1 %")
    pairs: int = Field(description="number of pairs after which half of the weighings find the change")
    low: int = Field(
        description="least number of pairs to expect: on a busy machine, 9 in 10 weighings soon afterwards took "
        "from `low` to `high` pairs; no more than the calmest quarter of the measuring would need, if that was "
        "clearly calmer"
    )
    high: int = Field(
        description="largest number of pairs to expect, see `low`; no fewer than the noisiest quarter of the "
        "measuring would need, if that was clearly noisier"
    )
    seconds: float = Field(description="elapsed time that `pairs` take, in seconds")


class Beside(Record):
    """Launches alone on the first of two processors, and launches there with another one like them on the second."""

    work: Work
    cpus: tuple[int, int]
    alone_ns: list[int] = Field(
        description="processor time of each launch that ran alone, in ns; `beside_ns` is that of those with another one"
    )
    beside_ns: list[int]


class Noise(Record):
    """The noise of a machine: all that was measured, and what follows from it."""

    seconds: float
    interrupted: bool = Field(description="whether the user stopped it before its time was up")
    timer: Timer
    interrupts_per_s: dict[int, float] = Field(description="interrupts per second during the measuring, by processor")
    stolen: float | None = Field(
        description="share of the processors' time that a hypervisor gave to others during the measuring; null if "
        "unknown"
    )
    spreads: list[Spread]
    beside: list[Beside]
    expected: list[Expected]
    pairing: dict[Work, Way] = Field(
        description="way in which commands of one thread that take 40 ms or more and write no files are weighed "
        "here, by kind of work"
    )
    cpu: int | None = Field(
        description="processor that is worth pinning launches to; null where the scheduler does as well"
    )
