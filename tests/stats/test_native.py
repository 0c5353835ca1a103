from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from steelyard.stats import native

FloatArray = npt.NDArray[np.float64]


def feature(values: FloatArray) -> FloatArray:
    centred = values - values.mean()
    return np.asarray(centred / (np.linalg.norm(centred) + 1e-9))


def plain_scales(sizes: FloatArray, levels: FloatArray) -> FloatArray:
    """Return scales: a regression of the sizes' logs on those of eight neighbours and on the levels above the calm."""
    n = len(sizes)
    logs = np.log(sizes + 0.05 * (np.median(sizes) or np.mean(sizes)) + 1e-300)
    near = [[at for at in range(max(0, pair - 4), min(n, pair + 5)) if at != pair] for pair in range(n)]
    above = np.maximum(levels - np.quantile(levels, 0.2), 0)
    features = np.stack(
        [
            feature(np.array([logs[at].mean() if at else 0.0 for at in near])),
            feature(np.log(above + np.quantile(above, 0.75) + 1e-9)),
        ]
    )
    centred = logs - logs.mean()
    along = features @ centred
    trusted = np.clip((along / (np.linalg.norm(centred) + 1e-12) * np.sqrt(n) - 1.5) / 2.0, 0, 1)
    features = features * (trusted > 0)[:, None]
    slopes = np.linalg.solve(features @ features.T + 0.01 * np.eye(2), along * (trusted > 0)) * trusted
    scale = np.exp(slopes @ features)
    units = sizes / scale
    return np.asarray(scale * (np.median(units) or np.mean(units)) / 0.7 + 1e-12)


def plain_scores(d: FloatArray, levels: FloatArray, change: float) -> FloatArray:
    """Return the scores of the Student's t that makes most of the pairs; 1 or 10 degrees of freedom if clearly so."""
    x = d - change
    scale = plain_scales(np.abs(x), levels)
    units = np.abs(x) / scale
    best, found = -np.inf, units
    for number, tail in enumerate((3.0, 1.0, 10.0)):
        score = (tail + 1) * units / (tail + units**2) / scale
        slope = np.sum((tail + 1) * (tail - units**2) / (tail + units**2) ** 2 / scale**2)
        makes = 2 * np.log(max(slope, 1e-300)) - np.log(np.sum(score**2) + 1e-300) - (number > 0) / np.sqrt(len(d))
        if makes > best:
            best, found = makes, score
    return np.asarray(np.sign(x) * found)


def noise(generator: np.random.Generator, pairs: int) -> tuple[FloatArray, FloatArray]:
    """Return differences with storms, and levels that show the storms."""
    storm = np.exp(1.5 * np.repeat(generator.normal(size=pairs // 5 + 1), 5)[:pairs])
    return 0.01 * storm * generator.standard_t(2, pairs), 0.02 * storm + 0.005 * generator.normal(size=pairs)


@pytest.mark.parametrize("pairs", [2, 8, 12, 21, 60, 333])
def test_scores_are_those_of_the_plain_formulas(pairs: int) -> None:
    generator = np.random.default_rng(pairs)
    for _ in range(10):
        d, levels = noise(generator, pairs)
        changes = np.array([0.0, 0.01, -0.02, d[0]])
        found = native.signed_scores(d, levels, changes)
        plain = np.stack([plain_scores(d, levels, change) for change in changes.tolist()])
        assert found == pytest.approx(plain, rel=1e-9, abs=1e-9 * np.abs(plain).max())
        assert native.scales(d, levels, 0.01) == pytest.approx(plain_scales(np.abs(d - 0.01), levels), rel=1e-9)


def test_ranks_of_equal_sizes_are_in_the_order_of_their_pairs() -> None:
    found = native.signed_ranks(np.array([3.0, -1.0, 1.0, 0.0, -2.0]), np.array([0.0, 1.0]))
    assert found.tolist() == [[5, -2, 3, 0, -4], [3, -4, 0, -2, -5]]


def test_whole_scores_are_those_of_each_kind_and_add_up() -> None:
    d, levels = noise(np.random.default_rng(1), 30)
    changes = np.array([0.0, 0.01])
    whole, sums = native.whole_scores(d, levels, changes)
    signed = np.stack([native.signed_scores(d, levels, changes), native.signed_ranks(d, changes)], axis=1)
    for row in range(2):
        for kind in range(2):
            assert whole[row, kind].tolist() == native.whole_units(signed[row, kind]).tolist()
            scores = whole[row, kind].astype(float)
            assert sums[row, kind] == scores.sum() / np.linalg.norm(scores)
    assert native.sums_by_root(d, levels, changes).tolist() == sums.tolist()


def test_a_score_keeps_its_sign_in_whole_units_and_halves_go_to_the_even_one() -> None:
    assert native.whole_units(np.array([2046.0, -1.0, 3.0, -5.0, 1e-9, 0.0])).tolist() == [1023, -1, 2, -2, 1, 0]
    many = np.full(20_000, 1.0)
    assert native.whole_units(many).max() == (1 << 24) // 20_000  # so that single precision holds their sums
    assert native.whole_units(np.zeros(3)).tolist() == [0, 0, 0]


def test_what_is_not_as_the_library_expects_it_is_an_error_and_never_other_memory() -> None:
    no_change, some = np.zeros(1), np.arange(1.0, 9.0)
    with pytest.raises(ValueError, match="side by side"):
        native.signed_ranks(some[::2], no_change)
    with pytest.raises(ValueError, match="8 differences at 7 levels"):
        native.whole_scores(some, some[1:], no_change)
    with pytest.raises(ValueError, match="0 differences at 0 levels"):
        native.signed_scores(some[:0], some[:0], no_change)
    with pytest.raises(ValueError, match="are <i8 and not <f8"):
        native.signed_ranks(some.astype(np.int64), no_change)
    with pytest.raises(ValueError, match="are <i4 and not <i8"):
        native.effects_of_order(some, np.zeros(8, dtype=np.int32))


def test_a_library_that_is_missing_is_an_error_of_an_import(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("steelyard.native.FOLDER", tmp_path)
    with pytest.raises(ImportError, match=r"steelyard-signs\.so.*No such file"):
        native._library.__wrapped__()
