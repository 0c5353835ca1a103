"""Pairs in lockstep, whose samples alternate: from rows to what is judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from steelyard.model.launches import Launches
from steelyard.model.rows import LaunchRow, Sample
from steelyard.report.lockstep import pair_values
from tests.model.samples import row

LOOPS = 10
# A fast and a slow phase; in the middle of each, the order of the sides by size changes.
BASELINE = [900, 1000, 1000, 1400, 1400, 1500]
CANDIDATE = [999, 1030, 1050, 1442, 1500, 1545]


def launch(pair: int, side: int, times: list[int], first: int | None = None, **more: Any) -> LaunchRow:
    order = None if first is None else (side + first) % 2
    samples = tuple(Sample(LOOPS, time * LOOPS, time * LOOPS, 0, order) for time in times)
    return row(pair, side, samples=samples, **more)


def values(*rows: LaunchRow, metric: str = "active") -> tuple[np.ndarray, np.ndarray]:
    launches = Launches.of_rows(list(rows))
    return pair_values(launches, launches.complete_pairs(0), metric)


@pytest.mark.parametrize("metric", ["active", "wall", "cpu"])
def test_the_ratio_is_that_of_neighbours_and_the_level_that_of_the_medians(metric: str) -> None:
    baseline, candidate = values(launch(0, 0, BASELINE, 0), launch(0, 1, CANDIDATE, 0), metric=metric)
    within = np.median(np.log(np.array(CANDIDATE) / BASELINE)[1:])
    across = np.median(np.log(np.array(CANDIDATE)[1:-1] / np.array(BASELINE)[2:]))
    assert np.log(candidate / baseline) == pytest.approx((within + across) / 2, abs=1e-12)
    assert baseline * candidate == pytest.approx(np.median(BASELINE[1:]) * np.median(CANDIDATE[1:]))


def test_exchanging_the_sides_is_the_reciprocal() -> None:
    one = values(launch(0, 0, BASELINE, 0), launch(0, 1, CANDIDATE, 0))
    other = values(launch(0, 0, CANDIDATE, 1), launch(0, 1, BASELINE, 1))
    assert one[1] / one[0] == pytest.approx(other[0] / other[1], rel=1e-12)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param((BASELINE, None), (CANDIDATE, None), id="taken alone"),
        pytest.param((BASELINE, 0), (CANDIDATE, None), id="one does not say"),
        pytest.param((BASELINE, 0), (CANDIDATE, 1), id="both were first"),
        pytest.param((BASELINE, 0), (CANDIDATE[:-1], 0), id="of another number"),
    ],
)
def test_all_others_are_those_of_medians(
    first: tuple[list[int], int | None], second: tuple[list[int], int | None]
) -> None:
    baseline, candidate = values(launch(0, 0, *first), launch(0, 1, *second))
    assert baseline.tolist() == [np.median(first[0][1:])]
    assert candidate.tolist() == [np.median(second[0][1:])]


def test_a_partner_that_went_in_between_leaves_the_medians() -> None:
    lost = launch(0, 0, BASELINE, 0)
    lost = lost._replace(samples=(*lost.samples[:-1], lost.samples[-1]._replace(order=None)))
    assert values(lost, launch(0, 1, CANDIDATE, 0))[0].tolist() == [np.median(BASELINE[1:])]


def test_of_samples_of_which_one_was_not_in_turn_the_medians_count() -> None:
    second = launch(0, 1, CANDIDATE, 0)
    second = second._replace(samples=(*second.samples[:-1], second.samples[-1]._replace(order=0)))
    baseline, candidate = values(launch(0, 0, BASELINE, 0), second)
    assert (baseline.tolist(), candidate.tolist()) == ([np.median(BASELINE[1:])], [np.median(CANDIDATE[1:])])


def test_pairs_of_both_ways_stand_in_their_order() -> None:
    alone = [launch(1, 0, BASELINE), launch(1, 1, CANDIDATE)]
    in_turn = [launch(number, side, (BASELINE, CANDIDATE)[side], 1) for number in (0, 2) for side in (0, 1)]
    baseline, candidate = values(*in_turn[:2], *alone, *in_turn[2:])
    only, medians = values(*in_turn[:2]), values(*alone)
    assert baseline.tolist() == [only[0][0], medians[0][0], only[0][0]]
    assert candidate.tolist() == [only[1][0], medians[1][0], only[1][0]]


def test_equal_times_stay_what_they_are() -> None:
    baseline, candidate = values(launch(0, 0, [7, 7, 7, 7], 0), launch(0, 1, [9, 9, 9, 9], 0))
    assert (baseline.tolist(), candidate.tolist()) == ([7.0], [9.0]), "rounding would pass for ticks of a clock"


def test_what_is_no_time_is_left_out() -> None:
    times = [1000, 1000, 1000, 1000]
    first, second = launch(0, 0, times, 0), launch(0, 1, [1030] * 4, 0)
    odd = first.samples[2]._replace(delay_ns=20_000)
    first = first._replace(samples=(*first.samples[:2], odd, first.samples[3]))
    baseline, candidate = values(first, second)
    assert candidate / baseline == pytest.approx(1.03)
