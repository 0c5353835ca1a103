"""The raw launches or counts as CSV, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any

from steelyard.model.counters import EVENTS, events_of
from steelyard.model.records import Run, Weighing
from steelyard.model.rows import COLUMNS, ROLES, Sample
from steelyard.model.sides import side_names
from steelyard.report import printable

# Rows written at once.
_ROWS_AT_ONCE = 10_000
# Characters that make a spreadsheet take a text for a formula (OWASP, CSV injection).
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NOT_COUNTED = (None, None, None)


def csv_text(titles: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Write rows below their titles, as `csv_pieces` does."""
    cells = ([csv_cell(value) for value in row] for row in rows)
    return b"".join(csv_pieces([csv_cell(title) for title in titles], cells)).decode()


def csv_pieces(titles: Sequence[str], rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Write rows of cells, each made by `csv_cell`, below their titles; many rows at a time."""
    remaining = chain([titles], rows)
    while chunk := list(islice(remaining, _ROWS_AT_ONCE)):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(chunk)
        yield out.getvalue().encode()


def csv_cell(value: Any) -> Any:
    """Return a value as it stands in CSV: None is an empty cell, and a bool is true or false.

    Text is made printable, and text that would be a formula gets a ' before it: a spreadsheet that opens the file runs
    nothing that a benchmark's name says. Numbers are left alone, whatever they begin with.
    """
    if isinstance(value, str):
        return _cell(value)
    return str(value).lower() if isinstance(value, bool) else value


@lru_cache(maxsize=4096)  # the same few names occur in all rows
def _cell(text: str) -> str:
    return f"'{printable.plain(text)}" if text.startswith(_FORMULA_STARTS) else printable.plain(text)


def launches_csv(record: Weighing | Run) -> str:
    """Write every launch as one row, in the order in which they ran; an empty cell is a value that is not known.

    The columns are the names that LaunchRow's first indices stand for, then those of LaunchRow, then three numbers for
    each event that was counted meanwhile (`Counted`). A run's only side is called `subject`. With a harness each sample
    is one row, which repeats what its launch measured.
    """
    sample_titles = ["sample", *(f"sample_{name}" for name in Sample._fields)] if record.launches.samples else []
    events = events_of(record.settings.metrics) if record.launches.counters else ()
    counted = [f"{event}{suffix}" for event in events for suffix in ("", "_enabled_ns", "_running_ns")]
    titles = ["benchmark_name", "side_name", "subject_name", "role_name", *COLUMNS, *counted, *sample_titles]
    return csv_text(titles, _launches(record, [EVENTS.index(event) for event in events]))


def _launches(record: Weighing | Run, events: Sequence[int]) -> Iterator[list[Any]]:
    sides = side_names(record)
    for row in record.launches.rows():
        benchmark = record.benchmarks[row.benchmark]
        subject = record.subjects[benchmark.subject_of(row.side)]
        names = [benchmark.name, sides[row.side], subject.name, ROLES[row.role]]
        counted = [(row.counters[event] if row.counters else None) or _NOT_COUNTED for event in events]
        launch = [*names, *row[: len(COLUMNS)], *chain.from_iterable(counted)]
        yield from [[*launch, number, *sample] for number, sample in enumerate(row.samples)] or [launch]


def counts_csv(record: Weighing | Run) -> str:
    """Write every count as one row, in the order in which they began, with a column for each event."""
    counts = record.counting.counts if record.counting else []
    sides = side_names(record)
    events = list(counts[0].events) if counts else []
    titles = ["benchmark_name", "side_name", "benchmark", "side", "seconds", "forked"]
    rows = (
        [
            *(record.benchmarks[count.benchmark].name, sides[count.side]),
            *(count.benchmark, count.side, count.seconds, count.forked),
            *(count.events.get(event, "") for event in events),
        ]
        for count in counts
    )
    return csv_text([*titles, *events], rows)
