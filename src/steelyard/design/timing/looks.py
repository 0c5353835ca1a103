"""The looks at benchmarks that share alpha, while they are measured."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.design.budgets import budgets_of, count_elsewhere
from steelyard.design.judging.common import by_benchmark
from steelyard.design.judging.judgement import judge_members, look_at
from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.metrics import timed
from steelyard.model.records import StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.stats.family import sharing_now
from steelyard.stats.looks import Budgets, next_look
from steelyard.stats.paired import Judgement, is_futile
from steelyard.stats.spending import level_at_end
from steelyard.stats.verdict import CHANGED


class Looks:
    """Looks at the pairs of each benchmark, as they stand in `rows`, and notes what it sees in the benchmark."""

    def __init__(self, header: Weighing, rows: KeptRows, members: Sequence[OpenBenchmark]) -> None:
        self._header, self._settings, self._rows = header, header.settings, rows
        self._members = [one for one in members if not one.control]
        self._metric = timed(header.settings.metrics)[0]  # what is counted needs no pairs
        self._answers: dict[tuple[int, int, float], bool] = {}

    def take(self, benchmark: OpenBenchmark, *, ended: bool) -> None:
        """Look at a benchmark, whose budget may have ended; raises MeasurementError if it has no figures."""
        members = self._count_sharing(benchmark)
        benchmark.judgement = self._look_at(benchmark, ended=ended, newest_only=True, members=members)
        benchmark.next_look_at = next_look(benchmark.kept, self._budgets(benchmark))

    def look_back(self, stopped: Sequence[StopReason]) -> None:
        """Judge the benchmarks that an earlier session stopped: their share of alpha is the others' now."""
        members = self._sharing_alpha
        if all(one.stop is None for one in members):
            return
        record = self._header.model_copy(update={"stop": list(stopped)})
        # Together with those that go on, which have their share of alpha, too.
        judged = judge_members(by_benchmark(record), [one.number for one in members], self._metric, {})
        for one, judgement in zip(members, judged, strict=True):
            if one.stop is not None:
                one.judgement = judgement

    def is_futile(self, benchmark: OpenBenchmark, limit: int | None, margin: float | None = None) -> bool:
        """Whether `limit` pairs in all can no longer decide, as far as can be foreseen.

        `margin` is relative; without it, the benchmark's own holds.
        """
        if benchmark.judgement is None or limit is None or limit <= benchmark.kept:
            return False
        if benchmark.pairing.may_improve(limit):
            return False  # pairs that vary too much one after the other may vary far less in tandem
        level = level_at_end(limit, self._settings.alpha, self._budgets(benchmark))
        margin = self._settings_of(benchmark).margin if margin is None else margin
        return is_futile(benchmark.judgement, margin, limit, level)

    def leaves_open(self, control: OpenBenchmark, size: float) -> bool:
        """Whether a control may still turn out to differ from itself by as much as `size`, a log-ratio.

        Told by the interval that the record will have. It takes as long as many pairs of a short program, so it is
        asked for only once all others have stopped, and kept until the next look, as pairs in between do not move it.
        """
        question = (control.number, control.next_look_at, size)
        if question not in self._answers:
            self._answers[question] = self._may_differ_by(control, size)
        return self._answers[question]

    def _may_differ_by(self, control: OpenBenchmark, size: float) -> bool:
        judged = self._look_at(control, ended=False, newest_only=False, members=1)
        return judged is None or (judged.verdict not in CHANGED and max(-judged.lower, judged.upper) >= size)

    def _look_at(self, benchmark: OpenBenchmark, *, ended: bool, newest_only: bool, members: float) -> Judgement | None:
        pairs = MetricPairs(self._rows.launches_of(benchmark.number), benchmark.number, self._metric)
        settings, budgets = self._settings_of(benchmark), self._budgets(benchmark)
        return look_at(pairs, settings, budgets, ended=ended, newest_only=newest_only, members=members)

    def _settings_of(self, benchmark: OpenBenchmark) -> Settings:
        return self._settings.judged_by(self._header.benchmarks[benchmark.number], self._metric)

    def _budgets(self, benchmark: OpenBenchmark) -> Budgets:
        return budgets_of(self._settings, self._header.benchmarks[benchmark.number])

    @property
    def _sharing_alpha(self) -> list[OpenBenchmark]:
        """The benchmarks that share alpha."""
        return [one for one in self._members if one.stop != "failed"]

    def _count_sharing(self, benchmark: OpenBenchmark) -> float:
        """Return among how many benchmarks alpha is shared at this look."""
        if benchmark.control:
            return 1
        sharing = self._sharing_alpha
        changed = sum(one.is_changed for one in sharing)
        return sharing_now(self._settings.family, len(sharing) + count_elsewhere(self._header), changed)
