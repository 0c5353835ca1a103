"""The looks at benchmarks that share alpha, while they are measured."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.design.judging.budgets import budgets_of, count_elsewhere
from steelyard.design.judging.controls import leaves_open
from steelyard.design.judging.judgement import by_benchmark, judge_members, look_at
from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.timing.benchmark import OpenBenchmark
from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.metrics import timed
from steelyard.model.records import StopReason, Weighing
from steelyard.model.settings import Settings
from steelyard.stats.family import sharing_now
from steelyard.stats.looks import Budgets, next_look
from steelyard.stats.paired import is_futile
from steelyard.stats.sequential import level_at_end


class Looks:
    """Looks at the pairs of each benchmark, as they stand in `rows`, and notes what it sees in the benchmark."""

    def __init__(self, header: Weighing, rows: KeptRows, members: Sequence[OpenBenchmark]) -> None:
        self._header, self._settings, self._rows = header, header.settings, rows
        self._members = [one for one in members if not one.control]
        self._metric = timed(header.settings.metrics)[0]  # what is counted needs no pairs
        self._left_open: dict[tuple[int, int, float], bool] = {}

    def take(self, benchmark: OpenBenchmark, *, ended: bool) -> None:
        """Look at a benchmark, whose budget may have ended; raises MeasurementError if it has no figures."""
        pairs = MetricPairs(self._rows.launches_of(benchmark.number), benchmark.number, self._metric)
        judged_by, budgets = self._judged_by(benchmark), self._budgets(benchmark)
        members = self._among(benchmark)
        benchmark.judgement = look_at(pairs, judged_by, budgets, ended=ended, newest_only=True, members=members)
        benchmark.look_at = next_look(benchmark.kept, budgets)

    def look_back(self, stopped: Sequence[StopReason]) -> None:
        """Judge the benchmarks that an earlier session stopped: their share of alpha is the others' now."""
        sharing = self._sharing
        if all(one.stop is None for one in sharing):
            return
        record = self._header.model_copy(update={"stop": list(stopped)})
        # Together with those that go on, which have their share of alpha, too.
        judged = judge_members(by_benchmark(record), [one.number for one in sharing], self._metric, {})
        for one, judgement in zip(sharing, judged, strict=True):
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
        margin = self._judged_by(benchmark).margin if margin is None else margin
        return is_futile(benchmark.judgement, margin, limit, level)

    def leaves_open(self, control: OpenBenchmark, size: float) -> bool:
        """Whether a control may still turn out to differ from itself by as much as `size`, a log-ratio.

        Told by the interval that the record will have. It takes as long as many pairs of a short program, so it is
        asked for only once all others have stopped, and kept until the next look, as pairs in between do not move it.
        """
        asked = (control.number, control.look_at, size)
        if asked not in self._left_open:
            self._left_open[asked] = self._may_be_as_large(control, size)
        return self._left_open[asked]

    def _may_be_as_large(self, control: OpenBenchmark, size: float) -> bool:
        pairs = MetricPairs(self._rows.launches_of(control.number), control.number, self._metric)
        judged_by, budgets = self._judged_by(control), self._budgets(control)
        return leaves_open(look_at(pairs, judged_by, budgets, ended=False, newest_only=False, members=1), size)

    def _judged_by(self, benchmark: OpenBenchmark) -> Settings:
        return self._settings.judged_by(self._header.benchmarks[benchmark.number], self._metric)

    def _budgets(self, benchmark: OpenBenchmark) -> Budgets:
        return budgets_of(self._settings, self._header.benchmarks[benchmark.number])

    @property
    def _sharing(self) -> list[OpenBenchmark]:
        """The benchmarks that share alpha."""
        return [one for one in self._members if one.stop != "failed"]

    def _among(self, benchmark: OpenBenchmark) -> float:
        """Return among how many benchmarks alpha is shared at this look."""
        if benchmark.control:
            return 1
        sharing = self._sharing
        changed = sum(one.is_changed for one in sharing)
        return sharing_now(self._settings.family, len(sharing) + count_elsewhere(self._header), changed)
