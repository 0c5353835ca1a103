"""Carrying on, by whole command lines on a scripted machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world import ScriptedWorld, at_launch, ctrl_c


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


def test_the_whole_may_take_the_place_of_what_is_carried_on(begun: ScriptedWorld) -> None:
    assert begun("compare", "--resume", "begun.json", "-o", "begun.json").status == 0
    assert "it ran to its end" in begun.refuses("compare", "--resume", "begun.json")
