from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.clock import clock_quantisation, step_of_few


def test_a_fine_clock_quantisations_nothing() -> None:
    values = np.random.default_rng(0).normal(12e6, 1e5, 30)
    assert clock_quantisation(values, values + 1) == 0.0


def test_a_stall_makes_no_tick_of_its_length() -> None:
    values = np.append(np.full(11, 12.0), 12_000.0)
    assert clock_quantisation(values, values) == 2.0


def test_a_tick_hides_as_much_as_two_ticks() -> None:
    values = np.array([12.0, 13.0] * 10)
    assert clock_quantisation(values, values) == pytest.approx(2 / 12.5)


@pytest.mark.parametrize(
    ("value", "tick"),
    [(12.0, 4.0), (3.0, 1.0), (8e9, 8e9), (937.8, 0.2), (1.25e6, 5e4), (3.217, 0.001), (7e-3, 1e-3), (np.pi, 8e-9)],
)
def test_one_value_alone_is_known_to_its_last_digit(value: float, tick: float) -> None:
    assert clock_quantisation(np.full(10, value), np.full(10, value)) == pytest.approx(2 * tick / value)


@pytest.mark.parametrize(
    ("baseline", "candidate", "step"),
    [
        ([100.0] * 6, [102.0] * 6, 2 / 101),
        ([100.0, 104.0] * 6, [101.0, 104.0] * 6, 1 / 102.5),
        ([100.0] * 6, [100.0] * 6, 0.0),
        (np.arange(100.0, 106), np.arange(200.0, 206), 0.0),
        (np.arange(100.0, 106), np.arange(100.0, 106), 1 / 102.5),
        (np.arange(100.0, 106), np.arange(101.0, 107), 0.0),
        ([1.0] + [5.0] * 5, [5.0] * 6, 1 / 5),
    ],
)
def test_few_different_values_have_a_step_and_one_or_many_have_none(
    baseline: list[float], candidate: list[float], step: float
) -> None:
    assert step_of_few(np.array(baseline), np.array(candidate)) == pytest.approx(step)
