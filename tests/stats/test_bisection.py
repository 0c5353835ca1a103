from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.stats.bisection import (
    ENDS_SHARE,
    LAST_SHARE,
    STEPS_SHARE,
    Compared,
    Search,
    exact_bad_end,
    side_of,
    step_margin,
    steps_needed,
)
from steelyard.stats.verdict import verdict_of


def found_by(search: Search, slow: int, skipping: frozenset[int] = frozenset()) -> list[float]:
    """Search to the end with correct answers; return what each answer spent."""
    spent = []
    while (middle := search.middle()) is not None:
        if middle in skipping:
            search.skip(middle)
            continue
        spent.append(search.share())
        search.answer(middle, "bad" if middle >= slow else "good", spent[-1])
    return spent


@given(st.integers(1, 300), st.data())
def test_every_commit_is_found_in_as_many_steps_as_are_needed(commits: int, data: st.DataObject) -> None:
    slow = data.draw(st.integers(1, commits))
    search = Search(commits, 0.01)
    spent = found_by(search, slow)
    assert list(search.suspects) == [slow]
    assert len(spent) <= steps_needed(commits)


@given(st.integers(1, 100), st.data())
def test_whatever_is_skipped_the_slow_one_stays_among_the_suspects_and_the_error_within_its_share(
    commits: int, data: st.DataObject
) -> None:
    slow = data.draw(st.integers(1, commits))
    skipping = frozenset(data.draw(st.sets(st.integers(1, commits))))
    search = Search(commits, 0.01)
    spent = found_by(search, slow, skipping)
    assert slow in search.suspects
    # All but the newest suspect were skipped.
    assert set(search.suspects) - {search.high} <= skipping
    assert sum(spent) < STEPS_SHARE * 0.01
    assert all(share > 0 for share in spent)


def test_the_shares_of_alpha_are_all_of_it() -> None:
    assert ENDS_SHARE + STEPS_SHARE + LAST_SHARE == 1


def test_the_steps_of_a_whole_search_share_evenly() -> None:
    search = Search(64, 0.01)
    assert found_by(search, 17) == pytest.approx([0.005 / 7] * 6)


def test_steps_needed() -> None:
    assert [steps_needed(suspects) for suspects in (1, 2, 3, 4, 5, 64, 65)] == [0, 1, 2, 2, 3, 6, 7]


SAME, FASTER, SLOWER = Compared("same", 0.0), Compared("faster", -0.02), Compared("slower", 0.02)
OPEN = Compared("undecided", 0.01)


@pytest.mark.parametrize(
    ("good", "bad", "side"),
    [
        (FASTER, SAME, "bad"),
        (FASTER, OPEN, "bad"),
        (SAME, SLOWER, "good"),
        (OPEN, SLOWER, "good"),
        (None, SLOWER, "good"),
        (SAME, SAME, None),
        (OPEN, SAME, None),
        (None, None, None),
        # Beyond one end, and open against the other: nothing shows where the change between them is.
        (SLOWER, OPEN, None),
        (OPEN, FASTER, None),
        # Slower than the bad end: the rise comes before it.
        (FASTER, FASTER, "bad"),
        (SLOWER, SLOWER, "good"),
        # Between the ends: the larger part of the change decides.
        (Compared("faster", -0.015), Compared("slower", 0.005), "bad"),
        (Compared("faster", -0.005), Compared("slower", 0.015), "good"),
    ],
)
def test_a_commit_is_like_the_end_that_it_is_not_told_from(
    good: Compared | None, bad: Compared | None, side: str | None
) -> None:
    assert side_of(good, bad) == side


@pytest.mark.parametrize(
    ("change", "side"),
    [(0.0, "good"), (-0.02, "bad"), (-0.021, "bad"), (0.001, "good"), (-0.008, "good"), (-0.012, "bad")],
)
def test_without_error_the_good_end_tells_all(change: float, side: str) -> None:
    margin = step_margin(0.02)
    good = Compared(verdict_of(change, (change, change), margin), change)
    bad = exact_bad_end(good, 0.02, margin)
    assert bad.change == pytest.approx(0.02 + change)
    assert side_of(good, bad) == side


def test_a_step_takes_less_than_half_of_the_change_for_none() -> None:
    assert 0 < step_margin(log(1.02)) < 0.01
    assert step_margin(log(50)) < 1
