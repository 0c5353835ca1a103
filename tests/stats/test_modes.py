from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.simulation import TRACE_NAMES, trace

from steelyard.stats.modes import CRITICAL, change_rate, dip, has_modes, modes, split, with_ties_spread

RANDOM = np.random.default_rng(1)


def test_the_dip_of_what_is_known() -> None:
    # Equally spaced values are as unimodal as n steps can be; two single points are the least unimodal.
    assert dip(np.arange(10.0)) == pytest.approx(0.05)
    assert dip([0.0] * 50 + [1.0] * 50) == pytest.approx(0.25)
    assert dip([1.0, 1.0]) == pytest.approx(0.25)


def test_the_dip_knows_no_scale_and_no_side() -> None:
    values = RANDOM.normal(size=40)
    assert dip(values) == pytest.approx(dip(5 - 3 * values))


@pytest.mark.parametrize("n", [20, 42, 84])
def test_unimodal_samples_have_no_modes(n: int) -> None:
    drawn = (RANDOM.random(n), RANDOM.normal(size=n), RANDOM.exponential(size=n), RANDOM.standard_t(2, size=n))
    samples = [sample for _ in range(250) for sample in drawn]
    assert sum(map(has_modes, samples)) <= 2  # at most 0.5 are expected


def test_uniform_samples_rarely_reach_the_critical_dip() -> None:
    reached = [dip(RANDOM.random(42)) * 42**0.5 for _ in range(1500)]
    assert np.mean(np.array(reached) > CRITICAL) <= 0.003


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_two_clusters_are_found_and_split(share: float) -> None:
    for _ in range(50):
        upper = RANDOM.random(60) < share
        upper[:12] = np.arange(12) % 2  # so that neither cluster is nearly empty
        values = np.where(upper, 0.7, 0.0) + RANDOM.normal(0, 0.03, 60)
        assert has_modes(values)
        found = split(values)
        assert (found.upper == upper).all()
        assert found.high - found.low == pytest.approx(0.7, abs=0.05)
        assert found.contrast > 10


def test_halves_of_one_cluster_have_little_contrast() -> None:
    assert np.median([split(RANDOM.normal(size=60)).contrast for _ in range(100)]) < 3
    assert np.median([split(RANDOM.random(60)).contrast for _ in range(100)]) < 3.5
    assert split([3.0] * 10).contrast == 0


def test_few_values_tell_nothing() -> None:
    assert not has_modes([0.0, 0.0, 1.0, 1.0])


def test_the_best_place_of_the_mode_is_the_best_of_all_places() -> None:
    generator = np.random.default_rng(5)
    for values in [*generator.normal(size=(20, 14)), *np.round(generator.normal(size=(20, 18)), 1)]:
        assert dip(values) == pytest.approx(_by_every_place(np.sort(values)), rel=1e-12)


def _by_every_place(ordered: npt.NDArray[np.float64]) -> float:
    """Return the dip by its definition: the best over all values as the place of the mode."""
    n = len(ordered)
    before = [_leaves_minorant(ordered, mode) for mode in range(n)]
    behind = [_leaves_minorant(-ordered[::-1], n - 1 - mode) for mode in range(n)]
    return max(min(map(max, before, behind)) / 2, 0.5 / n)


