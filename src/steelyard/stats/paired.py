"""From paired differences to a verdict: judging the looks, and what an `undecided` would have needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import copysign, expm1, isfinite, sqrt

import numpy as np

from steelyard.stats import layouts as over_layouts
from steelyard.stats import repeated, sequential, sign_flip, spending, stopped, weighted
from steelyard.stats.arrays import FloatArray, IntArray
from steelyard.stats.clock import clock_quantisation, step_of_few
from steelyard.stats.looks import FEWEST_WITH_NOISE, ONE_BUDGET, Budgets, Look, plan_looks
from steelyard.stats.quantiles import NORMAL, normal_quantile
from steelyard.stats.sequential import Hypothesis, Result
from steelyard.stats.signed_rank import Estimate, estimate
from steelyard.stats.verdict import (
    CHANGED,
    VerdictName,
    excludes_no_change,
    found_nine_times_in_ten,
    log_margin,
    verdict_of,
)

# A weighing that is less likely than this to reach a verdict within its budget is stopped.
FUTILE_BELOW = 0.02
# The noise must be known before the future can be predicted from it: no look before this many pairs is called futile.
FUTILE_FROM_PAIRS = 30
# `pairs_needed` is the budget that would decide this often.
DECISIVE_CHANCE = 0.8
# Half of the weighings end far sooner than that, as a change near the margin needs so many more pairs.
EVEN_CHANCE = 0.5
# Nobody waits for more than this many times the pairs at hand.
MOST_TIMES_THE_PAIRS = 1000
# Too few pairs for an interval often have too small a standard deviation, which is multiplied by this
# (benchmarks/hints_on_traces.py).
FEW_PAIRS_FACTOR = 2.0
# The noise may be larger than that of n pairs seems by this over n, relatively.
NOISE_UNCERTAINTY = 6.0
# How many estimates are remembered. A suite asks for those of all its benchmarks in turn, so fewer than it has would
# never serve.
_MOST_REMEMBERED = 1 << 15
# How far an end stays from 0 where a change is certain, but a clock's ticks hide its size.
LEAST_CHANGE = 1e-6


@dataclass(frozen=True)
class Judgement:
    """What the pairs say at the look that was judged. Changes are log-ratios: ln(candidate / baseline).

    `estimate` has the interval at this look's level. `is_change` is whether "no change" is rejected at the level that a
    change needs, which is stricter where several benchmarks share alpha.
    """

    verdict: VerdictName
    estimate: Estimate
    is_change: bool
    look: Look
    looks: int
    quantisation: float
    p_value: float
    level: float
    """About the level at which this look tests for a change.

    It is stricter than the interval's where several benchmarks share alpha.
    """
    scored: float
    """The change that the scores of the pairs find, which is that of the calm pairs (`native.signed_scores`)."""
    averaged: over_layouts.Averaged | None = None
    """What the layouts say, where there are several; the estimate is then theirs, and the interval covers both."""
    alike: int | None = None
    """How many of the pairs were measured in the way now in use, if it is not the first one: what is known of the
    noise is attributed to these, as that way was chosen for being less noisy."""

    @property
    def lower(self) -> float:
        """Lower end of the repeated interval, widened by what the clock's tick hides."""
        return self._widened(self.estimate.lower, -self.quantisation)

    @property
    def upper(self) -> float:
        """Upper end of the repeated interval, widened by what the clock's tick hides."""
        return self._widened(self.estimate.upper, self.quantisation)

    def _widened(self, end: float, by: float) -> float:
        # Without a change both sides are rounded alike, so an interval that excludes 0 does so whatever the clock.
        widened = end + by
        return copysign(min(abs(end), LEAST_CHANGE), end) if widened * end <= 0 and end else widened


@dataclass(frozen=True)
class Rules:
    """What a weighing is judged by: the relative `margin`, and how many benchmarks (`members`) share `alpha`."""

    margin: float
    alpha: float
    members: float = 1


def judge_look(
    baseline: FloatArray,
    candidate: FloatArray,
    looks: Sequence[Look],
    rules: Rules,
    *,
    quantisation: float = 0.0,
    roughly: bool = False,
    layouts: IntArray | None = None,
    step: Callable[[], float] = float,
) -> Judgement:
    """Judge positive values of pairs, (n,) each, in the order in which they were measured, at the last of the looks.

    `quantisation` is the largest change that the clock's rounding can hide (see `clock_quantisation`). The p-value is
    the smallest alpha that would have rejected "no change" by now: at most alpha exactly when alpha rejects it, and
    approximate above alpha. With `roughly` it is approximate everywhere, and a look that does not decide takes its
    interval from a standard error, in a tenth of the time. With `layouts`, (n,), the change is averaged over these;
    `step` returns the distance between the launches' values, if only few are different (see `step_of_few`).
    """
    d, levels = _differences(baseline, candidate)
    judged = _judge_pairs(d, levels, looks, rules, quantisation, roughly=roughly)
    if layouts is None:
        return judged
    share, may_decide = over_layouts.look_at_layouts(looks)
    averaged = over_layouts.average(d, layouts, share * rules.alpha, step())
    return _combine_with_layouts(judged, averaged, share, rules, may_decide=may_decide)


