from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from benchmarks.simulation import trace
from scipy import stats

from steelyard.stats.level import level_interval
from steelyard.stats.summary import median_interval


def share_held(n: int, alike: float, tries: int = 200) -> float:
    """Return how often the 99 % interval of n values holds their level; `alike` is their autocorrelation."""
    generator = np.random.default_rng(1)
    noise = generator.standard_normal((n, tries))
    noise[0] /= np.sqrt(1 - alike**2)
    for launch in range(1, n):
        noise[launch] += alike * noise[launch - 1]
    found = [level_interval(np.exp(0.01 * values), 0.01) for values in noise.T]
    return float(np.mean([one is not None and one[0] <= 1.0 <= one[1] for one in found]))


@pytest.mark.parametrize(
    ("n", "alike", "least"), [(40, 0.0, 0.98), (40, 0.5, 0.96), (200, 0.5, 0.97), (200, 0.9, 0.95)]
)
def test_launches_that_are_alike_have_a_wider_interval(n: int, alike: float, least: float) -> None:
    assert share_held(n, alike) >= least


def test_the_interval_is_of_the_machine_as_it_was_while_the_launches_ran() -> None:
    """However slowly the machine changes: no claim is made about what a longer run would have seen."""
    generator = np.random.default_rng(1)
    held = []
    for _ in range(200):
        phases = np.cumsum(generator.normal(0, 0.2, 16))
        launches, others = phases + generator.standard_normal(16), phases + generator.standard_normal((200, 16))
        found = level_interval(np.exp(0.01 * launches), 0.01)
        held.append(found is not None and found[0] <= np.median(np.exp(0.01 * others)) <= found[1])
    assert np.mean(held) >= 0.99


def test_most_stretches_of_a_trace_hold_its_level() -> None:
    times = trace("ambient", "active").ravel()
    found = [level_interval(times[start : start + 400], 0.01) for start in range(0, len(times) - 400, 40)]
    level = np.median(times)
    assert np.mean([one is not None and one[0] <= level <= one[1] for one in found]) >= 0.8


def test_launches_that_are_not_alike_have_little_more_than_that_of_their_order() -> None:
    generator = np.random.default_rng(1)
    wider = []
    for _ in range(100):
        values = 10.0 + generator.standard_normal(200)
        found, of_order = level_interval(values, 0.01), median_interval(values, 0.01)
        assert found is not None
        assert of_order is not None
        assert found[0] <= of_order[0]
        assert found[1] >= of_order[1]
        wider.append((found[1] - found[0]) / (of_order[1] - of_order[0]))
    assert np.mean(wider) < 1.35


@pytest.mark.parametrize(
    ("medians", "wider"),
    [
        ([0.0, 4, 1, 5, 2, 6, 3, 7], 1.0),
        ([0.0, 1, 2, 3, 4, 5, 6, 7], sqrt(1.75 / 0.25)),
        ([3.0, 3, 2, 1, -1, -2, -3, -3], 3.0),
    ],
)
def test_it_is_that_of_the_mean_of_blocks_wider_by_how_far_neighbours_are_alike(
    medians: list[float], wider: float
) -> None:
    blocks = np.array(medians)[:, None] + [900.0, 1000.0, 1000.0, 1000.0, 1100.0]
    found = level_interval(blocks.ravel(), 0.01)
    assert found is not None
    half_width = stats.t.ppf(0.995, 7) * np.std(medians, ddof=1) / sqrt(8) * wider
    assert found == pytest.approx(np.median(medians) + 1000 + np.array([-half_width, half_width]))


def test_few_values_and_equal_ones_have_that_of_their_order() -> None:
    few = np.arange(1.0, 16.0)
    assert level_interval(few, 0.01) == median_interval(few, 0.01)
    assert level_interval(few[:5], 0.01) is None
    assert level_interval(np.full(40, 3.0), 0.01) == (3.0, 3.0)
    # With many benchmarks the error of each is so small that it takes more launches than blocks do.
    assert level_interval(np.arange(1.0, 17.0), 1e-6) is None


def test_no_end_lies_beyond_all_launches() -> None:
    """If two modes take turns in phases, the blocks' medians are so far apart that their mean may be anywhere."""
    assert level_interval(np.repeat([10.0, 12.0, 10.0], [20, 20, 19]), 0.01) == (10.0, 12.0)
