from __future__ import annotations

from math import log

import numpy as np
import pytest

from steelyard.stats.growth import Memory, constant_share, excess, memory, shift, trend

RANDOM = np.random.default_rng(1)
LEVEL = 0.0005


def noise(n: int, spread: float = 0.05) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Noise of pairs, with one stall in ten."""
    return np.asarray(RANDOM.normal(0, spread, n) + (RANDOM.random(n) < 0.1) * RANDOM.choice([-1, 1], n))


def test_a_shift_needs_to_be_beyond_the_threshold_whole() -> None:
    assert shift(0.5 + noise(28), 0.1, LEVEL).shown == "beyond"
    assert shift(-0.5 + noise(28), 0.1, LEVEL).shown == "beyond"
    assert shift(noise(28), 0.1, LEVEL).shown == "within"
    assert shift([0.5] * 5, 0.1, LEVEL).shown == "perhaps"
    assert shift([0.25] * 14, 0.1, LEVEL).figure == pytest.approx(np.expm1(0.25))


@pytest.mark.parametrize("n", [14, 28])
def test_no_effect_is_hardly_ever_beyond_and_one_at_the_threshold_rarely(n: int) -> None:
    none = [shift(noise(n), 0.1, LEVEL).shown == "beyond" for _ in range(1000)]
    edge = [shift(log(1.1) + noise(n), 0.1, LEVEL).shown == "beyond" for _ in range(1000)]
    assert sum(none) == 0
    assert sum(edge) <= 4


def test_the_constant_share_is_that_of_the_line() -> None:
    # t(N) = 1 + 3: a quarter; t(2N) = 1 + 6.
    found = constant_share([log(7 / 4)] * 14, 0.1, LEVEL)
    assert found.shown == "beyond"
    assert found.figure == pytest.approx(0.25)
    assert constant_share(log(1.5) + RANDOM.normal(0, 0.1, 28), 0.1, LEVEL).shown == "beyond"
    assert constant_share(log(2) + noise(28), 0.1, LEVEL).shown == "within"
    assert constant_share(log(2.3) + noise(28), 0.1, LEVEL).shown == "within"
    assert constant_share([log(1.5)] * 3, 0.1, LEVEL).shown == "perhaps"


def test_excess_is_what_goes_beyond_twice() -> None:
    found = excess([log(4)] * 14, 0.25, LEVEL)
    assert found.shown == "beyond"
    assert found.figure == pytest.approx(1.0)
    assert excess(log(2) + noise(28), 0.25, LEVEL).shown == "within"
    assert excess(log(1.5) + noise(28), 0.25, LEVEL).shown == "within"


def launches(samples: int, level: float, count: int = 14) -> Memory:
    return Memory(samples, 30e6 + level + RANDOM.normal(0, 50_000, count))


def test_memory_that_grows_on_is_found() -> None:
    each = 200_000
    found = memory(launches(5, 5 * each, 42), launches(14, 14 * each, 7), launches(40, 40 * each), 2**20, LEVEL)
    assert found.shown == "beyond"
    assert found.figure == pytest.approx(each, rel=0.1)


@pytest.mark.parametrize("levels", [(0, 0, 0), (0, 4e6, 4.1e6), (0, 2e5, 6e5), (5e6, 2e6, 0)])
def test_memory_that_comes_to_an_end_is_not(levels: tuple[float, float, float]) -> None:
    few, more, most = levels
    assert memory(launches(5, few, 42), launches(14, more, 7), launches(40, most), 2**20, LEVEL).shown == "within"


def bursts(n: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Launches on a machine on which other work comes and goes, each for some of them."""
    loaded, state = [], False
    for _ in range(n):
        state = state != (RANDOM.random() < 0.1)
        loaded.append(state)
    return np.asarray(np.where(loaded, 1.4, 1.0) * np.exp(RANDOM.normal(0, 0.03, n)))


def test_a_trend_is_found_among_bursts_and_bursts_are_none() -> None:
    n = 400
    found = [trend(bursts(n) * np.linspace(1, 2, n), 10, 0.1, LEVEL).shown for _ in range(100)]
    assert found.count("beyond") >= 98
    none = [trend(bursts(n), 10, 0.1, LEVEL).shown for _ in range(1000)]
    assert none.count("beyond") == 0
    falling = trend(np.linspace(2, 1, n), 10, 0.1, LEVEL)
    assert (falling.shown, falling.figure < -0.3) == ("beyond", True)


def test_few_launches_have_no_trend() -> None:
    assert trend([1.0, 2.0, 3.0], 10, 0.1, LEVEL).shown == "within"


def test_a_rise_that_chance_may_have_made_is_none_yet() -> None:
    up_and_down = np.repeat([1, 1, 1, 5, 0.5, 5, 0.5, 1.2, 1.2, 1.2], 2)
    assert trend(up_and_down, 10, 0.1, LEVEL).shown == "perhaps"
    assert trend(np.linspace(1, 1.01, 20), 10, 0.1, LEVEL).shown == "within"
