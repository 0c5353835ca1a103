from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.simulation import SYNTHETIC, simulate_discoveries, simulate_suite

from steelyard.stats import repeated, signed_rank
from steelyard.stats.arrays import FloatArray
from steelyard.stats.family import judge_family, sharing_now, step_down, step_up
from steelyard.stats.paired import Judgement, judge


def judged(changes: list[float], pairs: int = 45, noise: float = 0.01) -> Callable[[int, float], Judgement | None]:
    generator = np.random.default_rng(1)
    values = [
        (
            np.exp(noise * generator.standard_normal(pairs)),
            (1 + change) * np.exp(noise * generator.standard_normal(pairs)),
        )
        for change in changes
    ]

    def judge_member(member: int, sharing: float) -> Judgement | None:
        one, other = values[member]
        return judge(lambda n: (one[:n], other[:n]), pairs, 0.005, 0.01, ended=True, roughly=True, members=sharing)

    return judge_member


def verdicts(found: list[Judgement | None]) -> list[str]:
    return [one.verdict for one in found if one is not None]


def test_each_finding_gives_its_share_to_the_others() -> None:
    assert [sharing_now("holm", 5, changed) for changed in (0, 2, 4, 5)] == [5, 3, 1, 1]
    asked: list[tuple[int, float]] = []
    plain = judged([0.3, 0.0, 0.3])

    def watch(member: int, sharing: float) -> Judgement | None:
        asked.append((member, sharing))
        return plain(member, sharing)

    assert verdicts(step_down(3, watch)) == ["slower", "undecided", "slower"]
    assert asked == [(0, 3), (1, 3), (2, 3), (1, 1)]


@pytest.mark.parametrize(("family", "asked_with"), [("holm", [5, 5, 4]), ("fdr", [2.5, 2.5, 5, 5])])
def test_members_that_are_elsewhere_share_too(family: str, asked_with: list[float]) -> None:
    asked: list[float] = []
    plain = judged([0.3, 0.0])

    def watch(member: int, sharing: float) -> Judgement | None:
        asked.append(sharing)
        return plain(member, sharing)

    assert verdicts(judge_family(family, 2, watch, 3)) == ["slower", "undecided"]
    assert asked == asked_with


def test_what_is_judged_again_in_a_large_suite_is_not_estimated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    estimated: list[bytes] = []
    by_ranks = signed_rank.estimate

    def watch(d: FloatArray, *_: object) -> repeated.Repeated:
        estimated.append(d.tobytes())
        return repeated.Repeated(by_ranks(d, 0.01), 0.0)

    monkeypatch.setattr(repeated, "estimate", watch)
    generator, members = np.random.default_rng(1), 400
    values = [(np.ones(12), np.exp(0.01 * generator.standard_normal(12))) for _ in range(members)]

    def judge_member(member: int, sharing: float) -> Judgement | None:
        one, other = values[member]
        return judge(lambda n: (one[:n], other[:n]), 12, 0.005, 0.01, ended=True, members=sharing)

    for sharing in (members, members - 1):
        for member in range(members):
            judge_member(member, sharing)
    assert len(estimated) == len(set(estimated)) == members


def test_a_borderline_change_is_found_beside_clear_ones_and_not_beside_none() -> None:
    """What Holm's correction gains over Bonferroni's: the same data, judged among others that are clear."""
    shares = {}
    for sharing in (1, 8):
        one = judged([0.006], pairs=29)(0, sharing)
        assert one is not None
        shares[sharing] = one.verdict
    assert shares == {1: "slower", 8: "undecided"}
    clear = [0.3] * 7
    assert verdicts(step_down(8, judged([0.006, *clear], pairs=29)))[0] == "slower"
    assert verdicts(step_down(8, judged([0.006, *[0.0] * 7], pairs=29)))[0] == "undecided"


def test_a_member_without_pairs_has_no_judgement() -> None:
    assert step_down(2, lambda *_: None) == [None, None]


def test_any_false_alarm_in_a_suite_of_50() -> None:
    """At most a share alpha of suites has one; alpha is 0.05, so that over 4 of 16 have a chance of 1 in 1,000."""
    tally = simulate_suite(SYNTHETIC["quiet"], benchmarks=50, suites=16, pairs=14, alpha=0.05)
    assert tally.with_false_alarm <= 4
    alone = simulate_suite(SYNTHETIC["quiet"], benchmarks=50, suites=6, pairs=14, alpha=0.05, shared=False)
    assert alone.with_false_alarm >= 5, "without the correction the bar has to be missed, or it shows nothing"


# --- the false discovery rate


def test_each_finding_raises_the_level_of_the_others() -> None:
    assert [sharing_now("fdr", 6, changed) for changed in (0, 1, 2, 5, 6)] == [6, 3, 2, 1, 1]


def test_the_step_up_asks_with_as_many_as_it_found() -> None:
    asked: list[float] = []
    plain = judged([0.3, 0.0, 0.3, 0.0])

    def watch(member: int, sharing: float) -> Judgement | None:
        asked.append(sharing)
        return plain(member, sharing)

    assert verdicts(step_up(4, watch)) == ["slower", "undecided", "slower", "undecided"]
    assert asked[::4] == [1, 2]


def test_a_borderline_change_is_found_beside_fewer_clear_ones_than_holm_needs() -> None:
    members = judged([0.006, *[0.3] * 5, 0.0, 0.0], pairs=29)
    found = {family: verdicts(judge_family(family, 8, members)) for family in ("holm", "fdr")}
    assert found["fdr"][:6] == ["slower"] * 6
    assert found["holm"][:6] == ["undecided", *["slower"] * 5]


def test_a_member_without_pairs_is_never_found() -> None:
    assert step_up(2, lambda *_: None) == [None, None]


def test_the_share_of_wrong_findings() -> None:
    """On average at most a share alpha of what is found; half of each suite has changed by 2 %."""
    tallies = simulate_discoveries(
        SYNTHETIC["quiet"], changed=6, unchanged=6, change=0.02, pairs=20, suites=12, alpha=0.05
    )
    assert tallies["fdr"].wrong_share <= 0.05
    assert tallies["fdr"].found >= tallies["holm"].found
    assert tallies["none"].wrong_share > 0.02, "without any correction wrong ones have to show, or it shows nothing"
