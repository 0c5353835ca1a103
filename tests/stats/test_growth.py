from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
import pytest

from steelyard.stats.growth import Memory, constant_share, excess, memory, rise, shift, trend

RANDOM = np.random.default_rng(1)
LEVEL = 0.0005


@pytest.fixture(autouse=True)
def draws_of_its_own() -> None:
    """Draw the same numbers for a test, whatever ran before it."""
    RANDOM.bit_generator.state = np.random.default_rng(1).bit_generator.state


def noise(n: int, spread: float = 0.05) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the noise of n pairs, with a stall in one of ten."""
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
    # t(N) = 1 + 3, so a quarter is constant; t(2N) = 1 + 6.
    found = constant_share([log(7 / 8)] * 14, 0.1, LEVEL)
    assert found.shown == "beyond"
    assert found.figure == pytest.approx(0.25)
    assert constant_share(log(0.75) + RANDOM.normal(0, 0.1, 28), 0.1, LEVEL).shown == "beyond"
    assert constant_share(noise(28), 0.1, LEVEL).shown == "within"
    assert constant_share(log(1.15) + noise(28), 0.1, LEVEL).shown == "within"
    assert constant_share([log(0.75)] * 3, 0.1, LEVEL).shown == "perhaps"


def test_excess_is_what_goes_beyond_twice() -> None:
    found = excess([log(2)] * 14, 0.25, LEVEL)
    assert found.shown == "beyond"
    assert found.figure == pytest.approx(1.0)
    assert excess(noise(28), 0.25, LEVEL).shown == "within"
    assert excess(log(0.75) + noise(28), 0.25, LEVEL).shown == "within"


def test_any_number_of_loops_is_put_down_to_twice_as_many() -> None:
    # t(N) = 1 + 3, t(16 N) = 1 + 48; and a body that takes as many ns as it has run before.
    assert constant_share([log(49 / 16 / 4)] * 14, 0.1, LEVEL, times=16).figure == pytest.approx(0.25)
    assert excess([log(16)] * 14, 0.25, LEVEL, times=16).figure == pytest.approx(1.0)
    assert excess([log(1.5)] * 14, 0.25, LEVEL, times=16).shown == "within"


Paths = np.ndarray[tuple[int, int, int], np.dtype[np.float64]]
LAUNCHES, SAMPLES = 14, 39


def steps(n: int, spread: float) -> Paths:
    return np.asarray(RANDOM.normal(0, spread, (n, LAUNCHES, SAMPLES)))


def alike(n: int) -> Paths:
    """Return samples whose noise is independent."""
    return steps(n, 0.1)


def correlated(n: int, share: float = 0.95) -> Paths:
    """Return samples that keep a share of the noise of the one before."""
    noise = steps(n, 0.1)
    for place in range(1, SAMPLES):
        noise[..., place] += share * noise[..., place - 1]
    return noise


def wandering(n: int) -> Paths:
    return correlated(n, share=1.0)


def beside_others(n: int) -> Paths:
    """Return samples beside other work that comes and goes for a few samples, and makes them 1.7 times as long."""
    return log(1.7) * (wandering(n) > 0) + steps(n, 0.02)


NOISES = [alike, correlated, wandering, beside_others]
GROWTH = np.linspace(0, 1, SAMPLES)


def thirds_of(paths: Paths) -> Paths:
    parts = [np.median(part, axis=-1) for part in np.array_split(paths, 3, axis=-1)]
    return np.asarray(np.stack(parts, axis=-1))


def risen(paths: Paths, level: float = LEVEL) -> int:
    """Return how many of these tries, given as logs of times, are found to rise by over a quarter."""
    return sum(rise(one, 0.25, level).shown == "beyond" for one in thirds_of(np.exp(paths)))


@pytest.mark.parametrize("noise", NOISES)
def test_samples_that_hang_on_each_other_do_not_rise(noise: Callable[[int], Paths]) -> None:
    assert risen(noise(1000)) == 0


@pytest.mark.parametrize("noise", NOISES)
def test_a_rise_just_at_the_threshold_is_found_as_rarely_as_the_level_says(noise: Callable[[int], Paths]) -> None:
    edge = GROWTH * log(1.25) * (SAMPLES - 1) / 26  # from the middle of the first third to that of the last
    tries, level = 2000, 0.05
    assert risen(noise(tries) + edge, level) <= tries * level / 2 + 3 * (tries * level / 2) ** 0.5


@pytest.mark.parametrize("noise", [*NOISES, lambda n: 0 * alike(n)])
@pytest.mark.parametrize("falls", ["at once", "slowly", "and comes to an end"])
def test_a_warm_up_that_falls_is_no_rise(noise: Callable[[int], Paths], falls: str) -> None:
    shapes = {"at once": 1.0 * (GROWTH < 0.1), "slowly": -GROWTH, "and comes to an end": np.exp(-10 * GROWTH)}
    assert risen(noise(500) + shapes[falls]) == 0


@pytest.mark.parametrize("power", [0.5, 1, 2, 3])
def test_times_that_rise_all_the_while_are_found(power: float) -> None:
    steady = np.log(1 + 3 * GROWTH**power)
    assert risen(alike(200) + steady) == 200
    assert risen(correlated(200, 0.8) + steady) >= 160


def test_one_step_and_a_rise_that_comes_to_an_end_are_something_else() -> None:
    for place in (0.2, 0.34, 0.66, 0.8):  # a step in the middle of a third would put its median in between
        assert risen(0.3 * alike(200) + log(2) * (place < GROWTH)) == 0
    assert risen(0.3 * alike(200) - np.exp(-12 * GROWTH)) == 0


def test_few_launches_may_rise_and_do_not_show_it() -> None:
    few = thirds_of(np.exp(alike(1) + GROWTH))[0, :5]
    assert rise(few, 0.25, LEVEL).shown == "perhaps"


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
    """Return launches on a machine on which other work comes and goes, for several launches each time."""
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


def test_of_a_trend_only_what_others_beside_do_not_have_is_shown() -> None:
    rising, faster = np.linspace(1, 1.5, 100), np.linspace(1, 2, 100)

    def shown(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
        return trend(values, 10, 0.1, LEVEL, beside=rising).shown

    assert shown(3 * rising) == "within"
    assert shown(faster) == "beyond"
    assert shown(np.linspace(1, 1.2, 100)) == "within"
    assert shown(np.ones(100)) == "within"
    # The lesser trend counts: a little more than the others', or a little where the others' is the opposite.
    assert shown(np.linspace(1, 1.55, 100)) == "within"
    assert trend(np.linspace(1, 1.05, 100), 10, 0.1, LEVEL, beside=rising[::-1]).shown == "within"
    assert trend(rising, 10, 0.1, LEVEL, beside=np.ones(100)).shown == "beyond"
    assert trend(rising, 10, 0.1, LEVEL, beside=[1.0, 2.0]).shown == "beyond"
