from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from steelyard.design.calibration.instruments import Instruments, instruments
from steelyard.design.calibration.measuring import measure
from steelyard.design.calibration.results import Results
from steelyard.design.calibration.sweep import COUNTED_ITERATIONS, TIMED_ITERATIONS, SweepPoint, sweep, whole_walk
from steelyard.design.runner.draws import first_side
from steelyard.design.runner.failure import Interrupted
from steelyard.design.world import World
from steelyard.measure import native
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.calibration import Point
from steelyard.model.counting import Caches
from steelyard.model.errors import MeasurementError
from steelyard.model.measured import Measured
from steelyard.model.progress import GOES_ON, Progress
from tests.c_programs import need_valgrind
from tests.design.calibration.machine import L1_NS, LL_NS, RAM_NS, VALGRIND, ProbeMachine, rates, walked
from tests.design.scripted import PLAIN

SWEEP = sweep(Caches(), None)
TIMED = 2 * len(SWEEP)
"""How many launches are timed if each point is timed once."""


@dataclass
class Bench:
    """A machine, the instruments on it, and the progress that they tell."""

    machine: ProbeMachine
    home: Path
    heard: list[Progress] = field(default_factory=list)

    @contextmanager
    def opened(self) -> Iterator[Instruments]:
        with instruments(VALGRIND, self.machine.world(self.home), jobs=1, watch=self.heard.append) as tools:
            yield tools

    def points(self, points: Sequence[SweepPoint] = SWEEP, *, repeats: int = 1, seed: int = 1) -> list[Point]:
        results = Results(points)
        with self.opened() as tools:
            measure(results, [Caches()], tools, repeats=repeats, seed=seed)
        return results.points(0)


pytestmark = pytest.mark.usefixtures("probes")


def bench(home: Path, **machine: object) -> Bench:
    return Bench(replace(ProbeMachine(), **machine), home)  # type: ignore[arg-type]


def test_times_and_counts_are_of_the_walk_alone(tmp_path: Path) -> None:
    one = bench(tmp_path)
    points = one.points(repeats=2)
    assert [(point.pattern, point.elements) for point in points] == [(point.pattern, point.elements) for point in SWEEP]
    specs = {(spec.argv[1].decode(), walked(spec)[0]): spec for spec in one.machine.specs}
    for point in points:
        l1, ll, ram = rates(specs[point.pattern, point.elements])
        assert (point.l1, point.ll, point.ram) == pytest.approx((l1, ll, ram))
        assert point.ns == pytest.approx(l1 * L1_NS + ll * LL_NS + ram * RAM_NS, rel=1e-4)
        assert len(point.cpu_before_ns) == len(point.cpu_with_ns) == 2


def test_a_walk_is_launched_next_to_what_comes_before_it(tmp_path: Path) -> None:
    one = bench(tmp_path)
    one.points(repeats=3)
    machine = one.machine
    assert len(machine.specs) == 2 * 3 * len(SWEEP)
    first = 0
    for before, after in zip(machine.specs[::2], machine.specs[1::2], strict=True):
        assert before.argv[1:3] == after.argv[1:3]
        assert abs(walked(before)[1] - walked(after)[1]) == TIMED_ITERATIONS
        first += walked(before)[1] < walked(after)[1]
    assert 0.2 < first / (3 * len(SWEEP)) < 0.8
    counted = Tally(walked(spec)[1] for spec in machine.counted)
    assert counted == Tally(point.before + more for point in SWEEP for more in (0, COUNTED_ITERATIONS))


def test_each_repeat_visits_all_points_in_another_random_order(tmp_path: Path) -> None:
    one, again, other = (bench(tmp_path) for _ in range(3))
    for each, seed in ((one, 1), (again, 1), (other, 2)):
        each.points(repeats=2, seed=seed)
    rounds = [spec.argv[1:3] for spec in one.machine.specs[::2]]
    early, late = rounds[: len(SWEEP)], rounds[len(SWEEP) :]
    assert sorted(early) == sorted(late)
    assert early != late
    assert early != sorted(early)
    assert [spec.argv for spec in one.machine.specs] == [spec.argv for spec in again.machine.specs]
    assert [spec.argv for spec in one.machine.specs] != [spec.argv for spec in other.machine.specs]


