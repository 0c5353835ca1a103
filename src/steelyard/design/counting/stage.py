"""The counting stage of a weighing or run: each side twice, side by side, and more often if counts do not repeat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from functools import partial

from steelyard.design.counting.functions import as_columns, differing_functions, subtract_counts
from steelyard.design.counting.notes import CountNotes
from steelyard.design.counting.plan import CountedSide, count_planned, counts_by_side, judged_counts, missing_counts
from steelyard.design.counting.progress import CountProgress
from steelyard.design.counting.targets import CountTargets
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.targets import hooks_of
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.counting import INSTRUCTIONS, Count, CountSettings
from steelyard.model.errors import LaunchError, MeasurementError, SteelyardError
from steelyard.model.findings import Finding
from steelyard.model.journal import Journal
from steelyard.model.progress import Watch
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.stats.counts import FIRST_COUNTS
from steelyard.subjects.command import shared_environment


@dataclass(frozen=True)
class CountingTools:
    """What counts: the tool, and how many launches at once."""

    valgrind: Valgrind
    source: Mapping[str, str]
    """The environment that variables are passed on from."""
    jobs: int
    launcher: Callable[[], AbstractContextManager[LaunchServer]]
    clock: Callable[[], float]


class CountingStage:
    """Counts what a record asks for; the record has its tool already."""

    def __init__(self, record: Weighing | Run, tools: CountingTools, journal: Journal, watch: Watch) -> None:
        settings = record.settings
        self._settings = settings.counting or CountSettings()
        self._record, self._clock, self._journal = record, tools.clock, journal
        self._hooks = hooks_of(settings, shared_environment(settings, tools.source), record.subjects)
        self._pool = WorkerPool(tools.launcher, tools.jobs, self._hooks)
        self._counter = Counter(tools.valgrind, self._settings, tools.clock)
        self._targets = CountTargets(record, self._settings, tools.source)
        begun = record.counting
        self._counts = list(begun.counts) if begun else []
        self._by_side = counts_by_side(record)
        names = [benchmark.name for benchmark in record.benchmarks]
        self._progress = CountProgress(
            names, self._counts, watch, tools.clock, sides=len(record.subjects), jobs=self._pool.jobs
        )
        self._pool.waiting = self._progress.report_duration
        self._functions = {(part.benchmark, part.side): part for part in (begun.functions if begun else [])}
        self._failed: dict[int, LaunchError] = {}
        self._notes = CountNotes()

    def cancel(self) -> None:
        """Stop; for a signal handler."""
        self._pool.cancel()

    def has_begun(self) -> bool:
        """Whether anything was launched."""
        return self._pool.has_begun()

    def run(self) -> tuple[Weighing | Run, SteelyardError | None]:
        """Count; return the record with all that was counted, and the error if it failed."""
        started = self._clock()
        reason: StopReason = "decided"
        error: SteelyardError | None = None
        try:
            self._count_all()
        except Interrupted:
            reason = "interrupted"
        except SteelyardError as failure:
            reason, error = "failed", failure
        counted = self._record_so_far()
        failures = [*self._failed.values(), *([error] if error else [])]
        found = [
            *(Finding(code="failed", message=str(failure)) for failure in failures),
            *self._notes.findings(counted),
        ]
        return counted.model_copy(
            update={
                "stop": [before if before in ("failed", "time") else reason for before in counted.stop],
                # Once pairs were measured, the seconds are those of the pairs.
                "seconds": self._record.seconds + (0 if len(counted.launches) else self._clock() - started),
                "findings": [*self._record.findings, *(one for one in found if one not in self._record.findings)],
            }
        ), error

    def _count_all(self) -> None:
        with self._pool:
            while remaining := missing_counts(self._record_so_far()):
                self._count_round(remaining)

    def _record_so_far(self) -> Weighing | Run:
        if self._record.counting is None:
            raise AssertionError("a record that is counted has its tool")
        functions = list(self._functions.values())
        counting = self._record.counting.model_copy(update={"counts": self._counts, "functions": functions})
        stop = ["failed" if number in self._failed else before for number, before in enumerate(self._record.stop)]
        return self._record.model_copy(update={"counting": counting, "stop": stop})

    # --- launches

    def _count_round(self, sides: Sequence[CountedSide]) -> None:
        ended = 0
        self._progress.begin(sides, count_planned(self._record))
        with closing(self._pool.do_all([partial(self._launch, side) for side in sides])) as counting:
            for number, counted in counting:
                ended += 1
                if isinstance(counted, LaunchError):
                    self._fail(sides[number][0], counted)
                else:
                    self._keep(sides[number], counted)
                self._progress.end(sides[number])
        if ended < len(sides):
            raise Interrupted

    def _launch(self, side: CountedSide, runner: Runner) -> Counted | LaunchError:
        """Count one side once, on any thread; if benchmarks fail one by one, the error of this one is returned.

        Nothing is kept here: the journal is written by one thread.
        """
        try:
            with self._progress.counting(side):
                return self._count_once(side, runner)
        except LaunchError as error:
            if not self._record.fails_one_by_one:
                raise
            return error

    def _count_once(self, side: CountedSide, runner: Runner) -> Counted:
        parts: list[Counted] = []
        for target in self._targets.of(side):
            parts.append(runner.launch(target, self._counter, lambda reading: reading.value))
            if parts[-1].events[INSTRUCTIONS] <= 0:
                raise self._nothing_counted_error(target.name)
        try:
            return parts[0] if len(parts) == 1 else subtract_counts(*parts)
        except LaunchError as error:
            raise LaunchError(f"{target.name}: {error}") from error

    def _fail(self, benchmark: int, error: LaunchError) -> None:
        if benchmark not in self._failed:  # both its sides may fail at the same time
            self._failed[benchmark] = error
            self._journal.fail(benchmark, str(error))

    def _nothing_counted_error(self, name: str) -> MeasurementError:
        """Return the error for a count without any instruction: nothing made the counting begin."""
        if self._record.settings.harness is not None:
            return LaunchError(
                f"{name} was not counted: only suites of steelyard's SDKs ask Valgrind to count their samples (and on "
                "some kinds of processors none can; steelyard docs protocol, Counting). Time it alone, by another "
                "--metric, or count a whole command, without --harness"
            )
        if self._settings.body:
            return MeasurementError(
                f"{name} executed nothing between start and stop requests: does it use "
                "CALLGRIND_START_INSTRUMENTATION and reach it? Else leave --body out"
            )
        return MeasurementError(
            f"nothing of {name} was counted: --after-start takes a program that the C library's "
            "loader starts (no static one, no other C library); leave it out"
        )

    # --- what comes of them

    def _keep(self, side: CountedSide, counted: Counted) -> None:
        count = Count(
            benchmark=side[0],
            side=side[1],
            events=counted.events,
            processes=counted.processes if len(counted.processes) > 1 else [],
            forked=counted.forked,
            seconds=counted.seconds,
        )
        if self._settings.body:
            counted = replace(counted, replaced_by=None)  # what a wrapper did before the body is not counted anyway
        before = self._by_side.setdefault(side, [])
        # The functions of the first count are kept, then in their place those of the first count that is judged after
        # it.
        is_first = len(before) in (0, FIRST_COUNTS)
        functions = as_columns(counted.functions, side) if is_first else None
        differing = None if is_first else self._differing(side, counted)
        late = len(before) >= FIRST_COUNTS
        self._journal.count(count, functions)  # on disk before it counts for anything
        for finding in self._notes.take(self._record.benchmarks[side[0]].name, count, counted, differing, late=late):
            self._journal.note(finding)
        if functions is not None:
            self._functions[side] = functions
        before.append(count)
        self._counts.append(count)

    def _differing(self, side: CountedSide, counted: Counted) -> list[str] | None:
        """Return the functions in which a count differs most from the one whose functions are kept; None if equal."""
        if counted.events == judged_counts(self._by_side[side])[0].events:
            return None
        functions = as_columns(counted.functions, side)
        return differing_functions(self._functions.get(side, functions), functions)
