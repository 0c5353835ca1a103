"""What a benchmark asks of the allocator, in launches under the preloaded library; and the rule about what it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from steelyard.design.check.evidence import Amount
from steelyard.design.check.gather import ANY_DRAW, CheckedBenchmark
from steelyard.design.check.judged import Judged, Rule, untried
from steelyard.design.heap import unseen_memory_finding
from steelyard.measure import heap
from steelyard.model.errors import LaunchError
from steelyard.model.heap import HeapUse
from steelyard.model.measured import Measured
from steelyard.model.soundness import Allocating
from steelyard.report.figures import count

KEPT_BLOCKS = 0.05
# Fewer iterations would not tell a leak from a buffer that grew once; a launch longer than this is not worth the wait.
_FEWEST_ITERATIONS, _LONGEST_NS = 100, 5_000_000_000


@dataclass(frozen=True)
class WatchedLaunch:
    """One launch under the library."""

    use: HeapUse | None
    measured: Measured
    iterations: int


# It tries several numbers of iterations, and tells only of the last one.
_LOOPS_NOT_CHOSEN = "this harness chooses itself how often a body runs, so what one iteration allocates cannot be told"


def watch_launch(checked: CheckedBenchmark, amount: Amount) -> WatchedLaunch:
    """Launch a benchmark once under the library; raises LaunchError."""
    return checked.runner.launch(
        checked.target(ANY_DRAW, amount),
        heap.HeapWatcher(),
        lambda reading: WatchedLaunch(reading.value, reading.measured, sum(sample.loops for sample in reading.samples)),
    )


def measure_command(checked: CheckedBenchmark, program: Path) -> Allocating:
    """Return what one launch of a command asks for; of one that fails nothing, and its `note` says why."""
    try:
        seen = watch_launch(checked, Amount(1, 1))
    except LaunchError as error:
        return Allocating(benchmark=checked.name, each="launch", note=str(error))
    note = _note(checked.name, program, seen)
    if seen.use is None:
        return Allocating(benchmark=checked.name, each="launch", note=note)
    return Allocating(
        benchmark=checked.name,
        each="launch",
        allocations=seen.use.allocations,
        bytes=seen.use.bytes,
        kept=seen.use.allocations - seen.use.frees,
        share=_allocator_share(seen.use.allocator_ns, seen.measured.all_cpu_ns),
        note=note,
    )


def measure_benchmark(checked: CheckedBenchmark, program: Path, loops: int) -> Allocating:
    """Return what one iteration asks for: what a launch of many asks for over one of few, without what they share.

    Raises LaunchError.
    """
    if checked.harness is not None and not checked.harness.fixes_loops:
        return Allocating(benchmark=checked.name, each="iteration", note=_LOOPS_NOT_CHOSEN)
    few = watch_launch(checked, Amount(loops, 1))
    more = 2 * loops
    if few.measured.wall_ns * _FEWEST_ITERATIONS < _LONGEST_NS * loops:
        more = max(more, loops + _FEWEST_ITERATIONS)
    many = watch_launch(checked, Amount(more, 1))
    note = _note(checked.name, program, many)
    iterations = many.iterations - few.iterations
    if few.use is None or many.use is None or iterations <= 0:
        return Allocating(benchmark=checked.name, each="iteration", note=note or "its loops cannot be chosen")
    kept = [seen.allocations - seen.frees for seen in (few.use, many.use)]
    both_timed = few.use.allocator_ns is not None and many.use.allocator_ns is not None
    spent = (many.use.allocator_ns or 0) - (few.use.allocator_ns or 0) if both_timed else None
    return Allocating(
        benchmark=checked.name,
        each="iteration",
        allocations=max(0, many.use.allocations - few.use.allocations) / iterations,
        bytes=max(0, many.use.bytes - few.use.bytes) / iterations,
        kept=(kept[1] - kept[0]) / iterations,
        share=_allocator_share(spent, many.measured.all_cpu_ns - few.measured.all_cpu_ns),
        iterations=iterations,
        note=note,
    )


def judge_leak(found: Allocating) -> Judged:
    """Whether an iteration leaves blocks that are never given back."""
    if found.kept is None:
        return untried(found.note)
    if found.iterations < _FEWEST_ITERATIONS:
        told = f"{count(found.iterations, 'iteration')} {'is' if found.iterations == 1 else 'are'}"
        return untried(f"{told} too few to tell a leak from a buffer that grew once")
    return Judged(
        "trouble" if found.kept > KEPT_BLOCKS else "sound",
        f"{found.kept:,.2f} of {found.allocations or 0:,.2f} blocks that an iteration allocates are never given back",
        found.kept,
    )


def _note(name: str, program: Path, seen: WatchedLaunch) -> str:
    finding = unseen_memory_finding(name, program, seen.use)
    if finding is None:
        return ""
    return f"{finding.message}; {finding.remedy}" if finding.remedy else finding.message


def _allocator_share(allocator_ns: int | None, cpu_ns: int) -> float | None:
    if allocator_ns is None or cpu_ns <= 0:
        return None
    return min(1.0, max(0.0, allocator_ns / cpu_ns))


RULE = Rule(
    "leak",
    "what an iteration allocates is given back",
    KEPT_BLOCKS,
    "blocks",
    "none: blocks are counted, not estimated, and a buffer that grows now and then is far below",
    "free them; what is meant to stay belongs in the set-up",
)
