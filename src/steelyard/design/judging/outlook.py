"""What would decide an undecided benchmark: more pairs, the time that they take, or another margin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from statistics import fmean

import numpy as np

from steelyard.design.budgets import controls_of, fewest_pairs
from steelyard.model.derived import Verdict
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import DISTURBED, USED, WARM_UP
from steelyard.model.settings import Settings
from steelyard.stats.looks import FIRST_LOOK, Budgets
from steelyard.stats.paired import DECISIVE_CHANCE, EVEN_CHANCE, Judgement, guess_from_few, margin_needed, pairs_needed
from steelyard.stats.spending import level_at_end
from steelyard.stats.verdict import log_margin

# The budget in pairs that is assumed at first where only a few pairs tell of it.
_ASSUMED_PAIRS = 100


@dataclass(frozen=True)
class Needed:
    """What an undecided benchmark lacks."""

    pairs: int | None = None
    even: int | None = None
    """Pairs that decide it in half of all cases."""
    margin: float | None = None


def needed_to_decide(judgement: Judgement, settings: Settings, budgets: Budgets, members: float = 1) -> Needed:
    """Return what a judgement lacks, if it is undecided; `members` share alpha for `slower` and `faster`."""
    if judgement.verdict != "undecided":
        return Needed()
    pairs_shown = judgement.look.pairs
    margin = margin_needed(judgement, level_at_end(pairs_shown, settings.alpha, budgets))
    known = margin is not None and margin > settings.margin and isfinite(margin)
    # The pairs so far have not decided it.
    pairs, even = (
        found and max(found, pairs_shown + 1)
        for found in (
            _pairs_needed(judgement, settings, budgets, 2 * pairs_shown, members, by)
            for by in (DECISIVE_CHANCE, EVEN_CHANCE)
        )
    )
    return Needed(pairs, even, margin if known else None)


def _pairs_needed(
    judgement: Judgement, settings: Settings, budgets: Budgets, about: int, members: float, by: float = DECISIVE_CHANCE
) -> int | None:
    """Return the pairs that would decide, given about how many: the more looks, the less is left for the last.

    A lean towards a change has to show with its share of alpha; `same` takes no part of it.
    """
    is_change = abs(judgement.estimate.centre) >= log_margin(settings.margin)
    alpha = settings.alpha / members if is_change else settings.alpha
    first = pairs_needed(judgement, settings.margin, level_at_end(about, alpha, budgets), by)
    pairs = first and pairs_needed(judgement, settings.margin, level_at_end(first, alpha, budgets), by)
    if pairs is None or not is_change or members == 1:
        return pairs
    return max(pairs, fewest_pairs(settings.alpha, settings.reserve, members))


def needed_after_few_pairs(differences: FloatArray, settings: Settings, budgets: Budgets, members: float) -> Needed:
    """Return what pairs too few for an interval lack; the fewest that are looked at if they tell of no noise."""
    guess = guess_from_few(differences, settings.alpha)
    if guess is None:
        return Needed(FIRST_LOOK)
    pairs = _pairs_needed(guess, settings, budgets, _ASSUMED_PAIRS, members)
    return Needed(None if pairs is None else max(FIRST_LOOK, pairs))  # with so few pairs, no margin decides


def with_needed_seconds(record: Weighing, verdicts: list[Verdict]) -> list[Verdict]:
    """Return one metric's verdicts with the time that what they lack takes, all that was measured included.

    Open benchmarks take turns, so that each waits for the others of its part, and for its control.
    """
    if not len(record.launches):
        return verdicts
    timed = {
        verdict.index: verdict for part in _parts(record) for verdict in _part_with_seconds(record, part, verdicts)
    }
    return [timed.get(verdict.index, verdict) for verdict in verdicts]


@dataclass(frozen=True)
class _Part:
    """What was measured in one go: a weighing, or one of those that were merged into it."""

    benchmarks: set[int]
    wall_ns: float
    """The time that its launches took."""
    seconds: float
    """How long measuring took; a journal that nobody ended tells only how long its launches took."""


def _parts(record: Weighing) -> Iterator[_Part]:
    wall_ns, benchmark = record.launches.taken_ns(), np.array(record.launches.benchmark, dtype=int)
    merged = [(part.benchmarks, part.seconds) for part in record.parts]
    for benchmarks, seconds in merged or [([*range(len(record.benchmarks))], record.seconds)]:
        taken_ns = float(wall_ns[np.isin(benchmark, benchmarks)].sum())
        yield _Part({*benchmarks}, taken_ns, max(seconds, taken_ns / 1e9))


def _part_with_seconds(record: Weighing, part: _Part, verdicts: list[Verdict]) -> Iterator[Verdict]:
    """Yield the verdicts of a part that more pairs would decide, with the time that these take."""
    members = [verdict for verdict in verdicts if verdict.index in part.benchmarks]
    undecided = [verdict for verdict in members if verdict.pairs_needed is not None]
    if not undecided:
        return
    launches = record.launches.by_benchmark(len(record.benchmarks))
    # They go on for as long as anything is open.
    controls = [number for number in controls_of(record) if number in part.benchmarks]
    unmeasured = [v.index for v in members if v.change is None and record.stop[v.index] == "time"]
    open_numbers = {*(verdict.index for verdict in undecided), *unmeasured, *controls}
    measured_s = {number: _seconds_per_pair(launches[number], part, number) for number in open_numbers}
    known_s = [seconds for seconds in measured_s.values() if seconds is not None]
    pair_s = {number: fmean(known_s or [0.0]) if seconds is None else seconds for number, seconds in measured_s.items()}
    cold_s = sum(_lacking_warm_ups(launches[number], record, number) * pair_s[number] for number in open_numbers)
    round_s = sum(pair_s.values())
    so_far_s = record.preparing_s / max(1, len(record.parts)) + part.seconds
    for verdict in undecided:
        if measured_s[verdict.index] is None:
            continue
        needed_s, even_s = (
            None if pairs is None else so_far_s + cold_s + max(0, pairs - verdict.pairs) * round_s
            for pairs in (verdict.pairs_needed, verdict.pairs_even)
        )
        yield verdict.model_copy(update={"seconds_needed": needed_s, "seconds_even": even_s})


def _lacking_warm_ups(launches: Launches, record: Weighing, benchmark: int) -> int:
    """Return how many pairs of its warm-up a benchmark lacks, as the budget ended before."""
    if launches.of(benchmark, USED).any():
        return 0
    return max(0, record.settings.warm_up - int(launches.of(benchmark, WARM_UP).sum()) // 2)


def _seconds_per_pair(launches: Launches, part: _Part, benchmark: int) -> float | None:
    """Return how long one more pair of a benchmark takes, with its share of all that was done beside the launches."""
    measured = launches.of(benchmark)
    if not measured.any() or not part.wall_ns:
        return None
    kept = launches.of(benchmark, USED, WARM_UP).sum()
    repeated = launches.of(benchmark, USED, WARM_UP, DISTURBED).sum() / max(2, kept)
    return float(part.seconds * launches.taken_ns()[measured].sum() / part.wall_ns / (measured.sum() / 2) * repeated)
