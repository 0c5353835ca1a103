"""The list of kept records."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from steelyard.model.inventory import Entry
from steelyard.report.inventory import show
from tests.report.records import on_screen


def entry(*subjects: str, time: str = "20260101T120000.000000", name: str | None = None, **verdicts: int) -> Entry:
    return Entry(
        path=f"/kept/{time}-weighing-7.json.gz",
        name=name,
        kind="weighing",
        state="ended",
        created="2026-01-01T12:00:00+00:00",
        subjects=list(subjects),
        benchmarks=sum(verdicts.values()) or 1,
        verdicts=verdicts or {"same": 1},
    )


def lines(*entries: Entry, width: int = 80) -> list[str]:
    found = on_screen(lambda console: show(console, entries, Path("/kept")), width).splitlines()
    assert all(cell_len(line) <= width for line in found)
    return found[1:]


def test_commands_are_told_apart_in_80_columns_whatever_stands_beside_them() -> None:
    python = "/a/long/folder/of/an/environment/bin/python"
    head, first, *_ = lines(
        entry(f"{python} old.py", f"{python} new.py", slower=1, undecided=4),
        entry("main (2a0380f)", "work tree", time="20260101T120001.250000"),
        entry("x", time="20260101T120001.500000"),
    )
    assert head.split() == ["kind", "result", "of", "name"]
    assert first == "weighing  1 slower of 5  python old.py | python new.py  20260101T120000"


def test_revisions_stand_behind_the_command_that_ran_in_them() -> None:
    revisions = entry("main (2a0380f)", "work tree").model_copy(update={"command": "./a/very/long/path/to/parse"})
    assert "  ./a/very/long/path/to/parse | main (2a0380f) | work tree  " in lines(revisions, width=120)[1]
    assert "  parse  " in lines(revisions)[1]
    whole = revisions.model_copy(update={"command": "./parse"})
    assert "  ./parse | main (2a0380f) | work tree  " in lines(whole)[1]


def test_a_wide_terminal_has_all_of_it() -> None:
    (head, line) = lines(entry("./old", "./new", slower=1, undecided=4), width=100)
    assert head.split() == ["begun", "(UTC)", "kind", "result", "of", "name"]
    assert line == "2026-01-01 12:00:00  weighing  1 slower, 4 undecided  ./old | ./new  20260101T120000"


def test_a_run_that_was_counted_is_told_from_one_that_was_timed() -> None:
    timed, counted = (
        entry("./sort").model_copy(update={"kind": "run", "verdicts": {}, "metric": metric})
        for metric in ("active", "instructions")
    )
    shown = [" ".join(line.split()[2:5]) for line in lines(timed, counted, width=100)[1:]]
    assert shown == ["run 1 benchmark", "run 1 benchmark,"]
    assert "run   1 benchmark, counted  ./sort" in lines(counted, width=100)[1]
    assert (
        "run   1 counted  a very long command"
        in lines(counted.model_copy(update={"subjects": ["a very long command " * 9]}))[1]
    )


@pytest.mark.parametrize(
    ("subjects", "shown"),
    [
        (("/folder/old/bin/x a", "../folder/new/bin/y a"), "x a | y a"),
        (("/folder/old/bin/x a", "/folder/new/bin/x a"), "/folder/old/…/new/bin/x a"),
        (("total / count + first", "total/count + first"), "total / coun…ount + first"),
        (("./x", "./y"), "./x | ./y"),
        (("short", "b" * 50 + " 2"), "short | bbbbbbbb…bbbbbb 2"),
        (("a" * 50 + " 1", "b" * 50 + " 2"), "aaaaa…aaa 1 | bbbbb…bbb 2"),
        (("one, of many", "two, of many", "three", "four"), "one, of many…three | four"),
    ],
)
def test_commands_that_have_no_room_show_what_tells_them_apart(subjects: tuple[str, ...], shown: str) -> None:
    _, line = lines(entry(*subjects), width=60)
    assert line.removeprefix("weighing  same    ").split("  ")[0] == shown


def test_a_name_is_as_much_of_the_time_as_no_other_has() -> None:
    times = ["20260101T120000.000000", "20260101T120001.250000", "20260101T120001.260000", "20260101T120001.500000"]
    shown = [line.split()[-1] for line in lines(*(entry("x", time=time) for time in times))[1:]]
    assert shown == ["20260101T120000", "20260101T120001.25", "20260101T120001.26", "20260101T120001.5"]


@pytest.mark.parametrize("width", [8, 20, 40, 60])
def test_narrow_ones_have_result_and_name(width: int) -> None:
    found = lines(entry("a" * 50, "b" * 50, name="main"), entry("a" * 50, "b" * 50), width=width)
    named, record = found[1], found[-1]
    assert ["same" in line for line in (named, record)] == [True, True]
    assert ["main" in named, "20260101T120" in record] == [width > 8] * 2
