"""Make conditions, by one function for each of the four severities; name processors in sentences."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.model.conditions import Condition


def serious(code: str, evidence: str, remedy: str) -> Condition:
    """Return a condition that makes measurements far noisier, or wrong."""
    return Condition(code=code, severity="serious", evidence=evidence, remedy=remedy)


def slight(code: str, evidence: str, remedy: str) -> Condition:
    """Return a condition that makes measurements noisier."""
    return Condition(code=code, severity="slight", evidence=evidence, remedy=remedy)


def fine(code: str, evidence: str) -> Condition:
    """Return a condition that is as it should be."""
    return Condition(code=code, severity="fine", evidence=evidence)


def unknown(code: str, evidence: str) -> Condition:
    """Return a condition about which the system does not tell."""
    return Condition(code=code, severity="unknown", evidence=evidence)


def processors(numbers: Collection[int]) -> str:
    """Processors in a sentence: `processor 3`, `processors 0-3,7`."""
    return f"processor{'' if len(numbers) == 1 else 's'} {ranges(numbers)}"


def times(number: int) -> str:
    """Write how often: `1 time`, `31 times`."""
    return f"{number:,} time{'' if number == 1 else 's'}"


def ranges(processors: Collection[int]) -> str:
    """Processors as the kernel lists them: `0-3,7`."""
    parts: list[str] = []
    remaining = sorted(processors)
    while remaining:
        first = last = remaining.pop(0)
        while remaining and remaining[0] == last + 1:
            last = remaining.pop(0)
        parts.append(str(first) if first == last else f"{first}-{last}")
    return ",".join(parts)
