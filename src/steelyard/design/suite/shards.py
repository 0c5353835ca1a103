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
class ShardAsked:
    """Which part of a suite is wanted: `number` of `of`, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def dealt(benchmarks: Sequence[Benchmark], asked: ShardAsked) -> tuple[list[Benchmark], Shard]:
    """Return the part's benchmarks in order, and what the record says of it; raises UsageError if it has none.

    The sorted names are dealt out, one to each part in turn: whatever lists them, and in which order, each has its
    place, and the parts differ by one benchmark at most. All candidates of a benchmark are in one part.
    """
    suite = [benchmark for benchmark in benchmarks if not benchmark.control]
    names = sorted({_name(benchmark) for benchmark in suite})
    mine = {*names[asked.number - 1 :: asked.of]}
    if asked.of > len(names):  # an empty part could not be measured, nor the others be merged without it
        most = "is one benchmark: leave it out" if len(names) == 1 else f"are {len(names)} benchmarks: make it as many"
        raise UsageError(f"--shard {asked} makes {asked.of} parts, and there {most}")
    from steelyard.model.settings import Shard

    shard = Shard(number=asked.number, of=asked.of, suite=[benchmark.name for benchmark in suite])
    return [benchmark for benchmark in benchmarks if benchmark.control or _name(benchmark) in mine], shard


def _name(benchmark: Benchmark) -> str:
    """Return the name of the work, whichever candidate does it."""
    if benchmark.entry is not None or not benchmark.params:
        return benchmark.entry or benchmark.name
    return describe_values(benchmark.params)
