"""The store: while others write to it, with wrong clocks, and with things that cannot be written or removed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.history.store import KEPT
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.records import Run, Weighing
from tests.tool import Done
from tests.world import Killed, ScriptedWorld, kill, measured, program_of

YEAR_S = 365 * 86_400
WEIGH = ("compare", "./old", "./new", "--pairs", "12")


def at(launch: int, action: Callable[[], object]) -> Callable[[LaunchSpec, int], Measured]:
    """Return the usual script of `old` and `new`, with `action` in the middle of one launch."""

    def script(spec: LaunchSpec, number: int) -> Measured:
        if number == launch:
            action()
        return measured((12 if program_of(spec) == "old" else 18) * (1 + number * 1e-6))

    return script


def check_verdict(done: Done) -> None:
    """Check that the verdict is printed, and that the exit status agrees."""
    assert "slower     +50.0 % [+50.0 %, +50.0 %]" in done.text
    assert done.status == 1, done


def check_kept_quietly(world: ScriptedWorld) -> None:
    """Check that a weighing is kept as the latest one, and that nothing is said about the store."""
    check_verdict(done := world(*WEIGH))
    assert done.err == b""
    assert world("show").text == done.text


def said(done: Done) -> str:
    """Return the only line on stderr."""
    (line,) = done.err.decode().splitlines()
    return line.removeprefix("steelyard: ")


def store_of(world: ScriptedWorld) -> Path:
    return world.folder / "state/steelyard"


def name(number: int, suffix: str = ".json.gz") -> str:
    """Return the name of a record that seems to be from the year 2099."""
    return f"20990101T{number:06}.000000-run-1{suffix}"


def fill(world: ScriptedWorld, number: int = KEPT, dated_s: float | None = None) -> None:
    """Make so many records with names from the future, and with modification times if wanted."""
    assert world("run", "./old", "--launches", "2").status == 0
    (record,) = world.kept()
    for each in range(number):
        copy = shutil.copy(record, store_of(world) / name(each))
        if dated_s is not None:
            os.utime(copy, (dated_s + each, dated_s + each))
    record.unlink()


# --- others that write to it, and clocks


def test_a_running_weighing_outlives_what_is_measured_meanwhile(scripted: ScriptedWorld) -> None:
    other = ScriptedWorld(scripted.folder, at(0, list), seconds=2000)
    fill(scripted)

    def meanwhile() -> None:
        for _ in range(2):
            other.seconds += 1
            assert other("run", "./old", "--launches", "2").status == 0

    scripted.script = at(scripted.launches + 7, meanwhile)
    check_kept_quietly(scripted)
    assert len(scripted.kept()) == KEPT
    assert other("run", "./old", "--launches", "2").status == 0  # the next run does not remove it either
    assert [kept for kept in scripted.kept() if "weighing" in kept.name]


@pytest.mark.parametrize("dated_s", [None, 80 * YEAR_S], ids=["names", "names and dates"])
def test_a_clock_that_was_ahead_costs_no_new_record(scripted: ScriptedWorld, dated_s: float | None) -> None:
    fill(scripted, dated_s=dated_s)
    for number in range(1, 4):
        scripted.seconds += 60
        check_verdict(done := scripted(*WEIGH))
        assert scripted("show").text == done.text
        assert len([kept for kept in scripted.kept() if "weighing" in kept.name]) == number
        assert len(scripted.kept()) == KEPT


def test_what_was_killed_is_shown_after_a_clock_that_was_ahead(scripted: ScriptedWorld) -> None:
    fill(scripted, 3, dated_s=80 * YEAR_S)
    scripted.script = at(scripted.launches + 9, kill)
    with pytest.raises(Killed):
        scripted(*WEIGH)
    assert b"interrupted: this is what was measured until then" in scripted("show").out


# --- what cannot be removed


@pytest.fixture
def immovable(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Make files with some names impossible to remove, as in a sticky folder or in another user's."""

    def keep(part: str) -> None:
        unlink = os.unlink

        def refuse(path: Any, **options: Any) -> None:
            if part in str(path):
                raise PermissionError(errno.EPERM, "Operation not permitted", str(path))
            unlink(path, **options)

        monkeypatch.setattr(os, "unlink", refuse)

    return keep


def test_records_that_cannot_be_removed(scripted: ScriptedWorld, immovable: Callable[[str], None]) -> None:
    fill(scripted, KEPT + 3)
    immovable("20990101")
    check_kept_quietly(scripted)
    assert len(scripted.kept()) == KEPT + 4


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_records_of_others_on_a_shared_shelf(scripted: ScriptedWorld) -> None:
    fill(scripted, KEPT + 3)
    for path in (*scripted.kept(), store_of(scripted)):
        os.chown(path, 12_345, 12_345)
    store_of(scripted).chmod(0o1777)
    check_kept_quietly(scripted)
    assert len(scripted.kept()) == KEPT + 4
    assert store_of(scripted).stat().st_mode & 0o7777 == 0o1777


def test_a_folder_that_is_named_like_a_journal(scripted: ScriptedWorld) -> None:
    fill(scripted, KEPT + 3)
    for trap in (name(999_999, ".journal"), "20000101T000000.000000-weighing-1.json.gz"):
        (store_of(scripted) / trap / "inside").mkdir(parents=True)
    check_kept_quietly(scripted)
    assert len(scripted.kept()) == KEPT + 2  # and both folders


