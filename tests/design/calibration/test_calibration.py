from __future__ import annotations

import shutil
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from steelyard.design.calibration import calibration as design
from steelyard.design.calibration.calibration import (
    COUNTED_ITERATIONS,
    PATTERNS,
    SIZES,
    TIMED_ITERATIONS,
    Instruments,
    Rung,
    calibrate,
    counted,
    instruments,
    ladder,
    timed,
    whole_walk,
)
from steelyard.design.runner.draws import first_side
from steelyard.machine.facts import read_facts
from steelyard.measure import native
from steelyard.measure.count.counter import Counted, Counter
from steelyard.measure.count.valgrind import Valgrind
from steelyard.model.calibration import Point
from steelyard.model.counting import Caches
from steelyard.model.errors import InterruptedBeforeStart, MeasurementError, UsageError
from steelyard.model.launches import LaunchSpec, Measured
from steelyard.model.progress import Progress
from tests.design.scripted import PLAIN

START_NS = 900_000
L1_NS, LL_NS, RAM_NS = 0.2, 1.0, 8.0
RUNGS = ladder(Caches(), None)


def walked(spec: LaunchSpec) -> tuple[int, int]:
    """(elements, iterations) of a launch."""
    return int(spec.argv[2]), int(spec.argv[3])


def rates(elements: int) -> tuple[float, float, float]:
    """(L1, LL, RAM) hits of an iteration: further out, the larger the array."""
    return (16.0, 4.0, 0.0) if elements < 100_000 else (16.0, 1.0, 3.0)


@dataclass
class Machine:
    """A machine whose launches take what their hits take, and nothing else."""

    specs: list[LaunchSpec] = field(default_factory=list)
    counted: list[LaunchSpec] = field(default_factory=list)
    heard: list[Progress] = field(default_factory=list)
    stop_after: int | None = None
    disturb: Callable[[int], int] = lambda _: 0
    measured: Measured = PLAIN
    without_cpu: bool = False

    def launch(self, spec: LaunchSpec) -> Measured:
        elements, iterations = walked(spec)
        each = sum(hit * ns for hit, ns in zip(self.timed_rates(spec), (L1_NS, LL_NS, RAM_NS), strict=True))
        cpu = round(START_NS + elements + iterations * each) + self.disturb(len(self.specs))
        self.specs.append(spec)
        if self.without_cpu:
            return replace(self.measured, cpu_ns=None, user_ns=cpu - 1000, sys_ns=1000)
        return replace(self.measured, cpu_ns=cpu)

    def count_all(self, tasks: Sequence[Callable[[Counter], Counted]]) -> Iterator[tuple[int, Counted]]:
        for number in reversed(range(len(tasks))):
            if not self.stop():
                yield number, tasks[number](self)  # type: ignore[arg-type]

    def count(self, spec: LaunchSpec) -> Counted:
        self.counted.append(spec)
        _, iterations = walked(spec)
        l1, ll, ram = (round(rate * iterations) for rate in self.counted_rates(spec))
        # Valgrind's names: what misses in the first level is a hit further out.
        events = {"Ir": l1, "I1mr": 100, "ILmr": 50, "Dr": ll, "D1mr": ll, "DLmr": 0, "Dw": ram, "D1mw": ram}
        return Counted({**events, "DLmw": ram}, [], [], 0, PLAIN, 0.1)

    def timed_rates(self, spec: LaunchSpec) -> tuple[float, float, float]:
        return rates(walked(spec)[0])

    def counted_rates(self, spec: LaunchSpec) -> tuple[float, float, float]:
        return rates(walked(spec)[0])

    def stop(self) -> bool:
        return self.stop_after is not None and len(self.specs) + len(self.counted) >= self.stop_after

    def instruments(self) -> Instruments:
        return Instruments(self, self, self.heard.append, self.stop, probe)


@dataclass
class SharedMachine(Machine):
    """A machine with less of a last level than it says."""

    has: int = 0
    simulated: int = 0

    def timed_rates(self, spec: LaunchSpec) -> tuple[float, float, float]:
        return rates_beyond(self.has, spec)

    def counted_rates(self, spec: LaunchSpec) -> tuple[float, float, float]:
        return rates_beyond(self.simulated, spec)


def rates_beyond(last_level: int, spec: LaunchSpec) -> tuple[float, float, float]:
    size = walked(spec)[0] * PATTERNS[spec.argv[1].decode()]
    if size <= 32 << 10:
        return 20.0, 0.0, 0.0
    return (16.0, 4.0, 0.0) if size <= last_level else (16.0, 1.0, 3.0)


def probe(rung: Rung, iterations: int) -> LaunchSpec:
    words = ("probe", rung.pattern, rung.elements, iterations)
    return LaunchSpec(program=b"probe", argv=tuple(str(word).encode() for word in words), env=())


# --- the ladder


