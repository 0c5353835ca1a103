"""`steelyard show` of kept records of every kind, and of earlier versions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.in_process import InProcess

RECORDS = Path(__file__).resolve().parent.parent / "data" / "records"
# What each record says, none of which may be lost.
SHOWN = {
    "version-1-run.json": ["active 549.6 µs median [531.8 µs, 587.8 µs]", "over 12 launches"],
    "version-1-weighing.json.gz": ["n=1 slower +36.0 %", "n=2 slower +40.3 %", "control no alarm +0.94 %"],
    "version-1.journal": ["interrupted: this is what was measured until then", "candidate sleep 0.12", "8 pairs"],
    "version-2-harness.json.gz": ["b0 same -0.0003 %", "b1 same -0.0006 %", "12 1.000 ms 1.000 ms"],
    "version-2-heap.json.gz": ["undecided +6.71 %", "allocations 300 600 +100 %", "peak 98.44 KiB 100.0 KiB"],
    "version-2-run.json": ["267,824 median", "129,239 median", "19 % _dl_relocate_object", "cachegrind 3.19.0"],
    "version-2-weighing.json.gz": ["n=1 undecided +20.6 %", "n=2 slower +12.5 %", "+3,570 +2.76 % do_lookup_x"],
    "version-2.journal": [
        "candidate sleep 0.11",
        "8 pairs in 1.9 s",
        "instructions same +0.02 %",
        "+16 +0.01 % ____strtod_l",
    ],
}


def test_what_is_kept_for_it_is_all_tried() -> None:
    assert set(SHOWN) == {path.name for path in RECORDS.iterdir()}


@pytest.mark.parametrize("name", SHOWN)
def test_every_kept_record_is_shown(asked: InProcess, name: str) -> None:
    shown = asked("show", RECORDS / name, "--markdown", "shown.md", "--csv", "shown.csv", "--json", "shown.json")
    assert shown.status == 0
    # On the machine where it was interrupted, a weighing can be carried on.
    assert shown.err in (b"", f"steelyard: to carry on: steelyard compare --resume {RECORDS / name}\n".encode())
    text = " ".join(shown.text.split())
    assert [phrase for phrase in SHOWN[name] if phrase not in text] == []
    # The files written from it hold as much: shown, they print the same, and they have its launches or counts.
    assert asked("show", "shown.json").out == shown.out
    record = asked.json("shown.json")
    launches = len(record["launches"]["pair"]) or len(record["counting"]["counts"])
    with (asked.folder / "shown.csv").open(newline="") as file:
        assert len(list(csv.reader(file))) > launches > 1
    assert (asked.folder / "shown.md").stat().st_size > 100
