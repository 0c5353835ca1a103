"""Programs that hold benchmarks: how one is asked for its list, and to run exactly one benchmark in a fresh process.

Each way of asking is one `Harness`; those for harnesses that others wrote will stand in `subjects/adapters`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from steelyard.model.errors import UsageError
from steelyard.model.launches import LaunchSpec, Measured, Sample


@dataclass(frozen=True)
class Listed:
    """One benchmark of a harness, as it listed it."""

    name: str
    tags: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Work:
    """What one launch is to run: one benchmark, in `samples` samples of `loops` iterations each.

    Inputs that are drawn at random are drawn from `seed`.
    """

    name: str
    loops: int
    samples: int
    seed: int = 0


class Harness(Protocol):
    """A way of driving the programs of one kind; `launch` is the user's command, without our words."""

    def listing(self, launch: LaunchSpec) -> LaunchSpec:
        """The launch that lists the benchmarks."""

    def listed(self, measured: Measured) -> list[Listed]:
        """What it listed, in its order; raises LaunchError, without the subject's name, if that is no list."""

    def complaint(self, measured: Measured) -> str | None:
        """What a launch that failed says of it by itself, beside its stderr."""

    def running(self, launch: LaunchSpec, work: Work) -> LaunchSpec:
        """The launch that does the work."""

    def samples(self, measured: Measured, work: Work) -> tuple[Sample, ...]:
        """The samples that it took, all of them; raises LaunchError, without the subject's name, for anything else."""


def harness_named(name: str) -> Harness:
    """The harness of a name; raises UsageError for one that is not known."""
    from steelyard.subjects.protocol import ProtocolHarness

    known = {"protocol": ProtocolHarness}
    if name not in known:
        raise UsageError(f"--harness {name!r} is not known: choose from {', '.join(known)}")
    return known[name]()