def test_the_ladder_spans_the_caches_in_every_pattern() -> None:
    assert Tally(rung.pattern for rung in RUNGS) == dict.fromkeys(PATTERNS, SIZES)
    for pattern in PATTERNS:
        sizes = [rung.size_bytes for rung in RUNGS if rung.pattern == pattern]
        assert sizes == sorted(sizes)
        assert sizes[0] <= Caches().d1[0] / 4
        assert 3.9 * Caches().ll[0] < sizes[-1] <= 4 * Caches().ll[0]


def test_linear_and_random_walk_over_the_same_elements() -> None:
    elements = {pattern: [rung.elements for rung in RUNGS if rung.pattern == pattern] for pattern in PATTERNS}
    assert elements["linear-i32"] == elements["random-i32"]
    assert elements["linear-u64"] == elements["random-u64"]


def test_what_comes_before_the_walk_fills_the_last_level() -> None:
    lines = Caches().ll[0] // 64
    assert all(rung.before == min(rung.elements, lines) for rung in RUNGS)


def test_the_ladder_leaves_the_machine_its_memory() -> None:
    assert max(rung.size_bytes for rung in ladder(Caches(), 128 << 20)) <= 8 << 20
    assert ladder(Caches(), 1)  # a machine that cannot be


@pytest.mark.parametrize("most", [3, 4, 100, 1000, 5000])
def test_a_whole_walk_comes_by_all_elements_but_one(most: int) -> None:
    elements = whole_walk(most)
    assert most / 2 <= elements <= most
    seen, index = set(), 0
    while index not in seen:
        seen.add(index)
        index = (48_271 * index + 1) % elements
    assert len(seen) >= elements - 1


# --- measuring


def measure(rungs: Sequence[Rung], tools: Instruments, *, repeats: int, seed: int) -> list[Point]:
    return counted(rungs, timed(rungs, tools, repeats=repeats, seed=seed), tools)


def test_times_and_counts_are_of_the_walk_alone() -> None:
    machine = Machine()
    points = measure(RUNGS, machine.instruments(), repeats=2, seed=1)
    assert [(point.pattern, point.elements) for point in points] == [(rung.pattern, rung.elements) for rung in RUNGS]
    for point in points:
        l1, ll, ram = rates(point.elements)
        assert (point.l1, point.ll, point.ram) == pytest.approx((l1, ll, ram))
        assert point.ns == pytest.approx(l1 * L1_NS + ll * LL_NS + ram * RAM_NS, rel=1e-4)
        assert len(point.cpu_before_ns) == len(point.cpu_with_ns) == 2


def test_a_walk_is_launched_next_to_what_comes_before_it() -> None:
    machine = Machine()
    measure(RUNGS, machine.instruments(), repeats=3, seed=1)
    assert len(machine.specs) == 2 * 3 * len(RUNGS)
    first = 0
    for one, other in zip(machine.specs[::2], machine.specs[1::2], strict=True):
        assert one.argv[1:3] == other.argv[1:3]
        assert abs(walked(one)[1] - walked(other)[1]) == TIMED_ITERATIONS
        first += walked(one)[1] < walked(other)[1]
    assert 0.2 < first / (3 * len(RUNGS)) < 0.8
    counted = Tally(walked(spec)[1] for spec in machine.counted)
    assert counted == Tally(rung.before + more for rung in RUNGS for more in (0, COUNTED_ITERATIONS))


def test_each_repeat_visits_all_points_in_another_random_order() -> None:
    machine, again, other = Machine(), Machine(), Machine()
    for each, seed in ((machine, 1), (again, 1), (other, 2)):
        measure(RUNGS, each.instruments(), repeats=2, seed=seed)
    rounds = [spec.argv[1:3] for spec in machine.specs[::2]]
    one, two = rounds[: len(RUNGS)], rounds[len(RUNGS) :]
    assert sorted(one) == sorted(two)
    assert one != two
    assert one != sorted(one)
    assert [spec.argv for spec in machine.specs] == [spec.argv for spec in again.specs]
    assert [spec.argv for spec in machine.specs] != [spec.argv for spec in other.specs]


def test_a_disturbed_repeat_moves_nothing() -> None:
    # The first round: one launch of each point takes 50 ms more.
    machine = Machine(disturb=lambda number: 50_000_000 if number < 2 * len(RUNGS) and number % 2 else 0)
    points = measure(RUNGS, machine.instruments(), repeats=5, seed=1)
    quiet = measure(RUNGS, Machine().instruments(), repeats=5, seed=1)
    assert [point.ns for point in points] == pytest.approx([point.ns for point in quiet], rel=1e-6)


def test_without_exact_times_the_kernels_totals_serve() -> None:
    points = measure(RUNGS, Machine(without_cpu=True).instruments(), repeats=1, seed=1)
    assert points == measure(RUNGS, Machine().instruments(), repeats=1, seed=1)


