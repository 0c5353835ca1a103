"""What there is to say of a record's counts, gathered as they come."""

from __future__ import annotations

from collections.abc import Collection

from steelyard.design.counting import findings
from steelyard.design.counting.plan import CountedSide, are_equal, counts_by_side, has_set_aside
from steelyard.design.findings import accepted_failures_finding
from steelyard.design.runner.survivors import survivor_findings
from steelyard.design.stderr_notes import StderrNotes
from steelyard.measure.count.counter import Counted
from steelyard.model.counting import Count
from steelyard.model.findings import Finding
from steelyard.model.metrics import timed
from steelyard.model.records import Run, Weighing
from steelyard.model.sides import side_names
from steelyard.report.endings import failure_text
from steelyard.stats.counts import FIRST_COUNTS
from steelyard.subjects.programs import weighed_file


class CountNotes:
    """Remembers, for each benchmark, what the user should know of its counts."""

    def __init__(self) -> None:
        self._noted: dict[int, list[Finding]] = {}
        self._differing: dict[tuple[CountedSide, bool], list[str]] = {}
        self._others_ns: dict[int, int] = {}
        self._failed: dict[int, dict[int, list[str]]] = {}
        self._stderr_notes = StderrNotes()
        self._left_behind: list[str] = []
        self._not_killed: list[str] = []

    def take(
        self, name: str, count: Count, counted: Counted, differing: list[str] | None, *, late: bool
    ) -> list[Finding]:
        """Remember what one count of the benchmark `name` calls for; return what is known by this one alone, and new.

        `differing` are the functions in which it differs most from the count before it, None if it is equal; `late`
        counts come after the first ones.
        """
        number = count.benchmark
        if differing is not None:
            self._differing.setdefault(((number, count.side), late), differing)
        self._others_ns[number] = max(self._others_ns.get(number, 0), counted.measured.others_ns or 0)
        if counted.measured.has_failed():
            ways = self._failed.setdefault(number, {}).setdefault(count.side, [])
            way = failure_text(counted.measured.exit_code, counted.measured.signal)
            if way not in ways:
                ways.append(way)
        self._stderr_notes.take(number, count.side, counted.measured)
        self._left_behind += counted.measured.left_behind
        self._not_killed += counted.measured.not_killed
        notes = self._noted.setdefault(number, [])
        known = {note.code for note in notes}
        new = [finding for finding in _count_findings(name, counted) if finding.code not in known]
        notes += new
        return new

    def findings(self, record: Weighing | Run) -> list[Finding]:
        """Return what the record should say of the counts; by benchmark, where it is about one."""
        tool = record.counting.tool if record.counting else None
        found = [findings.not_pinned_finding(what) for what in (tool.not_pinned if tool else [])]
        found += [findings.FIRST_LAYOUT] if record.settings.layouts else []
        counts = counts_by_side(record)
        for number, benchmark in enumerate(record.benchmarks):
            sides = [counts.get((number, side), []) for side in (0, 1)]
            forked = max((count.forked for side in sides for count in side), default=0)
            found += [findings.forked_finding(benchmark.name, forked)] if forked else []
            found += self._noted.get(number, [])
            found += self._failure_findings(record, number)
            found += self._difference_findings(record, number, sides)
        found += [] if timed(record.settings.metrics) else self._stderr_notes.findings(record)
        return [*found, *survivor_findings(self._left_behind, self._not_killed)]

    def _difference_findings(self, record: Weighing | Run, number: int, sides: list[list[Count]]) -> list[Finding]:
        """Return why counts differ; if only the first ones do, that they are set aside."""
        name = record.benchmarks[number].name
        first, later = (self._differing_functions(number, late=late) for late in (False, True))
        if any(map(has_set_aside, sides)) and not later:
            unequal = [side for side, counts in enumerate(sides) if not are_equal(counts[:FIRST_COUNTS])]
            functions = next(iter(first.values()), [])
            return [findings.set_aside_finding(name, _differing_side(record, unequal), functions)] if unequal else []
        differing = later or first
        if not differing:
            return []
        commands = [(weighed_file(subject), *subject.argv[1:]) for subject in record.subjects]
        functions = next(iter(differing.values()))
        others_ns = self._others_ns.get(number, 0)
        return [findings.differing_finding(name, _differing_side(record, differing), functions, commands, others_ns)]

    def _failure_findings(self, record: Weighing | Run, number: int) -> list[Finding]:
        """Return a finding on failed launches that were counted; if the program is timed as well, its times say so."""
        failed = self._failed.get(number)
        if not failed or timed(record.settings.metrics):
            return []
        names = side_names(record)
        clauses = (f"of the {names[side]} failed ({'; '.join(ways)})" for side, ways in sorted(failed.items()))
        name = record.benchmarks[number].name
        return [accepted_failures_finding(f"{name}: counted launches {' and '.join(clauses)}", of_two=len(names) > 1)]

    def _differing_functions(self, number: int, *, late: bool) -> dict[int, list[str]]:
        """Return, for each side whose counts differ, the functions in which they do."""
        return {
            side: functions
            for ((benchmark, side), later), functions in self._differing.items()
            if (benchmark, later) == (number, late)
        }


def _differing_side(record: Weighing | Run, differing: Collection[int]) -> str | None:
    """Return the side whose counts differ, if it is one of two; else None."""
    if len(differing) != 1 or len(record.subjects) == 1:
        return None
    return "candidate" if 1 in differing else "baseline"


def _count_findings(name: str, counted: Counted) -> list[Finding]:
    return [
        *([findings.lost_finding(name, counted.lost)] if counted.lost else []),
        *([findings.replaced_finding(name, counted.replaced_by)] if counted.replaced_by else []),
        *([findings.went_around_finding(name, counted.went_around)] if counted.went_around else []),
        *([findings.not_executed_finding(name, counted.not_executed)] if counted.not_executed else []),
    ]
