"""What other users could learn from what is kept: values of the environment, and files that they may read."""

from __future__ import annotations

import gzip
import os
import stat
from pathlib import Path

import pytest

from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from tests.golden.world import World
from tests.world import Killed, ScriptedWorld, at_launch, kill, measured

SECRETS = ("--env", "API_TOKEN=hunter2", "--env", "DATABASE=postgres://me:hunter2@db", "--env", "MODE=fast")
FILES = ("--json", "record.json", "--markdown", "table.md", "--csv", "launches.csv")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the unpacked content of every file in a folder."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {name: gzip.decompress(data) if name.endswith(".gz") else data for name, data in files.items()}


def modes(*paths: Path) -> list[int]:
    return [stat.S_IMODE(path.stat().st_mode) for path in paths]


def check_nothing_is_told(folder: Path) -> None:
    found = contents(folder)
    assert not [name for name, data in found.items() if b"hunter2" in data]
    told = [name for name, data in found.items() if b"API_TOKEN" in data and b'"fast"' in data]
    assert any("steelyard/" in name for name in told), "its name is kept, and what is harmless"


@pytest.mark.parametrize("words", [("compare", "./old", "./new"), ("run", "./old", "--launches", "9")])
def test_no_file_has_a_secret(scripted: ScriptedWorld, words: tuple[str, ...]) -> None:
    done = scripted(*words, *SECRETS, *FILES)
    check_nothing_is_told(scripted.folder)
    assert b"hunter2" not in done.out + done.err
    for spec in scripted.launched:
        assert {b"API_TOKEN=hunter2", b"DATABASE=postgres://me:hunter2@db", b"MODE=fast"} <= set(spec.env)


def test_no_journal_has_a_secret(scripted: ScriptedWorld) -> None:
    scripted.script = at_launch(9, kill)
    with pytest.raises(Killed):
        scripted("compare", "./old", "./new", *SECRETS)
    check_nothing_is_told(scripted.folder)


def test_counted_launches_have_what_no_file_has(tmp_path: Path) -> None:
    with World.opened(tmp_path) as world:
        world.program("old")
        done = world.run("count", "./old", *SECRETS)
        assert done.status == 0, done
        assert done.launched
        assert all({b"API_TOKEN=hunter2", b"MODE=fast"} <= set(spec.env) for spec in done.launched)
    check_nothing_is_told(tmp_path)


def test_nobody_else_may_read_what_is_kept(scripted: ScriptedWorld) -> None:
    store = scripted.folder / "state/steelyard"
    old = store / "20250101T000000.000000-run-1.json.gz"
    seen: list[int] = []

    def script(_: LaunchSpec, number: int) -> Measured:
        if number == 9:
            seen.extend(modes(store, *scripted.kept()))
        return measured(12 + number * 1e-5)

    store.mkdir(parents=True)
    old.touch()
    for path, mode in ((store, 0o755), (old, 0o644)):
        path.chmod(mode)
    scripted.script = script
    before = os.umask(0o022)
    try:
        assert scripted("compare", "./old", "./new", "--pairs", "12", *FILES).status == 0
    finally:
        os.umask(before)
    assert seen == [0o700, 0o600, 0o600]  # while it measured, the journal's mode, too
    assert modes(store, *scripted.kept()) == [0o700, 0o600, 0o600]
    assert modes(*(scripted.folder / name for name in FILES[1::2])) == [0o644] * 3  # as for any file


def test_a_file_that_was_private_stays_private(scripted: ScriptedWorld) -> None:
    files = [scripted.folder / name for name in FILES[1::2]]
    for file in files:
        file.touch(mode=0o600)
    assert scripted("compare", "./old", "./new", *FILES).status == 1
    assert modes(*files) == [0o600] * 3
    assert all(file.stat().st_size for file in files)