def test_a_disturbed_repeat_moves_nothing(tmp_path: Path) -> None:
    # The first round: one launch of each point takes 50 ms more.
    points = bench(tmp_path, disturb=lambda number: 50_000_000 if number < TIMED and number % 2 else 0)
    disturbed, quiet = points.points(repeats=5), bench(tmp_path).points(repeats=5)
    assert [point.ns for point in disturbed] == pytest.approx([point.ns for point in quiet], rel=1e-6)


def test_without_exact_times_the_kernels_totals_serve(tmp_path: Path) -> None:
    assert bench(tmp_path, without_cpu=True).points() == bench(tmp_path).points()


def test_who_watches_hears_of_both_parts(tmp_path: Path) -> None:
    one = bench(tmp_path)
    one.points(repeats=2)
    last = {progress.benchmark: progress for progress in one.heard}
    assert {progress.noun for progress in one.heard} == {"measurement"}
    assert {name: (each.done, each.limit) for name, each in last.items()} == {
        "timing": (2 * len(SWEEP), 2 * len(SWEEP)),
        "counting": (2 * len(SWEEP), 2 * len(SWEEP)),
    }


def test_who_watches_hears_what_begins_and_that_a_launch_lasts(tmp_path: Path) -> None:
    one = bench(tmp_path)
    one.points()
    assert [each.benchmark for each in one.heard if not each.done] == ["timing", "timing", "counting"]
    one.heard.clear()
    with one.opened() as tools:
        assert one.machine.waiting is not None
        assert tools.pool.waiting is not None
        one.machine.waiting(0.5)
        tools.pool.waiting()
    assert one.heard == [GOES_ON, GOES_ON]


@pytest.mark.parametrize("after", [0, 1, 50, TIMED, TIMED + 7])
def test_an_interruption_leaves_what_was_measured(tmp_path: Path, after: int) -> None:
    one, results = bench(tmp_path, interrupted_after=after), Results(SWEEP)
    with one.opened() as tools, pytest.raises(Interrupted):
        measure(results, [Caches(), Caches()], tools, repeats=1, seed=1)
    assert len(one.machine.specs) + len(one.machine.counted) == after
    assert sum(len(begin) + len(end) for begin, end in results.times) == min(after, TIMED)
    # Seven counts make three points, and the first launch of a fourth.
    points = [len(results.points(number)) for number in range(len(results.counts))]
    assert points == ([(after - TIMED) // 2] if after >= TIMED else [])


@pytest.mark.parametrize(
    ("failed", "how"),
    [
        (replace(PLAIN, exit_code=101, stderr=b"memory allocation failed\n"), "exit status 101.*memory allocation"),
        (replace(PLAIN, exit_code=None, signal=9), "killed by SIGKILL.*reinstall"),
    ],
)
def test_a_probe_that_fails_is_an_error(tmp_path: Path, failed: Measured, how: str) -> None:
    with pytest.raises(MeasurementError, match=how):
        bench(tmp_path, measured=failed).points()


def test_a_walk_that_takes_no_time_is_an_error_before_anything_is_counted(tmp_path: Path) -> None:
    slow_start = bench(tmp_path, disturb=lambda number: 10**9 if number == first_side(1, 0, 0) else 0)
    with pytest.raises(MeasurementError, match="--launches"):
        slow_start.points([SweepPoint("chase", 101, 101)])
    assert slow_start.machine.counted == []


def test_missing_probes_are_an_error(tmp_path: Path, probes: Path) -> None:
    probes.unlink()
    with pytest.raises(MeasurementError, match="reinstall steelyard"), bench(tmp_path).opened():
        pass


def test_real_probes_under_a_real_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    need_valgrind()
    if not native.PROBES.is_file():
        pytest.skip("the probes are not built: no real walk was counted")
    random = SweepPoint("random-i32", whole_walk(50_000), 0)
    results = Results([replace(random, pattern="linear-i32"), random])
    with instruments(Valgrind.found(), World(), jobs=2, watch=lambda _: None) as tools:
        measure(results, [Caches()], tools, repeats=1, seed=1)
    linear_point, random_point = results.points(0)
    assert random_point.events["Ir"] == pytest.approx(linear_point.events["Ir"], abs=1000)
    assert linear_point.ll + linear_point.ram == pytest.approx(0.25, abs=0.05)
    assert random_point.ll + random_point.ram > 2
