"""The heap part of a weighing or run: launches under a preloaded library, apart from those that are timed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from steelyard.design.runner.draws import draw_pair, first_side
from steelyard.design.runner.targets import subject_of
from steelyard.design.timing.recorder import InterruptedByUser, Recorder, TargetLauncher, Targets, launched, of_side
from steelyard.measure import heap
from steelyard.model.errors import LaunchError, SteelyardError, UsageError
from steelyard.model.heap import Heap, HeapLaunch, HeapUse
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.progress import Progress
from steelyard.model.records import Finding, Run, StopReason, Subject, Weighing

# Of allocators inside programs: what is not seen of them, and what can be done.
_INSIDE = {
    "Python": (
        "Python takes its small objects from blocks of its own, so that only those over 512 bytes are seen",
        "--env PYTHONMALLOC=malloc has every object allocated apart",
    ),
    "Go": ("Go's runtime has an allocator of its own, of which nothing is seen", "use Go's own -benchmem"),
}


class HeapSink(Protocol):
    """Where launches go as they come."""

    def heap(self, launch: HeapLaunch) -> None:
        """Keep one launch."""


def check_heap(record: Weighing | Run) -> None:
    """Before anything is launched: raise UsageError for a program that nothing can be preloaded into."""
    settings = record.settings
    if settings.heap is None and not settings.heap_shuffle:
        return
    option, verb = ("--heap", "watch") if settings.heap is not None else ("--heap-shuffle", "reach")
    for subject in _subjects(record):
        refuse_unwatchable(Path(subject.program), subject.name, option, verb)


def refuse_unwatchable(program: Path, name: str, option: str, verb: str) -> None:
    """Raise UsageError for a program that nothing can be preloaded into."""
    if why := heap.refusal(program):
        raise UsageError(f"{option} cannot {verb} {name}: {why}, or leave {option} out")


def _subjects(record: Weighing | Run) -> list[Subject]:
    """Every program that is launched; those of a harness, whose benchmarks are not known yet, are as they stand."""
    if not record.benchmarks:
        return list(record.subjects)
    sides = range(len(record.subjects[:2]))
    found = [subject_of(record, number, side) for number in range(len(record.benchmarks)) for side in sides]
    return list({subject.program: subject for subject in found}.values())


@dataclass
class HeapStage:
    """Watches the heap of both sides of every benchmark, as often as the settings say; none of it is timed."""

    record: Weighing | Run
    targets: Targets
    launcher: TargetLauncher
    sink: HeapSink
    watch: Callable[[Progress], None]
    interrupted: Callable[[], bool]
    _launches: list[HeapLaunch] = field(default_factory=list, init=False)
    _findings: dict[str, Finding] = field(default_factory=dict, init=False)
    _failed: set[int] = field(default_factory=set, init=False)

    def run(self) -> tuple[Weighing | Run, SteelyardError | None]:
        """The record with what was seen, and why it failed if it did; of a harness only a benchmark fails."""
        self._launches = list(self.record.heap.launches) if self.record.heap else []
        reason: StopReason = "interrupted"
        error: SteelyardError | None = None
        try:
            self._all()
        except InterruptedByUser:
            pass
        except SteelyardError as failure:
            reason, error = "failed", failure
            self._findings["failed"] = Finding(code="failed", message=str(failure))
        found = [one for one in self._findings.values() if one not in self.record.findings]
        return self.record.model_copy(
            update={
                "heap": Heap(launches=self._launches),
                "findings": [*self.record.findings, *found],
                "stop": ["failed" if before == "failed" else reason for before in self.record.stop],
            }
        ), error

    def _all(self) -> None:
        plan = list(self._plan())
        for done, (number, benchmark, side) in enumerate(plan):
            if benchmark in self._failed:
                continue
            self.watch(Progress("the heap", done, len(plan)))
            try:
                self._launch(number, benchmark, side)
            except LaunchError as error:
                if self.record.settings.harness is None:
                    raise
                self._failed.add(benchmark)
                self._note("heap-failed", f"its heap was not watched to the end: {error}", str(benchmark))

    def _plan(self) -> list[tuple[int, int, int]]:
        """(number of the launch, benchmark, side) of what was not launched yet."""
        record, plan = self.record, []
        for number in range(record.settings.heap or 0):
            for benchmark, one in enumerate(record.benchmarks):
                if one.control or record.stop[benchmark] == "failed":
                    continue
                first = first_side(record.settings.seed, benchmark, number)
                sides = [0] if isinstance(record, Run) else [first, 1 - first]
                known = {side: len(Heap(launches=self._launches).of(benchmark, side)) for side in sides}
                plan += [(number, benchmark, side) for side in sides if known[side] <= number]
        return plan

    def _launch(self, number: int, benchmark: int, side: int) -> None:
        targets, settings = self.targets, self.record.settings
        if targets.prepare:
            Recorder.check_surrounding("--prepare", self._run(of_side(targets.prepare, side)))
        targets.check(benchmark, side)
        # One process, however many make a launch that is timed: counts need no length.
        spec = replace(targets.spec(benchmark, side, draw_pair(settings.seed, benchmark, number)), repeat=1)
        name = targets.name(benchmark, side)
        with tempfile.TemporaryDirectory(prefix="steelyard-heap-") as folder:
            measured = self._run(heap.watched(spec, Path(folder)))
            complaint = targets.complaint(measured) if measured.has_failed() else None
            Recorder.check_ended(measured, name, settings.ignore_failure, complaint, targets.remedy)
            targets.samples(benchmark, side, measured)
            use = heap.read_use(Path(folder))
        self._look(name, Path(subject_of(self.record, benchmark, side).program), use)
        if use is not None:
            cpu_ns = measured.user_ns + measured.sys_ns
            launch = HeapLaunch(benchmark=benchmark, side=side, use=use, wall_ns=measured.wall_ns, cpu_ns=cpu_ns)
            self.sink.heap(launch)
            self._launches.append(launch)

    def _run(self, spec: LaunchSpec) -> Measured:
        return launched(self.launcher, spec, self.interrupted)

    def _look(self, name: str, program: Path, use: HeapUse | None) -> None:
        if (finding := unseen(name, program, use)) is not None:
            self._findings[f"{finding.code} {name}"] = finding

    def _note(self, code: str, message: str, about: str) -> None:
        self._findings[f"{code} {about}"] = Finding(code=code, message=message)


def unseen(name: str, program: Path, use: HeapUse | None) -> Finding | None:
    """What of a program's memory is not among the numbers, as far as that can be told."""
    if use is None:
        return Finding(
            code="heap-unseen",
            message=f"{name}: nothing of the heap was seen, as the library could not be preloaded",
            remedy="is the program behind it linked statically, or is its environment cleared?",
        )
    inside = heap.own_allocator(program)
    if inside in _INSIDE:
        return Finding(code="heap-inside", message=f"{name}: {_INSIDE[inside][0]}", remedy=_INSIDE[inside][1])
    if inside is not None:
        return Finding(
            code="heap-inside",
            message=f"{name} has the allocator {inside} inside: only what malloc is asked for is seen",
        )
    if not use.allocations:
        text = "asked malloc for nothing: it may have an allocator of its own, which is not seen"
        return Finding(code="heap-silent", message=f"{name} {text}")
    return None


def with_heap(counted: Weighing | Run, watched: Weighing | Run) -> Weighing | Run:
    """The record that was counted, with what was seen of the heap before that."""
    new = [finding for finding in watched.findings if finding not in counted.findings]
    return counted.model_copy(update={"heap": watched.heap, "findings": [*counted.findings, *new]})
