from __future__ import annotations

import csv
import io

from steelyard.model.launches import Launches
from steelyard.model.rows import COLUMNS, Sample
from steelyard.model.settings import Settings
from steelyard.report.table import launches_csv

from . import records


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_every_launch_is_a_row_with_all_its_numbers() -> None:
    record = records.weighing(pairs=3)
    rows = read(launches_csv(record))
    assert len(rows) == 6
    for position, row in enumerate(rows):
        for field in COLUMNS:
            value = getattr(record.launches, field)[position]
            assert row[field] == ("" if value is None else str(value))


def test_what_was_counted_meanwhile_is_among_them() -> None:
    record = records.weighing(pairs=1, settings=Settings(metrics=["active", "migrations"]))
    (first, second) = record.launches.rows()
    counted = first._replace(counters=(None, (3, 2000, 1000), None, None, None, None))
    (row, other) = read(launches_csv(record.model_copy(update={"launches": Launches.of_rows([counted, second])})))
    assert [row[f"migrations{of}"] for of in ("", "_enabled_ns", "_running_ns")] == ["3", "2000", "1000"]
    assert other["migrations"] == ""
    assert "cycles" not in row, "which was not asked for"


def test_every_sample_of_a_harness_is_a_row_that_repeats_its_launch() -> None:
    record = records.weighing(pairs=2)
    samples = [(Sample(10, 15_000, 14_000, 0), Sample(10, 16_000)), (Sample(10, 1),), (), (Sample(7, 8, 9, 10),)]
    launches = [row._replace(samples=each) for row, each in zip(record.launches.rows(), samples, strict=True)]
    rows = read(launches_csv(record.model_copy(update={"launches": Launches.of_rows(launches)})))
    assert [(row["pair"], row["side"], row["sample"], row["sample_loops"], row["sample_ns"]) for row in rows] == [
        ("0", "0", "0", "10", "15000"),
        ("0", "0", "1", "10", "16000"),
        ("0", "1", "0", "10", "1"),
        ("1", "0", None, None, None),
        ("1", "1", "0", "7", "8"),
    ]
    assert [(row["sample_cpu_ns"], row["sample_delay_ns"]) for row in rows[:2]] == [("14000", "0"), ("", "")]
    assert rows[0]["wall_ns"] == rows[1]["wall_ns"] == str(launches[0].wall_ns)


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
    assert lines[0].split(",")[4:] == list(COLUMNS)
