"""Read what a launch tells of the processes that it forked, one for each of several benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from steelyard.model.errors import LaunchError
from steelyard.model.measured import Measured
from steelyard.model.numbers import ALWAYS_KNOWN, NUMBERS
from steelyard.report.figures import count
from steelyard.subjects.responses import is_count, quoted, results_of, were_asked_for


def split_processes(measured: Measured, lines: Sequence[Any], wanted: int) -> list[Measured]:
    """Return each process, in order, from the launch's lines about them: {"numbers": {...}, "results": "..."}.

    The numbers have the names of those of a launch. Raises LaunchError for anything else. The first part also has the
    processes that outlived the launch.
    """
    if len(lines) != wanted:
        raise LaunchError(f"told of {count(len(lines), 'benchmark')} where {were_asked_for(wanted)}")
    try:
        parts = [_part(line["numbers"], line["results"].encode()) for line in lines]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise LaunchError(f"wrote what are no results: {quoted(results_of(measured))}") from error
    parts[0] = replace(parts[0], left_behind=measured.left_behind, not_killed=measured.not_killed)
    return parts


def _part(fields: Mapping[str, Any], results: bytes) -> Measured:
    """Return one process; raises ValueError for a number that is missing or invalid."""
    numbers = {name: fields.get(name) for name in NUMBERS}
    missing = any(numbers[name] is None for name in ALWAYS_KNOWN)
    if missing or not all(number is None or is_count(number) for number in numbers.values()) or numbers["wall_ns"] == 0:
        raise ValueError("a number is missing, or is none")
    known: dict[str, Any] = numbers
    return Measured(**known, stderr=b"", stderr_bytes=0, results=results, results_bytes=len(results))
