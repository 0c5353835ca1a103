"""Carrying on, by whole command lines on a scripted machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest

from steelyard.model.errors import MeasurementError
from steelyard.model.files import load
from tests.world import Killed, ScriptedWorld, at_launch, ctrl_c, kill, measured, steady


@pytest.fixture
def begun(scripted: ScriptedWorld) -> ScriptedWorld:
    """A machine on which a weighing was interrupted, and kept in `begun.json`."""
    scripted.script = at_launch(11, ctrl_c)
    assert scripted("compare", "./old", "./old", "--pairs", "12", "-o", "begun.json").status == 130
    return scripted


@pytest.mark.parametrize(("option", "lost"), [("--json", "old"), ("--csv", "old"), ("--markdown", "begun.json")])
@pytest.mark.parametrize("folder", [".", "elsewhere"])
def test_no_output_takes_the_place_of_what_is_read(
    begun: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, option: str, lost: str, folder: str
) -> None:
    Path("elsewhere").mkdir()
    monkeypatch.chdir(folder)
    file = "begun.json" if folder == "." else "../begun.json"
    wanted = Path(file).with_name(lost)
    before = wanted.read_bytes()
    assert f"{lost} is read, and would be overwritten" in begun.refuses("compare", "--resume", file, option, wanted)
    assert wanted.read_bytes() == before


def test_the_whole_has_a_name_that_is_told_unless_it_is_in_a_file_of_the_user(begun: ScriptedWorld) -> None:
    done = begun("compare", "--resume", "begun.json")
    *_, whole = begun.kept()
    assert done.err.decode().endswith(f"steelyard: kept as {whole.name}; begun.json stays as it was\n")
    assert begun("show", whole.name).out == done.out
    assert b"kept as" not in begun("compare", "--resume", "begun.json", "-o", "whole.json").err
    assert b"kept as" not in begun("compare", "--resume", "begun.json", "-o", "begun.json").err


def test_the_whole_may_take_the_place_of_what_is_carried_on(begun: ScriptedWorld) -> None:
    assert begun("compare", "--resume", "begun.json", "-o", "begun.json").status == 0
    assert "it ran to its end" in begun.refuses("compare", "--resume", "begun.json")


@pytest.mark.parametrize("output", ["earlier.json", "begun.json"])
def test_a_failure_before_the_first_launch_leaves_no_file_of_an_earlier_weighing(
    scripted: ScriptedWorld, output: str
) -> None:
    scripted.executable("sets-up")
    scripted("compare", "./old", "./new", "-o", "earlier.json")
    scripted.script = at_launch(scripted.launches + 9, ctrl_c)
    scripted("compare", "./old", "./new", "--setup", "./sets-up", "-o", "begun.json")
    scripted.script = lambda *_: measured(10, exit_code=3)
    done = scripted("compare", "--resume", "begun.json", "-o", output)
    assert done.status == 3
    assert Path("begun.json").exists(), "what was measured is not lost"
    assert Path("earlier.json").exists() == (output == "begun.json")
    assert (f": {output} was removed: it came from an earlier weighing" in done.err.decode()) == (
        output != "begun.json"
    )


def test_each_program_that_a_parameter_names_has_to_be_the_one_of_the_beginning(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", scripted.environment["PATH"])
    for name in ("old-1", "old-2", "bin/new-1", "bin/new-2"):
        scripted.executable(name)
    scripted.script = at_launch(11, ctrl_c)
    scripted("compare", "./old-{n}", "new-{n}", "-L", "n", "1,2", "--pairs", "12", "-o", "begun.json")
    scripted.executable("bin/new-2", "built anew")
    sentence = scripted.refuses("compare", "--resume", "begun.json")
    assert sentence == "new-{n} is not the program that begun.json began with: weigh again"
    scripted.executable("bin/new-2")
    assert scripted("compare", "--resume", "begun.json").status == 0


@pytest.mark.parametrize("end", [ctrl_c, kill])
def test_a_named_file_that_changed_before_it_was_carried_on_is_named(
    scripted: ScriptedWorld, end: Callable[[], None]
) -> None:
    for name in ("script.py", "gone.txt", "whole.txt"):
        Path(name).write_text("before")
    scripted.script = at_launch(11, end)
    with suppress(Killed):
        scripted("compare", "./old script.py", "./old script.py gone.txt whole.txt", "--pairs", "12")
    (begun,) = scripted.kept()
    Path("script.py").write_text("after")
    Path("gone.txt").unlink()
    Path("whole.txt").write_text("before")
    done = scripted("compare", "--resume", begun, "-o", "whole.json")
    said = "files that are named in commands changed while launches were measured, so that not all of them had the same"
    assert f"{said}: script.py, gone.txt" in " ".join(done.text.split())


def test_an_interrupt_before_its_next_launch_says_that_what_was_measured_is_there(scripted: ScriptedWorld) -> None:
    scripted.executable("sets-up")
    scripted.script = at_launch(11, ctrl_c)
    scripted("compare", "./old", "./old", "--setup", "./sets-up", "--pairs", "12", "-o", "begun.json")
    scripted.script = at_launch(scripted.launches + 1, ctrl_c)
    done = scripted("compare", "--resume", "begun.json")
    assert done.status == 130
    said = "interrupted before anything more was measured; begun.json stays as it was"
    assert done.err.decode().endswith(f"\nsteelyard: {said}\n")
    assert scripted("compare", "--resume", "begun.json").status == 0


def test_what_each_session_finds_is_in_the_record_once(scripted: ScriptedWorld) -> None:
    slow = steady({"old": 2500.0, "new": 2500.0})
    scripted.script = at_launch(15, ctrl_c, slow)
    scripted("compare", "./old", "./new", "-o", "begun.json")
    assert [one.code for one in load(Path("begun.json")).findings] == ["longer"]
    scripted.script = at_launch(scripted.launches + 3, ctrl_c, slow)
    scripted("compare", "--resume", "begun.json", "-o", "begun.json")
    assert [one.code for one in load(Path("begun.json")).findings] == ["longer"]


@pytest.mark.parametrize(("happens", "way_on"), [(ctrl_c, "to carry on:"), (lambda: None, "go on ")])
def test_where_the_file_cannot_be_written_what_is_kept_is_carried_on(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None], way_on: str
) -> None:
    def fills_the_disk(path: Path, _: object) -> NoReturn:
        raise MeasurementError(f"cannot write {path}: No space left on device")

    Path("w.json").write_text("what was there before")
    monkeypatch.setattr("steelyard.model.writing.write_atomically", fills_the_disk)  # not where the store's is made
    scripted.script = at_launch(11, happens, lambda _, number: measured(12 + (number * 7 % 11)))
    done = scripted("compare", "./old", "./new", "--pairs", "12", "-o", "w.json")
    assert done.status == 3
    assert "cannot write w.json" in done.err.decode()
    (kept,) = scripted.kept()
    told = " ".join((done.text + done.err.decode()).split())
    assert re.search(rf"{way_on} *steelyard compare --resume (\S*/)?{kept.name}", told)


def test_variables_that_are_no_longer_set_are_named(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    before = scripted.environment
    monkeypatch.setattr(ScriptedWorld, "environment", {**before, "OMP_NUM_THREADS": "1"})
    scripted.script = at_launch(11, ctrl_c)
    scripted("compare", "./old", "./new", "--env", "OMP_NUM_THREADS", "--pairs", "12", "-o", "begun.json")
    said = "as some of it was set when the weighing began and not when it was carried on: OMP_NUM_THREADS"
    done = scripted("compare", "--resume", "begun.json", "-o", "whole.json")
    assert said not in done.err.decode()
    assert "lacking-variables" not in [one.code for one in load(Path("whole.json")).findings]
    monkeypatch.setattr(ScriptedWorld, "environment", before)
    done = scripted("compare", "--resume", "begun.json", "-o", "whole.json")
    assert said in done.err.decode()
    assert said in " ".join(done.text.split())
