"""Records for programs: read, taken over from other tools, put on a page, written to files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import steelyard
from steelyard.model.progress import Progress
from tests.world import ScriptedWorld, measured, steady

BOTH = ["./old", "./new"]


def test_what_is_being_measured_is_said_to_run_and_not_to_be_interrupted(scripted: ScriptedWorld) -> None:
    seen: list[tuple[bool, str, str]] = []

    def look(now: Progress) -> None:
        if now.done == 4:
            (journal,) = scripted.kept()
            so_far = steelyard.load(journal, world=scripted.outside())
            seen.append((so_far.is_running, so_far.markdown(), steelyard.page(so_far, world=scripted.outside())))

    steelyard.run("./old", launches=5, progress=look, world=scripted.outside())
    ((is_running, tables, page),) = seen
    assert is_running
    assert "being measured right now" in tables
    assert "being measured right now" in page
    assert "interrupted" not in tables + page
    (kept,) = scripted.kept()
    assert not steelyard.load(kept, world=scripted.outside()).is_running


def test_a_page_names_the_files_of_its_records_and_says_how_an_undecided_one_goes_on(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    scripted.script = lambda _, number: measured(10 + number * 7 % 5)
    found = steelyard.compare(BOTH, pairs=12, world=world)
    assert found.path is not None
    found.save("ours.json")
    text = steelyard.page(found, "ours.json", world=world)
    scripted("report", found.path.name, "ours.json", "-o", "page.html")
    assert Path("page.html").read_text() == text
    assert text.count("To go on: ") == 2


def test_a_file_with_the_name_of_a_compressed_one_is_one_as_on_the_command_line(scripted: ScriptedWorld) -> None:
    scripted.script = steady({"old": 12.0, "new": 18.0, "true": 1.0})
    world = scripted.outside()
    found, checked = steelyard.compare(BOTH, pairs=12, world=world), steelyard.check("./old", max_time=1, world=world)
    table, page = found.export("csv", "a.csv.gz"), steelyard.page(checked, path="a.html.gz", world=world)
    checked.save("check.json.gz")
    assert gzip.decompress(Path("a.csv.gz").read_bytes()) == table
    assert gzip.decompress(Path("a.html.gz").read_bytes()).decode() == page
    assert Path("check.json.gz").read_bytes().startswith(b"\x1f\x8b")
    assert steelyard.load("check.json.gz", world=world).data == checked.data


def test_a_record_is_not_overwritten_by_what_is_made_of_it(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    found = steelyard.run("./old", launches=12, world=world)
    found.save("a.json")
    read, before = steelyard.load("a.json", world=world), Path("a.json").read_bytes()
    for wrong in (
        lambda: steelyard.page("a.json", path="a.json", world=world),
        lambda: steelyard.page(found, read, path=Path.cwd() / "a.json", world=world),
        lambda: read.export("csv", "./a.json"),
    ):
        with pytest.raises(steelyard.UsageError, match=r"a\.json is read, and would be overwritten: give another file"):
            wrong()
    read.save("a.json")  # as it is
    assert Path("a.json").read_bytes() == before


def test_what_another_tool_measured_is_taken_over_and_put_on_a_page(scripted: ScriptedWorld) -> None:
    world = scripted.outside()
    weighed = steelyard.compare(BOTH, pairs=12, world=world)
    weighed.export("pyperf", "theirs.json", side="baseline")
    found = steelyard.import_("theirs.json", benchmarks="*", world=world)
    assert (found.kind, found.benchmarks) == ("import", ["./new"])
    scripted("import", "theirs.json", "-o", "cli.json")
    assert steelyard.load("cli.json", world=world).data == found.data
    found.save("ours.json")
    text = steelyard.page(weighed, "ours.json", path="page.html", world=world)
    assert Path("page.html").read_text() == text
    assert 'id="part-2"' in text
    for wrong, said in (
        (lambda: steelyard.import_([]), "import_ needs a file"),
        (lambda: steelyard.import_("theirs.json", format="excel", world=world), "excel"),
        (lambda: steelyard.page(), "a page is of something"),
        (lambda: steelyard.page("gone.json", world=world), "gone.json"),
    ):
        with pytest.raises(steelyard.UsageError, match=said):
            wrong()
