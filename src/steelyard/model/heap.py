"""The heap: what a launch asked of its allocator, seen from inside by a preloaded library."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from steelyard.model.grouping import grouped
from steelyard.model.numbers import Count
from steelyard.model.parts import Record


class HeapUse(Record):
    """What one launch, with the processes that it started, asked of its allocator."""

    allocations: Count = Field(description="number of blocks handed out; a block that is resized (realloc) is one more")
    frees: Count = Field(description="number of blocks taken back; a block that is resized (realloc) is one more")
    reallocations: Count = Field(
        description="number of times that a block was resized; `allocations` and `frees` include them"
    )
    bytes: Count = Field(description="bytes requested in all")
    peak_bytes: Count = Field(
        description="most bytes in use at a time, as the allocator rounds them; of several processes, in the one "
        "where that was the most"
    )
    allocator_ns: Count | None = Field(
        default=None, description="estimated time in the allocator, of all threads, in ns; null where it is not timed"
    )
    processes: Count = Field(default=1, description="number of processes that executed a program, the target included")
    forked: Count = Field(default=0, description="number of processes that were forked")


class HeapLaunch(Record):
    """One launch under the preloaded library. Its times are no measurement: the library is part of them."""

    benchmark: int = Field(ge=0, description="index of the benchmark in `benchmarks`")
    side: int = Field(ge=0, le=1, description="0 for the baseline, 1 for the candidate")
    use: HeapUse
    wall_ns: Count = Field(description="elapsed time, in ns")
    cpu_ns: Count = Field(description="processor time of all threads and waited-for children, in ns")

    def share(self) -> float | None:
        """The part of its processor time that was spent in the allocator, estimated; None where that is not known."""
        if self.use.allocator_ns is None or not self.cpu_ns:
            return None
        return min(1.0, self.use.allocator_ns / self.cpu_ns)


class Heap(Record):
    """All launches whose heap was watched, in the order in which they ran."""

    launches: list[HeapLaunch] = Field(default_factory=list)

    @cached_property
    def by_place(self) -> dict[tuple[int, int], list[HeapLaunch]]:
        """The launches of each side of each benchmark, by their indices."""
        return grouped(self.launches, lambda one: (one.benchmark, one.side))
