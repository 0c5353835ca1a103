from __future__ import annotations

import sys
from pathlib import Path

import pytest
from experiments import ending
from experiments.ending import Conditions, Page, begin

from steelyard.model.errors import MeasurementError
from tests.world import measured


def test_how_quiet_it_was_is_of_all_launches_together() -> None:
    launches = [measured(90, wall_ns=100_000_000, delay_ns=10_000_000), measured(100, steal_ns=20_000_000)]
    conditions = Conditions.of(launches, processors=2)
    assert (conditions.waited, conditions.stolen) == (0.05, 0.05)
    assert not conditions.is_quiet()
    assert Conditions.of([measured(100, delay_ns=1_000_000)], processors=2).is_quiet()
    assert "not quiet" in conditions.told()
    assert "5 %" in conditions.told()


def test_a_page_is_printed_as_it_comes_and_kept_beside_its_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ending, "FOLDER", tmp_path / "new")
    monkeypatch.chdir(tmp_path)
    page = Page("some_thing")
    page.tell("## Table", "| a |")
    assert capsys.readouterr().out == "## Table\n\n| a |\n\n"
    page.end("<svg/>", "It is so.")
    assert capsys.readouterr().out == "Figure: new/some_thing.svg\n\nIt is so.\n"
    assert (tmp_path / "new" / "some_thing.svg").read_text() == "<svg/>"
    kept = "# Some thing\n\n## Table\n\n| a |\n\n![It is so.](some_thing.svg)\n\nIt is so.\n"
    assert (tmp_path / "new" / "some_thing.md").read_text() == kept


def test_a_folder_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(ending, "FOLDER", tmp_path / "file" / "below")
    with pytest.raises(MeasurementError, match="the figure goes there"):
        Page("some").end("<svg/>", "It is so.")


def test_the_command_line_chooses_the_effort_and_failures_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    for words in ([], ["--quick"]):
        monkeypatch.setattr(sys, "argv", ["run.py", *words])
        begin(seen.append, "What it does.", long=60, quick=5)
    assert seen == [60, 5]

    def fail(effort: int) -> None:
        raise MeasurementError("no scales") if effort else KeyboardInterrupt

    with pytest.raises(SystemExit, match="no scales"):
        begin(fail, None, long=1, quick=1)
    with pytest.raises(SystemExit, match="interrupted"):
        begin(fail, None, long=0, quick=0)
