"""Gauges of the processor and of limits: clock rate, temperature, slowing by heat, stops at a group's limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from steelyard.machine.hierarchies import limiting_groups
from steelyard.machine.readings import CPUS, Tree, whole

# On some systems reading a clock rate wakes the processor.
_MOST_CLOCK_RATES = 4
# These are read from the processor; others may be read by a board's firmware, which may take milliseconds.
_FAST_SENSORS = ("x86_pkg_temp", "cpu-thermal", "cpu_thermal", "cpu0-thermal", "soc-thermal", "soc_thermal")


@dataclass(frozen=True)
class Gauge:
    """What the gauges show at one moment; None for those that this machine does not have."""

    stopped_ns: int | None
    """For how long our control group, or one above it, has been stopped at its limit so far."""
    slowed: int | None
    """How often the processor has been slowed so far because it was too hot."""
    mhz: float | None
    celsius: float | None


@dataclass(frozen=True)
class Gauges:
    """The files of the gauges, looked up once: most machines have only a few of them."""

    tree: Tree
    limits: Sequence[Path]
    heat: Path | None
    rates: Sequence[Path]
    sensor: Path | None

    @classmethod
    def found(cls, tree: Tree, processor: int | None) -> Gauges:
        """Return those of this machine; the clock rate is that of `processor`, if launches are pinned to one."""
        processors = [folder for number, folder in tree.processors() if processor in (None, number)]
        rates = filter(tree.is_there, (folder / "cpufreq/scaling_cur_freq" for folder in processors))
        sensors = tree.below("sys/class/thermal", "thermal_zone*")
        heat = Path(CPUS) / f"cpu{processor or 0}/thermal_throttle/package_throttle_count"
        return cls(
            tree=tree,
            limits=[*filter(tree.is_there, (folder / "cpu.stat" for folder in limiting_groups(tree, "cpu")))],
            heat=heat if tree.is_there(heat) else None,
            rates=[*islice(rates, _MOST_CLOCK_RATES)],
            sensor=next((zone / "temp" for zone in sensors if tree.text(zone / "type") in _FAST_SENSORS), None),
        )

    def read(self) -> Gauge:
        """Return what they show now."""
        stopped = [self._stopped_ns(path) for path in self.limits]
        rates = [rate for path in self.rates if (rate := self.tree.number(path))]
        millidegrees = None if self.sensor is None else self.tree.number(self.sensor)
        return Gauge(
            stopped_ns=max((ns for ns in stopped if ns is not None), default=None),
            slowed=None if self.heat is None else self.tree.number(self.heat),
            mhz=sum(rates) / len(rates) / 1000 if rates else None,
            celsius=None if millidegrees is None else millidegrees / 1000,
        )

    def _stopped_ns(self, path: Path) -> int | None:
        """Return how long a group was stopped: the second version tells that in µs, the first in ns."""
        fields = self.tree.fields(path)
        us = whole(fields.get("throttled_usec"))
        return whole(fields.get("throttled_time")) if us is None else 1000 * us
