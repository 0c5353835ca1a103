from __future__ import annotations

import numpy as np

from steelyard.design.judging.unlike import unlike_finding
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray

MARGIN = 0.005


def noise(pairs: int, size: float = 0.002) -> FloatArray:
    """Return values of both sides, (2, pairs)."""
    return np.exp(size * np.random.default_rng(5).standard_normal((2, pairs)))


def said(sides: FloatArray, scored: float = 0.0, shown: float | None = None) -> list[Finding]:
    found = unlike_finding((sides[0], sides[1]), scored, scored if shown is None else shown, MARGIN)
    return [] if found is None else [found]


def test_a_candidate_that_changes_in_the_middle_is_told_with_what_each_side_did() -> None:
    sides = noise(60)
    sides[1, 25:] *= 1.04
    (finding,) = said(sides)
    assert finding.code == "midway"
    first, _, others = finding.message.partition(" Between the two stretches ")
    assert first.startswith("the first 25 pairs show +0.0")
    assert ", the 35 after them +4.0" in first
    assert others.startswith("the baseline changed by ")
    assert ", the candidate by +3.9" in others


def test_a_machine_that_changes_for_both_sides_alike_is_no_matter() -> None:
    sides = noise(60)
    sides[:, 25:] *= 1.3
    assert not said(sides)


def test_a_change_that_hangs_on_the_machine_is_told_with_both_sides() -> None:
    sides = noise(60)
    sides[:, 25:] *= 1.3
    sides[1, 25:] *= 1.04
    (finding,) = said(sides)
    assert "the baseline changed by +30.0" in finding.message
    assert "the candidate by +35.2" in finding.message


def test_some_launches_of_one_side_that_are_far_off_are_told() -> None:
    sides = noise(60)
    sides[1, ::5] *= 1.5
    (finding,) = said(sides)
    assert finding.code == "some-launches"
    assert "in 20 % of the pairs the candidate is far above the baseline, by +49.9" in finding.message
    assert "far below it in 0 %" in finding.message
    sides[1, 1] /= 1.5
    (finding,) = said(sides[::-1])
    assert "in 20 % of the pairs the baseline is far above the candidate" in finding.message
    assert "far below it in 2 %" in finding.message


def test_how_far_off_is_told_beside_the_change() -> None:
    sides = noise(60)
    sides[1] *= 1.2
    sides[1, ::6] *= 1.5
    (finding,) = said(sides, float(np.log(1.2)))
    assert "in 17 % of the pairs the candidate is far above the baseline, by +50" in finding.message
    (finding,) = said(sides[::-1], -float(np.log(1.2)))
    assert "in 17 % of the pairs the baseline is far above the candidate, by +50" in finding.message


def test_a_side_that_runs_longer_meets_more_of_what_is_around_it() -> None:
    """8 of 8 on one side has a chance of 1 in 128 for equal sides, and 1 in 64 if one side takes a fifth longer."""
    sides = noise(60)
    sides[1, ::8] *= 1.5
    assert said(sides)
    sides[1] *= 1.2
    assert not said(sides, float(np.log(1.2)))


def test_some_launches_that_are_off_by_less_than_the_margin_are_not_told() -> None:
    sides = np.ones((2, 60))
    sides[1, ::6] += MARGIN / 2
    assert not said(sides)


def test_what_both_sides_have_or_a_much_longer_one_is_not_told() -> None:
    sides = noise(60)
    sides[1, ::6] *= 1.5
    sides[0, 3::6] *= 1.5
    assert not said(sides)
    sides = noise(60)
    sides[1] *= 3
    sides[0, ::6] *= 1.5
    assert not said(sides, float(np.log(3)))
    assert not said(sides[::-1], -float(np.log(3)))


def test_noisier_pairs_are_said_to_weigh_less_only_where_the_result_is_near_that_of_the_others() -> None:
    sides = noise(60)
    sides[1, ::3] *= 1.5
    (finding,) = said(sides)
    assert finding.message.startswith("the calmer half of the pairs shows ")
    assert finding.message.endswith(", and the noisier ones weigh less in the result")
    (finding,) = said(sides, shown=float(np.log(1.22)))
    assert finding.message.endswith("the change is not the same in all pairs")


def test_launches_far_off_are_said_to_weigh_little_only_where_the_result_is_that_of_the_others() -> None:
    sides = noise(60)
    sides[1, ::5] *= 1.5
    (finding,) = said(sides)
    assert finding.message.endswith("): such launches weigh little in the result, which is that of the others")
    (finding,) = said(sides, shown=float(np.log(1.02)))
    assert finding.message.endswith(")")
