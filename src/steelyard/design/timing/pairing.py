"""Whether the launches of a pair run one after the other, or at the same time on one processor (in tandem).

Which way is gone on with may be chosen by what was measured, as long as it is by the sizes of the differences and never
by their signs: without a change these are fair coins whatever the sizes are, so that no choice by sizes makes a false
alarm likelier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from steelyard.design.findings import adjacent_finding
from steelyard.design.judging.lockstep import in_step
from steelyard.design.runner.draws import tandem_first
from steelyard.design.runner.tandem import keeps_step, obstacle
from steelyard.model.launches import IN_TANDEM, ROLES, TRIED, USED, FloatArray, Launches, LaunchRow, worked_alone
from steelyard.model.metrics import timed
from steelyard.model.records import Finding, Settings
from steelyard.stats.looks import FIRST_LOOK

# If the first look decides nothing, its pairs tell whether it is worth trying the other way, and else twice as many;
# and then so many of each way which is the better one. No pair is lost by that.
EACH_WAY = 6
# A budget of fewer pairs than so many times these ends before the better way would pay.
WORTH_CHOOSING = 4
# Below that the scheduler's slices of some ms are no longer many in a launch, and nothing is gained.
SHORTEST_NS = 20_000_000
# A target that spends more of its time than this, and that many ns, without a processor or waiting for one waits for
# something else.
MOST_WAITING, LEAST_WAITING_NS = 0.1, 2_000_000
# In margins: with less spread than this, one after the other decides soon enough.
WORTH_TRYING = 1.0
# What the other way may cost of this one's time to be chosen: six pairs of each tell no finer.
CLEARLY_LESS = 0.7
# Beside its like a program has half of the caches. Where it takes so much longer there, a change may, too.
MOST_CROWDED = 0.2


@dataclass
class Chosen:
    """How the next pair runs, and what changes with that."""

    tandem: bool
    left: list[int] = field(default_factory=list)
    """Numbers of pairs in tandem of a target that turned out to be none for it: they are not judged."""
    findings: list[Finding] = field(default_factory=list)


_Pair = tuple[LaunchRow, LaunchRow]
_USED = ROLES.index(USED)
_MEASURED = (_USED, ROLES.index(TRIED))


class Pairing:
    """How the pairs of one benchmark run; what was measured of them is noted here first."""

    def __init__(self, settings: Settings, benchmark: int, *, is_judged: bool = False) -> None:
        """`is_judged` tells that pairs have been judged before as many are there as for the first look."""
        self._settings, self._benchmark, self._is_judged = settings, benchmark, is_judged
        self._metric = next(iter(timed(settings.metrics)), "")
        self._is_asked = settings.pairing == "tandem"
        self._stage: str = "adjacent" if obstacle(settings) else settings.pairing
        self._in_turn = self._stage != "adjacent" and keeps_step(settings)
        self._pairs: list[_Pair] = []
        self._look_at, self._trial_from = FIRST_LOOK, 0

    @property
    def is_settled(self) -> bool:
        """Whether all pairs to come run one after the other."""
        return self._stage == "adjacent"

    @property
    def may_give_up(self) -> bool:
        """Whether a failure in tandem is one of the way alone, as nobody asked for it."""
        return not self._is_asked

    def note(self, *pairs: _Pair) -> None:
        """Have pairs that were measured, in their order, decide about those to come."""
        if not self.is_settled:
            self._pairs += pairs

    def choose(self, attempts: int) -> Chosen:
        """How the next pair runs, after so many behind the warm-up."""
        if self.is_settled:
            return Chosen(tandem=False)
        if unfit := self._unfit():
            return self._settled(unfit if self._is_asked or self._tandem() else None, attempts)
        if self._stage == "auto" and self._is_short():
            return self._settled(None, attempts)
        while self._stage == "auto" and attempts >= self._look_at:
            self._consider_trial()
        if self._stage == "trial" and attempts >= self._trial_from + 2 * EACH_WAY:
            return self._decided(attempts)
        return Chosen(tandem=self._stage == "tandem" or (self._stage == "trial" and self._tandem_is_next(attempts)))

    def give_up(self, why: str, attempts: int) -> Chosen:
        """Go on one after the other, as a pair in tandem failed after so many behind the warm-up."""
        return self._settled(f"in tandem {why}", attempts)

    def _tandem_is_next(self, attempts: int) -> bool:
        block, second = divmod(attempts - self._trial_from, 2)
        return tandem_first(self._settings.seed, self._benchmark, block) != bool(second)

    def _settled(self, why: str | None, attempts: int) -> Chosen:
        # Once a look may have judged them they stay: the looks at others would spend its part of alpha again.
        left = [] if attempts >= FIRST_LOOK else [pair[0].pair for pair in self._tandem() if pair[0].role == _USED]
        self._stage = "adjacent"
        return Chosen(False, left, [adjacent_finding(why)] if why else [])

    def _decided(self, attempts: int) -> Chosen:
        begun = self._settings.warm_up + self._trial_from
        tried = [pair for pair in self._measured() if begun <= pair[0].pair < begun + 2 * EACH_WAY]
        adjacent, tandem = ([pair for pair in tried if _is_tandem(pair) == way] for way in (False, True))
        if min(len(adjacent), len(tandem)) < EACH_WAY / 2:
            return self._settled(None, attempts)
        alone, beside = self._level(adjacent), self._level(tandem)
        if beside > (1 + MOST_CROWDED) * alone > 0:
            return self._settled(
                f"beside its like the program took {beside / alone - 1:.0%} longer, as the two share the caches of a "
                "processor, and a change may weigh otherwise there",
                attempts,
            )
        cost, beside_cost = (self._spread(pairs) ** 2 * _seconds_per_pair(pairs) for pairs in (adjacent, tandem))
        self._stage = "tandem" if beside_cost < CLEARLY_LESS * cost else "adjacent"
        return Chosen(self._stage == "tandem")

    def _consider_trial(self) -> None:
        """Try both ways if one after the other will take long: with much noise, and no change that is far larger."""
        begun, end = self._settings.warm_up, self._settings.warm_up + self._look_at
        pairs = [pair for pair in self._measured() if begun <= pair[0].pair < end]
        far = self._settings.pairs is None or self._settings.pairs >= WORTH_CHOOSING * self._look_at
        spread = self._spread(pairs) if len(pairs) > 1 else 0.0
        if far and spread > WORTH_TRYING * self._settings.margin and np.median(self._sizes(pairs)) < 2 * spread:
            self._stage, self._trial_from = "trial", self._look_at
        self._look_at *= 2

    def _is_short(self) -> bool:
        if self._in_turn:
            return False  # no slices, but samples are what takes turns
        launches = [row.cpu_ns or 0 for pair in self._pairs for row in pair]
        return bool(launches) and float(np.median(launches)) < SHORTEST_NS

    def _unfit(self) -> str | None:
        """Why the target is none for tandem, going by its launches so far."""
        newest = self._pairs if len(self._pairs) <= 2 * EACH_WAY else self._pairs[-1:]
        rows = [row for pair in newest for row in pair]
        if any(row.cpu_ns is None or row.delay_ns is None for row in rows):
            return "this machine does not tell how long a process waits for a processor"
        if not all(worked_alone(row) for row in rows):
            return "other threads or child processes do some of the work"
        if self._in_turn:
            alone = any(row.samples[-1].order is None for row in rows if row.order >= IN_TANDEM)
            return "its samples are not taken in turn: what it is built with is too old for that" if alone else None
        if self._settings.harness is not None and np.isnan(np.concatenate(self._values(newest))).any():
            return f"its samples do not tell {self._metric}"
        # Of each pair the longer wait: whose it is must not count, and of two in each other's way either may wait.
        waiting = [max(map(_waiting, pair)) for pair in newest]
        if len(newest) > 1 and np.median(waiting) > MOST_WAITING:
            return "it waits for something else than a processor"
        return None

    def _measured(self) -> list[_Pair]:
        return [pair for pair in self._pairs if pair[0].role in _MEASURED]

    def _tandem(self) -> list[_Pair]:
        return [pair for pair in self._measured() if _is_tandem(pair)]

    def _values(self, pairs: Sequence[_Pair]) -> tuple[FloatArray, FloatArray]:
        launches = Launches.of_rows([row for pair in pairs for row in sorted(pair, key=lambda row: row.side)])
        values, places = launches.metric(self._metric), np.arange(len(launches))
        sides = values[::2], values[1::2]
        return in_step(launches, (places[::2], places[1::2]), sides, self._metric) if self._in_turn else sides

    def _level(self, pairs: Sequence[_Pair]) -> float:
        return float(np.median(np.concatenate(self._values(pairs))))

    def _sizes(self, pairs: Sequence[_Pair]) -> FloatArray:
        """Of each pair the size of its log-ratio, without the sign."""
        with np.errstate(divide="ignore", invalid="ignore"):
            baseline, candidate = map(np.log, self._values(pairs))
            return np.asarray(np.nan_to_num(np.abs(candidate - baseline)), dtype=np.float64)

    def _spread(self, pairs: Sequence[_Pair]) -> float:
        """How far the sizes of the differences lie apart: a change of every pair moves them all, and drops out."""
        apart = [abs(one - other) for one, other in combinations(self._sizes(pairs), 2)]
        return max(float(np.median(apart)), 1e-9)


def _is_tandem(pair: _Pair) -> bool:
    return pair[0].order >= IN_TANDEM


def _waiting(row: LaunchRow) -> float:
    """The share of a launch's own time in which it neither ran nor waited for a processor; 0 for a little of it."""
    own_ns = row.wall_ns - (row.delay_ns or 0)
    waiting_ns = own_ns - (row.cpu_ns or 0)
    return waiting_ns / own_ns if waiting_ns > LEAST_WAITING_NS else 0.0


def _seconds_per_pair(pairs: Sequence[_Pair]) -> float:
    """Of a pair with half the weight in the middle: a pair that hung for once says nothing."""
    taken = [
        max(row.wall_ns for row in pair) if _is_tandem(pair) else sum(row.wall_ns for row in pair) for pair in pairs
    ]
    return float(np.median(taken)) / 1e9
