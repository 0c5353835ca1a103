"""Tests of hypothesised changes over the looks of a weighing: what is rejected by now, the p-value, and the interval.

Most of alpha is spent by the flips of `stats.joint`. They are too few to share out a small one, as several benchmarks
do: of each alpha the first 0.0002 goes to exact tests at every second look, whose levels add up to it. Both reject all
that they reject with a smaller alpha, so their sum does too, which Holm's and Benjamini and Hochberg's procedures need.

Each test is two at once. The scores of `stats.native` find most, but what a candidate has only in some of its launches
they may take for a storm; ranks do not. So the larger of the two sums is what counts, where that of the ranks counts a
little less: it costs next to nothing, as both mostly go together, and the flips know how much.

Shapes: differences d and levels, (n,) both, of as many pairs as the newest look has, in the order in which they ran.
The looks are all of a weighing until then; where the first ones were at other values of the pairs, they are those
behind them, which leave alone what these have spent.
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
from steelyard.stats.looks import ONE_BUDGET, Budgets, Look, look_sizes, plan_looks
from steelyard.stats.native import WholeScores
from steelyard.stats.quantiles import NORMAL, normal_quantile

# What the exact tests get of alpha, at most.
_EXACTLY = 2e-4
# They are every so many looks: their levels add up, so more of them would cost more than they gain.
_EXACTLY_EVERY = 2
# A sum below so many roots of its scores' squares has no p-value of `_EXACTLY` or less.
_NO_TAIL = 3.0
# What a sum of ranks counts beside one of scores, and what the scores get of an exact test's level.
_RANKS_COUNT, _SCORES_SHARE = 0.9, 0.75
_COUNT = np.array([1.0, _RANKS_COUNT])
# So many standard deviations the ranks' sum is off 0 at the change where the scores cancel once in a hundred times.
_FAR_OFF = 2.5
# At the end of a budget of more pairs than these, the level changes the interval's width by little.
_FAR_END = 20_000
# At how many looks the tests are remembered, so that the next look goes on from them.
_REMEMBERED = 4096


class Hypothesis(NamedTuple):
    """A change (log-ratio) to be rejected or not, and the alpha of all looks together."""

    change: float
    alpha: float


class Standing(NamedTuple):
    """How a hypothesis stands after some looks."""

    is_dropped: bool = False
    """Whether a look has dropped the signs that were observed."""
    allowed: int = 0
    """How many flips the looks might drop in all."""
    tests: tuple[joint.Test, ...] = ()
    """What the first looks dropped, as far as somebody had to know."""
    ahead: tuple[WholeScores, ...] = ()
    """The scores and ranks of the looks behind those, (2, pairs) each, from which it can be told."""
    exact: float = inf
    """The least p-value of the looks with exact tests, by the share of alpha that each may spend.

    Of a change other than 0 only until it is rejected.
    """
    alone: float = inf
    """The same of a budget that ended with its first look, whose exact test has all that this end may spend."""
    total: float = 0.0
    """The newest sum, of scores or of ranks: above 0 where the differences are larger than the hypothesis has them."""
    is_opposed: bool = False
    """Whether the two newest sums say the opposite of each other, so that no single change describes the pairs."""


class Result(NamedTuple):
    """Whether a hypothesis is rejected by now, and the sign of the newest sums, 0 if they have not the same one."""

    rejected: bool
    side: int


def tested(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis], *, keep: bool
) -> list[Result]:
    """Test hypotheses at all of the looks. `keep` is for those that the next look will ask again."""
    follow = _memory.follow if keep else _follow
    standings = follow(d, levels, looks, hypotheses)
    return [
        Result(_is_rejected(one, asked), 0 if one.is_opposed else int(np.sign(one.total)))
        for one, asked in zip(standings, hypotheses, strict=True)
    ]


def _is_rejected(standing: Standing, asked: Hypothesis) -> bool:
    if asked.change and standing.is_opposed:
        return False  # nothing is the same as what half of the launches are far from
    by_exact_tests = standing.alone <= asked.alpha or standing.exact <= min(asked.alpha, _EXACTLY)
    return standing.is_dropped or by_exact_tests


def _follow(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[Standing]:
    standings = [Standing()] * len(hypotheses)
    for taken in range(1, len(looks) + 1):
        standings = _next(d, levels, looks[:taken], hypotheses, standings)
    return standings


def _next(
    d: FloatArray,
    levels: FloatArray,
    looks: Sequence[Look],
    hypotheses: Sequence[Hypothesis],
    standings: Sequence[Standing],
) -> list[Standing]:
    """Take the last of the looks."""
    n = looks[-1].pairs
    whole, sums = native.whole(d[:n], levels[:n], np.array([asked.change for asked in hypotheses]))
    newest = [_standing(both) for both in (sums * _COUNT).tolist()]
    if _is_alone(looks):  # it has nothing to share with other looks, and an exact test wastes nothing
        share, alone = looks[0].share, (joint.BEGUN,)
        return [
            one._replace(tests=alone, alone=_exact(d[:n], levels[:n], scores, asked.change) / share)
            for one, scores, asked in zip(newest, whole, hypotheses, strict=True)
        ]
    share = _share_of_exact(looks)
    taken = []
    flips = _flip(standings, whole, looks, hypotheses)
    for flip, one, scores, asked in zip(flips, newest, whole, hypotheses, strict=True):
        # What is rejected anyhow needs no p-value, unless it is that of "no change", which is shown.
        is_asked = share > 0 and not (flip.is_dropped and asked.change)
        exact = flip.exact
        if is_asked:
            is_far = abs(one.total) >= _NO_TAIL * _RANKS_COUNT  # else its p-value is certainly not a small one
            exact = min(exact, (_exact(d[:n], levels[:n], scores, asked.change) if is_far else 1.0) / share)
        taken.append(flip._replace(exact=exact, total=one.total, is_opposed=one.is_opposed))
    return taken


def _flip(
    standings: Sequence[Standing], whole: WholeScores, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[Standing]:
    """Tell whether the last of the looks drops the signs that were observed, of which the whole scores are (r, 2, n).

    It surely does not where more flips have sums as large than all looks by now might drop, as a subgroup of them shows
    in most cases; it surely does where no more have them than this look alone may drop. Only between the two has it to
    be known what earlier looks dropped.
    """
    found = []
    for before, scores, asked in zip(standings, whole, hypotheses, strict=True):
        may_drop = units(looks[-1], asked.alpha)
        standing = before._replace(allowed=before.allowed + may_drop, ahead=(*before.ahead, scores))
        if may_drop and not standing.is_dropped and joint.at_least_as_large(_flipped(scores)) <= standing.allowed:
            standing = _flip_all(standing, looks, asked, may_drop)
        found.append(standing)
    return found


def _flip_all(standing: Standing, looks: Sequence[Look], asked: Hypothesis, may_drop: int) -> Standing:
    """Do so by all flips."""
    seen = _flipped(standing.ahead[-1])
    as_large = seen.as_large()
    if as_large <= may_drop:
        return standing._replace(is_dropped=True)
    if as_large > standing.allowed:
        return standing
    followed = _followed(standing, looks, asked, seen)
    return followed._replace(is_dropped=followed.tests[-1].rejected)


def _followed(
    standing: Standing, looks: Sequence[Look], asked: Hypothesis, newest: joint.Flipped | None = None
) -> Standing:
    """With what all of the looks dropped; `newest` is what the last one sees, if that is known."""
    tests = list(standing.tests)
    test = tests[-1] if tests else joint.BEGUN
    for look, scores in zip(looks[len(tests) :], standing.ahead, strict=True):
        if may_drop := units(look, asked.alpha):
            seen = _flipped(scores) if newest is None or look is not looks[-1] else newest
            test = joint.look(test, seen, may_drop)
        else:
            test = test._replace(bound=inf)
        tests.append(test)
    return standing._replace(tests=tuple(tests), ahead=())


def _is_alone(looks: Sequence[Look]) -> bool:
    """Whether the last of the looks is the first one, and the end of its budget."""
    return len(looks) == 1 and looks[0].last and not looks[0].share_before


def _standing(sums: Sequence[float]) -> Standing:
    """What the newest sums say by themselves."""
    smaller, larger = sorted(sums, key=abs)
    return Standing(total=larger, is_opposed=smaller * larger < 0)


@lru_cache(maxsize=4096)
def units(look: Look, alpha: float) -> int:
    """How many flips a look may drop of those that alpha allows, but for what goes to the exact tests.

    Each flip that alpha allows has a look of its own, whatever alpha is, and a larger alpha allows more of them: no
    look may drop fewer then.
    """
    places = _places()[: int(max(0.0, alpha - _EXACTLY) * joint.FLIPS + 1e-6)]
    return int(((places >= look.share_before) & (places < look.share)).sum())


@lru_cache(maxsize=1)
def _places() -> FloatArray:
    """Numbers in [0, 1) of which the first few, however many, are spread evenly (van der Corput)."""
    places = np.zeros(1)
    for bit in range(1, joint.BITS + 1):
        places = np.concatenate([places, places + 0.5**bit])
    return places


def _share_of_exact(looks: Sequence[Look]) -> float:
    """The share of alpha that the last of the looks may spend in an exact test; 0 if it has none."""
    number = len(looks) - 1
    if number % _EXACTLY_EVERY and not looks[-1].last:
        return 0.0
    earlier = [look.share for place, look in enumerate(looks[:-1]) if look.last or not place % _EXACTLY_EVERY]
    return looks[-1].share - (earlier[-1] if earlier else looks[0].share_before)


def _exact(d: FloatArray, levels: FloatArray, whole: WholeScores, change: float) -> float:
    """The p-value of the larger sum of the scores and ranks for a change, (2, n) in whole units."""
    if len(d) <= joint.BITS + 1:
        return joint.p_value(_flipped(whole))
    asked = np.array([change])
    both = np.concatenate([native.signed_scores(d, levels, asked), native.signed_ranks(d, asked)])
    by_scores, by_ranks = sign_flip.p_values(both).tolist()
    return float(min(1.0, by_scores / _SCORES_SHARE, by_ranks / (1 - _SCORES_SHARE)))


def _flipped(whole: WholeScores) -> joint.Flipped:
    """Flip signed scores and signed ranks in whole units, (2, n)."""
    return joint.Flipped(whole, _RANKS_COUNT)


class _Memory:
    """How the hypotheses of the newest weighings stand: a look goes on from the one before, instead of from the first.

    They are found by what the values are, so that nothing depends on what was judged before.
    """

    def __init__(self) -> None:
        self._standings: OrderedDict[tuple[bytes, Look, Look], dict[Hypothesis, Standing]] = OrderedDict()

    def follow(
        self, d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
    ) -> list[Standing]:
        missing: list[dict[Hypothesis, Standing]] = []
        standings = [Standing()] * len(hypotheses)
        for look in reversed(looks):
            known = self._at((_digest(d[: look.pairs], levels[: look.pairs]), looks[0], look))
            if all(asked in known for asked in hypotheses):
                standings = [known[asked] for asked in hypotheses]
                break
            missing.append(known)
        while missing:
            taken = len(looks) - len(missing) + 1
            standings = _next(d, levels, looks[:taken], hypotheses, standings)
            missing.pop().update(zip(hypotheses, standings, strict=True))
        return standings

    def _at(self, place: tuple[bytes, Look, Look]) -> dict[Hypothesis, Standing]:
        known = self._standings.setdefault(place, {})
        self._standings.move_to_end(place)
        if len(self._standings) > _REMEMBERED:
            self._standings.popitem(last=False)
        return known


_memory = _Memory()


def _digest(d: FloatArray, levels: FloatArray) -> bytes:
    return blake2b(d.tobytes() + levels.tobytes(), digest_size=16).digest()


def bounds(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], hypotheses: Sequence[Hypothesis]
) -> list[list[float]]:
    """For each look and each hypothesis: beyond which `sizes` the look rejects it, about."""
    found = []
    standings = _memory.follow(d, levels, looks, hypotheses)
    followed = [_followed(one, looks, asked).tests for one, asked in zip(standings, hypotheses, strict=True)]
    for taken in range(1, len(looks) + 1):
        share = _share_of_exact(looks[:taken])
        most = 1.0 if _is_alone(looks[:taken]) else _EXACTLY
        exact = [normal_quantile(share * min(asked.alpha, most)) if share else inf for asked in hypotheses]
        found.append([min(tests[taken - 1].bound, also) for tests, also in zip(followed, exact, strict=True)])
    return found


def is_described(d: FloatArray, levels: FloatArray, change: float) -> bool:
    """Whether a change describes the ranks of all pairs about as well as it does the scores, where these cancel."""
    return abs(float(native.sums_by_root(d, levels, np.array([change]))[0, 1]) * _RANKS_COUNT) < _FAR_OFF


def sizes(d: FloatArray, levels: FloatArray, pairs: int, changes: FloatArray) -> FloatArray:
    """The sizes of the sums of the first pairs, by the roots of the squares, (r,) for changes (r,)."""
    return np.asarray(np.abs(native.sums_by_root(d[:pairs], levels[:pairs], changes) * _COUNT).max(axis=1))


def p_value(d: FloatArray, levels: FloatArray, looks: Sequence[Look], alpha: float, *, roughly: bool) -> float:
    """The smallest alpha with which "no change" would have been rejected by now; above `alpha` only about that.

    With `roughly` it is about that in any case, but at most `alpha` exactly if `alpha` rejects.
    """
    standing = _memory.follow(d, levels, looks, [Hypothesis(0.0, alpha)])[0]
    if standing.exact <= _EXACTLY or _is_alone(looks):
        return min(1.0, standing.exact, standing.alone)
    is_rejected = _is_rejected(standing, Hypothesis(0.0, alpha))
    if roughly or not is_rejected:
        level = nominal_level(looks, alpha)  # 0 where a budget goes on, of which nothing is left
        about = min(1.0, 2 * NORMAL.cdf(-abs(standing.total)) * alpha / level) if level > 0 else 1.0
        return min(about, alpha) if is_rejected else max(about, float(np.nextafter(alpha, 1.0)))
    if not standing.is_dropped:
        return standing.alone
    return min(standing.alone, _least_alpha(d, levels, looks[1:] if _is_alone(looks[:1]) else looks, alpha))


def _least_alpha(d: FloatArray, levels: FloatArray, looks: Sequence[Look], alpha: float) -> float:
    """The smallest alpha, up to one that does, with which these looks drop the signs that were observed."""
    no_change = np.zeros(1)
    seen = [_flipped(native.whole(d[: look.pairs], levels[: look.pairs], no_change)[0][0]) for look in looks]
    as_large = [one.as_large() for one in seen]
    low, high = 0, int((alpha - _EXACTLY) * joint.FLIPS + 1e-6)
    while high - low > 1:
        middle = (low + high) // 2
        may_drop = [units(look, middle / joint.FLIPS + _EXACTLY) for look in looks]
        low, high = (low, middle) if _are_dropped(seen, as_large, may_drop) else (middle, high)
    return high / joint.FLIPS + _EXACTLY


def _are_dropped(seen: Sequence[joint.Flipped], as_large: Sequence[int], may_drop: Sequence[int]) -> bool:
    """Whether looks that may drop so many flips drop the signs that were observed; `as_large` as these are so many."""
    if any(many <= most for many, most in zip(as_large, may_drop, strict=True)):
        return True
    allowed = list(accumulate(may_drop))
    if all(many > most for many, most in zip(as_large, allowed, strict=True)):
        return False
    test = joint.BEGUN
    for one, most in zip(seen, may_drop, strict=True):
        test = joint.look(test, one, most)
    return test.rejected


def nominal_level(looks: Sequence[Look], alpha: float) -> float:
    """About the level at which the last of the looks tests scores, told from noise that is always the same.

    For what only has to be about right: how wide an interval is to be, what a later look would find.
    """
    if _is_alone(looks):
        return looks[0].share * alpha * (1.0 if looks[0].pairs <= joint.BITS + 1 else _SCORES_SHARE)
    bound = _typical(tuple(looks), alpha).bound
    by_flips = 2 * NORMAL.cdf(-bound) if bound < inf else 0.0
    return max(by_flips, (looks[-1].share - looks[-1].share_before) * min(alpha, _EXACTLY))


@lru_cache(maxsize=1024)
def _typical(looks: tuple[Look, ...], alpha: float) -> joint.Test:
    test = _typical(looks[:-1], alpha) if len(looks) > 1 else joint.BEGUN
    return joint.look(test, _typical_sums(looks[-1].pairs), units(looks[-1], alpha))


@lru_cache(maxsize=4)
def _typical_sums(pairs: int) -> joint.Flipped:
    """Scores that are alike but for ties."""
    spread = np.arange(pairs) * 0.618033988749895 % 1
    return joint.flipped(np.asarray(0.7 + 0.3 * spread, dtype=np.float64))


@lru_cache(maxsize=1024)
def level_at_end(pairs: int, alpha: float, budgets: Budgets = ONE_BUDGET) -> float:
    """About the level at which a budget of so many pairs, earlier ones included, is judged at its end.

    It is that of a budget that ends at one of the looks' sizes, so that it is found once, however the budget changes
    from pair to pair, and soon, however long it is.
    """
    most = max(min(pairs, _FAR_END), budgets.ended or 0)
    size = next(size for size in look_sizes() if size >= most)
    return nominal_level(plan_looks(size, ended=True, budgets=budgets), alpha)
