"""Times in another unit are found, and nothing else is taken for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from steelyard.design.check.unit import Take, Timed, unit_trouble

LOOPS = 1_000
EACH_NS = 1_500.0
FEW = 5
"""How many may be wrong, of 500 programs whose starts vary by a factor of e, as on no machine."""


def launches(
    factor: float = 1.0, *, start_ns: float = 2e6, prepare: float = 0.0, starts: Callable[[], float] = lambda: 1.0
) -> Take:
    """Return a program that tells `factor` times its times, and prepares for `prepare` times as long as it works."""

    def take(loops: int) -> Timed:
        work_ns = EACH_NS * loops
        return Timed(max(1, round(factor * work_ns)), round(start_ns * starts() + work_ns * (1 + prepare)))

    return take


def usual_loops(factor: float) -> int:
    """Return the loops of a sample that tells 1.5 ms."""
    return max(1, round(1_500_000 / (factor * EACH_NS)))


@pytest.mark.parametrize("factor", [1e-3, 1e-6])
def test_times_in_a_larger_unit(factor: float) -> None:
    said = unit_trouble(launches(factor), usual_loops(factor))
    assert said is not None
    assert "does it tell in another unit, or prepare so long" in said


@pytest.mark.parametrize("factor", [2.4, 10.0, 1e3, 1e6])
def test_times_in_a_smaller_unit(factor: float) -> None:
    said = unit_trouble(launches(factor, start_ns=1e9), usual_loops(factor))
    assert said is not None
    assert "does it tell in another unit, or of time that did not pass" in said


def test_the_sentence_has_both_figures() -> None:
    said = unit_trouble(launches(1e-3), usual_loops(1e-3))
    assert said == (
        "133,334 iterations more made its launch 0.2 s longer, and it told of 0.2 ms more: does it tell in another "
        "unit, or prepare so long for each iteration?"
    )


def test_another_unit_is_found_without_a_usual_sample_in_each_launch() -> None:
    taken = list[int]()
    take = launches(1e-3)

    def noted(loops: int) -> Timed:
        taken.append(take(loops).wall_ns)
        return take(loops)

    assert unit_trouble(noted, usual_loops(1e-3)) is not None
    assert sum(taken) < 5e9


@pytest.mark.parametrize("loops", [1, LOOPS])
@pytest.mark.parametrize("start_ns", [1e6, 30e9])
@pytest.mark.parametrize("prepare", [0.0, 100.0])
def test_a_long_start_and_preparing_are_no_other_unit(loops: int, start_ns: float, prepare: float) -> None:
    assert unit_trouble(launches(start_ns=start_ns, prepare=prepare), loops) is None


def test_a_start_that_is_now_short_and_now_long_is_no_other_unit() -> None:
    random = np.random.default_rng(1)

    def lengths() -> Iterator[float]:
        while True:
            yield float(np.exp(random.standard_normal()))

    each = lengths()
    for start_ns in (1e7, 1e9):
        found = [unit_trouble(launches(start_ns=start_ns, starts=lambda: next(each)), LOOPS) for _ in range(500)]
        assert sum(said is not None for said in found) <= FEW, start_ns
