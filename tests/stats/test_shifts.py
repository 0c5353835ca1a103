from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.shifts import chances_of_higher


@pytest.mark.parametrize(
    ("marked", "values", "chance"),
    [
        ([1, 1, 0, 0, 0, 0], [9, 8, 1, 2, 3, 4], 1 / 6),
        ([0, 0, 1, 1, 0, 0], [9, 8, 1, 2, 3, 4], 1.0),
        ([0, 0, 0, 0, 1, 1], [9, 8, 1, 2, 3, 4], 3 / 6),  # less than at both ends of what is high
        ([1, 0, 1, 0, 1, 0], [5, 1, 5, 1, 5, 1], 3 / 6),  # as high when shifted by two
        ([1, 0, 0, 0], [7, 7, 7, 7], 1.0),
        ([1, 1, 1, 1], [1, 2, 3, 4], 1.0),
        ([0, 0, 0, 0], [1, 2, 3, 4], 1.0),
        ([], [], 1.0),
    ],
)
def test_of_all_shifts_those_are_counted_at_which_it_is_as_high(
    marked: list[int], values: list[float], chance: float
) -> None:
    assert chances_of_higher(marked, values) == pytest.approx([chance])


def _phases(random: np.random.Generator, number: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return phases of 0 and 1 that last for 30 on average."""
    return (np.cumsum(random.random(number) < 1 / 30) + random.integers(2)) % 2


def test_phases_that_have_nothing_to_do_with_each_other_seldom_look_as_if_they_had() -> None:
    random = np.random.default_rng(5)
    chances = [
        chances_of_higher(_phases(random, 120), _phases(random, 120) + random.normal(0, 0.3, 120)) for _ in range(2000)
    ]
    assert np.mean(np.array(chances) <= 0.02) < 0.03  # by a rank-sum test it would be a third


def test_the_same_phases_are_found() -> None:
    random = np.random.default_rng(6)
    phases = [_phases(random, 400) for _ in range(50)]
    chances = [chances_of_higher(one, 0.03 * one + random.normal(0, 0.02, 400)) for one in phases]
    assert np.mean(np.array(chances) <= 0.02) > 0.9


def test_of_several_marks_none_seldom_looks_as_if_it_had_to_do_with_the_values() -> None:
    random = np.random.default_rng(7)
    told = 0
    for _ in range(2000):
        marks = np.array([_phases(random, 60) for _ in range(5)])
        told += bool((chances_of_higher(marks, _phases(random, 60) + random.normal(0, 0.3, 60)) <= 0.02).any())
    assert told / 2000 < 0.04  # a tenth, if each mark were judged by itself


def test_of_several_marks_the_one_that_goes_with_the_values_is_found() -> None:
    random = np.random.default_rng(8)
    found = []
    for _ in range(50):
        marks = np.array([_phases(random, 200) for _ in range(5)])
        chances = chances_of_higher(marks, 0.03 * marks[2] + random.normal(0, 0.02, 200))
        found.append([place for place, chance in enumerate(chances) if chance <= 0.02])
    assert np.mean([one == [2] for one in found]) > 0.6


def test_what_marks_nothing_or_all_takes_nothing_from_the_others() -> None:
    one, values = [1, 1, 0, 0, 0, 0], [9, 8, 1, 2, 3, 4]
    assert chances_of_higher([[0] * 6, one, [1] * 6], values) == pytest.approx([1.0, 1 / 6, 1.0])
