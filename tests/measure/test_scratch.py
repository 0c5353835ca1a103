"""Temporary folders: each stays for as long as its owner lives, and no longer."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from steelyard.measure import scratch
from steelyard.measure.scratch import Scratch, scratch_folder, sweep

NAME = "steelyard-heap-scratch-abc_1234"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, in which every folder counts as old at once."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(scratch, "_UNLOCKED_S", -60.0)
    return tmp_path


def left_by_one_that_was_killed(place: Path, name: str = NAME, mode: int = 0o700) -> Path:
    folder = place / name
    folder.mkdir()
    folder.chmod(mode)
    (folder / "a file").touch()
    return folder


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_it_lasts_as_long_as_it_is_needed(place: Path) -> None:
    before = open_files()
    with scratch_folder("heap") as folder:
        (folder / "a file").touch()
        sweep()
        assert (folder / "a file").exists()
        assert folder.parent == place
    assert not folder.exists()
    left_by_one_that_was_killed(place)
    sweep()
    assert open_files() == before


def test_what_nobody_holds_any_more_is_swept(place: Path) -> None:
    left, held = left_by_one_that_was_killed(place), Scratch("count")
    sweep()
    assert (left.exists(), held.path.exists()) == (False, True)
    held.remove()
    # As when the owner is killed: the lock is gone, but the folder is not.
    killed = Scratch("count")
    os.close(killed._lock)
    sweep()
    assert not killed.path.exists()


def test_what_has_only_just_been_made_may_not_be_locked_yet(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = left_by_one_that_was_killed(place)
    monkeypatch.setattr(scratch, "_UNLOCKED_S", 60.0)
    sweep()
    assert left.exists()


def test_nothing_else_is_touched(place: Path) -> None:
    others = [
        left_by_one_that_was_killed(place, "steelyard-heap-analysis"),
        left_by_one_that_was_killed(place, f"{NAME}s"),
        left_by_one_that_was_killed(place, f"my-{NAME}"),
        left_by_one_that_was_killed(place, "steelyard-0"),
        left_by_one_that_was_killed(place, NAME.replace("heap", "count"), mode=0o755),
    ]
    (place / NAME).symlink_to(others[0])
    (place / NAME.replace("heap", "pyperf")).touch(0o700)
    sweep()
    assert all((other / "a file").exists() for other in others)
    assert len(list(place.iterdir())) == len(others) + 2


def test_a_missing_place_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    sweep()
