"""What harnesses tell in place of an amount that an iteration processes: it is passed over, and reported."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.design.findings import some_names
from steelyard.model.kept import Finding
from steelyard.subjects.harness import Listed


def describe_no_amounts(listed: Iterable[Listed]) -> str:
    """Return what is no amount, by unit and benchmark, the first few; empty if nothing of the kind was told."""
    told = (f"{unit} of {value} ({one.name})" for one in listed for unit, value in one.no_amounts.items())
    return some_names([*dict.fromkeys(told)])


def no_amounts_finding(listed: Iterable[Listed]) -> list[Finding]:
    """Return a finding on benchmarks that have no throughput, though their harness tells of one."""
    told = describe_no_amounts(listed)
    if not told:
        return []
    message = f"there is no throughput where the harness tells no number above 0: {told}"
    return [Finding(code="no-amount", message=message, remedy="correct what it lists")]
