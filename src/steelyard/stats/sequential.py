"""Test hypothesised changes over the looks of a weighing: what is rejected so far, the p-value, the interval's bounds.

Most of alpha is spent by the flips of `stats.joint`. There are too few flips to divide the small alpha that each of
several benchmarks has, so the first 0.0002 of every alpha goes to exact tests at every second look, whose levels add
up to it. With a larger alpha, both kinds of test reject everything that they reject with a smaller one. So does their
union, as Holm's and Benjamini and Hochberg's procedures need.

Each test combines two statistics. The scores of `stats.native` find most, but if a candidate is slow in only some of
its launches, they may take that for a storm; ranks do not. So the larger of the two sums counts, with a slightly
smaller weight for that of the ranks. This costs next to nothing: the two mostly agree, and the flips account for how
much they do.

Shapes: differences d and levels, (n,) both, of as many pairs as the newest look has, in the order in which they ran.
The looks are all of the weighing's so far. Where the first ones saw other values of the pairs, only the looks after
them are passed, which do not touch the alpha that those have spent.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import accumulate
from math import inf
from typing import NamedTuple

import numpy as np

from steelyard.stats import joint, native, sign_flip
from steelyard.stats.arrays import FloatArray
from steelyard.stats.looks import Look
from steelyard.stats.native import WholeScores
from steelyard.stats.quantiles import NORMAL, normal_quantile
from steelyard.stats.spending import (
    EXACT_ALPHA,
    SCORES_SHARE,
    droppable_flips,
    exact_test_share,
    is_only_look,
    nominal_level,
)

# A sum smaller than this many roots of its scores' squares cannot have a p-value of `EXACT_ALPHA` or less.
_LEAST_TAIL_SUM = 3.0
# The weight of a sum of ranks beside one of scores.
_RANKS_WEIGHT = 0.9
_SUM_WEIGHTS = np.array([1.0, _RANKS_WEIGHT])
# At the change where the scores cancel, the ranks' sum is this many standard deviations from 0 once in a hundred times.
_FAR_RANK_SUM = 2.5
# The number of looks whose tests are remembered, so that the next look continues from them, and of p-values.
_MOST_REMEMBERED = 4096


class Hypothesis(NamedTuple):
    """A change (log-ratio) to be rejected or not, and the alpha of all looks together."""

    change: float
    alpha: float


class Standing(NamedTuple):
    """How a hypothesis stands after some looks."""

    is_dropped: bool = False
    """Whether a look has dropped the observed signs."""
    allowed: int = 0
    """How many flips the looks so far may drop in all."""
    tests: tuple[joint.Test, ...] = ()
    """The tests of the first looks, worked out only as far as they were needed."""
    untested: tuple[WholeScores, ...] = ()
    """The scores and ranks, (2, pairs) each, of the looks after those: their tests can be worked out from them."""
    exact: float = inf
    """The smallest p-value of the exact tests, each divided by the share of alpha that its look may spend.

    For a change other than 0, only until the flips reject it.
    """
    alone: float = inf
    """The same for a budget that ended with its first look, whose exact test has all that this end may spend."""
    total: float = 0.0
    """The larger newest sum, of scores or of ranks: above 0 where the differences exceed the hypothesised change."""
    is_opposed: bool = False
    """Whether the two newest sums have opposite signs, so that no single change describes the pairs."""


class Result(NamedTuple):
    """Whether a hypothesis is rejected by now, and the sign of the newest sums, 0 if their signs are opposite."""

    rejected: bool
    side: int


def run_tests(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis], *, keep: bool
) -> list[Result]:
    """Test hypotheses at all of the looks; `keep` remembers how those stand that the next look will test again."""
    follow = _memory.follow if keep else _follow_looks
    standings = follow(d, levels, looks, hypotheses)
    return [
        Result(_is_rejected(standing, hypothesis), 0 if standing.is_opposed else int(np.sign(standing.total)))
        for standing, hypothesis in zip(standings, hypotheses, strict=True)
    ]


def _is_rejected(standing: Standing, hypothesis: Hypothesis) -> bool:
    if hypothesis.change and standing.is_opposed:
        return False  # what is far off in half of the launches must not be called `same`
    by_exact_tests = standing.alone <= hypothesis.alpha or standing.exact <= min(hypothesis.alpha, EXACT_ALPHA)
    return standing.is_dropped or by_exact_tests


def _follow_looks(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[Standing]:
    standings = [Standing()] * len(hypotheses)
    for count in range(1, len(looks) + 1):
        standings = _take_look(d, levels, looks[:count], hypotheses, standings)
    return standings


def _take_look(
    d: FloatArray,
    levels: FloatArray,
    looks: Sequence[Look],
    hypotheses: Sequence[Hypothesis],
    standings: Sequence[Standing],
) -> list[Standing]:
    """Return the standings after the last of the looks, from those before it."""
    n = looks[-1].pairs
    whole_scores, sums = native.whole_scores(
        d[:n], levels[:n], np.array([hypothesis.change for hypothesis in hypotheses])
    )
    newest = [_standing_of_sums(pair) for pair in (sums * _SUM_WEIGHTS).tolist()]
    if is_only_look(looks):  # it has nothing to share with other looks, and an exact test wastes nothing
        share, alone = looks[0].share, (joint.NOT_STARTED,)
        return [
            latest._replace(tests=alone, alone=_exact_p_value(d[:n], levels[:n], scores, hypothesis.change) / share)
            for latest, scores, hypothesis in zip(newest, whole_scores, hypotheses, strict=True)
        ]
    share = exact_test_share(looks)
    standings_now = []
    flips = _drop_by_flips(standings, whole_scores, looks, hypotheses)
    for flipped, latest, scores, hypothesis in zip(flips, newest, whole_scores, hypotheses, strict=True):
        # What the flips reject needs no p-value, except "no change", whose p-value is shown.
        needs_exact = share > 0 and not (flipped.is_dropped and hypothesis.change)
        exact = flipped.exact
        if needs_exact:
            is_far = abs(latest.total) >= _LEAST_TAIL_SUM * _RANKS_WEIGHT  # else its p-value cannot be small
            exact = min(
                exact, (_exact_p_value(d[:n], levels[:n], scores, hypothesis.change) if is_far else 1.0) / share
            )
        standings_now.append(flipped._replace(exact=exact, total=latest.total, is_opposed=latest.is_opposed))
    return standings_now


def _drop_by_flips(
    standings: Sequence[Standing], whole_scores: WholeScores, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[Standing]:
    """Work out whether the last of the looks drops the observed signs, whose whole scores are (r, 2, n).

    It cannot if more flips have sums as large as the observed one than all looks so far may drop, which a subgroup of
    the flips shows in most cases. It does if no more flips have such sums than this look alone may drop. Only in
    between does it matter what earlier looks dropped.
    """
    standings_now = []
    for earlier, scores, hypothesis in zip(standings, whole_scores, hypotheses, strict=True):
        may_drop = droppable_flips(looks[-1], hypothesis.alpha)
        standing = earlier._replace(allowed=earlier.allowed + may_drop, untested=(*earlier.untested, scores))
        if (
            may_drop
            and not standing.is_dropped
            and joint.at_least_as_large(_flipped_scores(scores)) <= standing.allowed
        ):
            standing = _drop_by_all_flips(standing, looks, hypothesis, may_drop)
        standings_now.append(standing)
    return standings_now


def _drop_by_all_flips(standing: Standing, looks: Sequence[Look], hypothesis: Hypothesis, may_drop: int) -> Standing:
    """Work out from all flips whether the last of the looks drops the observed signs."""
    flipped = _flipped_scores(standing.untested[-1])
    as_large = flipped.flips_as_large()
    if as_large <= may_drop:
        return standing._replace(is_dropped=True)
    if as_large > standing.allowed:
        return standing
    followed = _with_all_tests(standing, looks, hypothesis, flipped)
    return followed._replace(is_dropped=followed.tests[-1].rejected)


def _with_all_tests(
    standing: Standing, looks: Sequence[Look], hypothesis: Hypothesis, newest: joint.Flipped | None = None
) -> Standing:
    """Return the standing with the tests of all looks; `newest` is what the last look sees, if that is known."""
    tests = list(standing.tests)
    test = tests[-1] if tests else joint.NOT_STARTED
    for look, scores in zip(looks[len(tests) :], standing.untested, strict=True):
        if may_drop := droppable_flips(look, hypothesis.alpha):
            flipped = _flipped_scores(scores) if newest is None or look is not looks[-1] else newest
            test = joint.look(test, flipped, may_drop)
        else:
            test = test._replace(bound=inf)
        tests.append(test)
    return standing._replace(tests=tuple(tests), untested=())


def _standing_of_sums(sums: Sequence[float]) -> Standing:
    """Return what the newest sums alone say."""
    smaller, larger = sorted(sums, key=abs)
    return Standing(total=larger, is_opposed=smaller * larger < 0)


def _exact_p_value(d: FloatArray, levels: FloatArray, whole: WholeScores, change: float) -> float:
    """Return the exact p-value of a change from scores and ranks together; `whole` are these in whole units, (2, n)."""
    if len(d) <= joint.BITS + 1:
        return joint.p_value(_flipped_scores(whole))
    changes = np.array([change])
    signed = np.concatenate([native.signed_scores(d, levels, changes), native.signed_ranks(d, changes)])
    by_scores, by_ranks = sign_flip.p_values(signed).tolist()
    return float(min(1.0, by_scores / SCORES_SHARE, by_ranks / (1 - SCORES_SHARE)))


def _flipped_scores(whole: WholeScores) -> joint.Flipped:
    """Flip signed scores and signed ranks in whole units, (2, n)."""
    return joint.Flipped(whole, _RANKS_WEIGHT)


class _Memory:
    """How the hypotheses of recent weighings stand, so that a look continues from the one before, not from the first.

    They are looked up by the values themselves, so no result depends on what was judged before.
    """

    def __init__(self) -> None:
        self._standings: OrderedDict[tuple[bytes, Look, Look], dict[Hypothesis, Standing]] = OrderedDict()

    def follow(
        self, d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
    ) -> list[Standing]:
        missing: list[dict[Hypothesis, Standing]] = []
        standings = [Standing()] * len(hypotheses)
        for look in reversed(looks):
            remembered = self._remembered((_digest(d[: look.pairs], levels[: look.pairs]), looks[0], look))
            if all(hypothesis in remembered for hypothesis in hypotheses):
                standings = [remembered[hypothesis] for hypothesis in hypotheses]
                break
            missing.append(remembered)
        while missing:
            count = len(looks) - len(missing) + 1
            standings = _take_look(d, levels, looks[:count], hypotheses, standings)
            missing.pop().update(zip(hypotheses, standings, strict=True))
        return standings

    def _remembered(self, key: tuple[bytes, Look, Look]) -> dict[Hypothesis, Standing]:
        remembered = self._standings.setdefault(key, {})
        self._standings.move_to_end(key)
        if len(self._standings) > _MOST_REMEMBERED:
            self._standings.popitem(last=False)
        return remembered


_memory = _Memory()


def _digest(d: FloatArray, levels: FloatArray) -> bytes:
    return blake2b(d.tobytes() + levels.tobytes(), digest_size=16).digest()


def bounds(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[list[float]]:
    """Return for each look and hypothesis about the size of a sum (`sum_sizes`) beyond which the look rejects it."""
    bounds_by_look = []
    standings = _memory.follow(d, levels, looks, hypotheses)
    tests_by_hypothesis = [
        _with_all_tests(standing, looks, hypothesis).tests
        for standing, hypothesis in zip(standings, hypotheses, strict=True)
    ]
    for count in range(1, len(looks) + 1):
        share = exact_test_share(looks[:count])
        cap = 1.0 if is_only_look(looks[:count]) else EXACT_ALPHA
        exact = [normal_quantile(share * min(hypothesis.alpha, cap)) if share else inf for hypothesis in hypotheses]
        bounds_by_look.append(
            [
                min(tests[count - 1].bound, exact_bound)
                for tests, exact_bound in zip(tests_by_hypothesis, exact, strict=True)
            ]
        )
    return bounds_by_look


def ranks_agree(d: FloatArray, levels: FloatArray, change: float) -> bool:
    """Whether the change at which the scores cancel describes the ranks of all pairs about as well."""
    return abs(float(native.sums_by_root(d, levels, np.array([change]))[0, 1]) * _RANKS_WEIGHT) < _FAR_RANK_SUM


def sum_sizes(d: FloatArray, levels: FloatArray, pairs: int, changes: FloatArray) -> FloatArray:
    """Return the size of the larger sum of the first pairs, over the root of its squares, (r,) for changes (r,)."""
    return np.asarray(np.abs(native.sums_by_root(d[:pairs], levels[:pairs], changes) * _SUM_WEIGHTS).max(axis=1))


def p_value(d: FloatArray, levels: FloatArray, looks: Sequence[Look], alpha: float, *, roughly: bool) -> float:
    """Return the smallest alpha that would have rejected "no change" by now; above `alpha` it is approximate.

    With `roughly` it is always approximate, but at most `alpha` exactly if `alpha` rejects.
    """
    standing = _memory.follow(d, levels, looks, [Hypothesis(0.0, alpha)])[0]
    if standing.exact <= EXACT_ALPHA or is_only_look(looks):
        return min(1.0, standing.exact, standing.alone)
    is_rejected = _is_rejected(standing, Hypothesis(0.0, alpha))
    if roughly or not is_rejected:
        level = nominal_level(looks, alpha)  # 0 where a weighing goes on with nothing left to spend
        approximate = min(1.0, 2 * NORMAL.cdf(-abs(standing.total)) * alpha / level) if level > 0 else 1.0
        return min(approximate, alpha) if is_rejected else above_alpha(alpha, approximate)
    if not standing.is_dropped:
        return standing.alone
    shared_looks = tuple(looks[1:] if is_only_look(looks[:1]) else looks)
    return min(standing.alone, _least_alpha(d.tobytes(), levels.tobytes(), shared_looks, alpha))


def above_alpha(alpha: float, p_value: float) -> float:
    """Return a p-value above alpha, as of what is no finding whatever the test alone says."""
    return max(p_value, float(np.nextafter(alpha, 1.0)))


@lru_cache(maxsize=_MOST_REMEMBERED)
def _least_alpha(d: bytes, levels: bytes, looks: tuple[Look, ...], alpha: float) -> float:
    """Return the smallest alpha with which these looks drop the observed signs, as they do with `alpha`.

    A family asks for it again with each share of alpha.
    """
    no_change, differences, all_levels = np.zeros(1), np.frombuffer(d), np.frombuffer(levels)
    flipped = [
        _flipped_scores(native.whole_scores(differences[: look.pairs], all_levels[: look.pairs], no_change)[0][0])
        for look in looks
    ]
    as_large = [scores.flips_as_large() for scores in flipped]
    low, high = 0, int((alpha - EXACT_ALPHA) * joint.FLIPS + 1e-6)
    while high - low > 1:
        middle = (low + high) // 2
        may_drop = [droppable_flips(look, middle / joint.FLIPS + EXACT_ALPHA) for look in looks]
        low, high = (low, middle) if _are_dropped(flipped, as_large, may_drop) else (middle, high)
    return high / joint.FLIPS + EXACT_ALPHA


def _are_dropped(flipped: Sequence[joint.Flipped], as_large: Sequence[int], may_drop: Sequence[int]) -> bool:
    """Whether looks that may drop so many flips each drop the observed signs; `as_large` flips have sums as large."""
    if any(larger <= limit for larger, limit in zip(as_large, may_drop, strict=True)):
        return True
    allowed = list(accumulate(may_drop))
    if all(larger > limit for larger, limit in zip(as_large, allowed, strict=True)):
        return False
    test = joint.NOT_STARTED
    for scores, limit in zip(flipped, may_drop, strict=True):
        test = joint.look(test, scores, limit)
    return test.rejected
