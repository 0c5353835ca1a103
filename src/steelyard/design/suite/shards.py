"""A suite that several machines share: each has whole benchmarks, dealt out by their names alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.model.errors import UsageError
from steelyard.model.placeholders import describe_values

if TYPE_CHECKING:
    from steelyard.model.settings import Shard
    from steelyard.model.subject import Benchmark


@dataclass(frozen=True)
class RequestedShard:
    """Which part of a suite is wanted: `number` of `of`, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def deal_shard(benchmarks: Sequence[Benchmark], requested: RequestedShard) -> tuple[list[Benchmark], Shard]:
    """Return the part's benchmarks in order, and what the record says of it; raises UsageError if it has none.

    The sorted names are dealt out, one to each part in turn: whatever lists them, and in which order, each has its
    place, and the parts differ by one benchmark at most. All candidates of a benchmark are in one part.
    """
    suite = [benchmark for benchmark in benchmarks if not benchmark.control]
    names = sorted({_work_name(benchmark) for benchmark in suite})
    own_names = {*names[requested.number - 1 :: requested.of]}
    if requested.of > len(names):  # an empty part could not be measured, nor the others be merged without it
        most = "is one benchmark: leave it out" if len(names) == 1 else f"are {len(names)} benchmarks: make it as many"
        raise UsageError(f"--shard {requested} makes {requested.of} parts, and there {most}")
    from steelyard.model.settings import Shard

    shard = Shard(number=requested.number, of=requested.of, suite=[benchmark.name for benchmark in suite])
    return [benchmark for benchmark in benchmarks if benchmark.control or _work_name(benchmark) in own_names], shard


def _work_name(benchmark: Benchmark) -> str:
    """Return the name of the work, whichever candidate does it."""
    if benchmark.entry is not None or not benchmark.params:
        return benchmark.entry or benchmark.name
    return describe_values(benchmark.params)