def _combine_with_layouts(
    judged: Judgement, averaged: over_layouts.Averaged, share: float, rules: Rules, *, may_decide: bool
) -> Judgement:
    """Combine a judgement of pairs with the average over their layouts; the result claims no more than either."""
    lower, upper = min(judged.estimate.lower, averaged.lower), max(judged.estimate.upper, averaged.upper)
    mean = replace(judged.estimate, centre=averaged.centre, lower=lower, upper=upper)
    p_value = min(1.0, max(judged.p_value, averaged.p_value / share))
    if not may_decide:
        p_value = sequential.above_alpha(rules.alpha, p_value)
    rejects = averaged.p_value * rules.members <= averaged.level
    is_change = may_decide and judged.is_change and rejects and excludes_no_change((lower, upper))
    combined = replace(
        judged, verdict="undecided", estimate=mean, is_change=is_change, p_value=p_value, averaged=averaged
    )
    verdict = verdict_of(mean.centre, (combined.lower, combined.upper), rules.margin, is_change=is_change)
    return replace(combined, verdict=verdict) if may_decide and verdict == judged.verdict else combined


def _judge_pairs(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], rules: Rules, quantisation: float, *, roughly: bool
) -> Judgement:
    tests = _tests(d, levels, looks, rules)
    level = spending.nominal_level(looks, rules.alpha)
    if roughly and not tests.may_decide:
        pair_estimate = _agreeing_with_tests(weighted.rough_estimate(d, levels, level), tests)
        scored = pair_estimate.centre
    else:
        pair_estimate, scored = _estimate(d.tobytes(), levels.tobytes(), tuple(looks), rules.alpha, tests.changes)
    excludes_none = excludes_no_change((pair_estimate.lower, pair_estimate.upper))
    p_value = sequential.p_value(d, levels, looks, rules.alpha, roughly=roughly)
    if not excludes_none:  # even if rejected, "no change" then lies between changes that are not
        p_value = sequential.above_alpha(rules.alpha, p_value)
    change_level = level if rules.members == 1 else spending.nominal_level(looks, rules.alpha / rules.members)
    is_change = tests.is_change and excludes_none
    undecided = Judgement(
        "undecided", pair_estimate, is_change, looks[-1], len(looks), quantisation, p_value, change_level, scored
    )
    if not tests.may_decide:  # whatever a rough estimate says: the exact one decides in the end
        return undecided
    interval = (undecided.lower, undecided.upper)
    verdict = verdict_of(pair_estimate.centre, interval, rules.margin, is_change=is_change)
    if verdict in CHANGED:
        bound, alpha = log_margin(rules.margin), rules.alpha / rules.members
        centre = stopped.median_unbiased(d, levels, looks, alpha, pair_estimate, bound)
        pair_estimate = replace(pair_estimate, centre=min(max(centre, pair_estimate.lower), pair_estimate.upper))
    return replace(undecided, verdict=verdict, estimate=pair_estimate)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _estimate(
    d: bytes, levels: bytes, looks: tuple[Look, ...], alpha: float, known: tuple[float, float, float]
) -> repeated.Repeated:
    """Return the estimate and its repeated interval, which a family asks for again with each share of alpha."""
    return repeated.estimate(np.frombuffer(d), np.frombuffer(levels), looks, alpha, known)


@dataclass(frozen=True)
class _Tests:
    """The tests behind a verdict at one look: those of no change, and of the margins below and above it."""

    changes: tuple[float, float, float]
    results: list[Result]
    is_change: bool
    """Whether "no change" is rejected, also with the share of alpha that a change gets."""

    @property
    def may_decide(self) -> bool:
        """Whether they allow a verdict: a change is beyond a margin if the sum at that margin points beyond it.

        A change that is certainly beyond one margin, though not yet for a family, rejects both: that is not `same`.
        """
        _, less, more = self.results
        is_within = less.rejected and more.rejected and less.side != more.side
        return is_within or (self.is_change and (less.side <= 0 or more.side >= 0))


