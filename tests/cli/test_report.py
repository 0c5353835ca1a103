"""`steelyard report`: from files to a page, and errors in either."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from steelyard.model.files import save
from steelyard.model.settings import Settings
from tests.foreign import foreign_results, processes
from tests.in_process import InProcess
from tests.report import records
from tests.world import ScriptedWorld, measured

RECORDS = Path(__file__).resolve().parent.parent / "data" / "records"
RUN = RECORDS / "version-2-run.json"


def test_a_page_is_written_and_replaces_what_was_there(asked: InProcess) -> None:
    page = asked.folder / "page.html"
    page.write_text("before")
    page.chmod(0o600)
    done = asked("report", RUN, "-o", page)
    assert (done.status, done.out, done.err) == (0, b"", b"")
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert page.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in asked.folder.iterdir() if path.name.startswith(".steelyard")] == []


def test_by_default_it_is_the_last_record_as_report_html(asked: InProcess) -> None:
    assert asked("report").status == 2
    store = asked.folder / "state/steelyard"
    done = asked("report", RUN)
    assert (done.status, done.err.decode()) == (0, f"steelyard: report.html is the page of {RUN}\n")
    assert (asked.folder / "report.html").stat().st_size > 50_000
    assert not store.exists() or not any(store.iterdir())


def test_what_is_kept_goes_on_by_its_name_and_where_it_lies_is_not_told(asked: InProcess) -> None:
    store, name = asked.folder / "state/steelyard", "20261125T120000.000000-weighing-1.json.gz"
    store.mkdir(parents=True)
    save(records.weighing(0.003, stop="time", settings=Settings(max_time_s=3, reserve=0.2)), store / name)
    for given in ([], [name]):
        page = asked("report", *given, "-o", "-").out.decode()
        assert f"steelyard compare --resume {name} " in re.sub(r"<[^>]*>", "", page)
        assert str(store) not in page


def test_a_dash_is_standard_output_and_standard_input(asked: InProcess) -> None:
    done = asked("report", RUN, "-o", "-")
    assert done.status == 0
    assert done.out.startswith(b"<!DOCTYPE html>")
    assert not (asked.folder / "report.html").exists()
    assert "read from standard input: give one of them by its name" in asked("report", "-", "-").sentence


@pytest.mark.parametrize(
    ("output", "status", "told"),
    [
        ("nowhere/page.html", 2, "there is no folder"),
        (".", 2, "it is a folder"),
        ("/proc/page.html", 2, "cannot write /proc/page.html"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_read(
    asked: InProcess, output: str, status: int, told: str
) -> None:
    done = asked("report", "no-such-file", "-o", output)
    assert done.status == status
    assert told in done.sentence


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty, and no record: steelyard list shows those that are kept"),
        ("[]", "is JSON, but no weighing"),
        ('{"format": "other"}', "is JSON, but no weighing"),
        (
            "BenchmarkSort-2 100 5 ns/op",
            "is not JSON, so it is no weighing; what another tool measured is read by ",
        ),
        ('{"benchmarks": [', "is truncated, or no JSON at all"),
        ('{"benchmarks": []}', "what another tool measured is read by steelyard import "),
        ('{"format": "steelyard-doctor"}', "is what steelyard doctor found, and no weighing"),
        ('{"format": "steelyard-check", "version": 1}', "is damaged: "),
        ('{"format": "steelyard-check", "version": 2}', "format version 2; this steelyard reads 1: upgrade"),
        ('{"format": "steelyard-bisection", "version": 1}', "is damaged: "),
        ('{"format": "steelyard-calibration", "version": 1, "points": [NaN]}', "NaN is no number"),
    ],
)
def test_what_is_no_record_is_said_by_name_and_nothing_is_written(asked: InProcess, content: str, told: str) -> None:
    (asked.folder / "odd.json").write_text(content)
    done = asked("report", RUN, "odd.json", "-o", "page.html")
    assert done.status == 2
    assert "odd.json" in done.sentence
    assert told in done.sentence
    assert not (asked.folder / "page.html").exists()


def test_how_two_files_differ_is_a_page_of_diff(asked: InProcess) -> None:
    for name, level in (("a.json", 1.0), ("b.json", 1.5)):
        save(foreign_results({"sort": processes(12, level)}, name=name), asked.folder / name)
    assert asked("diff", "a.json", "b.json", "--html", "diff.html").status == 0
    assert "+50" in (asked.folder / "diff.html").read_text()
    assert asked("diff", "a.json", "b.json", "--html", "-").out.startswith(b"<!DOCTYPE html>")
    refused = asked("diff", "a.json", "b.json", "--html", "a.json").sentence
    assert refused == "a.json is read, and would be overwritten: give another file"
    assert asked("report", "a.json", "-o", "./a.json").sentence.startswith("a.json is read, and would be overwritten")


def test_what_measures_or_shows_writes_the_page_itself(scripted: ScriptedWorld) -> None:
    assert scripted("compare", "./old", "./new", "--pairs", "12", "--html", "page.html").status == 1
    assert "slower" in Path("page.html").read_text()
    for name in ("a", "b"):
        words = ("./old", "--launches", "12", "-o", f"{name}.json", "--html", f"{name}.html")
        assert scripted("run", *words).status == 0
    assert scripted("diff", "a.json", "b.json", "--html", "diff.html").status == 0
    assert "measured apart" in Path("diff.html").read_text()
    assert scripted("show", "--html", "-").out.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("words", [("compare", "./old", "./new"), ("run", "./new")])
@pytest.mark.parametrize("failing", [1, 2, 9])
def test_what_failed_is_on_the_page_once_be_it_the_list_of_a_harness(
    scripted: ScriptedWorld, words: tuple[str, ...], failing: int
) -> None:
    scripted.script = lambda _, number: measured(12, exit_code=3 if number == failing else 0)
    harness = ("--harness", "protocol") if failing == 1 else ()
    assert scripted(*words, *harness, "-o", "record.json").status == 3
    assert scripted("report", "record.json").status == 0
    page = Path("report.html").read_text()
    told = page[page.index("<body") : page.index("How it was measured")]
    assert told.count("failed with exit status 3") == 1
    assert told.lower().count("this is what was measured before it") <= 1
    assert ".)." not in told


def test_findings_on_one_line_are_findings_too(asked: InProcess) -> None:
    found = {"format": "steelyard-check", "version": 1, "tool": "0", "command": "x", "benchmarks": [], "launches": 1}
    (asked.folder / "check.json").write_text(json.dumps({**found, "seconds": 1.0, "looked": []}))
    assert asked("report", "check.json").status == 0
    assert "No trouble" in (asked.folder / "report.html").read_text()


def test_a_disk_that_is_full_leaves_what_was_there(asked: InProcess) -> None:
    done = asked("report", RUN, "-o", "/dev/full")
    assert done.status == 3
    assert "cannot write /dev/full" in done.sentence
