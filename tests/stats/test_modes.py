from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.modes import CRITICAL, changes, dip, has_modes, split

RANDOM = np.random.default_rng(1)


def test_the_dip_of_what_is_known() -> None:
    # Equally spaced values are as unimodal as n steps can be; two single points are the worst there is.
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
    assert sum(map(has_modes, samples)) <= 2  # 0.5 at most are expected


def test_uniform_samples_rarely_reach_the_critical_dip() -> None:
    reached = [dip(RANDOM.random(42)) * 42**0.5 for _ in range(1500)]
    assert np.mean(np.array(reached) > CRITICAL) <= 0.003


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_two_crowds_are_found_and_split(share: float) -> None:
    for _ in range(50):
        upper = RANDOM.random(60) < share
        upper[:12] = np.arange(12) % 2  # never next to none
        values = np.where(upper, 0.7, 0.0) + RANDOM.normal(0, 0.03, 60)
        assert has_modes(values)
        found = split(values)
        assert (found.upper == upper).all()
        assert found.high - found.low == pytest.approx(0.7, abs=0.05)
        assert found.contrast > 10


def test_halves_of_one_crowd_have_little_contrast() -> None:
    assert np.median([split(RANDOM.normal(size=60)).contrast for _ in range(100)]) < 3
    assert np.median([split(RANDOM.random(60)).contrast for _ in range(100)]) < 3.5
    assert split([3.0] * 10).contrast == 0


def test_few_values_tell_nothing() -> None:
    assert not has_modes([0.0, 0.0, 1.0, 1.0])


def test_labels_of_each_process_change_and_those_of_time_do_not() -> None:
    tossed = [changes(RANDOM.random(56) < 0.5) for _ in range(500)]
    assert np.mean(tossed) == pytest.approx(1, abs=0.03)
    assert np.mean(np.array(tossed) < 0.6) < 0.01
    assert changes(np.arange(56) // 7 % 2 == 1) < 0.3
    assert changes(np.ones(5, dtype=bool)) == 1
