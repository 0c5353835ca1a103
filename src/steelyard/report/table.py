"""The raw launches, or counts, as CSV, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io

from steelyard.model.launches import COLUMNS, ROLES, LaunchRow, Sample
from steelyard.model.records import Run, Subject, Weighing
from steelyard.report import printable

SIDES = ("baseline", "candidate")


def launches_csv(record: Weighing | Run) -> str:
    """Write every launch as one row, in the order in which they ran; an empty cell is a value not to be had.

    The columns are those of LaunchRow, after the names that its first indices stand for. A run's only side is
    called `subject`. With a harness each sample is one row, which repeats what its launch measured.
    """
    sides = SIDES if isinstance(record, Weighing) else ("subject",)
    sampled = bool(record.launches.samples)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    of_sample = ["sample", *(f"sample_{name}" for name in Sample._fields)] if sampled else []
    writer.writerow(["benchmark_name", "side_name", "subject_name", "role_name", *COLUMNS, *of_sample])
    for row in record.launches.rows():
        launch = [
            printable.plain(record.benchmarks[row.benchmark].name),
            sides[row.side],
            printable.plain(_subject(record, row).name),
            ROLES[row.role],
            *row[: len(COLUMNS)],
        ]
        writer.writerows([[*launch, number, *sample] for number, sample in enumerate(row.samples)] or [launch])
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
        names = [printable.plain(record.benchmarks[count.benchmark].name), sides[count.side]]
        numbers = [count.benchmark, count.side, count.seconds, count.forked]
        writer.writerow([*names, *numbers, *(count.events.get(event, "") for event in events)])
    return out.getvalue()


def _subject(record: Weighing | Run, row: LaunchRow) -> Subject:
    return record.subjects[record.benchmarks[row.benchmark].candidate if row.side == 1 else 0]
