"""The heap stage of a weighing or run: launches under a preloaded library, apart from those that are timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.design.budgets import tried_members_of
from steelyard.design.runner.draws import draw_pair, first_side
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import Reading, Runner
from steelyard.design.runner.target import Target
from steelyard.design.runner.targets import Targets, longest_at_first_s, subject_of, subjects_in_first_layout
from steelyard.measure import heap
from steelyard.measure.native import HEAP
from steelyard.measure.preloading import refusal
from steelyard.model.errors import LaunchError, SteelyardError, UsageError
from steelyard.model.findings import Finding
from steelyard.model.heap import Heap, HeapLaunch, HeapUse
from steelyard.model.progress import Progress, Watch
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.subject import Subject

# For each allocator inside programs, what of it is not seen, and what can be done.
_OWN_ALLOCATORS = {
    "Python": (
        "Python takes its small objects from blocks of its own, so that only those over 512 bytes are seen",
        "--env PYTHONMALLOC=malloc has every object allocated apart",
    ),
    "Go": ("Go's runtime has an allocator of its own, of which nothing is seen", "use Go's own -benchmem"),
}


def check_heap(record: Weighing | Run) -> None:
    """Raise UsageError for a program that nothing can be preloaded into, before anything is launched."""
    option, verb = ("--heap", "watch") if record.settings.heap is not None else ("--heap-shuffle", "reach")
    for subject in _subjects(record):
        refuse_unwatchable(Path(subject.program), subject.name, option, verb)


def refuse_unwatchable(program: Path, name: str, option: str, verb: str) -> None:
    """Raise UsageError for a program that nothing can be preloaded into."""
    if why := refusal(program, HEAP):
        raise UsageError(f"{option} cannot {verb} {name}: {why}, or leave {option} out")


def _subjects(record: Weighing | Run) -> list[Subject]:
    """Return every program that is launched, in its first layout; the benchmarks of a harness are not known yet."""
    if not record.benchmarks:
        return subjects_in_first_layout(record)
    sides = range(len(record.subjects[:2]))
    found = [subject_of(record, number, side) for number in range(len(record.benchmarks)) for side in sides]
    return list({subject.program: subject for subject in found}.values())


@dataclass
class HeapStage:
    """Watches the heap of both sides of every benchmark, as often as the settings say; none of it is timed."""

    targets: Targets
    runner: Runner
    keep: Callable[[HeapLaunch], None]
    """Called with each launch before the next one starts."""
    watch: Watch
    _launches: list[HeapLaunch] = field(default_factory=list, init=False)
    _findings: dict[str, Finding] = field(default_factory=dict, init=False)

    def run(self, record: Weighing | Run) -> tuple[Weighing | Run, SteelyardError | None]:
        """Return the record with what was seen, and the error if it failed; in a harness only a benchmark fails."""
        self._launches = list(record.heap.launches) if record.heap else []
        reason: StopReason = "interrupted"
        error: SteelyardError | None = None
        try:
            for launch in self._launches:  # of a weighing that was killed, only these are known
                place = launch.benchmark, launch.side
                target = self.targets.of(*place, draw_pair(record.settings.seed, launch.benchmark, 0))
                self._note_unseen(target.name, subject_of(record, *place), launch.use)
            self._watch_all(record)
        except Interrupted:
            pass  # what was seen until then is kept
        except SteelyardError as failure:
            reason, error = "failed", failure
            self._findings["failed"] = Finding(code="failed", message=str(failure))
        found = [one for one in self._findings.values() if one not in record.findings]
        return record.model_copy(
            update={
                "heap": Heap(launches=self._launches),
                "findings": [*record.findings, *found],
                "stop": [reason if before == "interrupted" else before for before in record.stop],
            }
        ), error

    def _watch_all(self, record: Weighing | Run) -> None:
        """Run every launch that is left; raises what ends that early."""
        plan, failed = self._plan(record), set()
        for done, (number, benchmark, side) in enumerate(plan):
            if benchmark in failed:
                continue
            self.watch(Progress("the heap", done, len(plan), noun="launch"))
            draw = draw_pair(record.settings.seed, benchmark, number)
            target = self.targets.of(benchmark, side, draw).within(longest_at_first_s(record))
            try:
                self._launch(benchmark, side, target, subject_of(record, benchmark, side))
            except LaunchError as error:
                if not record.fails_one_by_one:
                    raise
                failed.add(benchmark)
                message = f"its heap was not watched to the end: {error}"
                self._findings[f"heap-failed {benchmark}"] = Finding(code="heap-failed", message=message)

    def _plan(self, record: Weighing | Run) -> list[tuple[int, int, int]]:
        """Return (number of the launch, benchmark, side) of each launch that is still to come."""
        plan = []
        places = Heap(launches=self._launches).by_place
        for number in range(record.settings.heap or 0):
            for benchmark in tried_members_of(record):
                first = first_side(record.settings.seed, benchmark, number)
                sides = [0] if isinstance(record, Run) else [first, 1 - first]
                known = {side: len(places.get((benchmark, side), [])) for side in sides}
                plan += [(number, benchmark, side) for side in sides if known[side] <= number]
        return plan

    def _launch(self, benchmark: int, side: int, target: Target, subject: Subject) -> None:
        def keep(reading: Reading[HeapUse | None]) -> None:
            use, measured = reading.value, reading.measured
            self._note_unseen(target.name, subject, use)
            if use is not None:
                launch = HeapLaunch(
                    benchmark=benchmark, side=side, use=use, wall_ns=measured.wall_ns, cpu_ns=measured.all_cpu_ns
                )
                self.keep(launch)
                self._launches.append(launch)

        # One process, however many a timed launch has: what is counted needs no length.
        self.runner.launch(replace(target, spec=replace(target.spec, repeat=1)), heap.HeapWatcher(), keep)

    def _note_unseen(self, name: str, subject: Subject, use: HeapUse | None) -> None:
        if (finding := unseen_memory_finding(name, Path(subject.program), use, subject.name)) is not None:
            self._findings[finding.message] = finding


def unseen_memory_finding(
    name: str, program: Path, use: HeapUse | None, program_name: str | None = None
) -> Finding | None:
    """Return what of a launch's memory is missing from the numbers, as far as that can be told.

    `name` is that of the launch; what is so in each launch of a program is said of the program.
    """
    if use is None:
        return Finding(
            code="heap-unseen",
            message=f"{name}: nothing of the heap was seen, as the library could not be preloaded",
            remedy="is the program behind it linked statically, or is its environment cleared?",
        )
    inside = heap.own_allocator(program)
    if inside in _OWN_ALLOCATORS:
        return Finding(code="heap-inside", message=_OWN_ALLOCATORS[inside][0], remedy=_OWN_ALLOCATORS[inside][1])
    if inside is not None:
        return Finding(
            code="heap-inside",
            message=f"{program_name or name} has the allocator {inside} inside: only what malloc is asked for is seen",
        )
    if not use.allocations:
        text = "asked malloc for nothing: it may have an allocator of its own, which is not seen"
        return Finding(code="heap-silent", message=f"{name} {text}")
    return None
