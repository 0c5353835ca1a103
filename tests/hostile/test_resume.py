"""Carrying on weighings that were killed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.model.files import load, save
from steelyard.model.format import VERSION
from steelyard.model.records import Run, Weighing
from tests.hostile.tool import Tool, edit, kill
from tests.in_process import InProcess
from tests.loaded import weighing_in
from tests.tool import SOME_TIME, announced, status_of, wait_until

PAIRS = 12
WARM_UP = 2  # launches


def written(tool: Tool) -> str:
    """Write a program that hangs from launch number `until` on (a file), until that is raised."""
    stops = "[ $(wc -l < log) -lt $(cat until) ] || sleep 600"
    return tool.write("program", f"#!/bin/sh\n{SOME_TIME}; echo x >> log; {stops}\n")


@pytest.fixture
def program(tool: Tool) -> str:
    return written(tool)


def killed(tool: Tool, launches: int, *words: str | Path) -> Path:
    """Start a command line, kill it in the launch after `launches` others, and return the journal."""
    (tool.folder / "log").write_text("")
    (tool.folder / "until").write_text(f"{launches + 1}\n")
    process = tool.start(*words)
    wait_until(lambda: (tool.folder / "log").read_text().count("x") == launches + 1, "the last launch has begun")
    kill(process)
    wait_until(lambda: not tool.processes(), "nothing is left")
    (tool.folder / "until").write_text("1000000\n")
    (journal,) = tool.kept()
    assert journal.suffix == ".journal"
    return journal


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a weighing that was killed in its seventh launch."""
    tool = Tool(tmp_path_factory.mktemp("killed"))
    program = written(tool)
    words = (program, f"{program} again", "--seed", "5", "--pairs", str(PAIRS), "--margin", "50")
    return killed(tool, 6, "compare", *words)


@pytest.fixture
def journal(tool: Tool, left: Path) -> Path:
    """That journal, as if the same program had been weighed in the folder of this test."""
    for name in ("log", "until", "program"):
        shutil.copy(left.parents[2] / name, tool.folder)
    here = tool.folder / "state/steelyard" / left.name
    here.parent.mkdir(parents=True)
    here.write_text(left.read_text().replace(str(left.parents[2]), str(tool.folder)))
    return here


def carried_on(here: InProcess, journal: Path | str) -> Weighing:
    """Carry a weighing on to its end, with which the exit status must agree; return the record."""
    done = here("compare", "--resume", journal, "--json", "record.json")
    announced(done.err)
    assert done.status == status_of(here.json())
    return weighing_in(here.folder / "record.json")


def check_is_whole(record: Weighing, begun: Run | Weighing, torn: int = 0) -> None:
    """Check that a record begins with all earlier launches but the torn ones, and has each launch exactly once."""
    rows = begun.launches.rows()[: len(begun.launches) - torn]
    # The second launch of the interrupted pair may show that the pair was disturbed, which changes its role.
    cut = rows[-1].pair
    there = zip(record.launches.rows(), rows, strict=False)
    assert [row._replace(role=before.role) if row.pair == cut else row for row, before in there] == rows
    assert record.settings == begun.settings
    assert record.stop[0] in ("pairs", "decided", "futile")
    places = list(zip(record.launches.pair, record.launches.side, strict=True))
    assert len(set(places)) == len(places) >= 2 * PAIRS + WARM_UP


def test_killed_and_carried_on(here: InProcess, journal: Path) -> None:
    begun = load(journal)
    assert (len(begun.launches), begun.stop) == (6, ["interrupted"])
    record = carried_on(here, journal)
    check_is_whole(record, begun)
    (kept,) = here.kept()  # a record, and no journal
    assert load(kept) == record
    assert "it ran to its end" in here.refuses("compare", "--resume", kept)
    assert "No such file" in here.refuses("compare", "--resume", journal)


def test_the_installed_command_carries_it_on_wherever_it_is(tool: Tool, here: InProcess, journal: Path) -> None:
    begun = load(journal)
    done = tool("compare", "--resume", journal, within=["sh", "-ec", 'cd /; exec "$@"', "sh"])
    (kept,) = tool.kept()
    record = weighing_in(kept)
    check_is_whole(record, begun)
    announced(done.err)
    assert done.status == status_of(here.shown(kept))


