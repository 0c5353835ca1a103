from __future__ import annotations

from math import log1p, sqrt

import numpy as np
import pytest
from benchmarks.simulation import SYNTHETIC, simulate

from steelyard.stats.looks import FIRST_LOOK, plan_looks
from steelyard.stats.prospects import Curve, Deviations, Sample, curve_through, deviation, pairs_to_find
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.spending import nominal_level

LENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
CHANGE = log1p(0.01)


def drawn(curve: Curve, pairs: int, seed: int = 1) -> list[Sample]:
    generator = np.random.default_rng(seed)
    return [Sample(seconds, sqrt(curve.variance(seconds)) * generator.standard_normal(pairs)) for seconds in LENGTHS]


def differences(noise: str, pairs: int, seed: int) -> np.ndarray:
    values = SYNTHETIC[noise](np.random.default_rng(seed), pairs)
    return np.log(values[:, 1] / values[:, 0])


def test_normal_noise_has_its_standard_deviation() -> None:
    d = 0.02 * np.random.default_rng(1).standard_normal(2000)
    assert deviation(d) == pytest.approx(0.02, rel=0.05)


def test_few_pairs_have_the_root_of_their_mean_square() -> None:
    assert deviation(np.array([0.03, -0.04])) == pytest.approx(sqrt(0.00125))


def test_what_is_far_out_hardly_counts() -> None:
    d = 0.01 * np.random.default_rng(1).standard_normal(50)
    d[::10] = 0.5
    assert deviation(d) < 0.02


@pytest.mark.parametrize("noise", ["quiet", "heavy"])
def test_half_of_simulated_weighings_have_found_the_change_by_then(noise: str) -> None:
    expected = pairs_to_find(deviation(differences(noise, 400, seed=1)), CHANGE, 0.01)
    tally = simulate(SYNTHETIC[noise], 0.01, pairs=120, weighings=9, roughly=True)
    assert tally.share("slower") == 1
    assert 1 / 1.6 < expected / tally.median_pairs < 1.6


def test_no_noise_takes_the_first_look() -> None:
    assert pairs_to_find(0.0, CHANGE, 0.01) == FIRST_LOOK


@pytest.mark.parametrize("number", [0, 5])
def test_it_is_the_first_look_whose_interval_is_as_narrow_as_the_change(number: int) -> None:
    looks = plan_looks(3000, ended=False)
    quantile = normal_quantile(nominal_level(looks[: number + 1], 0.01))
    just = CHANGE * sqrt(looks[number].pairs - 4) / quantile
    assert pairs_to_find(0.9999 * just, CHANGE, 0.01) == looks[number].pairs
    assert pairs_to_find(1.0001 * just, CHANGE, 0.01) == looks[number + 1].pairs


def test_beyond_the_looks_that_are_planned_the_pairs_go_with_the_square_of_the_noise() -> None:
    quantile = normal_quantile(nominal_level(plan_looks(3000, ended=False), 0.01))
    for noise in (0.3, 0.6):
        assert pairs_to_find(noise, CHANGE, 0.01) == pytest.approx((quantile * noise / CHANGE) ** 2, rel=1e-3)


def test_the_parts_of_the_curve_fall_with_the_length_as_they_say() -> None:
    assert Curve(1e-8, 2e-6, 3e-5).variance(0.1) == pytest.approx(1e-6 + 2e-5 + 3e-5)
    assert Curve(0.0, 0.0, 0.0).variance(0.1) > 0


def test_a_tenth_of_the_change_takes_a_hundred_times_the_pairs() -> None:
    many, few = pairs_to_find(0.03, CHANGE / 10, 0.01), pairs_to_find(0.03, CHANGE, 0.01)
    assert 80 < many / few < 130


def test_the_curve_finds_what_it_is_made_of() -> None:
    truth = Curve(start=1e-8, noise=0.0, phases=4e-5)
    found = curve_through(drawn(truth, 2000))
    # The Student's t nearest to normal noise has a scale of about 0.8 of its deviation.
    for seconds in LENGTHS:
        assert sqrt(found.variance(seconds) / truth.variance(seconds)) == pytest.approx(0.8, rel=0.1)


def test_many_pairs_are_believed_against_the_curve() -> None:
    samples = drawn(Curve(0.0, 0.0, 1e-6), 100)
    odd = samples[3]
    samples[3] = odd._replace(differences=4 * odd.differences)
    for order in (samples, samples[::-1], [samples[0], *samples[4:], *samples[1:4]]):
        found = Deviations(order)
        assert found.at(odd.seconds) > 2.5 * found.at(samples[2].seconds)
        assert found.at(odd.seconds) > 2.5 * found.at(samples[5].seconds)


def test_a_single_pair_that_is_far_out_is_not_believed() -> None:
    samples = drawn(Curve(0.0, 1e-6, 0.0), 40)
    calm = Deviations(samples).at(0.3)
    samples[-1] = Sample(0.3, np.array([0.5]))
    assert Deviations(samples).at(0.3) < 3 * calm


def test_beyond_the_last_length_the_curve_goes_on() -> None:
    found = Deviations(drawn(Curve(0.0, 1e-6, 0.0), 400))
    assert found.at(3.0) == pytest.approx(found.at(0.3) / sqrt(10), rel=0.25)


def test_identical_times_have_no_noise() -> None:
    found = Deviations([Sample(0.01, np.zeros(5)), Sample(0.1, np.zeros(1))])
    assert pairs_to_find(found.at(0.05), CHANGE, 0.01) == FIRST_LOOK
