"""What tells of the processor itself, and of limits: clock rate, temperature, and whether either was stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from steelyard.machine.hierarchies import limiting
from steelyard.machine.readings import CPUS, Tree, whole

# On some systems asking for a clock rate wakes the processor.
_MOST_RATES = 4
# Read from the processor; asking the firmware of a board for others may take milliseconds.
_FAST_SENSORS = ("x86_pkg_temp", "cpu-thermal", "cpu_thermal", "cpu0-thermal", "soc-thermal", "soc_thermal")


@dataclass(frozen=True)
class Gauge:
    """What they show at one moment; None for what this machine has not."""

    stopped_ns: int | None
    """For how long our control group, or one above it, has stood still at its limit so far."""
    slowed: int | None
    """How often the processor was slowed so far, as it was too hot."""
    mhz: float | None
    celsius: float | None


@dataclass(frozen=True)
class Gauges:
    """The files that tell, found once: most machines have few of them."""

    tree: Tree
    limits: Sequence[Path]
    heat: Path | None
    rates: Sequence[Path]
    sensor: Path | None

    @classmethod
    def found(cls, tree: Tree, processor: int | None) -> Gauges:
        """Those of this machine; the clock rate is that of one processor, if launches are pinned to it."""
        processors = [folder for number, folder in tree.processors() if processor in (None, number)]
        rates = filter(tree.is_there, (folder / "cpufreq/scaling_cur_freq" for folder in processors))
        sensors = tree.below("sys/class/thermal", "thermal_zone*")
        heat = Path(CPUS) / f"cpu{processor or 0}/thermal_throttle/package_throttle_count"
        return cls(
            tree=tree,
            limits=[*filter(tree.is_there, (folder / "cpu.stat" for folder in limiting(tree, "cpu")))],
            heat=heat if tree.is_there(heat) else None,
            rates=[*islice(rates, _MOST_RATES)],
            sensor=next((zone / "temp" for zone in sensors if tree.text(zone / "type") in _FAST_SENSORS), None),
        )

    def read(self) -> Gauge:
        """What they show now."""
        stopped = [self._stopped_ns(path) for path in self.limits]
        rates = [rate for path in self.rates if (rate := self.tree.number(path))]
        heat = None if self.sensor is None else self.tree.number(self.sensor)
        return Gauge(
            stopped_ns=max((ns for ns in stopped if ns is not None), default=None),
            slowed=None if self.heat is None else self.tree.number(self.heat),
            mhz=sum(rates) / len(rates) / 1000 if rates else None,
            celsius=None if heat is None else heat / 1000,
        )

    def _stopped_ns(self, path: Path) -> int | None:
        """As the second version of control groups has it, in µs, or the first."""
        fields = self.tree.fields(path)
        us = whole(fields.get("throttled_usec"))
        return whole(fields.get("throttled_time")) if us is None else 1000 * us
