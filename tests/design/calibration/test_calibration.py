"""A whole calibration on a scripted machine: which caches it keeps, and what an interruption leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.design.calibration.calibration import calibrate
from steelyard.design.calibration.sweep import PATTERNS, SIZES
from steelyard.history.calibrations import load_calibration
from steelyard.model.calibration import Calibration, InterruptedCalibration
from steelyard.model.errors import InterruptedBeforeStart, UsageError
from tests.design.calibration.machine import ProbeMachine, shared, simulated
from tests.design.scripted import MACHINE

POINTS = SIZES * len(PATTERNS)
REPEATS = 2
TIMED, COUNTED = 2 * REPEATS * POINTS, 2 * POINTS

pytestmark = pytest.mark.usefixtures("probes")


def shared_machine(**fields: int) -> ProbeMachine:
    """Return a machine that reports a last level of 8 MiB and has 2: larger arrays are slow."""
    return ProbeMachine(**shared(2 << 20), **fields)  # type: ignore[arg-type]


def calibrated(machine: ProbeMachine, home: Path, caches: str = "fit") -> Calibration:
    kept = calibrate(machine.world(home), lambda _: None, repeats=REPEATS, jobs=1, caches=caches)
    assert isinstance(kept.record, Calibration)
    assert load_calibration(MACHINE.key, {"XDG_STATE_HOME": str(home)}) == kept.record
    return kept.record


def interrupted(machine: ProbeMachine, home: Path) -> InterruptedCalibration:
    kept = calibrate(machine.world(home), lambda _: None, repeats=REPEATS, jobs=1)
    assert isinstance(kept.record, InterruptedCalibration)
    assert kept.path == interrupted_file(home)
    assert InterruptedCalibration.model_validate_json(kept.path.read_bytes()) == kept.record
    return kept.record


def interrupted_file(home: Path) -> Path:
    return home / "steelyard/calibrations" / f"{MACHINE.key}.interrupted.json"


def test_the_last_level_that_explains_the_times_best_is_kept(tmp_path: Path) -> None:
    machine = shared_machine()
    found = calibrated(machine, tmp_path)
    assert list(dict.fromkeys(map(simulated, machine.counted))) == [8 << 20, 4 << 20, 2 << 20, 1 << 20]
    assert len(machine.specs) == TIMED
    assert (found.caches.name, found.caches.ll[0]) == ("fit", 2 << 20)
    errors = {level.size_bytes: level.error for level in found.last_levels}
    assert errors[2 << 20] == pytest.approx(0, abs=1e-3)
    assert errors[8 << 20] > 0.1
    assert (found.weights.ll, found.weights.ram) == pytest.approx((5, 40), rel=1e-3)
    said = calibrated(shared_machine(), tmp_path, "host")
    assert (said.caches.name, said.caches.ll[0], len(said.last_levels)) == ("host", 8 << 20, 1)


def test_caches_that_are_not_known_are_refused_before_anything_is_launched(tmp_path: Path) -> None:
    machine = shared_machine()
    with pytest.raises(UsageError, match="choose from fit, article"):
        calibrated(machine, tmp_path, "none")
    assert machine.servers == 0


@pytest.mark.parametrize("jobs", [None, 3])
def test_it_counts_on_every_processor_if_nothing_else_is_said(tmp_path: Path, jobs: int | None) -> None:
    machine = shared_machine()
    calibrate(machine.world(tmp_path), lambda _: None, repeats=1, jobs=jobs)
    assert machine.servers == 1 + (jobs or 2)


@pytest.mark.parametrize("after", [1, 50, TIMED - 1, TIMED])
def test_times_are_kept_that_were_taken_before_an_interruption(tmp_path: Path, after: int) -> None:
    record = interrupted(shared_machine(interrupted_after=after), tmp_path)
    assert record.measurements() == after
    assert record.counted == []
    assert sum(len(each.cpu_before_ns) + len(each.cpu_with_ns) for each in record.times) == after
    assert all(abs(len(each.cpu_before_ns) - len(each.cpu_with_ns)) <= 1 for each in record.times)
    assert (record.repeats, record.seed, record.machine) == (REPEATS, 1, MACHINE.key)
    assert load_calibration(MACHINE.key, {"XDG_STATE_HOME": str(tmp_path)}) is None


def test_points_are_kept_as_far_as_they_were_counted(tmp_path: Path) -> None:
    whole = calibrated(shared_machine(), tmp_path / "whole", "host")
    for counts in (1, 2, 7, COUNTED, COUNTED + 5, 2 * COUNTED):
        record = interrupted(shared_machine(interrupted_after=TIMED + counts), tmp_path / str(counts))
        points = [len(each.points) for each in record.counted]
        # Two launches make a point: the last point may lack its second one.
        assert points == [many for many in (min(counts, COUNTED) // 2, (counts - COUNTED) // 2) if many > 0]
        assert record.measurements() == TIMED + 2 * sum(points)
        assert [each.caches.ll[0] for each in record.counted] == [8 << 20, 4 << 20][: len(points)]
        assert all(point in whole.points for each in record.counted[:1] for point in each.points)
        assert len(record.times) == POINTS - (points[0] if points else 0)
        told = {(each.pattern, each.elements) for each in record.times}
        assert not told & {(point.pattern, point.elements) for each in record.counted for point in each.points}


def test_who_insists_keeps_it_too(tmp_path: Path) -> None:
    assert interrupted(shared_machine(insisted_after=30), tmp_path).measurements() == 30


def test_who_insists_when_all_is_measured_keeps_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def insists(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("steelyard.design.calibration.calibration.fit_patterns", insists)
    assert interrupted(shared_machine(), tmp_path).measurements() == TIMED + 4 * COUNTED


def test_before_the_first_launch_ended_there_is_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(InterruptedBeforeStart, match="before anything was measured"):
        interrupted(shared_machine(interrupted_after=0), tmp_path)
    assert not interrupted_file(tmp_path).exists()


def test_an_interruption_leaves_the_calibration_that_was_there_and_the_next_one_removes_it(tmp_path: Path) -> None:
    before = calibrated(shared_machine(), tmp_path)
    interrupted(shared_machine(interrupted_after=9), tmp_path)
    assert interrupted(shared_machine(interrupted_after=12), tmp_path).measurements() == 12
    assert load_calibration(MACHINE.key, {"XDG_STATE_HOME": str(tmp_path)}) == before
    calibrated(shared_machine(), tmp_path)
    assert not interrupted_file(tmp_path).exists()
