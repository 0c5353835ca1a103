from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats import weighted
from steelyard.stats.halves import LEVEL, Halves, halves_of
from steelyard.stats.signed_rank import Estimate, fewest_differences

MARGIN = 0.005


def found(
    generator: np.random.Generator, pairs: int, *, calm: float, storm: float, noise: float = 0.03
) -> Halves | None:
    """Return the halves of pairs in phases of ten, with one change (log-ratio) in the calm and another in storms."""
    stormy = np.repeat(generator.random(pairs // 10 + 1) < 0.5, 10)[:pairs]
    logs = np.where(stormy, noise, 0.004)[:, None] * generator.standard_normal((pairs, 2)) + 0.1 * stormy[:, None]
    d = logs[:, 1] - logs[:, 0] + np.where(stormy, storm, calm)
    return _halves(d, logs.mean(axis=1))


def _halves(d: np.ndarray, levels: np.ndarray) -> Halves | None:
    return halves_of(d, levels, weighted.estimate(d, levels, LEVEL).centre)


def share_that_disagrees(pairs: int, tries: int, *, calm: float, storm: float, noise: float = 0.03) -> float:
    generator = np.random.default_rng(4)
    halves = [found(generator, pairs, calm=calm, storm=storm, noise=noise) for _ in range(tries)]
    return float(np.mean([one is not None and one.calm.is_apart_from(one.storm, MARGIN) for one in halves]))


@pytest.mark.parametrize("change", [0.0, 0.05])
def test_halves_with_the_same_change_agree(change: float) -> None:
    assert share_that_disagrees(60, 300, calm=change, storm=change) <= 0.01


def test_a_change_in_storms_only_is_seen_in_the_stormy_half() -> None:
    assert share_that_disagrees(300, 40, calm=0.0, storm=0.04) >= 0.8


@pytest.mark.parametrize("storm", [0.1, 0.25])
def test_a_change_far_larger_than_the_storms_does_not_make_them_the_calm(storm: float) -> None:
    """The scores may find the change of either kind of pairs then."""
    generator = np.random.default_rng(2)
    halves = [found(generator, 60, calm=0.0, storm=storm, noise=0.02) for _ in range(60)]
    told = [one for one in halves if one is not None and one.calm.is_apart_from(one.storm, MARGIN)]
    assert len(told) > 10
    assert np.mean([one.calm.centre < one.storm.centre for one in told]) > 0.9


def test_what_is_less_than_the_margin_apart_agrees() -> None:
    assert share_that_disagrees(400, 40, calm=0.0, storm=0.003, noise=0.008) <= 0.05
    assert share_that_disagrees(400, 40, calm=0.0, storm=0.012, noise=0.008) > 0.5


def test_calm_pairs_and_few_ones_have_no_halves() -> None:
    generator = np.random.default_rng(1)
    assert _halves(generator.normal(0, 0.01, 200), generator.normal(0, 0.01, 200)) is None
    assert found(generator, 15, calm=0.0, storm=0.5) is None
    assert found(generator, 40, calm=0.0, storm=0.5) is not None


def test_each_half_has_as_many_pairs_and_its_own_change() -> None:
    generator = np.random.default_rng(3)
    halves = found(generator, 301, calm=0.0, storm=0.04)
    assert halves is not None
    assert (halves.calm.n, halves.storm.n) == (150, 150)
    assert halves.calm.centre < 0.01 < halves.storm.centre
    fewest = 2 * fewest_differences(LEVEL)
    few = [[found(generator, pairs, calm=0.0, storm=0.04) for _ in range(20)] for pairs in (fewest - 1, fewest)]
    assert [any(each) for each in few] == [False, True]


@pytest.mark.parametrize(
    ("calm", "storm", "by", "disagree"),
    [
        ((0.01, 0.0, 0.02), (0.04, 0.03, 0.05), 0.029, True),
        ((0.04, 0.03, 0.05), (0.01, 0.0, 0.02), 0.029, True),
        ((0.01, 0.0, 0.02), (0.04, 0.03, 0.05), 0.031, False),
        ((0.0, -0.01, 0.01), (0.03, 0.01, 0.05), 0.005, False),
        ((0.03, 0.01, 0.05), (0.0, -0.01, 0.01), 0.005, False),
    ],
)
def test_halves_disagree_where_nothing_is_in_both_intervals_and_the_centres_are_apart(
    calm: tuple[float, float, float], storm: tuple[float, float, float], by: float, disagree: bool
) -> None:
    one, other = (Estimate(*half, n=20, level=LEVEL) for half in (calm, storm))
    assert one.is_apart_from(other, by) is disagree
