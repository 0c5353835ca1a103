from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from steelyard.history.store import KEPT, Store
from steelyard.model.errors import UsageError

YEAR_NS = 365 * 86_400 * 10**9


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
    """Make files a day old, each later than the one before.

    Files' times come from a coarser clock than `time_ns`, some milliseconds behind it, and either may be set back.
    """
    begun = time.time_ns() - YEAR_NS // 365
    for number, name in enumerate(names):
        path = store.folder / name
        path.touch()
        os.utime(path, ns=(0, begun + number))


def name(number: int, suffix: str = ".json.gz") -> str:
    """Return the name of a record; those of higher numbers seem later."""
    return f"20260101T{number:06}.000000-run-1{suffix}"


def admit(store: Store, newest: str) -> None:
    store.admit(store.folder / newest)


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
    fill(Store.of_user(environment), name(1))
    assert Store.of_user(environment).latest().name == name(1)


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}, {"HOME": "/proc"}])
def test_without_a_home_it_stands_among_the_temporary_files(temporary: Path, environment: dict[str, str]) -> None:
    store = Store.of_user(environment)
    assert store.folder == temporary / f"steelyard-{os.getuid()}"
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o700
    assert Store.of_user(environment).folder == store.folder
    assert (store.elsewhere(store.folder) or "").endswith(f", so the record is kept in {store.folder}")


def test_a_state_home_that_is_a_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/file", "HOME": f"{tmp_path}/home"})
    assert store.folder == tmp_path / "home/.local/state/steelyard"
    assert store.elsewhere(store.folder / "x") == (
        f"{tmp_path}/file/steelyard cannot be written (Not a directory), so the record is kept in {store.folder}/x"
    )
    assert Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/state"}).elsewhere(tmp_path) is None


