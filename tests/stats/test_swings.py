"""Noise that changes while it is measured is told apart from noise that does not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from steelyard.stats.arrays import FloatArray
from steelyard.stats.swings import Swing, swing

MEASUREMENTS = 400
Draw = Callable[[np.random.Generator, int], FloatArray]
NOISES: dict[str, Draw] = {
    "normal": lambda generator, pairs: generator.normal(size=pairs),
    "long tails": lambda generator, pairs: generator.standard_t(2, pairs),
    "equal": lambda generator, pairs: np.ones(pairs),  # noqa: ARG005
}


def swings(draw: Draw, pairs: int, sizes: tuple[float, ...]) -> list[Swing]:
    """Return the swings of noise that has these sizes in successive parts of the time."""
    generator, times = np.random.default_rng(1), (np.arange(pairs) + 0.5) / pairs
    at = np.array(sizes)[(times * len(sizes)).astype(int)]
    return [swing([np.abs(draw(generator, pairs)) * at], generator) for _ in range(MEASUREMENTS)]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("pairs", [16, 60, 400])
def test_what_stays_as_it_is_has_none_but_once_in_forty_times(noise: str, pairs: int) -> None:
    clear = [one.is_clear for one in swings(NOISES[noise], pairs, (1.0,))]
    # One in forty of 400 is 10, with a standard deviation of 3.
    assert sum(clear) <= 20


@pytest.mark.parametrize("noise", ["normal", "long tails"])
def test_phases_are_seen(noise: str) -> None:
    found = swings(NOISES[noise], 100, (1.0, 1.0, 6.0, 1.0))
    assert np.mean([one.is_clear for one in found]) > 0.8
    clear = [one for one in found if one.is_clear]
    assert np.median([one.noisiest / one.calmest for one in clear]) == pytest.approx(6.0, rel=0.5)


def test_series_of_several_sizes_are_as_one() -> None:
    generator = np.random.default_rng(1)

    def measured(*, is_swinging: bool) -> list[FloatArray]:
        sizes = (9.0, 3.0, 1.0)
        series = [size * np.abs(generator.normal(size=pairs)) for size, pairs in zip(sizes, (1, 12, 60), strict=True)]
        for one in series[1:] if is_swinging else []:
            one[: len(one) // 4] *= 8
        return series

    assert sum(swing(measured(is_swinging=False), generator).is_clear for _ in range(MEASUREMENTS)) <= 20
    assert swing(measured(is_swinging=True), generator).is_clear


def test_too_few_or_nothing_at_all_tell_nothing() -> None:
    generator = np.random.default_rng(1)
    for series in ([np.ones(3)], [np.zeros(100)], [np.ones(1)] * 100, [np.array([]), np.ones(100)]):
        assert swing(series, generator) == Swing(1.0, 1.0)
