"""Decides whether the launches of a pair run one after the other, or at the same time on one processor (in tandem).

Measurements may choose the way to go on, as long as only the sizes of the differences count and never their signs:
without a change the signs are fair coins whatever the sizes are, so that a choice by sizes makes no false alarm
likelier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, isfinite, log1p, sqrt
from statistics import median_low

import numpy as np

from steelyard.design.findings import adjacent_finding
from steelyard.design.runner.tandem import (
    LEAST_CPU_NS,
    MOST_SLOWDOWN_IN_TANDEM,
    MOST_WAITING,
    gains_beside,
    gains_from_ns,
    not_in_turn_reason,
    takes_samples_in_turn,
    tandem_obstacle,
)
from steelyard.design.timing.kept_rows import Pair
from steelyard.design.timing.trial import ENOUGH_TO_CHOOSE, FEWEST_TRIED, MeasuredPair, Trial
from steelyard.model.findings import Finding
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import timed
from steelyard.model.rows import IN_TANDEM, ROLES, TRIED, USED, WARM_UP, LaunchRow, ran_ns, waited_ns, worked_alone
from steelyard.model.settings import Settings
from steelyard.report.figures import whole_percent
from steelyard.report.lockstep import pair_values
from steelyard.stats.looks import FIRST_LOOK
from steelyard.stats.native import effects_of_order
from steelyard.stats.summary import quartile_deviation

# A program of several processes whose processor time is more than this many times its own time runs some of them at the
# same time.
MOST_AT_ONCE = 1.1
# So many first pairs are looked at together to see whether their target is fit for tandem; then each by itself.
FIRST_PAIRS = 12
# A target that waits for something else does so for more than this, beside its share (`MOST_WAITING`).
LEAST_WAITING_NS = 2_000_000
# The standard error of a median of normal values, relative to that of their mean.
_MEDIAN_ERROR_FACTOR = 1.253
# The kernel charges about one launch in fifty of a program that writes nothing for a block of its file system, which it
# writes for itself: so many blocks of 512 bytes.
BLOCKS_OF_ITS_OWN = 8
# Two launches at once that take more than this share of the memory may leave too little for everything else.
MOST_OF_MEMORY = 0.25


@dataclass
class Choice:
    """How the next pair runs, and what changes with it."""

    tandem: bool
    role: str
    """`tried` for a pair that only tells which way is better, and is not judged."""
    set_aside: list[int]
    """The numbers of tandem pairs whose target turned out unfit for tandem: they are not judged."""
    findings: list[Finding]


_USED_ROLE, _WARM_UP_ROLE = ROLES.index(USED), ROLES.index(WARM_UP)
_MEASURED_ROLES = (_USED_ROLE, ROLES.index(TRIED))


class Pairing:
    """Decides how the pairs of one benchmark run; `note` has to be told first what was measured of them."""

    def __init__(
        self,
        settings: Settings,
        offers: Mapping[str, bool],
        *,
        memory_bytes: int | None = None,
        is_judged: bool = False,
        by_process: bool = False,
    ) -> None:
        """`offers` of the launch server tell whether turns can be short; `memory_bytes` is all the memory there is.

        `is_judged` tells that pairs were judged before there were enough for the first look. Benchmarks timed
        `by_process` are known to be fit for tandem, and to be far less noisy there.
        """
        self._gains_beside = gains_beside(settings, offers)
        self._settings, self._is_judged, self._by_process = settings, is_judged, by_process
        self._memory_bytes = memory_bytes
        self._metric = next(iter(timed(settings.metrics)), "")
        self._is_tandem_requested = settings.pairing == "tandem"
        self._pairing: str = "adjacent" if tandem_obstacle(settings) else settings.pairing
        if by_process and self._pairing == "auto":
            self._pairing = "tandem"
        self._takes_samples_in_turn = self._pairing != "adjacent" and takes_samples_in_turn(settings)
        self._pairs: list[Pair] = []
        self._differences, self._orders = list[float](), list[int]()
        self._trial: Trial | None = None
        self._set_aside, self._findings = list[int](), list[Finding]()

    @property
    def is_settled(self) -> bool:
        """Whether all pairs to come run one after the other."""
        return self._pairing == "adjacent"

    def may_improve(self, pairs: int) -> bool:
        """Whether `pairs` in all are enough to find that later ones vary less in tandem."""
        return self._pairing == "auto" and not self._get_trial().begins_beside and pairs > ENOUGH_TO_CHOOSE

    @property
    def may_give_up(self) -> bool:
        """Whether a failure in tandem ends only that way of pairing, as nobody asked for it."""
        return not self._is_tandem_requested

    def note(self, *pairs: Pair) -> None:
        """Let measured pairs, in their order, decide how those to come run."""
        for pair in pairs:
            if not self.is_settled:
                self._pairs.append(pair)
                self._consider(pair)

    def choose(self) -> Choice:
        """Return how the next pair runs."""
        set_aside, findings, self._set_aside, self._findings = self._set_aside, self._findings, [], []
        if self._pairing != "auto":
            return Choice(self._pairing == "tandem", USED, set_aside, findings)
        trial = self._get_trial()
        if trial.is_due:
            return Choice(not trial.begins_beside, TRIED, set_aside, findings)
        return Choice(trial.begins_beside and not self._may_write(), USED, set_aside, findings)

    def give_up(self, why: str) -> Choice:
        """Go on one after the other because a pair in tandem failed."""
        self._settle(f"in tandem {why}")
        return self.choose()

    def _consider(self, pair: Pair) -> None:
        """Decide whether the newest pair changes how those to come run."""
        if reason := self._unfit_reason():
            self._settle(reason if self._is_tandem_requested or self._tandem_pairs() else None)
        elif not self._is_tandem_requested and (risk := self._risk_reason(pair)):
            self._settle(risk if self._tandem_pairs() else None, "--pairing tandem runs both at once all the same")
        elif self._pairing == "auto" and self._has_short_launches():
            self._settle(None)
        elif not self._is_tandem_requested and not self._by_process and pair[0].role in _MEASURED_ROLES:
            self._compare(pair)

    def _settle(self, why: str | None, remedy: str | None = None) -> None:
        self._pairing = "adjacent"
        self._findings += [adjacent_finding(why, remedy)] if why else []
        if self._may_set_aside():
            self._set_aside = self._tandem_pairs_used()

    def _tandem_pairs_used(self) -> list[int]:
        return [pair[0].pair for pair in self._pairs if pair[0].role == _USED_ROLE and _is_tandem(pair)]

    def _may_set_aside(self) -> bool:
        """Whether no look can have judged the pairs so far: looks at others would spend that part of alpha again."""
        used = sum(pair[0].role == _USED_ROLE for pair in self._pairs)
        return used < FIRST_LOOK and not self._is_judged

    def _get_trial(self) -> Trial:
        """Return the trial, which begins in the way that the warm-up launches suggest."""
        if self._trial is None:
            self._trial = Trial(begins_beside=self._is_surely_better_beside())
        return self._trial

    def _is_surely_better_beside(self) -> bool:
        rows = [row for pair in self._pairs if pair[0].role == _WARM_UP_ROLE for row in pair]
        if not rows or not self._gains_beside:
            return False
        is_one_for_it = all(self._computes_one_by_one(row) and _waiting_share(row) <= MOST_WAITING for row in rows)
        ran = float(np.median([ran_ns(row) for row in rows]))
        return is_one_for_it and ran >= gains_from_ns(self._settings)

    def _computes_one_by_one(self, row: LaunchRow) -> bool:
        """Whether one process at a time did the work of a launch, and it is known how long that waited."""
        if worked_alone(row) or self._settings.harness is not None:
            return worked_alone(row)
        return row.lost_ns is not None and _processors_used(row) <= MOST_AT_ONCE

    def _compare(self, pair: Pair) -> None:
        """Use one more pair to tell which way is better."""
        trial, is_tandem = self._get_trial(), _is_tandem(pair)
        ways = ("tandem", "adjacent") if trial.begins_beside else ("adjacent", "tandem")
        is_other = is_tandem != trial.begins_beside
        (trial.other if is_other else trial.judged).append(MeasuredPair(self._note_size(pair), _pair_seconds(pair)))
        is_better = trial.is_better(chosen=self._pairing == ways[1]) if is_other else None
        checks_crowding = is_better is True
        if trial.begins_beside:  # nobody has looked yet, and few pairs are lost by an early end
            checks_crowding = is_other or len(trial.judged) <= FIRST_PAIRS
        if checks_crowding and (crowded := self._crowding_reason()):
            if trial.begins_beside and (self._may_set_aside() or not self._tandem_pairs_used()):
                self._restart_alone()
            else:
                self._settle(crowded, "--pairing tandem weighs it so all the same: as it runs beside its like")
        elif is_better is not None:
            self._pairing = ways[is_better]

    def _restart_alone(self) -> None:
        """Begin anew, one after the other.

        A few pairs and the warm-up before them may differ only because the machine was slow for a while. Pairs that are
        tried in tandem from now on have others around them.
        """
        self._set_aside = self._tandem_pairs_used()
        self._pairs = [pair for pair in self._pairs if not _is_tandem(pair)]
        self._trial = Trial(begins_beside=False)

    def _crowding_reason(self) -> str | None:
        """Return what speaks against tandem if two launches have too little of the caches; None if they have enough."""
        rise, error = self._log_rise()
        if rise - error <= log1p(MOST_SLOWDOWN_IN_TANDEM):
            return None
        return (
            f"beside its like the program took {whole_percent(expm1(rise))} longer, as the two share the caches of a "
            "processor, and a change may weigh otherwise there"
        )

    def _has_short_launches(self) -> bool:
        if self._takes_samples_in_turn:
            return False  # its samples are what takes turns
        return float(np.median([ran_ns(row) for pair in self._pairs for row in pair])) < LEAST_CPU_NS

    def _unfit_reason(self) -> str | None:
        """Return why the target is unfit for tandem, going by its launches so far; None if it is fit."""
        if self._by_process:
            return None
        pairs = self._pairs if len(self._pairs) <= FIRST_PAIRS else self._pairs[-1:]
        rows = [row for pair in pairs for row in pair]
        if any(row.cpu_ns is None or row.delay_ns is None for row in rows):
            return "this machine does not tell how long a process waits for a processor"
        if parallel_work := self._parallel_work_reason():
            return parallel_work
        if self._takes_samples_in_turn:
            beside = [row.samples for row in rows if row.order >= IN_TANDEM]
            alone = any(not samples or samples[-1].order is None for samples in beside)
            return not_in_turn_reason(self._settings) if alone else None
        if self._settings.harness is not None and np.isnan(np.concatenate(self._values(pairs))).any():
            return f"its samples do not tell {self._metric}"
        # The longer wait of each pair: which side's it is must not count, and of two in each other's way either may
        # wait.
        waiting = [max(map(_waiting_share, pair)) for pair in pairs]
        if len(pairs) > 1 and median_low(waiting) > MOST_WAITING:
            return "it waits for something else than a processor"
        return None

    def _risk_reason(self, pair: Pair) -> str | None:
        """Return what speaks against running two commands at once when nobody asked for it; None if nothing does."""
        if self._settings.harness is not None:
            return None
        if pair[0].role != _WARM_UP_ROLE and self._surely_writes(pair):
            return "it writes to files, which two at once may both want"
        if self._memory_bytes and sum(row.max_rss_bytes for row in pair) > MOST_OF_MEMORY * self._memory_bytes:
            return f"two at once take more than {whole_percent(MOST_OF_MEMORY)} of the memory"
        return None

    def _may_write(self) -> bool:
        """Whether the warm-up wrote to files: it may only have filled a cache, as one pair run by itself will tell."""
        newest = self._pairs[-1:]
        return any(pair[0].role == _WARM_UP_ROLE and any(map(self._writes, pair)) for pair in newest)

    def _surely_writes(self, pair: Pair) -> bool:
        """Whether a pair shows that the command writes to files, and not only that the kernel wrote for itself."""
        written = [row.written_blocks or 0 for row in pair if self._writes(row)]
        if len(written) == 1 and max(written) <= BLOCKS_OF_ITS_OWN:
            # Counted by pairs, as which side wrote must not count.
            writing = sum(any(map(self._writes, each)) for each in self._pairs)
            return writing > max(1, len(self._pairs) / 2)
        return bool(written)

    def _writes(self, row: LaunchRow) -> bool:
        """Whether a launch of a command wrote to files; a harness writes its reports."""
        return self._settings.harness is None and bool(row.written_blocks)

    def _parallel_work_reason(self) -> str | None:
        """Return why the work of other threads or processes speaks against tandem; that of one at a time does not."""
        others = [row for pair in self._pairs[-FIRST_PAIRS:] for row in pair if not worked_alone(row)]
        # An interrupt at the end of a single launch looks the same.
        if max(sum(row.side == side for row in others) for side in (0, 1)) <= 1:
            return None
        if self._settings.harness is not None:
            return "other threads or child processes do some of the work"
        if any(row.lost_ns is None for row in others):
            return (
                "other threads or child processes do some of the work, and nothing tells here how long these wait for "
                "a processor"
            )
        alone = [_processors_used(row) for pair in self._pairs if not _is_tandem(pair) for row in pair]
        if alone and np.median(alone) > MOST_AT_ONCE:
            return "several of its threads or processes run at the same time"
        return None

    def _measured_pairs(self) -> list[Pair]:
        return [pair for pair in self._pairs if pair[0].role in _MEASURED_ROLES]

    def _tandem_pairs(self) -> list[Pair]:
        return [pair for pair in self._measured_pairs() if _is_tandem(pair)]

    def _values(self, pairs: Sequence[Pair]) -> tuple[FloatArray, FloatArray]:
        launches = Launches.of_rows([row for pair in pairs for row in sorted(pair, key=lambda row: row.side)])
        return pair_values(launches, np.arange(len(launches)).reshape(-1, 2), self._metric)

    def _log_rise(self) -> tuple[float, float]:
        """Return the logarithm of how much longer the program takes beside its like, and how far chance may move it.

        The launches of a pair find the machine in about the same state, so they count as one value.
        """
        beside = self._tandem_pairs()
        # Where few other pairs ran alone, the warm-up counts, too: its launches take longer, if anything.
        candidates = self._pairs if self._get_trial().begins_beside else self._measured_pairs()
        alone = [pair for pair in candidates if not _is_tandem(pair)]
        if len(beside) < FEWEST_TRIED or not alone:
            return 0.0, 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = [np.log(np.array(self._values(pairs))).mean(axis=0) for pairs in (beside, alone)]
        if not np.isfinite(np.concatenate(levels)).all():
            return 0.0, 0.0
        # A single value has no spread of its own: it gets that of the others.
        spread = max(map(quartile_deviation, levels))
        error = _MEDIAN_ERROR_FACTOR * spread * sqrt(sum(1 / len(one) for one in levels))
        return float(np.median(levels[0]) - np.median(levels[1])), 2 * error

    def _note_size(self, pair: Pair) -> float:
        """Note a pair's log-ratio; return its size without the effect of its order, as earlier pairs tell that.

        The log-ratios are noted as if the sides had taken turns in being first, so that the coins which decided that do
        not count.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            baseline, candidate = map(np.log, self._values([pair]))
            difference = float((candidate - baseline)[0])
        if not isfinite(difference):
            difference = 0.0  # without a ratio there is no verdict
        order, turn = min(pair, key=lambda row: row.side).order, len(self._orders) % 2
        is_mirrored = order % 2 != turn
        self._differences.append(-difference if is_mirrored else difference)
        self._orders.append(order ^ is_mirrored)
        effects = effects_of_order(np.array(self._differences), np.array(self._orders, dtype=np.int64))
        return abs(self._differences[-1] - float(effects[-1]))


def _is_tandem(pair: Pair) -> bool:
    return pair[0].order >= IN_TANDEM


def _waiting_share(row: LaunchRow) -> float:
    """Return the share of a launch's own time that it neither ran nor waited for a processor; 0 if that is short."""
    own_ns = _own_ns(row)
    waiting_ns = own_ns - ran_ns(row)
    return waiting_ns / own_ns if waiting_ns > LEAST_WAITING_NS else 0.0


def _processors_used(row: LaunchRow) -> float:
    """Return the processor time of all of a launch, relative to its own time."""
    return ran_ns(row) / max(_own_ns(row), 1)


def _own_ns(row: LaunchRow) -> int:
    """Return how long a launch took, in ns, without its waits for a processor."""
    return row.wall_ns - (waited_ns(row) or 0)


def _pair_seconds(pair: Pair) -> float:
    """Return how long a pair took, in seconds."""
    if not _is_tandem(pair):
        return sum(row.wall_ns for row in pair) / 1e9
    return (max(row.start_ns + row.wall_ns for row in pair) - min(row.start_ns for row in pair)) / 1e9