def test_where_another_user_could_put_records_none_is_kept_or_looked_for(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, open_to_all = tmp_path / "theirs/steelyard", tmp_path / ".local/state/steelyard"
    for folder in (theirs, open_to_all):
        folder.mkdir(parents=True)
        fill(Store(folder), name(1))
    open_to_all.chmod(0o777)
    number = os.geteuid()
    status = Path.stat

    def of_another(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        found = list(status(path, follow_symlinks=follow_symlinks))
        return os.stat_result([*found[:4], number + 1 if path == theirs else number, *found[5:]])

    monkeypatch.setattr(Path, "stat", of_another)
    environment = {"XDG_STATE_HOME": f"{tmp_path}/theirs", "HOME": str(tmp_path)}
    store = Store.of_user(environment)
    assert store.folder.parent == temporary
    said = f"{theirs} is another user's and {open_to_all} can be written by every user (chmod o-w)"
    assert store.elsewhere(store.folder) == f"{said}, so the record is kept in {store.folder}"
    with pytest.raises(UsageError, match=r"is another user's; .* can be written by every user"):
        store.latest()
    monkeypatch.setattr(os, "geteuid", lambda: 0)  # as under sudo
    assert Store.of_user({**environment, "SUDO_UID": str(number + 1)}).folder == theirs


def test_all_that_was_passed_over_is_said(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/file", "HOME": f"{tmp_path}/file"})
    assert store.folder.parent == temporary
    said = store.elsewhere(store.folder) or ""
    assert f"{tmp_path}/file/steelyard cannot be written" in said
    assert f" and {tmp_path}/file/.local/state/steelyard cannot be written" in said


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


def test_nobody_else_may_look_into_it(tmp_path: Path) -> None:
    folder = Store.of_user({"XDG_STATE_HOME": f"{tmp_path}/state"}).folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


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


def test_the_latest_is_what_was_written_last_whatever_it_is_called(store: Store) -> None:
    fill(store, name(3), name(1, ".journal"), name(2))
    assert store.latest().name == name(2)
    fill(store, name(0, ".journal"))
    assert store.latest().name == name(0, ".journal")


def test_other_files_are_no_records(store: Store) -> None:
    fill(store, "notes.txt", f".{name(1)}", f"{name(1)}.part", "config.json.gz", "1999-tax.json.gz")
    (store.folder / name(2)).mkdir()
    (store.folder / name(3)).symlink_to("notes.txt")
    with pytest.raises(UsageError, match=f"nothing has been measured yet .*{store.folder}"):
        store.latest()


def test_only_the_newest_are_kept(store: Store) -> None:
    names = [name(KEPT - number, suffix) for number in range(KEPT) for suffix in (".json.gz", ".journal")]
    fill(store, "precious.txt", "1999-tax.json.gz", *names)
    admit(store, names[-1])
    left = {path.name for path in store.folder.iterdir()}
    assert left == {*names[-KEPT:], "precious.txt", "1999-tax.json.gz"}
    admit(store, names[-1])
    assert left == {path.name for path in store.folder.iterdir()}


def test_few_are_all_kept(store: Store) -> None:
    fill(store, name(1), name(2))
    before_ns = (store.folder / name(2)).stat().st_mtime_ns
    admit(store, name(1))
    assert (store.folder / name(2)).stat().st_mtime_ns == before_ns
    assert [path.name for path in sorted(store.folder.iterdir())] == [name(1), name(2)]
    assert store.latest().name == name(1)


def test_a_journal_that_is_written_stays(store: Store) -> None:
    fill(store, name(0, ".journal"), *map(name, range(1, KEPT + 3)))
    with (store.folder / name(0, ".journal")).open("ab") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        admit(store, name(KEPT + 2))
        assert name(0, ".journal") in {path.name for path in store.folder.iterdir()}
    admit(store, name(KEPT + 2))
    assert name(0, ".journal") not in {path.name for path in store.folder.iterdir()}


def test_where_there_are_no_locks_journals_stay(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    fill(store, name(0, ".journal"), *map(name, range(1, KEPT + 3)))
    admit(store, name(KEPT + 2))
    assert (store.folder / name(0, ".journal")).exists()


def test_a_clock_that_is_put_right_changes_no_order(store: Store) -> None:
    fill(store, *map(name, range(KEPT)))
    for path in store.folder.iterdir():  # the clock was ahead: all these files are from the future
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 40 * YEAR_NS))
    for number in range(KEPT, KEPT + 3):
        fill(store, name(number))
        admit(store, name(number))
        assert store.latest().name == name(number)
    left = sorted(store.folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    assert [path.name for path in left] == [name(number) for number in range(3, KEPT + 3)]
    assert left[-1].stat().st_mtime_ns < time.time_ns() + YEAR_NS


def test_what_is_not_ours_is_not_touched(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store, *map(name, range(KEPT + 3)))
    store.folder.chmod(0o755)
    before = {path: path.stat().st_mode for path in (store.folder, *store.folder.iterdir())}
    stranger = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: stranger)
    admit(store, name(KEPT + 2))
    assert {path: path.stat().st_mode for path in (store.folder, *store.folder.iterdir())} == before
    assert store.latest().name == name(KEPT + 2)  # it can still be read, which is better than nothing


def test_what_was_open_to_others_is_closed(store: Store) -> None:
    fill(store, name(1), name(2), "notes.txt")
    for path in (store.folder, *store.folder.iterdir()):
        path.chmod(0o755)
    admit(store, name(2))
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in (store.folder, *store.folder.iterdir())} == {
        store.folder.name: 0o700,
        name(1): 0o600,
        name(2): 0o600,
        "notes.txt": 0o755,
    }


def test_a_shelf_that_is_shared_stays_shared(store: Store) -> None:
    store.folder.chmod(0o1777)
    fill(store, name(1))
    admit(store, name(1))
    assert stat.S_IMODE(store.folder.stat().st_mode) == 0o1777


def test_a_link_that_leads_nowhere_hides_no_baseline(store: Store) -> None:
    kept = store.place_for("main")
    kept.touch()
    store.place_for("old").symlink_to("nowhere")
    assert store.baselines() == [kept]


def test_a_folder_that_is_gone_is_no_error(store: Store) -> None:
    store.folder.rmdir()
    store.admit(store.folder / name(1))