def test_who_watches_hears_of_both_parts() -> None:
    machine = Machine()
    measure(RUNGS, machine.instruments(), repeats=2, seed=1)
    last = {progress.benchmark: progress for progress in machine.heard}
    assert {name: (each.done, each.limit) for name, each in last.items()} == {
        "timing": (2 * len(RUNGS), 2 * len(RUNGS)),
        "counting": (2 * len(RUNGS), 2 * len(RUNGS)),
    }


@pytest.mark.parametrize("after", [0, 1, 50, 2 * len(RUNGS), 2 * len(RUNGS) + 7])
def test_whoever_stops_it_gets_nothing(after: int) -> None:
    machine = Machine(stop_after=after)
    with pytest.raises(InterruptedBeforeStart, match="nothing of it is stored"):
        measure(RUNGS, machine.instruments(), repeats=1, seed=1)
    assert len(machine.specs) + len(machine.counted) == after


def test_a_launch_that_was_killed_by_the_interrupt_is_no_failure() -> None:
    machine = Machine(measured=replace(PLAIN, cancelled=True, signal=9, exit_code=None))
    with pytest.raises(InterruptedBeforeStart):
        measure(RUNGS, machine.instruments(), repeats=1, seed=1)


@pytest.mark.parametrize(
    ("failed", "how"),
    [
        (replace(PLAIN, exit_code=101, stderr=b"memory allocation failed\n"), "exit status 101; memory allocation"),
        (replace(PLAIN, exit_code=None, signal=9), "signal 9; it said nothing"),
    ],
)
def test_a_probe_that_fails_is_an_error(failed: Measured, how: str) -> None:
    with pytest.raises(MeasurementError, match=how):
        measure(RUNGS, Machine(measured=failed).instruments(), repeats=1, seed=1)


def test_a_walk_that_takes_no_time_is_an_error() -> None:
    rungs = [Rung("chase", 101, 101)]
    slow_start = Machine(disturb=lambda number: 10**9 if number == first_side(1, 0, 0) else 0)
    with pytest.raises(MeasurementError, match="--repeats"):
        measure(rungs, slow_start.instruments(), repeats=1, seed=1)


# --- the last level


def test_the_last_level_that_explains_the_times_best_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine says 8 MiB, and has 2: what is larger is slow.
    says = {"L1i": "32K", "L1d": "32K", "L2": "8M"}
    opened: list[int] = []

    @contextmanager
    def scripted(_: Valgrind, caches: Caches, **_words: object) -> Iterator[Instruments]:
        opened.append(caches.ll[0])
        yield SharedMachine(has=2 << 20, simulated=caches.ll[0]).instruments()

    facts = read_facts().model_copy(update={"caches": says})
    monkeypatch.setattr(design, "instruments", scripted)
    monkeypatch.setattr(design, "read_facts", lambda: facts)
    monkeypatch.setattr(Valgrind, "found", lambda: Valgrind(Path("/bin/true"), "3.19.0"))
    found = calibrate(jobs=1, repeats=1, seed=1, watch=lambda _: None)
    assert opened == [8 << 20, 4 << 20, 2 << 20, 1 << 20]
    assert (found.caches.name, found.caches.ll[0]) == ("fit", 2 << 20)
    errors = {level.size_bytes: level.error for level in found.last_levels}
    assert errors[2 << 20] == pytest.approx(0, abs=1e-3)
    assert errors[8 << 20] > 0.1
    with pytest.raises(UsageError, match="choose from fit, article"):
        calibrate(jobs=1, repeats=1, seed=1, watch=lambda _: None, caches="none")
    said = calibrate(jobs=1, repeats=1, seed=1, watch=lambda _: None, caches="host")
    assert (said.caches.name, said.caches.ll[0], len(said.last_levels)) == ("host", 8 << 20, 1)


# --- the real thing


def test_real_probes_under_a_real_valgrind() -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed: no real walk was counted")
    if not native.PROBES.is_file():
        pytest.skip("the probes are not built: no real walk was counted")
    found, rung = Valgrind.found(), Rung("random-i32", whole_walk(50_000), 0)
    linear = replace(rung, pattern="linear-i32")
    with instruments(found, Caches(), jobs=2, watch=lambda _: None) as tools:
        linear_point, random_point = measure([linear, rung], tools, repeats=1, seed=1)
    assert random_point.events["Ir"] == pytest.approx(linear_point.events["Ir"], abs=1000)
    assert linear_point.ll + linear_point.ram == pytest.approx(0.25, abs=0.05)
    assert random_point.ll + random_point.ram > 2


def test_missing_probes_are_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native, "PROBES", tmp_path / "none")
    with (
        pytest.raises(MeasurementError, match="reinstall steelyard"),
        instruments(Valgrind(Path("/bin/true"), "3.19.0"), Caches(), jobs=1, watch=lambda _: None),
    ):
        pass
