"""How a weighing stands, for whoever watches it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import expm1, isfinite

from steelyard.design.benchmarks_inside import with_harness_hint
from steelyard.design.runner.targets import first_limit_s
from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.pace import Pace
from steelyard.model.progress import Member, Progress, Watch
from steelyard.model.records import Weighing
from steelyard.report.allowance import Allowance
from steelyard.stats.paired import Judgement

# Trials take half of a budget at most: those that took this share have been cut short.
_CUT_SHORT_SHARE = 0.4
# If pairs are shorter than this, the user is told at the end what is inside the commands.
_LONG_PAIR_S = 1.0


@dataclass
class Standing:
    """Tells how the benchmarks of a weighing stand, as they are measured."""

    header: Weighing
    benchmarks: Sequence[OpenBenchmark]
    pace: Pace
    watch: Watch
    upcoming: Sequence[int] = ()
    """The numbers of the benchmarks that are measured next."""
    _is_allowance_told: bool = False

    def tell_first(self) -> None:
        """Tell that the very first launch begins."""
        if not self.pace.pairs:
            name, given_up_s = self._name(self.benchmarks[0]), first_limit_s(self.header)
            self.watch(Progress(name, 0, None, is_first=True, seconds_left=given_up_s))

    def tell(self, benchmark: OpenBenchmark) -> None:
        """Tell that a benchmark has another pair."""
        self.watch(self._progress(benchmark))

    def tell_allowance(self) -> None:
        """Tell once what the budget allows, if that is too little; the first pair has to show how long one takes."""
        if self._is_allowance_told or not self.pace.pairs:
            return
        self._is_allowance_told = True
        first, each_s, budget = self.benchmarks[0], self.pace.round_s(), self.pace.budget
        fitting = self.pace.limit(first)
        if fitting is None:
            return
        # Those that there was no time to try are measured as soon as there is more.
        untried = sum(one.stop == "time" and not one.attempts and not one.warm_ups for one in self.benchmarks)
        of_all_s = each_s * (self.pace.visited + untried) / max(1, self.pace.visited)
        lacking = sum(self.header.settings.warm_up - one.warm_ups for one in self.benchmarks if one.stop is None)
        cold_s = max(0, lacking) * self.pace.pair_s()
        spent_s = self._preparing_s(of_all_s) + self.pace.elapsed_s() + cold_s - first.kept * each_s
        sentence = Allowance(
            settings=self.header.settings,
            fewest=budget.fewest,
            fitting=fitting,
            spent_s=spent_s,
            seconds_each=each_s,
            benchmarks=self.pace.visited,
            controls=sum(one.control and one.stop is None for one in self.benchmarks),
            prepared_s=budget.spent_s,
            untried=untried,
            carried_on=len(self.header.launches) > 0,
        ).shortage()
        if sentence is not None and first.stop is None:
            told = with_harness_hint(sentence, self.header) if each_s > _LONG_PAIR_S else sentence
            self.watch(replace(self._progress(first), allowance=told))

    def _preparing_s(self, each_s: float) -> float:
        """Return how much of a longer budget goes into trials: as much as into the pairs, if they were cut short."""
        spent_s, whole_s = self.pace.budget.spent_s, self.header.settings.max_time_s or 0.0
        return max(spent_s, self.pace.budget.fewest * each_s) if spent_s > _CUT_SHORT_SHARE * whole_s else spent_s

    def _progress(self, benchmark: OpenBenchmark) -> Progress:
        change, interval = _last_change(benchmark.judgement)
        return Progress(
            benchmark=self._name(benchmark),
            done=benchmark.kept,
            limit=self.pace.limit(benchmark),
            change=change,
            interval=interval,
            seconds_left=self.pace.seconds_left(benchmark),
            members=self._describe_members if len(self.benchmarks) > 1 else None,
        )

    def _describe_members(self) -> list[Member]:
        return [self._describe_member(one) for one in self.benchmarks]

    def _describe_member(self, benchmark: OpenBenchmark) -> Member:
        """Return how one of several benchmarks stands; one that stopped without a verdict is undecided."""
        judgement, stop = benchmark.judgement, benchmark.stop
        change, interval = _last_change(judgement)
        word = "failed" if stop == "failed" else judgement.verdict if judgement is not None else "undecided"
        is_next = benchmark.number in self.upcoming
        return Member(self._name(benchmark), None if stop is None else word, benchmark.kept, change, interval, is_next)

    def _name(self, benchmark: OpenBenchmark) -> str:
        return self.header.benchmarks[benchmark.number].name


def _last_change(judgement: Judgement | None) -> tuple[float | None, tuple[float, float] | None]:
    """Return (change, interval) of the last look, relative; None before there is an interval."""
    if judgement is None or not isfinite(judgement.estimate.lower):
        return None, None
    return expm1(judgement.estimate.centre), (expm1(judgement.lower), expm1(judgement.upper))