def _leaves_minorant(x: npt.NDArray[np.float64], mode: int) -> float:
    """Return how far the steps leave their greatest convex minorant: the lowest of all chords at each value."""
    n, most = len(x), 0.0
    for value in range(mode):
        chords = [
            left / n + (right - left) / n * ((x[value] - x[left]) / (x[right] - x[left]) if x[right] > x[left] else 0)
            for left in range(value + 1)
            for right in range(value, mode + 1)
        ]
        most = max(most, (value + 1) / n - min(chords))
    return most


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("shape", ["normal", "student", "lognormal", "stalls", "0.3 ticks", "1 tick", "5 ticks"])
def test_unimodal_noise_is_not_called_modes(shape: str, n: int) -> None:
    generator = np.random.default_rng(3)
    drawn: Callable[[], npt.NDArray[np.float64]] = {
        "normal": lambda: generator.normal(100, 1, n),
        "student": lambda: 100 + generator.standard_t(2, n),
        "lognormal": lambda: 1 + 0.02 * generator.lognormal(0, 1, n),
        "stalls": lambda: generator.normal(100, 1, n) * (1 + (generator.random(n) < 0.05) * generator.random(n)),
        "0.3 ticks": lambda: np.round(generator.normal(1000, 0.3, n) + generator.random()),
        "1 tick": lambda: np.round(generator.normal(1000, 1, n) + generator.random()),
        "5 ticks": lambda: np.round(generator.normal(1000, 5, n) + generator.random()),
    }[shape]
    assert sum(len(modes(drawn())) > 1 for _ in range(300)) <= 1


@pytest.mark.parametrize("name", TRACE_NAMES)
def test_no_stretch_of_a_trace_is_called_modes_but_for_its_waits(name: str) -> None:
    generator, values = np.random.default_rng(3), trace(name, "active")
    found = [modes(values[start : start + 100, 0]) for start in generator.integers(0, len(values) - 100, 200)]
    assert sum(len(each) > 1 for each in found) <= 1


@pytest.mark.parametrize(("share", "n"), [(0.5, 50), (0.3, 200), (0.15, 1000)])
def test_modes_eight_deviations_away_are_found_where_they_are(share: float, n: int) -> None:
    generator = np.random.default_rng(4)
    for _ in range(20):
        upper = np.arange(n) < share * n
        found = modes(generator.permutation(generator.normal(100, 1, n) + 8 * upper))
        assert found == pytest.approx([100, 108], abs=1)


def test_three_modes_are_found_and_stalls_are_none() -> None:
    generator = np.random.default_rng(4)
    three = np.concatenate([generator.normal(level, 1, 200) for level in (100, 110, 125)])
    stalls = generator.normal(200, 20, 40)
    assert modes(three) == pytest.approx([100, 110, 125], abs=0.5)
    assert modes(np.append(three[:400], stalls)) == pytest.approx([100, 110], abs=0.5)


def test_modes_are_said_only_where_the_test_shows_them() -> None:
    generator = np.random.default_rng(6)
    for separation in np.linspace(3, 6, 60):
        values = generator.normal(100, 1, 80) + separation * (generator.random(80) < 0.5)
        assert (len(modes(values)) > 1) == has_modes(np.log(values))


def test_too_few_or_equal_values_have_one_mode() -> None:
    assert modes([1.0, 1.0, 9.0]) == [1.0]
    assert modes([5.0] * 100) == [5.0]
    assert modes([0.0] * 30 + [1.0]) == [0.0]


def test_ticks_are_spread_and_values_that_no_tick_divides_are_not() -> None:
    assert with_ties_spread([12.0, 13.0, 12.0, 15.0]).tolist() == [11.75, 13.0, 12.25, 15.0]
    assert modes([12.0] * 60 + [13.0] * 40) == [12.0]
    assert with_ties_spread([100.0, 106.0, 100.0]).tolist() == [100.0, 106.0, 100.0]
    assert modes([100.0] * 60 + [106.0] * 40) == [100.0, 106.0]


def test_very_many_values_are_thinned_and_still_tell() -> None:
    generator = np.random.default_rng(6)
    assert len(modes(generator.normal(100, 1, 25_001))) == 1
    assert modes(generator.normal(100, 1, 25_001) + 6 * (generator.random(25_001) < 0.5)) == pytest.approx(
        [100, 106], abs=0.1
    )


def test_labels_of_each_process_change_and_those_of_time_do_not() -> None:
    tossed = [change_rate(RANDOM.random(56) < 0.5) for _ in range(500)]
    assert np.mean(tossed) == pytest.approx(1, abs=0.03)
    assert np.mean(np.array(tossed) < 0.6) < 0.01
    assert change_rate(np.arange(56) // 7 % 2 == 1) < 0.3
    assert change_rate(np.ones(5, dtype=bool)) == 1
