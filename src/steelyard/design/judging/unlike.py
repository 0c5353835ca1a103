"""Pairs that no single change describes: it came midway, shows in the noisy ones alone, or in some launches."""

from __future__ import annotations

from math import expm1

import numpy as np

from steelyard.model.findings import MIDWAY, SOME_LAUNCHES, STORMS_DIFFER, Finding
from steelyard.model.launches import FloatArray
from steelyard.report.figures import change, count, whole_percent
from steelyard.stats.halves import halves_of
from steelyard.stats.leaning import leaning
from steelyard.stats.midway import Parts, parts_of
from steelyard.stats.summary import quartile_deviation
from steelyard.stats.verdict import log_margin

# A pair is far out if it differs from the others by this many standard deviations of their middle half.
_FAR_DEVIATIONS = 5.0
# No more than this share of equal programs is said to be far slower in some launches of one side.
_MOST_CHANCE = 0.01
# A program that runs this much longer meets more of what is around it, and a stall is a different share of its time.
_MOST_LONGER = 1.25


def unlike_finding(pairs: tuple[FloatArray, FloatArray], scored: float, shown: float, margin: float) -> Finding | None:
    """Return a finding on pairs that are not alike, if they are not: positive values, (n,) a side, in order of time.

    `scored` is the log-ratio that their scores find, `shown` the one that is the result. A change
    midway makes one part of the pairs the noisier one, so that noise says nothing then.
    """
    baseline, candidate = (np.log(side) for side in pairs)
    d, by = candidate - baseline, log_margin(margin)
    parts = parts_of(d, by)
    if parts is not None:
        return _midway_finding(baseline, candidate, parts)
    storms = _storms_finding(d, (baseline + candidate) / 2, scored, shown, by)
    return storms or _some_launches_finding(d, scored, by, is_of_others=abs(shown - scored) < by)


def _midway_finding(baseline: FloatArray, candidate: FloatArray, parts: Parts) -> Finding:
    cut = parts.earlier.n
    before, after = (change(expm1(part.centre)) for part in (parts.earlier, parts.later))
    side_changes = [
        change(expm1(float(np.median(side[cut:]) - np.median(side[:cut])))) for side in (baseline, candidate)
    ]
    return Finding(
        code=MIDWAY,
        message=f"the first {count(cut, 'pair')} show {before}, the {parts.later.n} after them {after}: no single "
        f"change describes them. Between the two stretches the baseline changed by {side_changes[0]}, the candidate by "
        f"{side_changes[1]}",
        remedy="what changed for one side alone is its own doing, such as a cache or a file that it fills: weigh "
        "again to see which of the two stays; what changed for both is the machine's, and then the change depends on "
        "what else runs",
    )


def _storms_finding(d: FloatArray, levels: FloatArray, scored: float, shown: float, by: float) -> Finding | None:
    halves = halves_of(d, levels, scored)
    if halves is None or not halves.calm.is_apart_from(halves.storm, by):
        return None
    calm, storm = (change(expm1(half.centre)) for half in (halves.calm, halves.storm))
    # Of pairs that all weigh the same, as to ranks, the result lies about halfway.
    is_of_calm = 2 * abs(shown - halves.calm.centre) < abs(shown - halves.storm.centre)
    return Finding(
        code=STORMS_DIFFER,
        message=f"the calmer half of the pairs shows {calm}, the noisier half {storm}: the change "
        f"is not the same in all pairs{', and the noisier ones weigh less in the result' if is_of_calm else ''}",
        remedy="a change that shows only beside other work, or only in some launches, is in the noisier half",
    )


def _some_launches_finding(d: FloatArray, scored: float, by: float, *, is_of_others: bool) -> Finding | None:
    """Return a finding if some launches of one side are far off, and surely not as many of the other's.

    `is_of_others` tells that the result is that of the other launches, which it need not be as to ranks.
    """
    far = max(by, _FAR_DEVIATIONS * quartile_deviation(d))
    beyond = np.column_stack([d - scored < -far, d - scored > far])
    if abs(scored) > np.log(_MOST_LONGER) or not beyond.any():
        return None
    found = leaning(beyond, float(1 / (1 + np.exp(-scored))))
    if found.p_value > _MOST_CHANCE:
        return None
    side = int(found.candidate > found.baseline)
    more, less = ("candidate", "baseline") if side else ("baseline", "candidate")
    often, seldom = max(found.candidate, found.baseline), min(found.candidate, found.baseline)
    size = change(expm1(float(np.median(np.abs((d - scored)[beyond[:, side]])))))
    weight = ": such launches weigh little in the result, which is that of the others" if is_of_others else ""
    return Finding(
        code=SOME_LAUNCHES,
        message=f"in {whole_percent(often)} of the pairs the {more} is far above the {less}, by {size} in the median, "
        f"and far below it in {whole_percent(seldom)}, which is hardly chance (p = {found.p_value:.1g}){weight}",
        remedy="how often they come and how much they cost may be what matters: steelyard report draws each launch",
    )
