"""When pairs are tried in the other way of pairing, and what they say."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.timing.trial import (
    FEWEST_TRIED,
    FIRST_AFTER,
    FIRST_ALONE_AFTER,
    FOR_EACH_ALONE,
    FOR_EACH_TRIED,
    LOOKS_BACK,
    MOST_TRIED,
    MeasuredPair,
    Trial,
)


def trial(judged: int, other: int, *, times: float = 1.0, seconds: float = 1.0) -> Trial:
    """Return a trial: sizes of 0.01 +- half of that in the first way, and `times` as large in the other."""
    sizes = 0.01 * (1 + 0.5 * np.linspace(-1, 1, judged)), times * 0.01 * (1 + 0.5 * np.linspace(-1, 1, other))
    ran = (
        [MeasuredPair(float(size), 1.0) for size in sizes[0]],
        [MeasuredPair(float(size), seconds) for size in sizes[1]],
    )
    return Trial(False, *ran)


@pytest.mark.parametrize(
    ("begins_beside", "when"),
    [
        (False, [FIRST_AFTER, 2 * FOR_EACH_TRIED, 3 * FOR_EACH_TRIED, 4 * FOR_EACH_TRIED]),
        (True, [FIRST_ALONE_AFTER, FIRST_ALONE_AFTER, 3 * FOR_EACH_ALONE, 4 * FOR_EACH_ALONE]),
    ],
)
def test_no_more_than_one_for_so_many_is_tried(begins_beside: bool, when: list[int]) -> None:
    found, due = Trial(begins_beside), []
    for judged in range(1, 120):
        found.judged.append(MeasuredPair(0.01, 1.0))
        while found.is_due:
            due.append(judged)
            found.other.append(MeasuredPair(0.01, 1.0))
    assert due[:4] == when


@pytest.mark.parametrize("tried", range(1, MOST_TRIED + 1))
def test_a_tenth_of_the_noise_is_believed_and_so_is_ten_times_as_much(tried: int) -> None:
    enough = tried >= FEWEST_TRIED
    assert trial(100, tried, times=0.1).is_better(chosen=False) is (True if enough else None)
    assert trial(100, tried, times=10).is_better(chosen=False) is (False if enough else None)


def test_what_is_about_alike_is_tried_to_the_end_and_then_left() -> None:
    answers = [trial(100, tried, times=0.7).is_better(chosen=False) for tried in range(MOST_TRIED + 1)]
    assert answers == [None] * MOST_TRIED + [False]


def test_time_counts_as_well_as_noise() -> None:
    assert trial(100, MOST_TRIED, times=0.4).is_better(chosen=False)
    assert trial(100, MOST_TRIED, times=0.4, seconds=4).is_better(chosen=False) is False


def test_what_was_chosen_is_asked_now_and_then_whether_it_still_is_better() -> None:
    answers = {tried: trial(100, tried, times=2).is_better(chosen=True) for tried in range(60)}
    assert {tried for tried, answer in answers.items() if answer is not None} == {*LOOKS_BACK}
    assert set(answers.values()) == {None, False}
    assert {trial(100, tried, times=0.5).is_better(chosen=True) for tried in LOOKS_BACK} == {None}


def test_a_change_of_every_pair_is_no_spread() -> None:
    found = trial(100, MOST_TRIED)
    moved = Trial(False, [MeasuredPair(one.size + 0.5, 1.0) for one in found.judged], found.other)
    assert moved.relative_cost() == pytest.approx(found.relative_cost())
