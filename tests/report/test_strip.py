from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from steelyard.report.strip import BLOCKS, ZERO, strip

RANDOM = np.random.default_rng(3)
AROUND_ZERO = RANDOM.normal(0.002, 0.01, 200)


@given(
    st.lists(st.floats(-0.99, 1e9) | st.just(0.0) | st.just(float("nan")), max_size=60),
    st.integers(0, 100),
    st.sampled_from(["utf-8", "ascii"]),
)
def test_a_strip_is_one_line_never_wider_than_asked(changes: list[float], width: int, encoding: str) -> None:
    drawn = strip(changes, width, encoding)
    assert cell_len(drawn) <= width
    assert drawn.isprintable()
    assert encoding == "utf-8" or drawn.isascii()


def test_the_ends_are_labelled_and_zero_is_marked_where_it_lies() -> None:
    drawn = strip(np.linspace(-0.02, 0.04, 400), 70)
    assert drawn.startswith("-2.0 % ")
    assert drawn.endswith(" +4.0 %")
    bars = drawn.removeprefix("-2.0 % ").removesuffix(" +4.0 %")
    assert bars.index(ZERO) / (len(bars) - 1) == pytest.approx(1 / 3, abs=0.05)


def test_every_value_left_of_the_mark_is_negative() -> None:
    left, right = strip([-0.03, -0.02, -0.02, -0.01, 0.01], 60).split(ZERO)
    assert any(block in left for block in BLOCKS)
    assert sum(block in BLOCKS for block in right) == 1


def test_the_tallest_bar_stands_where_most_values_lie() -> None:
    drawn = strip([0.0] * 3 + [0.01] * 40 + [0.02] * 3 + [0.005, 0.015, 0.012, 0.008], 60)
    bars = drawn.split(ZERO)[1]
    assert bars.count(BLOCKS[-1]) == 1
    assert bars.index(BLOCKS[-1]) > 0


def test_stragglers_are_cut_and_counted() -> None:
    calm = strip(AROUND_ZERO, 60)
    stalled = strip([*AROUND_ZERO, 0.8, 0.9, 12.0], 60)
    assert "(3 beyond)" in stalled
    assert "beyond" not in calm
    assert stalled.removesuffix("  (3 beyond)") == calm


def test_zero_far_away_is_named_beside_the_strip() -> None:
    assert strip(AROUND_ZERO + 0.3, 60).startswith("0 < +27 % ")
    assert strip(AROUND_ZERO - 0.3, 60).endswith("-26 % < 0")
    assert ZERO not in strip(AROUND_ZERO + 0.3, 60)


def test_zero_nearby_is_drawn() -> None:
    assert strip(np.linspace(0.01, 0.04, 50), 60).startswith("0 % " + ZERO)


def test_twenty_columns_still_carry_both_ends_the_mark_and_the_overflow() -> None:
    drawn = strip([*AROUND_ZERO, 0.8], 19)
    assert drawn.startswith("-2.")
    assert ZERO in drawn
    assert "%(1)" in drawn


def test_values_beside_many_equal_ones_are_drawn() -> None:
    drawn = strip([0.0] * 21 + [0.47] * 7, 60)  # the upper quartile lies between the two values
    assert drawn.startswith(f"0 % {ZERO}█")
    assert drawn.endswith(" +47 %")


def test_equal_values_say_so() -> None:
    assert strip([0.01] * 9, 60) == "all at +1.00 %"


def test_coarse_clocks_still_show_what_differs() -> None:
    drawn = strip([0.0] * 30 + [-0.1] * 5 + [0.1] * 5, 60)
    assert drawn.startswith("-10 %")
    assert drawn.endswith("+10 %")


@pytest.mark.parametrize("changes", [[], [0.1], [float("nan")] * 5])
def test_too_little_draws_nothing(changes: list[float]) -> None:
    assert strip(changes, 60) == ""
