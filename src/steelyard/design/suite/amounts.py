"""What a trial asks for and finds out about a benchmark: how much of it a launch runs, on either side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from steelyard.design.suite.loops import iteration_ns, long_loops
from steelyard.model.rows import Sample


class Ask(NamedTuple):
    """A launch of one benchmark of a subject, asked for by its trial."""

    subject: int
    loops: int
    samples: int
    by_process: bool = False
    is_given_up: bool = False
    """Whether it is ended without samples if it takes far longer than the baseline's: its loops may take hours."""


class Amounts(NamedTuple):
    """What each launch of a benchmark runs; no loops if the harness chooses them, neither if the trial failed."""

    loops: int | None = None
    samples: int | None = None
    clock: Literal["process", "plain"] | None = None
    own_loops: Mapping[int, int] = MappingProxyType({})
    """The loops of candidates, by their numbers, for whose iterations the common ones are far too many or too few."""

    def fields_for_candidate(self, candidate: int) -> dict[str, Any]:
        """Return what launches of the baseline and of this candidate run, by the names that records have for it."""
        own_loops = self.own_loops.get(candidate)
        return {"loops": self.loops, "samples": self.samples, "clock": self.clock, "candidate_loops": own_loops}


class TriedLoops(NamedTuple):
    """The loops that one side needs, and the samples that were taken last to find them."""

    loops: int
    samples: Sequence[Sample]

    @property
    def sample_ns(self) -> float:
        """How long a sample of these loops takes, in ns."""
        return self.loops * iteration_ns(self.samples)


def loops_for_long_samples(sides: Mapping[int, TriedLoops]) -> dict[int, int]:
    """Return the loops of sides that have their own, one of them in long samples: the others get samples as long."""
    return {number: max(tried.loops, long_loops(tried.samples)) for number, tried in sides.items()}
