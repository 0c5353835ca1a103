"""What differs between A and B beside their values, as findings: for two kept runs and two imports alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.design.findings import some_names
from steelyard.model.findings import Finding

OTHER_MACHINE = Finding(
    code="other-machine",
    message="A and B were measured on different machines: a verdict is about these as well",
    remedy="measure both on one machine",
)


def difference_finding(what: str, one: str, other: str) -> Finding:
    """Return the finding that tells what A has and what B has."""
    return Finding(code="differs", message=f"{what} differs: {one} in A, {other} in B")


def left_out_findings(unshared: Sequence[Sequence[str]]) -> Iterator[Finding]:
    """Yield findings that name the benchmarks of A, and of B, that the other one lacks."""
    for side, names in zip("AB", unshared, strict=True):
        if names:
            message = f"measured in {side} only, so not compared: {some_names(names)}"
            yield Finding(code="left-out", message=message)


def apart_findings(metrics: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding on the metrics that are not compared because the first one is measured in another way."""
    if metrics:
        yield Finding(
            code="not-compared",
            message=f"{', '.join(metrics)} not compared: times and counts of two runs are compared apart",
            remedy=f"steelyard diff --metric {','.join(metrics)} does that",
        )
