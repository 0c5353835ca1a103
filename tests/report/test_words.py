from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.report import words


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (0.08, "1.08 times as long"),
        (2.02, "3.02 times as long"),
        (-0.2, "1.25 times as fast"),
        (-0.9, "10.0 times as fast"),
        (11.5, "12.5 times as long"),
        (1203.0, "1,204 times as long"),
        (0.049, None),
        (-0.049, None),
        (0.0, None),
        (None, None),
        (float("inf"), None),
        (-1.0, None),
    ],
)
def test_of_how_long_it_takes_it_is_how_fast_or_how_long(change: float | None, said: str | None) -> None:
    assert words.speed(change, "active") == said


def test_of_anything_else_it_is_how_much_where_that_is_plainer() -> None:
    assert words.speed(2.02, "max_rss") == "3.02 times as much"
    assert words.speed(-0.75, "instructions") == "0.25 times as much"
    assert words.speed(0.4, "max_rss") is None
    assert words.speed(-0.75, "user") == "0.25 times as much"


@given(st.floats(-0.999, 1e6))
def test_a_time_is_never_less_than_one_time_as_anything(change: float) -> None:
    said = words.speed(change, "wall")
    if said is not None:
        assert float(said.split()[0].replace(",", "")) >= 1.05
        assert said.endswith("as long" if change > 0 else "as fast")


def test_the_words_stand_behind_a_percentage_and_before_it_where_they_are_clearer() -> None:
    said = words.needs_text(0.08, (0.07, 0.09), "active", "the baseline")
    assert said == "needs 8.00 % more time than the baseline: 1.08 times as long"
    assert words.needs_text(-0.01, (-0.02, -0.005), "active", "A") == "needs 1.00 % less time than A"
    assert words.needs_text(2.0, (1.9, 2.1), "active", "A") == "takes 3.00 times as long as A [2.90, 3.10]"
    assert words.needs_text(-0.75, (-0.8, -0.7), "wall", "A") == "is 4.00 times as fast as A [3.33, 5.00]"
    assert words.needs_text(3.0, None, "max_rss", "A") == "needs 4.00 times the max_rss of A"
    assert words.needs_text(2.0, (2.0, 2.0), "instructions", "A") == "needs 3.00 times the instructions of A"
    assert words.needs_text(0.5, None, "max_rss", "A") == "needs 50.0 % more max_rss than A"
    assert words.needs_text(-0.1, None, "instructions", "A") == "needs 10.0 % fewer instructions than A"
    assert words.needs_text(-0.1, None, "cost", "A") == "needs 10.0 % less cost than A"
    assert words.needs_text(0.5, None, "sys", "A") == "needs 50.0 % more sys time than A"
    assert words.needs_text(-0.75, (-0.8, -0.7), "delay", "A") == "needs 0.25 times the delay time of A [0.2, 0.3]"
    assert words.needs_text(-0.1, None, "unheard-of", "A") == "needs 10.0 % less unheard-of than A"
    assert words.needs_text(-0.75, (-1.0, -0.7), "wall", "A").endswith("[3.33, inf]")
