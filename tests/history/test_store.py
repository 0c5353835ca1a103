from __future__ import annotations

import os
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from steelyard.history.store import KEPT, Store
from steelyard.model.errors import UsageError


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def fill(store: Store, *names: str) -> None:
    for name in names:
        (store.folder / name).touch()


# --- where it stands


def test_it_stands_in_the_state_home(tmp_path: Path) -> None:
    store = Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/state", "HOME": f"{tmp_path}/home"})
    assert store.folder == tmp_path / "state/steelyard"
    assert store.folder.is_dir()
    assert not (tmp_path / "home").exists()


def test_it_stands_in_the_home_else(tmp_path: Path) -> None:
    for state_home in ({}, {"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "relative"}):
        store = Store.of_user({**state_home, "HOME": str(tmp_path)})
        assert store.folder == tmp_path / ".local/state/steelyard"
        assert store.folder.is_dir()
    assert not Path("relative").exists()


def test_an_existing_store_is_used_again(tmp_path: Path) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    fill(Store.of_user(environment), "2026-a.journal")
    assert Store.of_user(environment).latest().name == "2026-a.journal"


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/proc"}])
def test_without_a_home_it_stands_among_the_temporary_files(temporary: Path, environment: dict[str, str]) -> None:
    store = Store.of_user(environment)
    assert store.folder == temporary / f"steelyard-{os.getuid()}"
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert Store.of_user(environment).folder == store.folder


def test_a_state_home_that_is_a_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/file", "HOME": f"{tmp_path}/home"})
    assert store.folder == tmp_path / "home/.local/state/steelyard"


@pytest.mark.parametrize("trap", ["link", "file", "dangling link", "foreign"])
def test_what_somebody_else_put_in_its_place_is_not_trusted(
    temporary: Path, tmp_path: Path, trap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = temporary / f"steelyard-{os.getuid()}"
    match trap:
        case "link":
            place.symlink_to(tmp_path)
        case "dangling link":
            place.symlink_to(tmp_path / "nowhere")
        case "file":
            place.touch()
        case "foreign":
            place.mkdir()
            number = os.getuid()
            monkeypatch.setattr(os, "getuid", lambda: number + 1)
            place.rename(temporary / f"steelyard-{number + 1}")
    folder = Store.of_user({}).folder
    assert folder.parent == temporary
    assert folder.name not in (f"steelyard-{os.getuid()}", place.name)
    assert folder.is_dir()
    assert not (tmp_path / "nowhere").exists()


# --- what is on it


def test_names_sort_by_time_and_say_what_it_is(tmp_path: Path) -> None:
    moments = [
        datetime(2026, 9, 30, 23, 59, 59, 999_999, UTC),
        datetime(2026, 10, 1, 0, 0, 0, 0, UTC),
        datetime(2026, 10, 1, 0, 0, 0, 1, UTC),
    ]
    store = Store(tmp_path, iter(moments).__next__)
    names = [store.new_name("weighing") for _ in moments]
    assert names == sorted(names)
    assert names[0] == tmp_path / f"20260930T235959.999999-weighing-{os.getpid()}"


def test_the_latest_is_the_newest_record_or_journal(store: Store) -> None:
    fill(store, "20260101T-run-1.json.gz", "20260103T-weighing-2.json.gz", "20260102T-run-3.journal")
    assert store.latest().name == "20260103T-weighing-2.json.gz"
    fill(store, "20260104T-run-3.journal")
    assert store.latest().name == "20260104T-run-3.journal"


def test_other_files_are_no_records(store: Store) -> None:
    fill(store, "notes.txt", ".20270101T-x.json.gz", "20270101T-run-1.json.gz.part", "config.json.gz")
    with pytest.raises(UsageError, match=f"nothing has been measured yet .*{store.folder}"):
        store.latest()


def test_only_the_newest_are_kept(store: Store) -> None:
    names = [f"2026{number:04}T-run-1{suffix}" for number in range(KEPT) for suffix in (".json.gz", ".journal")]
    fill(store, *names, "precious.txt", "1999-tax.json.gz")
    store.prune()
    left = {path.name for path in store.folder.iterdir()}
    assert left == {*sorted(names)[-KEPT:], "precious.txt", "1999-tax.json.gz"}
    store.prune()
    assert left == {path.name for path in store.folder.iterdir()}


def test_few_are_all_kept(store: Store) -> None:
    fill(store, "2026-run-1.json.gz")
    store.prune()
    assert store.latest().name == "2026-run-1.json.gz"