def test_killed_while_it_was_carried_on(tool: Tool, here: InProcess, journal: Path) -> None:
    first = load(journal)
    assert killed(tool, 8, "compare", "--resume", journal) == journal
    second = load(journal)
    assert len(second.launches) == 6 + 8
    assert isinstance(second, Weighing)
    assert second.launches.rows()[:6] == first.launches.rows()
    check_is_whole(carried_on(here, journal), second)
    assert len(here.kept()) == 1


@pytest.mark.parametrize("torn", [1, 60])
def test_a_torn_last_line_is_measured_again(here: InProcess, journal: Path, torn: int) -> None:
    whole = journal.read_bytes()
    for fewer in range(2, torn, 8):
        journal.write_bytes(whole[:-fewer])
        assert len(load(journal).launches) == 5
    journal.write_bytes(whole[:-torn])
    begun = load(journal)
    assert len(begun.launches) == (6 if torn == 1 else 5)
    check_is_whole(carried_on(here, journal), begun, torn=len(begun.launches) - 5)


def test_a_journal_that_is_still_written(tool: Tool, here: InProcess, program: str) -> None:
    (tool.folder / "log").write_text("")
    (tool.folder / "until").write_text("5\n")
    process = tool.start("compare", program, f"{program} again", "--pairs", str(PAIRS))
    wait_until(lambda: (tool.folder / "log").read_text().count("x") == 5, "the fifth launch has begun")
    (journal,) = tool.kept()
    before = journal.read_bytes()
    assert "still being measured" in here.refuses("compare", "--resume", journal)
    assert journal.read_bytes() == before
    kill(process)
    assert len(load(journal).launches) == 4


# --- what cannot be carried on


def test_nothing_to_carry_on(here: InProcess) -> None:
    assert "No such file" in here.refuses("compare", "--resume", "missing.journal")
    assert "cannot read" in here.refuses("compare", "--resume", ".")
    here("run", "true", "--launches", "2", "--json", "run.json")
    assert "is a run of one subject" in here.refuses("compare", "--resume", "run.json")
    here.compared()
    assert "it ran to its end" in here.refuses("compare", "--resume", "record.json")


CHANGES: list[tuple[Callable[[Any], object], str]] = [
    (lambda header: header["machine"].update(key="0" * 16), "another machine"),
    (lambda header: header["subjects"][1].update(digest="0" * 64), "is not the program that"),
    (lambda header: header["subjects"][0].update(program="./vanished"), "./vanished is not the program that"),
    (lambda header: header.update(version=VERSION + 1), "upgrade steelyard"),
    (lambda header: header.update(kind="run"), "damaged"),
    (lambda header: header["settings"].update(metrics=["speed"]), "unknown metric"),
    (lambda header: header.pop("machine"), "machine"),
]


def test_a_journal_of_something_else(here: InProcess, journal: Path) -> None:
    whole = journal.read_text()
    for change, says in CHANGES:
        edit(journal, change)
        before = journal.read_bytes()
        sentence = here.refuses("compare", "--resume", journal)
        assert says in sentence
        assert str(journal) in sentence
        assert journal.read_bytes() == before  # nothing that was measured is lost
        journal.write_text(whole)


def test_a_record_that_is_called_a_journal_is_not_written_on(tool: Tool, here: InProcess, journal: Path) -> None:
    record = load(journal)
    save(record, tool.folder / "record.journal")
    check_is_whole(carried_on(here, "record.journal"), record)
    assert load(tool.folder / "record.journal") == record
    assert tool.kept(".journal") == [journal]


def test_a_program_that_changed_and_came_back(tool: Tool, here: InProcess, journal: Path, program: str) -> None:
    begun = load(journal)
    shutil.move(tool.folder / program, tool.folder / "aside")
    assert f"{program} is not the program that" in here.refuses("compare", "--resume", journal)
    tool.write(program, "#!/bin/sh\n")
    assert f"{program} is not the program that" in here.refuses("compare", "--resume", journal)
    shutil.move(tool.folder / "aside", tool.folder / program)
    check_is_whole(carried_on(here, journal), begun)


def test_other_commands_are_not_taken_too(here: InProcess, journal: Path) -> None:
    assert "leave other commands out" in here.refuses("compare", "true", "true", "--resume", journal)
    assert "leave --pairs out" in here.refuses("compare", "--resume", journal, "--pairs", "20")
    assert here.kept() == [journal]