def _tests(d: FloatArray, levels: FloatArray, looks: Sequence[Look], rules: Rules) -> _Tests:
    bound = log_margin(rules.margin)
    changes = (0.0, -bound, bound)
    results = sequential.run_tests(d, levels, looks, [Hypothesis(change, rules.alpha) for change in changes], keep=True)
    is_change = results[0].rejected
    if is_change and rules.members != 1:
        shared = Hypothesis(0.0, rules.alpha / rules.members)
        is_change = sequential.run_tests(d, levels, looks, [shared], keep=True)[0].rejected
    return _Tests(changes, results, is_change)


def _agreeing_with_tests(rough: Estimate, tests: _Tests) -> Estimate:
    """Return an estimate whose interval agrees with the test of "no change"."""
    if not tests.results[0].rejected:
        return replace(rough, lower=min(rough.lower, 0.0), upper=max(rough.upper, 0.0))
    if rough.centre > 0:
        return replace(rough, lower=max(rough.lower, LEAST_CHANGE))
    return replace(rough, upper=min(rough.upper, -LEAST_CHANGE))


def _differences(baseline: FloatArray, candidate: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The pairs' differences and their levels."""
    before, after = np.log(baseline), np.log(candidate)
    return after - before, (after + before) / 2


def rough_change(baseline: FloatArray, candidate: FloatArray, alpha: float) -> float:
    """Return the roughly estimated log-ratio of some pairs, for charts and not for verdicts."""
    return weighted.rough_estimate(*_differences(baseline, candidate), alpha).centre


def judge(
    values: Callable[[int], tuple[FloatArray, FloatArray]],
    pairs: int,
    margin: float,
    alpha: float,
    *,
    ended: bool,
    newest_only: bool = False,
    roughly: bool = False,
    hidden: Callable[[int], float] | None = None,
    step: Callable[[int], float] | None = None,
    others: Callable[[int], int] | None = None,
    members: float = 1,
    layouts: IntArray | None = None,
    budgets: Budgets = ONE_BUDGET,
) -> Judgement | None:
    """Replay the looks at `pairs` pairs; return the judgement of the first that decides, or else of the newest.

    `values(n)` gives the positive values of the first n pairs, (baseline, candidate), shape (n,) each. `ended` says
    that the budget ended with these pairs, which makes the last look the final one. `newest_only` judges just the
    newest look, for a caller that has judged the others before; `roughly` is for a caller that shows nobody the
    interval. `hidden(n)` is the largest log-ratio that a clock's ticks can hide from the first n pairs, and `step(n)`
    the distance between the few different values of these pairs, where the values themselves do not show it. Looks
    until `others(n)` pairs saw other values than those of n pairs: the alpha that they could spend is spent.
    `members` is how many benchmarks share alpha for `slower` and `faster` (`stats.family`), `budgets` what the ends of
    earlier budgets have spent of it. `layouts`, (pairs,), names each pair's build, where the change is to hold for any
    build. None if there are too few pairs for any look.
    """
    looks, rules = plan_looks(pairs, ended=ended, budgets=budgets), Rules(margin, alpha, members)
    judgement = None
    for count in range(len(looks) if newest_only and looks else 1, len(looks) + 1):
        pairs_seen = looks[count - 1].pairs
        baseline, candidate = values(pairs_seen)
        old_pairs = others(pairs_seen) if others else 0
        valid_looks = [look for look in looks[:count] if look.pairs > old_pairs]
        if count < len(looks) and not _tests(*_differences(baseline, candidate), valid_looks, rules).may_decide:
            continue
        judgement = judge_look(
            baseline,
            candidate,
            valid_looks,
            rules,
            quantisation=hidden(pairs_seen) if hidden else clock_quantisation(baseline, candidate),
            roughly=roughly,
            layouts=None if layouts is None else layouts[:pairs_seen],
            step=partial(step, pairs_seen) if step else partial(step_of_few, baseline, candidate),
        )
        judgement = replace(judgement, looks=count)
        if judgement.verdict != "undecided":
            break
    return judgement


def resolution(judgement: Judgement, margin: float) -> float | None:
    """The smallest change (log-ratio) that this many pairs with this noise would have found 9 times out of 10.

    None where so few pairs find no change at all, or none as one of several benchmarks.
    """
    error = judgement.estimate.standard_error
    if not isfinite(error) or sign_flip.least_p_value(judgement.estimate.n) > judgement.level:
        return None
    return found_nine_times_in_ten(error, normal_quantile(judgement.level), margin) + judgement.quantisation


def chance_of_verdict(judgement: Judgement, margin: float, pairs: int, level: float) -> float:
    """Return how likely a look at `pairs` pairs in all, at `level`, is to reach a verdict, as seen from this look.

    By the predictive distribution of the later estimate given the present one (flat prior, normal approximation:
    Jennison and Turnbull, *Group Sequential Methods*, 10.3). The differences between layouts remain, however many
    pairs there are.
    """
    current = judgement.estimate
    if not isfinite(current.standard_error):
        return 1.0
    lasting = judgement.averaged.floor**2 if judgement.averaged else 0.0
    known_pairs = judgement.alike or current.n
    later_error = current.standard_error * sqrt(
        lasting + (1 - lasting) * known_pairs / (known_pairs + pairs - current.n)
    )
    deviation = sqrt(max(current.standard_error**2 - later_error**2, 1e-30))
    return _chance_of_interval(judgement, margin, normal_quantile(level) * later_error, deviation)


def _chance_of_interval(judgement: Judgement, margin: float, half_width: float, deviation: float) -> float:
    """Return how likely an interval of `half_width` decides, about an estimate within `deviation` (SD) of this one."""
    centre, bound = judgement.estimate.centre, log_margin(margin)
    room = bound - half_width - judgement.quantisation
    same = _probability_between(-room, room, centre, deviation) if room > 0 else 0.0
    reach = max(half_width, bound)
    return same + 1 - _probability_between(-reach, reach, centre, deviation)


def layouts_needed(judgement: Judgement, margin: float, most: int) -> int | None:
    """Return the layouts a side, with as many pairs each, that would decide 4 times out of 5; None if over `most`."""
    if judgement.averaged is None:
        return None
    return over_layouts.layouts_needed(
        partial(_chance_of_interval, judgement, margin), judgement.averaged, DECISIVE_CHANCE, most
    )


def is_futile(judgement: Judgement, margin: float, pairs: int, level: float) -> bool:
    """Whether a budget of `pairs` pairs in all has no fair chance of a verdict any more."""
    enough = (judgement.alike or judgement.look.pairs) >= FUTILE_FROM_PAIRS
    return enough and chance_of_verdict(judgement, margin, pairs, level) < FUTILE_BELOW


def pairs_needed(judgement: Judgement, margin: float, level: float, chance: float = DECISIVE_CHANCE) -> int | None:
    """Return the pairs in all that would decide with this chance; None if there is no sensible number of them."""
    pairs_now = judgement.look.pairs
    if not isfinite(judgement.estimate.standard_error):
        return None
    for pairs in _geometric_sizes(pairs_now, pairs_now * MOST_TIMES_THE_PAIRS):
        if chance_of_verdict(judgement, margin, pairs, level) >= chance:
            return pairs
    return None


def guess_from_few(d: FloatArray, alpha: float) -> Judgement | None:
    """Judge too few differences for an interval by a guess of their noise, only to ask what would decide.

    None for so few that they say nothing about their noise.
    """
    n = len(d)
    if n < FEWEST_WITH_NOISE:
        return None
    centre = estimate(d, alpha).centre
    half_width = normal_quantile(alpha) * FEW_PAIRS_FACTOR * float(np.std(d, ddof=1)) / sqrt(n)
    guess = Estimate(centre, centre - half_width, centre + half_width, n, alpha)
    return Judgement("undecided", guess, False, plan_looks(n, ended=True)[-1], 0, 0.0, 1.0, alpha, guess.centre)


def margin_needed(judgement: Judgement, level: float) -> float | None:
    """Return the relative margin with which as many new pairs would decide 4 times out of 5; None if it is unknown.

    Both estimates have an error, this one and the later one, so the later one lies farther from this one than from the
    truth.
    """
    current = judgement.estimate
    if not isfinite(current.standard_error):
        return None
    error = current.standard_error * (1 + NOISE_UNCERTAINTY / current.n)
    apart, half_width = sqrt(2) * error, normal_quantile(level) * error
    reach = half_width + judgement.quantisation
    low, high = reach, reach + abs(current.centre) + 5 * apart
    for _ in range(50):
        room = (low + high) / 2 - reach
        decides = _probability_between(-room, room, current.centre, max(apart, 1e-15)) >= DECISIVE_CHANCE
        low, high = (low, (low + high) / 2) if decides else ((low + high) / 2, high)
    return expm1(high)


@lru_cache(maxsize=64)
def _geometric_sizes(first: int, last: int) -> Sequence[int]:
    steps = max(2, int(np.log(last / first) / np.log(1.1)))
    return [int(size) for size in np.geomspace(first, last, steps)][1:]


def _probability_between(low: float, high: float, mean: float, deviation: float) -> float:
    return NORMAL.cdf((high - mean) / deviation) - NORMAL.cdf((low - mean) / deviation)
