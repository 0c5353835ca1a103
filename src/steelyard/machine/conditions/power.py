"""Where the power comes from, and whether the processor is hot."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.conditions.processors import cores
from steelyard.machine.conditions.words import fine, serious, slight, times, unknown
from steelyard.machine.readings import Tree
from steelyard.model.conditions import Condition

_NEAR_C = 10.0
_THROTTLED = "thermal_throttle/core_throttle_count"
_ACTING_TRIPS = ("passive", "hot", "critical")
# The firmware of some boards has no such sensor, and tells 17 °C and a limit of 21 all the time.
_LEAST_LIMIT_C = 40.0


def supply(tree: Tree) -> Condition:
    """Whether the power comes from the mains or a battery."""
    # Those of scope `Device` are in a mouse or a headset.
    supplies = [one for one in tree.below("sys/class/power_supply", "*") if tree.text(one / "scope") != "Device"]
    mains = [tree.number(path / "online") for path in supplies if tree.text(path / "type") == "Mains"]
    battery = [tree.text(path / "status") for path in supplies if tree.text(path / "type") == "Battery"]
    if "Discharging" in battery and 1 not in mains:
        return serious(
            "power", "it runs on its battery: clock rates are held down, and differ with its charge", "plug it in"
        )
    if not supplies:
        return fine("power", "from the mains, as far as the system tells")
    return fine("power", "from the mains")


def temperature(tree: Tree) -> Condition:
    """Whether a sensor is near the point at which clock rates fall."""
    throttled = _times_throttled(tree)
    sensors = [sensor for zone in tree.below("sys/class/thermal", "thermal_zone*") if (sensor := _sensor(tree, zone))]
    if sensors:
        left, now, name = min(sensors)
        evidence = f"{now:.0f} °C, {max(left, 0.0):.0f} below the point at which it slows down"
        if left < _NEAR_C:
            return serious("temperature", f"{name} is at {evidence}", "let it cool, or lower the clock rate")
        if not throttled:
            return fine("temperature", f"{name} is at {evidence}")
    if throttled:
        return slight(
            "temperature",
            f"clock rates fell {times(throttled)} since the start, as a core was too hot",
            "better cooling, or a lower clock rate",
        )
    return unknown("temperature", "the system does not tell: it shows no sensor, nor how often it was too hot")


def _times_throttled(tree: Tree) -> int:
    """Return how often cores were too hot; each of the processors that share one tells of all of that core's times."""
    counts = {number: tree.number(folder / _THROTTLED) or 0 for number, folder in tree.processors()}
    of_cores = cores(tree) or [frozenset({number}) for number in counts]
    return sum(max((counts.get(number, 0) for number in core), default=0) for core in of_cores)


def _sensor(tree: Tree, zone: Path) -> tuple[float, float, str] | None:
    """Return how far a sensor is below its lowest trip point that acts, its temperature (both in °C), and its name."""
    now = tree.number(zone / "temp")
    acting = [path for path in tree.below(zone, "trip_point_*_type") if tree.text(path) in _ACTING_TRIPS]
    limits = [tree.number(path.with_name(path.name.replace("_type", "_temp"))) for path in acting]
    limit = min((limit for limit in limits if limit and limit >= 1000 * _LEAST_LIMIT_C), default=None)
    if now is None or limit is None:
        return None
    return (limit - now) / 1000, now / 1000, tree.text(zone / "type") or zone.name
