"""Read values as people write them on a command line or in a project's file: numbers, times, parts.

Each reader takes the name of the option or key that the value belongs to, which its UsageError names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, TypeVar

from steelyard.model.errors import UsageError
from steelyard.model.metrics import DEFAULT_METRIC, METRICS

Number = TypeVar("Number", int, float)


def example(option: str, text: str) -> str:
    """How to write a value: `--margin 1%` on the command line, `margin = "1%"` in a file."""
    if option.startswith("-"):
        return f"{option} {text}"
    return f"{option} = {text}" if text.isdigit() else f'{option} = "{text}"'


def whole(option: str, text: str) -> int:
    """A whole number, also as 1_000 or 1e3; raises UsageError naming the option."""
    try:
        return int(text)
    except ValueError:
        number = _number(text)
    if number is None or not number.is_integer():
        raise UsageError(f"{option} {_brief(text)} is not a whole number: write for example {example(option, '2')}")
    return int(number)


def natural(option: str, text: str) -> int:
    """A whole number from 0 on; raises UsageError naming the option."""
    return in_range(option, whole(option, text), 0, 1_000_000)


AUTO: Final = "auto"
"""Instead of a processor's number: the quietest processor."""


def processor(option: str, text: str) -> int | Literal["auto"]:
    """The number of a processor, or `auto`; raises UsageError naming the option."""
    if text.strip() == AUTO:
        return AUTO
    if (number := _number(text)) is None or not number.is_integer():
        raise UsageError(f"{option} {_brief(text)} is not a processor: write its number, or {example(option, AUTO)}")
    return in_range(option, int(number), 0, 1_000_000)


_UNITS_S = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(option: str, text: str) -> float:
    """Read a time, in seconds if it has no unit; raises UsageError naming the option."""
    match = re.fullmatch(r"(.*?)\s*(ms|s|min|m|h|)", text.strip(), re.DOTALL)
    number = None if match is None else _number(match[1])
    if match is None or number is None:
        raise UsageError(
            f"{option} {_brief(text)} is not a time: write seconds or a unit, as in 500ms, 30s, 2m or 1.5h"
        )
    return number * _UNITS_S[match[2]]


_UNITS_BYTES = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def size_in_bytes(option: str, text: str) -> int:
    """Read a size, in bytes if it has no unit; raises UsageError naming the option."""
    match = re.fullmatch(r"(.*?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.DOTALL | re.IGNORECASE | re.ASCII)
    number = None if match is None else _number(match[1])
    if match is None or number is None or not 0 <= number < 2**53:
        raise UsageError(f"{option} {_brief(text)} is not a size: write bytes or a unit, as in 500M or 20G")
    return round(number * (1 << _UNITS_BYTES[match[2].upper()]))


def quantity_of_items(option: str, text: str) -> float:
    """Read an amount of something, such as 1000, 1e6, 20k or 3M; raises UsageError naming the option."""
    match = re.fullmatch(r"(.*?)\s*([kMG]?)", text.strip(), re.DOTALL)
    number = None if match is None else _number(match[1])
    if match is None or number is None or not 0 <= number < 2**53:
        raise UsageError(
            f"{option} {_brief(text)} is not a number of things: write for example {example(option, '20k')}"
        )
    return number * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[match[2]]


def shard(option: str, text: str) -> tuple[int, int]:
    """Read a part's number and the number of parts, as in 1/4; raises UsageError naming the option."""
    match = re.fullmatch(r"([0-9]{1,5})/([0-9]{1,5})", text.strip())
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of:
        raise UsageError(f"{option} {_brief(text)} is not a part of several: write for example {option} 1/4")
    return number, of


def share(option: str, text: str) -> float:
    """Read a part of 1, or a percentage; raises UsageError naming the option."""
    number = _number(text.strip().removesuffix("%"))
    if number is None:
        raise UsageError(f"{option} {_brief(text)} is not a part of 1 or a percentage: write for example 0.01 or 1%")
    return number / 100 if text.strip().endswith("%") else number


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _brief(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")


def seconds_in_range(option: str, value: float, low: float, high: float) -> float:
    """The same as `in_range`, for a time."""
    return in_range(option, value, low, high, " s")


def in_range(option: str, value: Number, low: float, high: float, unit: str = "") -> Number:
    """The value, if it lies from `low` to `high`; raises UsageError naming the option."""
    if not low <= value <= high:
        shown = value if isinstance(value, int) else f"{value:.15g}"
        raise UsageError(f"{option} {shown} is out of range: {_bound(low)}{unit} to {_bound(high)}{unit}")
    return value


def _bound(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:.5f}".rstrip("0")


def alpha_checked(alpha: float, option: str = "--alpha") -> float:
    """The chance of a wrong verdict, if it lies in the range that is accepted; raises UsageError naming the option."""
    return in_range(option, alpha, 1e-5, 0.2)


LARGEST_MARGIN: Final = 0.5
LONGEST_WAIT_S: Final = 86_400
"""The longest wait for other work to calm down."""


def relative_margin(text: str, option: str = "--margin") -> float:
    """Read a margin, a percentage with or without the sign, as a part of 1; raises UsageError naming the option."""
    return percentage(option, text, most=100 * LARGEST_MARGIN)


def percentage(option: str, text: str, *, most: float) -> float:
    """Read a percentage, with or without the sign, as a part of 1; raises UsageError naming the option."""
    percent = _number(text.strip().removesuffix("%"))
    if percent is None:
        way_out = example(option, "0.5%")
        raise UsageError(f"{option} {_brief(text)} is not a percentage: write for example {way_out}")
    return of_percent(in_range(option, percent, 0.001, most, "%"))


def of_percent(percent: float) -> float:
    """A percentage as a part of 1: the float nearest to what was written, as 0.7 / 100 is not the nearest to 0.007.

    Counts may differ by exactly a margin or a limit, and then no digit of either may be off.
    """
    return float(f"{percent / 100:.15g}")


def one_of(option: str, name: str, known: Iterable[str]) -> Any:
    """A name that is known; raises UsageError naming the option."""
    names = list(known)
    if name not in names:
        raise UsageError(f"{option} {name!r} is not known: choose from {', '.join(names)}")
    return name


def metric_names(wanted: Iterable[str] | None, option: str = "--metric") -> list[str]:
    """Split and check the names of metrics; the default if none is wanted."""
    names = [name.strip() for listed in wanted or [DEFAULT_METRIC] for name in listed.split(",")]
    return list(dict.fromkeys(one_of(option, name, METRICS) for name in names))
