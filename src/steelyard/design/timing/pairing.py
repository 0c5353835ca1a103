"""Whether the launches of a pair run one after the other, or at the same time on one processor (in tandem).

Which way is gone on with may be chosen by what was measured, as long as it is by the sizes of the differences and never
by their signs: without a change these are fair coins whatever the sizes are, so that no choice by sizes makes a false
alarm likelier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, isfinite, log1p, sqrt

import numpy as np

from steelyard.design.findings import adjacent_finding
from steelyard.design.judging.lockstep import in_step
from steelyard.design.runner.tandem import (
    MOST_CROWDED,
    SHORTEST_NS,
    gains_beside,
    gains_from_ns,
    keeps_step,
    obstacle,
    out_of_step,
)
from steelyard.design.timing.kept_rows import Pair
from steelyard.design.timing.trial import ENOUGH_TO_CHOOSE, FEWEST_TRIED, Ran, Trial
from steelyard.model.kept import Finding
from steelyard.model.launches import IN_TANDEM, ROLES, TRIED, USED, WARM_UP, FloatArray, Launches, LaunchRow
from steelyard.model.metrics import timed
from steelyard.model.rows import ran_ns, waited_ns, worked_alone
from steelyard.model.settings import Settings
from steelyard.report.figures import whole_percent
from steelyard.stats.looks import FIRST_LOOK
from steelyard.stats.native import effects_of_order
from steelyard.stats.summary import quartile_deviation

# A program of several processes that runs for more than this of its own time runs some of them at the same time.
MOST_AT_ONCE = 1.1
# So many first pairs are looked at together, whether their target is one for tandem; then each by itself.
FIRST_PAIRS = 12
# A target that spends more of its time than this, and that many ns, without a processor or waiting for one waits for
# something else.
MOST_WAITING, LEAST_WAITING_NS = 0.1, 2_000_000
# The standard error of a median of normal values, in that of their mean.
_MEDIAN_TO_MEAN = 1.253
# Two at once that take more of the memory than this may leave too little for what else is there.
MOST_OF_MEMORY = 0.25


@dataclass
class Chosen:
    """How the next pair runs, and what changes with that."""

    tandem: bool
    role: str
    """`tried` for a pair that is to tell which way is the better one, and is not judged."""
    left: list[int]
    """Numbers of pairs in tandem of a target that turned out to be none for it: they are not judged."""
    findings: list[Finding]


_USED, _WARM_UP = ROLES.index(USED), ROLES.index(WARM_UP)
_MEASURED = (_USED, ROLES.index(TRIED))


class Pairing:
    """How the pairs of one benchmark run; what was measured of them is noted here first."""

    def __init__(
        self,
        settings: Settings,
        offers: Mapping[str, bool],
        *,
        memory_bytes: int | None = None,
        is_judged: bool = False,
        by_process: bool = False,
    ) -> None:
        """What the launch server `offers` tells whether turns can be short; `memory_bytes` are all that there is.

        `is_judged` tells that pairs have been judged before as many are there as for the first look. What is timed
        `by_process` is known to be one for tandem, and to be far less noisy there.
        """
        self._gains_beside = gains_beside(settings, offers)
        self._settings, self._is_judged, self._by_process = settings, is_judged, by_process
        self._memory_bytes = memory_bytes
        self._metric = next(iter(timed(settings.metrics)), "")
        self._is_asked = settings.pairing == "tandem"
        self._way: str = "adjacent" if obstacle(settings) else settings.pairing
        if by_process and self._way == "auto":
            self._way = "tandem"
        self._in_turn = self._way != "adjacent" and keeps_step(settings)
        self._pairs: list[Pair] = []
        self._differences, self._orders = list[float](), list[int]()
        self._trial: Trial | None = None
        self._left, self._findings = list[int](), list[Finding]()

    @property
    def is_settled(self) -> bool:
        """Whether all pairs to come run one after the other."""
        return self._way == "adjacent"

    def may_improve(self, pairs: int) -> bool:
        """Whether so many pairs in all are enough to tell that others to come run in tandem, and vary less."""
        return self._way == "auto" and not self._begun().begins_beside and pairs > ENOUGH_TO_CHOOSE

    @property
    def may_give_up(self) -> bool:
        """Whether a failure in tandem is one of the way alone, as nobody asked for it."""
        return not self._is_asked

    def note(self, *pairs: Pair) -> None:
        """Have pairs that were measured, in their order, decide about those to come."""
        for pair in pairs:
            if not self.is_settled:
                self._pairs.append(pair)
                self._consider(pair)

    def choose(self) -> Chosen:
        """How the next pair runs."""
        left, findings, self._left, self._findings = self._left, self._findings, [], []
        if self._way != "auto":
            return Chosen(self._way == "tandem", USED, left, findings)
        trial = self._begun()
        if trial.is_due:
            return Chosen(not trial.begins_beside, TRIED, left, findings)
        return Chosen(trial.begins_beside and not self._may_write(), USED, left, findings)

    def give_up(self, why: str) -> Chosen:
        """Go on one after the other, as a pair in tandem failed."""
        self._settle(f"in tandem {why}")
        return self.choose()

    def _consider(self, pair: Pair) -> None:
        """Decide whether the newest pair changes how those to come run."""
        if unfit := self._unfit():
            self._settle(unfit if self._is_asked or self._tandem() else None)
        elif not self._is_asked and (risk := self._risk(pair)):
            self._settle(risk if self._tandem() else None, "--pairing tandem runs both at once all the same")
        elif self._way == "auto" and self._is_short():
            self._settle(None)
        elif not self._is_asked and not self._by_process and pair[0].role in _MEASURED:
            self._compare(pair)

    def _settle(self, why: str | None, remedy: str | None = None) -> None:
        self._way = "adjacent"
        self._findings += [adjacent_finding(why, remedy)] if why else []
        if self._may_leave():
            self._left = self._used_in_tandem()

    def _used_in_tandem(self) -> list[int]:
        return [pair[0].pair for pair in self._pairs if pair[0].role == _USED and _is_tandem(pair)]

    def _may_leave(self) -> bool:
        """Whether no look may have judged the pairs so far: the looks at others would spend its part of alpha again."""
        used = sum(pair[0].role == _USED for pair in self._pairs)
        return used < FIRST_LOOK and not self._is_judged

    def _begun(self) -> Trial:
        """The trial, which begins in the way that the warm-up launches say."""
        if self._trial is None:
            self._trial = Trial(begins_beside=self._is_surely_better_beside())
        return self._trial

    def _is_surely_better_beside(self) -> bool:
        rows = [row for pair in self._pairs if pair[0].role == _WARM_UP for row in pair]
        if not rows or not self._gains_beside:
            return False
        is_one_for_it = all(self._computes_one_by_one(row) and _waiting(row) <= MOST_WAITING for row in rows)
        ran = float(np.median([ran_ns(row) for row in rows]))
        return is_one_for_it and ran >= gains_from_ns(self._settings)

    def _computes_one_by_one(self, row: LaunchRow) -> bool:
        """Whether one process at a time did the work of a launch, and it is known what that waited."""
        if worked_alone(row) or self._settings.harness is not None:
            return worked_alone(row)
        return row.lost_ns is not None and _share_run(row) <= MOST_AT_ONCE

    def _compare(self, pair: Pair) -> None:
        """Have one more pair tell which way is the better one."""
        trial, is_tandem = self._begun(), _is_tandem(pair)
        ways = ("tandem", "adjacent") if trial.begins_beside else ("adjacent", "tandem")
        is_other = is_tandem != trial.begins_beside
        (trial.other if is_other else trial.judged).append(Ran(self._note_size(pair), _seconds(pair)))
        is_better = trial.is_better(chosen=self._way == ways[1]) if is_other else None
        looks = is_better is True
        if trial.begins_beside:  # nobody has looked yet, and few pairs are lost by an early end
            looks = is_other or len(trial.judged) <= FIRST_PAIRS
        if looks and (crowded := self._crowded()):
            if trial.begins_beside and (self._may_leave() or not self._used_in_tandem()):
                self._begin_alone()
            else:
                self._settle(crowded, "--pairing tandem weighs it so all the same: as it runs beside its like")
        elif is_better is not None:
            self._way = ways[is_better]

    def _begin_alone(self) -> None:
        """Begin anew, one after the other.

        Few pairs and a warm-up before them may be told apart by a stretch in which the machine was slow. Those that are
        tried in tandem from now on have others around them.
        """
        self._left = self._used_in_tandem()
        self._pairs = [pair for pair in self._pairs if not _is_tandem(pair)]
        self._trial = Trial(begins_beside=False)

    def _crowded(self) -> str | None:
        """What speaks against tandem where two have too little of the caches."""
        rise, error = self._rise()
        if rise - error <= log1p(MOST_CROWDED):
            return None
        return (
            f"beside its like the program took {whole_percent(expm1(rise))} longer, as the two share the caches of a "
            "processor, and a change may weigh otherwise there"
        )

    def _is_short(self) -> bool:
        if self._in_turn:
            return False  # its samples are what takes turns
        launches = [ran_ns(row) for pair in self._pairs for row in pair]
        return bool(launches) and float(np.median(launches)) < SHORTEST_NS

    def _unfit(self) -> str | None:
        """Why the target is none for tandem, going by its launches so far."""
        if self._by_process:
            return None
        newest = self._pairs if len(self._pairs) <= FIRST_PAIRS else self._pairs[-1:]
        rows = [row for pair in newest for row in pair]
        if any(row.cpu_ns is None or row.delay_ns is None for row in rows):
            return "this machine does not tell how long a process waits for a processor"
        if of_several := self._of_several():
            return of_several
        if self._in_turn:
            beside = [row.samples for row in rows if row.order >= IN_TANDEM]
            alone = any(not samples or samples[-1].order is None for samples in beside)
            return out_of_step(self._settings) if alone else None
        if self._settings.harness is not None and np.isnan(np.concatenate(self._values(newest))).any():
            return f"its samples do not tell {self._metric}"
        # Of each pair the longer wait: whose it is must not count, and of two in each other's way either may wait.
        waiting = [max(map(_waiting, pair)) for pair in newest]
        if len(newest) > 1 and np.median(waiting) > MOST_WAITING:
            return "it waits for something else than a processor"
        return None

    def _risk(self, pair: Pair) -> str | None:
        """What two commands at once may do to each other, which nobody asked for."""
        if self._settings.harness is not None:
            return None
        if pair[0].role != _WARM_UP and any(map(self._writes, pair)):
            return "it writes to files, which two at once may both want"
        if self._memory_bytes and sum(row.max_rss_bytes for row in pair) > MOST_OF_MEMORY * self._memory_bytes:
            return f"two at once take more than {whole_percent(MOST_OF_MEMORY)} of the memory"
        return None

    def _may_write(self) -> bool:
        """Whether the warm-up wrote to files: it may have filled a cache, which one pair by itself tells."""
        newest = self._pairs[-1:]
        return any(pair[0].role == _WARM_UP and any(map(self._writes, pair)) for pair in newest)

    def _writes(self, row: LaunchRow) -> bool:
        """Whether a launch of a command wrote to files; a harness writes its reports."""
        return self._settings.harness is None and bool(row.written_blocks)

    def _of_several(self) -> str | None:
        """Why what others than the main thread do speaks against tandem; as processes one by one do, it does not."""
        others = [row for pair in self._pairs[-FIRST_PAIRS:] for row in pair if not worked_alone(row)]
        # An interrupt at the end of one launch looks so, too.
        if max(sum(row.side == side for row in others) for side in (0, 1)) <= 1:
            return None
        if self._settings.harness is not None:
            return "other threads or child processes do some of the work"
        if any(row.lost_ns is None for row in others):
            return (
                "other threads or child processes do some of the work, and nothing tells here how long these wait for "
                "a processor"
            )
        alone = [_share_run(row) for pair in self._pairs if not _is_tandem(pair) for row in pair]
        if alone and np.median(alone) > MOST_AT_ONCE:
            return "several of its threads or processes run at the same time"
        return None

    def _measured(self) -> list[Pair]:
        return [pair for pair in self._pairs if pair[0].role in _MEASURED]

    def _tandem(self) -> list[Pair]:
        return [pair for pair in self._measured() if _is_tandem(pair)]

    def _values(self, pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray]:
        launches = Launches.of_rows([row for pair in pairs for row in sorted(pair, key=lambda row: row.side)])
        values, places = launches.metric(self._metric), np.arange(len(launches))
        sides = values[::2], values[1::2]
        return in_step(launches, (places[::2], places[1::2]), sides, self._metric) if self._in_turn else sides

    def _rise(self) -> tuple[float, float]:
        """The logarithm of how much longer the program takes beside its like, and how far off that may be by chance.

        Both launches of a pair have the machine in about the same state, so that they are one value.
        """
        beside = self._tandem()
        # Where few others ran alone, the warm-up tells it, too: its launches take longer, if anything.
        among = self._pairs if self._begun().begins_beside else self._measured()
        alone = [pair for pair in among if not _is_tandem(pair)]
        if len(beside) < FEWEST_TRIED or not alone:
            return 0.0, 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = [np.log(np.array(self._values(pairs))).mean(axis=0) for pairs in (beside, alone)]
        if not np.isfinite(np.concatenate(levels)).all():
            return 0.0, 0.0
        # A single one tells nothing of its spread: it has that of the others.
        spread = max(map(quartile_deviation, levels))
        error = _MEDIAN_TO_MEAN * spread * sqrt(sum(1 / len(one) for one in levels))
        return float(np.median(levels[0]) - np.median(levels[1])), 2 * error

    def _note_size(self, pair: Pair) -> float:
        """Note its log-ratio, and return the size of that without what its order makes of it, as those before tell."""
        with np.errstate(divide="ignore", invalid="ignore"):
            baseline, candidate = map(np.log, self._values([pair]))
            difference = float((candidate - baseline)[0])
        self._differences.append(difference if isfinite(difference) else 0.0)  # without a ratio there is no verdict
        self._orders.append(min(pair, key=lambda row: row.side).order)
        effects = effects_of_order(np.array(self._differences), np.array(self._orders, dtype=np.int64))
        return abs(self._differences[-1] - float(effects[-1]))


def _is_tandem(pair: Pair) -> bool:
    return pair[0].order >= IN_TANDEM


def _waiting(row: LaunchRow) -> float:
    """The share of a launch's own time in which it neither ran nor waited for a processor; 0 for a little of it."""
    own_ns = _own_ns(row)
    waiting_ns = own_ns - ran_ns(row)
    return waiting_ns / own_ns if waiting_ns > LEAST_WAITING_NS else 0.0


def _share_run(row: LaunchRow) -> float:
    """The processor time of all of a launch, in its own time."""
    return ran_ns(row) / max(_own_ns(row), 1)


def _own_ns(row: LaunchRow) -> int:
    """What a launch took without its waits for a processor."""
    return row.wall_ns - (waited_ns(row) or 0)


def _seconds(pair: Pair) -> float:
    """What a pair took."""
    if not _is_tandem(pair):
        return sum(row.wall_ns for row in pair) / 1e9
    return (max(row.start_ns + row.wall_ns for row in pair) - min(row.start_ns for row in pair)) / 1e9
