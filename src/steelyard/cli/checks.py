"""What several commands ask of their options."""

from __future__ import annotations

from typing import TypeVar

import typer

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


def is_given(context: typer.Context, name: str) -> bool:
    """Whether an option was written on the command line, and not merely has its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
