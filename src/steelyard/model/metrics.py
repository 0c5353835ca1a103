"""The metrics of a launch: what is measured, with its unit, its direction and how exact it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float64]

Unit = Literal["ns", "bytes", "count"]


@dataclass(frozen=True)
class Metric:
    """One measured quantity of a launch; so far, lower is better for all of them.

    `rounded` is true where a clock rounds the value: such a value hides up to one tick, which the interval has to allow
    for. A count of pages or faults is exact, and its interval is never widened.
    """

    name: str
    unit: Unit
    rounded: bool
    meaning: str
    caution: str | None = None
    counted: bool = False
    """Whether it is counted under Valgrind instead of timed: then it comes from the counts, not from the launches."""

    @property
    def column(self) -> str:
        """The name of the number of a launch that holds it, or that it is computed from (`active` has several)."""
        return self.name if self.unit == "count" else f"{self.name}_{self.unit}"


NOISY_METRIC = "noisy-metric"
"""The code of the finding that states a metric's caution."""

# The spread of pairs is 16-28 % in user and in sys where it is 3-6 % in their sum.
_SPLIT_BY_TICKS = (
    "the kernel splits user from system time by clock ticks, which makes either several times noisier than cpu; "
    "--metric cpu needs far fewer pairs"
)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("active", "ns", True, "wall time less the time spent waiting for a processor"),
        Metric("wall", "ns", True, "elapsed time, from just before the spawn to the wake-up at its end"),
        Metric("cpu", "ns", True, "time on a processor, of all threads and waited-for children"),
        Metric("user", "ns", True, "processor time in user mode", _SPLIT_BY_TICKS),
        Metric("sys", "ns", True, "processor time in the kernel", _SPLIT_BY_TICKS),
        Metric("delay", "ns", True, "time spent runnable but waiting for a processor"),
        Metric("max_rss", "bytes", False, "largest resident set"),
        Metric("minor_faults", "count", False, "page faults served without I/O"),
        Metric("major_faults", "count", False, "page faults that needed I/O"),
        Metric("voluntary_switches", "count", False, "times it gave its processor up"),
        Metric("involuntary_switches", "count", False, "times it lost its processor"),
        Metric("timeslices", "count", False, "times it was put on a processor"),
        Metric("task_clock", "ns", True, "time on a processor, of all threads, as the scheduler has it"),
        Metric("migrations", "count", False, "moves from one processor to another"),
        Metric("cycles", "count", False, "clock cycles of the processor, at whatever rate it had"),
        Metric("retired_instructions", "count", False, "instructions that the processor completed"),
        Metric("branch_misses", "count", False, "branches that the processor had foretold wrongly"),
        Metric("cache_misses", "count", False, "accesses that the processor's last cache did not serve"),
        Metric("instructions", "count", False, "instructions executed, as Valgrind counts them", counted=True),
        Metric("cost", "count", False, "weighted sum of simulated cache hits: a convention, not a time", counted=True),
        Metric("l1_hits", "count", False, "accesses that the simulated first-level caches served", counted=True),
        Metric("ll_hits", "count", False, "accesses that the simulated last-level cache served", counted=True),
        Metric("ram_hits", "count", False, "accesses that no simulated cache served", counted=True),
    )
}

DEFAULT_METRIC = "active"

PER_ITERATION = ("wall", "active", "cpu")
"""With a harness these metrics are per iteration, all others per launch."""


def timed(names: Iterable[str]) -> list[str]:
    """Those metrics that are measured by timed launches."""
    return [name for name in names if not METRICS[name].counted]


def of_one_process(values: FloatArray, metric: str, repeat: int) -> FloatArray:
    """Convert launches' values to one process, where `--repeat` ran several in each: memory does not add up."""
    return values if METRICS[metric].unit == "bytes" else values / repeat


def is_counted(name: str) -> bool:
    """Whether a metric is measured by counted launches; False for one that this version does not know."""
    return name in METRICS and METRICS[name].counted


def counted(names: Iterable[str]) -> list[str]:
    """Those metrics that are measured by counted launches."""
    return [name for name in names if METRICS[name].counted]
