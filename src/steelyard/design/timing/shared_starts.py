"""Benchmarks of a harness that share one start per side, each measured in a process forked from it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.design.findings import own_start_finding, own_starts_finding
from steelyard.design.runner.draws import draw_shared_places
from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.kept_rows import Pair
from steelyard.design.timing.recorder import Recorder
from steelyard.model.errors import LaunchError
from steelyard.model.findings import Finding
from steelyard.model.grouping import grouped
from steelyard.model.records import Weighing
from steelyard.model.rows import WARM_UP


@dataclass
class SharedStarts:
    """Tells which benchmarks of a weighing share their starts; those that cannot have starts of their own."""

    header: Weighing
    recorder: Recorder
    findings: list[Finding] = field(default_factory=list)
    _has_failed: bool = False
    _starting_alone: set[int] = field(default_factory=set)

    def groups(self, order: Sequence[int]) -> list[list[int]]:
        """Return what is launched together, in this order: within a group, each side is one program."""

        def start(number: int) -> Hashable:
            one = self.header.benchmarks[number]
            return (one.baseline, one.candidate, one.control) if self.serve(number) else number

        return [*grouped(order, start).values()]

    def serve(self, number: int) -> bool:
        """Whether a benchmark runs in a process forked from a shared start, even if only by itself."""
        return self.header.settings.starts == "shared" and not self._has_failed and number not in self._starting_alone

    def measure(
        self,
        due: Sequence[OpenBenchmark],
        pairs: Mapping[int, int],
        round_number: int,
        role: str,
        longest_s: float | None,
    ) -> Iterator[tuple[OpenBenchmark, Pair]]:
        """Yield the next pair of each benchmark but those that fail: starts of their own show if they always do.

        `pairs` has a number for each benchmark, as one side alone may have measured the pair that the others are at.
        """
        settings = self.header.settings
        places = draw_shared_places(settings.seed, pairs, round_number, role, settings.layouts)
        try:
            measured = self.recorder.shared_pair(places, longest_s)
        except LaunchError as error:
            self._has_failed = True
            self.findings.append(own_starts_finding(str(error)))
            measured = [error] * len(due)
        for benchmark, pair in zip(due, measured, strict=True):
            if not isinstance(pair, LaunchError):
                yield benchmark, pair
                continue
            if role != WARM_UP:
                benchmark.attempts += 1  # one side may have measured the pair of this number
            if not self._has_failed:
                self._starting_alone.add(benchmark.number)
                self.findings.append(own_start_finding(str(pair)))
