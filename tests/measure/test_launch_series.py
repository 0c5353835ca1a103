"""Several launches in one request, against the real server: each row is on disk before the next launch starts."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.measure.launch import Launcher
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.journal import Journal
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import LaunchRow, Place
from tests.measure.launching import SLEEPER, alarm, sh

PLACE = Place(benchmark=3, pair=17, side=1, order=0, role=1, hash_seed=4294967295, padding_bytes=512, layout=2)
OVERHEAD_NS = 1234
FRAME = Journal.frame(PLACE, OVERHEAD_NS)
GOOD = sh(b"exit 0")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    file = tmp_path / "a.journal"
    file.write_text("header\n")
    return file


@pytest.fixture
def launcher(journal: Path) -> Iterator[Launcher]:
    with Launcher() as launcher, journal.open("ab") as file:
        launcher.keep_rows_in(file.fileno())
        yield launcher


def series(launcher: Launcher, *specs: LaunchSpec) -> list[Measured]:
    """Return the launches of a series that took place, whether or not they ended well."""
    return [one for one in results(launcher, *specs) if isinstance(one, Measured)]


def results(launcher: Launcher, *specs: LaunchSpec) -> list[Measured | UsageError | MeasurementError]:
    return launcher.launch_series(specs, [FRAME] * (len(specs) - 1))


def row_of(measured: Measured) -> list[object]:
    numbers = [getattr(measured, name) for name in NUMBERS]
    return list(LaunchRow._make((*PLACE, *numbers, OVERHEAD_NS, [], ()))[:-1])


def rows_in(journal: Path) -> list[object]:
    header, *rows = journal.read_text().splitlines()
    assert header == "header"
    return [json.loads(row) for row in rows]


def test_each_row_is_there_while_the_next_launch_runs(launcher: Launcher, journal: Path, tmp_path: Path) -> None:
    def copying(name: str) -> LaunchSpec:
        places = (os.fsencode(journal), os.fsencode(tmp_path / name))
        return sh(b'cp "$1" "$2"; echo copied >&2; sleep 0.01', *places, env=(b"PATH=/usr/bin:/bin",))

    one, two, three = series(launcher, *map(copying, ("none", "first", "second")))
    assert one.stderr == two.stderr == three.stderr == b"copied\n"
    assert one.wall_ns >= 10_000_000
    assert one.start_ns + one.wall_ns <= two.start_ns <= two.start_ns + two.wall_ns <= three.start_ns
    assert rows_in(tmp_path / "none") == []
    assert rows_in(tmp_path / "first") == [row_of(one)]
    assert rows_in(tmp_path / "second") == rows_in(journal) == [row_of(one), row_of(two)]


def test_the_last_launch_is_left_to_the_driver(launcher: Launcher, journal: Path) -> None:
    kept = [row_of(one) for _ in range(5) for one in series(launcher, *[GOOD] * 16)[:-1]]
    assert rows_in(journal) == kept
    assert len(kept) == 75


def test_of_one_without_a_frame_nothing_is_kept(launcher: Launcher, journal: Path) -> None:
    marker = journal.with_name("marker")
    marking = sh(b'echo run >> "$1"', os.fsencode(marker))
    one, two = launcher.launch_series([marking, GOOD, marking], [None, FRAME])
    assert isinstance(one, Measured)
    assert isinstance(two, Measured)
    assert marker.read_text() == "run\nrun\n"
    assert rows_in(journal) == [row_of(one)]


def test_nothing_follows_one_without_a_frame_that_failed(launcher: Launcher, journal: Path) -> None:
    marker = journal.with_name("marker")
    marking = sh(b'echo > "$1"', os.fsencode(marker))
    assert launcher.launch_series([sh(b"exit 3"), marking, marking], [None, FRAME]) == []
    assert not marker.exists()
    assert rows_in(journal) == []
    (wrong,) = launcher.launch_series([sh(b"exit 0", cwd=b"/nowhere"), GOOD, GOOD], [None, FRAME])
    assert isinstance(wrong, SteelyardError)


@pytest.mark.parametrize("script", [b"exit 3", b"kill -9 $$"])
def test_nothing_follows_a_launch_that_failed(launcher: Launcher, journal: Path, script: bytes) -> None:
    marker = journal.with_name("marker")
    marking = sh(b'echo > "$1"', os.fsencode(marker))
    good, bad = series(launcher, GOOD, sh(script), marking)
    assert (bad.exit_code, bad.signal) in [(3, None), (None, 9)]
    assert not marker.exists()
    assert rows_in(journal) == [row_of(good)]


@pytest.mark.real
def test_nothing_follows_a_launch_that_cannot_be_kept() -> None:
    with Launcher() as launcher:
        assert len(series(launcher, GOOD, GOOD)) == 1
        with Path("/dev/full").open("wb") as full:
            launcher.keep_rows_in(full.fileno())
        assert [one.exit_code for one in series(launcher, GOOD, GOOD)] == [0]


@pytest.mark.real
def test_a_row_that_does_not_fit_leaves_nothing_of_itself(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    file = tmp_path / "a.journal"
    file.write_bytes(b"x" * 4090)
    with file.open("ab") as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        try:
            with Launcher() as launcher:
                launcher.keep_rows_in(journal.fileno())
                assert len(series(launcher, GOOD, GOOD)) == 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == b"x" * 4090


def test_a_launch_that_cannot_start_takes_nothing_from_those_before_it(launcher: Launcher, journal: Path) -> None:
    missing = LaunchSpec(program=b"/nowhere", argv=(b"nowhere",), env=())
    good, bad = results(launcher, GOOD, missing, GOOD)
    assert isinstance(good, Measured)
    assert isinstance(bad, MeasurementError)
    assert rows_in(journal) == [row_of(good)]
    (wrong,) = results(launcher, sh(b"exit 0", cwd=b"/nowhere"), GOOD)
    assert isinstance(wrong, SteelyardError)
    assert "cwd" in str(wrong)


def test_a_request_that_is_refused_as_a_whole_is_one_error(launcher: Launcher, journal: Path) -> None:
    (wrong,) = results(launcher, replace(GOOD, argv=()), GOOD)
    assert isinstance(wrong, SteelyardError)
    assert "argv is empty" in str(wrong)
    assert rows_in(journal) == []


def test_what_is_too_much_for_one_request_is_not_begun(launcher: Launcher, journal: Path) -> None:
    large = sh(b"exit 0", b"x" * 100_000)
    assert results(launcher, large, large) == []
    assert launcher.launch(large).exit_code == 0
    assert rows_in(journal) == []


def test_a_cancel_ends_what_is_in_flight_and_what_would_follow(launcher: Launcher, journal: Path) -> None:
    with alarm(0.2, launcher.cancel):
        assert [one.cancelled for one in series(launcher, SLEEPER, GOOD)] == [True]
    assert rows_in(journal) == []
    with alarm(0.2, launcher.cancel):
        assert [one.cancelled for one in series(launcher, GOOD, SLEEPER, GOOD)] == [False, True]
    assert len(rows_in(journal)) == 1
    assert launcher.launch(GOOD).exit_code == 0


def test_the_journal_is_not_handed_to_a_target(launcher: Launcher) -> None:
    launcher.launch(GOOD)
    listed = launcher.launch(sh(b"ls /proc/self/fd", env=(b"PATH=/usr/bin:/bin",), stdout=100))
    assert listed.stdout == b"0\n1\n2\n3\n"  # 3 is the folder that ls reads
