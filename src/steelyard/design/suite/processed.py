"""What is to be said of the amounts that iterations process: where there is none, and where the sides differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.design.findings import some_names
from steelyard.model.findings import Finding
from steelyard.model.subject import Benchmark
from steelyard.subjects.harness import Listed


def describe_no_amounts(listed: Iterable[Listed]) -> str:
    """Return what is no amount, by unit and benchmark, the first few; empty if nothing of the kind was told."""
    told = (f"{unit} of {value} ({one.name})" for one in listed for unit, value in one.no_amounts.items())
    return some_names([*dict.fromkeys(told)])


def no_amounts_finding(listed: Iterable[Listed]) -> Iterator[Finding]:
    """Yield a finding on benchmarks whose harness tells something in place of an amount, which is passed over."""
    told = describe_no_amounts(listed)
    if not told:
        return
    message = f"there is no throughput where the harness tells no number above 0: {told}"
    yield Finding(code="no-amount", message=message, remedy="correct what it lists")


def other_work_finding(benchmarks: Sequence[Benchmark]) -> Iterator[Finding]:
    """Yield a finding on benchmarks whose sides process different amounts: their times are of different work."""
    differing = [
        (one, processed) for one in benchmarks for processed in one.processed if processed.candidate is not None
    ]
    if not differing:
        return
    names = some_names([*dict.fromkeys(one.name for one, _ in differing)])
    first = differing[0][1]
    message = (
        f"the candidate processes another amount than the baseline, {first.candidate:,.6g} {first.unit} against "
        f"{first.amount:,.6g} an iteration: {names}"
    )
    yield Finding(
        code="other-work", message=message, remedy="the change of the time is then also one of the amount of work"
    )