def killed(world: ScriptedWorld) -> Path:
    """Return the journal of a weighing that was killed."""
    world.script = at(9, kill)
    with pytest.raises(Killed):
        world(*WEIGH)
    (journal,) = world.kept()
    return journal


def test_a_resumed_journal_that_lies_elsewhere_stays_there(scripted: ScriptedWorld) -> None:
    (scripted.folder / "elsewhere").mkdir()
    journal = Path(shutil.move(killed(scripted), scripted.folder / "elsewhere/the.journal"))
    fill(scripted)
    check_verdict(done := scripted("compare", "--resume", journal))
    record, *others = scripted.kept()
    assert len(others) == KEPT - 1, "the oldest goes for this one, too"
    assert done.err.decode().splitlines()[-1] == f"steelyard: the record of {journal} is kept in {record}"
    assert "it ran to its end" in scripted.refuses("compare", "--resume", journal)


def test_a_resumed_journal_that_cannot_be_removed(scripted: ScriptedWorld, immovable: Callable[[str], None]) -> None:
    journal = killed(scripted)
    immovable(".journal")
    check_verdict(done := scripted("compare", "--resume", journal))
    (record,) = (kept for kept in scripted.kept() if kept != journal)
    assert done.err.decode().splitlines()[-1] == (
        f"steelyard: the journal {journal} could not be removed: Operation not permitted; its record is {record}"
    )
    assert "it ran to its end" in scripted.refuses("compare", "--resume", journal)
    assert scripted("show").text == done.text


# --- what cannot be written


def cannot_make_files(monkeypatch: pytest.MonkeyPatch, number: int, words: str) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, words)

    monkeypatch.setattr(tempfile, "mkstemp", refuse)


@pytest.mark.parametrize(
    ("number", "words"), [(errno.EROFS, "Read-only file system"), (errno.ENOSPC, "No space left on device")]
)
def test_a_store_that_takes_no_record_at_the_end(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    scripted.script = at(9, lambda: cannot_make_files(monkeypatch, number, words))
    check_verdict(done := scripted(*WEIGH))
    (journal,) = scripted.kept()
    record = journal.with_suffix(".json.gz")
    assert said(done) == f"cannot write the record {record}: {words}; what was measured is kept in {journal}"
    monkeypatch.undo()
    assert load(journal).stop == ["pairs"]
    assert scripted("show", journal).text == done.text


def test_a_store_that_stands_elsewhere_is_said(scripted: ScriptedWorld) -> None:
    (scripted.folder / "state").touch()
    home = scripted.environment["HOME"]
    check_verdict(done := scripted(*WEIGH))
    match = re.fullmatch(r"(.*) cannot be written \(Not a directory\), so the record is kept in (.*)", said(done))
    assert match
    assert match[1] == f"{scripted.folder}/state/steelyard"
    kept = Path(match[2])
    assert kept.is_relative_to(home)
    assert load(kept).stop == ["pairs"]
    assert scripted("show").err == b"", "which measures nothing"


def test_a_store_that_is_gone_at_the_end(scripted: ScriptedWorld) -> None:
    scripted.script = at(9, lambda: shutil.rmtree(scripted.folder / "state"))
    check_kept_quietly(scripted)


def test_a_store_whose_place_is_taken_at_the_end(scripted: ScriptedWorld) -> None:
    def take() -> None:
        shutil.rmtree(scripted.folder / "state")
        (scripted.folder / "state").touch()

    scripted.script = at(9, take)
    check_verdict(done := scripted(*WEIGH))
    assert said(done).endswith("nothing is kept; --json FILE would have")


@pytest.mark.parametrize("is_taken", [False, True])
def test_what_a_failure_says_of_what_was_measured_before_it(scripted: ScriptedWorld, *, is_taken: bool) -> None:
    """It says where the launches are kept, if they are, but not how to carry on, which would fail again."""

    def script(spec: LaunchSpec, number: int) -> Measured:  # noqa: ARG001
        if number == 9 and is_taken:
            shutil.rmtree(scripted.folder / "state")
            (scripted.folder / "state").touch()
        return measured(12, exit_code=int(number == 9))

    scripted.script = script
    done = scripted(*WEIGH)
    assert done.status == 3
    if is_taken:
        assert ".) cannot write the record " in said(done)
        assert said(done).endswith("; nothing is kept; --json FILE would have.")
    else:
        (record,) = scripted.kept()
        assert said(done).endswith(f" The launches measured until then are kept in {record}.")


def test_a_disk_that_is_full_in_the_middle(scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict so far is printed; that the rest was not measured is a failure, and can be carried on."""

    def fill_up() -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "write", full)

    scripted.script = at(2 * (2 + 2 * 11), fill_up)
    done = scripted(*WEIGH, "--repeat", "2")
    assert done.status == 3
    assert "interrupted: this is what was measured until then" in done.text
    assert "10 pairs" in done.text
    (record,) = scripted.kept()
    assert "; make room, or start again where XDG_STATE_HOME names a folder on another disk" in said(done)
    assert f"on another disk. The launches measured until then are kept in {record}. Carry" in said(done)
    assert said(done).endswith(f"Carry it on by: steelyard compare --resume {record.name}")
    monkeypatch.undo()
    monkeypatch.chdir(scripted.folder)
    kept = load(record)
    assert isinstance(kept, Weighing | Run)
    assert (kept.stop, kept.findings) == (["interrupted"], [])
    scripted.script = at(0, list)
    check_verdict(scripted("compare", "--resume", record))
