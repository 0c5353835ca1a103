"""Values as they stand on the command line, read and checked; an error names their option."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from steelyard.model.errors import UsageError

Number = TypeVar("Number", int, float)


def in_range(option: str, value: Number, low: float, high: float, unit: str = "") -> Number:
    """The value, if it lies from `low` to `high`; raises UsageError naming the option."""
    if not low <= value <= high:
        shown = value if isinstance(value, int) else f"{value:g}"
        raise UsageError(f"{option} {shown} is out of range: {_bound(low)}{unit} to {_bound(high)}{unit}")
    return value


def _bound(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def alpha_checked(alpha: float) -> float:
    """The chance of a wrong verdict, if it is one that can be accepted."""
    return in_range("--alpha", alpha, 1e-5, 0.2)


def relative_margin(percentage: str) -> float:
    """Read a margin, a number of percent with or without the sign, as a part of 1."""
    try:
        percent = float(percentage.strip().removesuffix("%"))
    except ValueError:
        raise UsageError(f"--margin {percentage!r} is no percentage: write for example --margin 0.5%") from None
    return in_range("--margin", percent, 0.001, 50, "%") / 100


def metric_names(wanted: Iterable[str] | None) -> list[str]:
    """Split and check the names of metrics; the default if none is wanted."""
    from steelyard.model.metrics import DEFAULT_METRIC, METRICS

    names = [name.strip() for listed in wanted or [DEFAULT_METRIC] for name in listed.split(",")]
    for name in names:
        if name not in METRICS:
            raise UsageError(f"--metric {name!r} is not known: choose from {', '.join(METRICS)}")
    return list(dict.fromkeys(names))
