from __future__ import annotations

import csv
import io

from steelyard.model.launches import LaunchRow
from steelyard.report.table import launches_csv

from . import records


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_launch_is_a_row_with_all_its_numbers() -> None:
    record = records.weighing(pairs=3)
    rows = read(launches_csv(record))
    assert len(rows) == 6
    for position, row in enumerate(rows):
        for field in LaunchRow._fields:
            value = getattr(record.launches, field)[position]
            assert row[field] == ("" if value is None else str(value))


def test_indices_come_with_their_names() -> None:
    rows = read(launches_csv(records.weighing(pairs=1, benchmarks=("parse", "sort"))))
    named = [(row["benchmark_name"], row["side_name"], row["subject_name"], row["role_name"]) for row in rows]
    assert named == [
        ("parse", "baseline", "./sort-old data.bin", "used"),
        ("parse", "candidate", "./sort-new data.bin", "used"),
        ("sort", "baseline", "./sort-old data.bin", "used"),
        ("sort", "candidate", "./sort-new data.bin", "used"),
    ]
    assert {row["side_name"] for row in read(launches_csv(records.run()))} == {"subject"}


def test_commas_quotes_and_line_breaks_stay_in_their_cell() -> None:
    names = ('echo "a,b";\n', "caf\udce9, x")
    text = launches_csv(records.weighing(pairs=2, names=names))
    rows = read(text)
    assert [row["subject_name"] for row in rows[:2]] == ['echo "a,b";\\n', "caf\\xe9, x"]
    assert len(text.splitlines()) == 5
    text.encode("utf-8")


def test_no_launch_leaves_the_header() -> None:
    lines = launches_csv(records.weighing(pairs=0)).splitlines()
    assert len(lines) == 1
    assert lines[0].split(",")[4:] == list(LaunchRow._fields)
