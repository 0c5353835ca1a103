"""The units that a measured quantity can be shown in, by its kind."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Final

from steelyard.model.errors import UsageError
from steelyard.model.metrics import Unit

UNITS: Final[Mapping[Unit, Mapping[str, float]]] = {
    "ns": {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9},
    "bytes": {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    "count": {"1": 1.0, "k": 1e3, "M": 1e6, "G": 1e9},
}
"""Name to size, in the unit that metrics of this kind have in records."""

# The ns of each unit of time, including other tools' spellings.
_NANOSECONDS: Final[Mapping[str, float]] = {**UNITS["ns"], "us": 1e3}

PER_OPERATION: Final = "/op"
"""The suffix of another tool's unit that is per operation."""

_SPELLINGS = {"us": "µs", "μs": "µs"}


def ns_of(unit: str) -> float | None:
    """How many ns another tool's unit of time has, also if it is per operation; None if it is no unit of time."""
    return _NANOSECONDS.get(unit.removesuffix(PER_OPERATION))


def units_of(option: str, text: str) -> dict[Unit, str]:
    """Read units, one for each kind of quantity: `ms`, or `ms,MiB`; raises UsageError naming the option."""
    found: dict[Unit, str] = {}
    for written in text.split(","):
        unit = _SPELLINGS.get(written.strip(), written.strip())
        kind = next((kind for kind, names in UNITS.items() if unit in names), None)
        if kind is None:
            known = ", ".join(chain.from_iterable(UNITS.values())).replace("µs", "us")
            raise UsageError(f"{option} {written[:40]!r} is not known: choose from {known}")
        if kind in found:
            raise UsageError(f"{option} {text[:40]!r} names two units of one kind: give one for times, one for sizes")
        found[kind] = unit
    return found
