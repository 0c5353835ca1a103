"""Files that commands name and that change while these are measured."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.design.named_files import NamedFiles
from steelyard.model.files import load
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.design.scripted import weighing
from tests.world import ScriptedWorld, alike


def changed(files: NamedFiles) -> list[str]:
    return [one.message.rpartition(": ")[2] for one in files.findings()]


def files_of(*words: str, directory: str | None = None, **settings: object) -> NamedFiles:
    record = weighing(1, **settings)
    subject = record.subjects[1].model_copy(update={"argv": ["program", *words], "directory": directory})
    files = NamedFiles.of(record.model_copy(update={"subjects": [record.subjects[0], subject]}))
    files.note_states()
    return files


def test_those_are_seen_that_are_words_or_behind_an_option_or_read_as_input(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("work.py", "table.csv", "in", "other")]
    for path in names:
        path.write_text("old")
    files = files_of(
        str(names[0]), f"--of={names[1]}", "-x=\0", "absent", str(tmp_path), "n" * 5000, stdin=str(names[2])
    )
    assert changed(files) == []
    names[3].write_text("new")
    assert changed(files) == []
    names[0].write_text("new")
    (said,) = files.findings()
    assert said.message.startswith("a file that is named in a command changed ")
    for path in names[1:]:
        path.write_text("new")
    (said,) = files.findings()
    assert said.message.startswith("files that are named in commands changed ")
    assert said.message.endswith(": " + ", ".join(map(str, names[:3])))


def test_what_is_written_again_and_is_the_same_did_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    monkeypatch.setattr("steelyard.design.named_files._MOST_BYTES_READ", 5)
    for path, text in ((small, "same"), (large, "longer")):
        path.write_text(text)
    files = files_of(str(small), str(large))
    for path, text in ((small, "same"), (large, "LONGER")):
        path.write_text(text)
        os.utime(path, (1, 1))
    assert changed(files) == []
    small.unlink()
    large.write_text("longer than before")
    assert changed(files) == [f"{small}, {large}"]


def test_a_name_is_one_of_the_folder_that_the_command_runs_in(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("old")
    files = files_of("in", directory=str(tmp_path))
    (tmp_path / "in").write_text("new")
    assert changed(files) == ["in"]


def test_behind_env_that_is_the_folder_that_it_changes_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    inside, outside = tmp_path / "there/in", tmp_path / "in"
    for path in (inside, outside):
        path.write_text("old")
    record = weighing(1)
    subject = record.subjects[1].model_copy(update={"argv": ["env", "-C", str(tmp_path / "there"), "./old", "in"]})
    files = NamedFiles.of(record.model_copy(update={"subjects": [subject, subject]}))
    files.note_states()
    outside.write_text("new")
    assert changed(files) == []
    inside.write_text("new")
    assert changed(files) == ["in"]


@pytest.mark.parametrize(
    ("at", "words", "codes"),
    [
        (1, ("compare", "./old in", "./new in", "--pairs", "9"), []),
        (1, ("run", "./old in", "--launches", "9", "--warmup", "0"), []),
        (8, ("compare", "./old in", "./new in", "--pairs", "9", "--warmup", "0"), ["changed-files"]),
        (8, ("run", "./old in", "--launches", "9", "--warmup", "0"), ["changed-files"]),
        (8, ("compare", "./old in", "./new in", "--pairs", "9"), ["changed-files"]),
        (8, ("run", "./old in", "--launches", "9"), ["changed-files"]),
    ],
)
def test_what_changes_behind_the_warm_up_is_told_of_if_that_left_it_alone(
    scripted: ScriptedWorld, at: int, words: tuple[str, ...], codes: list[str]
) -> None:
    def script(spec: LaunchSpec, number: int) -> Measured:
        if number == at or at == 1:
            scripted.write("in", f"another {number}")
        return alike(spec, number)

    scripted.write("in", "one")
    scripted.script = script
    scripted(*words, "--json", "record.json")
    found = [one.code for one in load(Path("record.json")).findings]
    assert [code for code in found if code == "changed-files"] == codes
