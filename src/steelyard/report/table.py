"""The raw launches, or counts, as CSV, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io

from steelyard.model.launches import ROLES, LaunchRow
from steelyard.model.records import Run, Subject, Weighing
from steelyard.report import words

SIDES = ("baseline", "candidate")


def launches_csv(record: Weighing | Run) -> str:
    """Write every launch as one row, in the order in which they ran; an empty cell is a value not to be had.

    The columns are those of LaunchRow, after the names that its first indices stand for. A run's only side is
    called `subject`.
    """
    sides = SIDES if isinstance(record, Weighing) else ("subject",)
    launches = record.launches
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["benchmark_name", "side_name", "subject_name", "role_name", *LaunchRow._fields])
    columns = zip(*(getattr(launches, name) for name in LaunchRow._fields), strict=True)
    for row in map(LaunchRow._make, columns):
        writer.writerow(
            [
                words.plain(record.benchmarks[row.benchmark].name),
                sides[row.side],
                words.plain(_subject(record, row).name),
                ROLES[row.role],
                *row,
            ]
        )
    return out.getvalue()


def counts_csv(record: Weighing | Run) -> str:
    """Write every count as one row, in the order in which they were begun, with a column for each event."""
    counts = record.counting.counts if record.counting else []
    sides = SIDES if isinstance(record, Weighing) else ("subject",)
    events = list(counts[0].events) if counts else []
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["benchmark_name", "side_name", "benchmark", "side", "seconds", "forked", *events])
    for count in counts:
        names = [words.plain(record.benchmarks[count.benchmark].name), sides[count.side]]
        numbers = [count.benchmark, count.side, count.seconds, count.forked]
        writer.writerow([*names, *numbers, *(count.events.get(event, "") for event in events)])
    return out.getvalue()


def _subject(record: Weighing | Run, row: LaunchRow) -> Subject:
    return record.subjects[record.benchmarks[row.benchmark].candidate if row.side == 1 else 0]
