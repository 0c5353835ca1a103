"""A benchmark of a weighing on its way to a verdict: how far it has come, and where an earlier session left it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard.design.budgets import budgets_of
from steelyard.design.timing.disturbance import Repeats
from steelyard.design.timing.kept_rows import Pair
from steelyard.design.timing.pairing import Pairing
from steelyard.model.grouping import grouped
from steelyard.model.metrics import timed
from steelyard.model.records import StopReason, Weighing
from steelyard.model.rows import DISTURBED, IN_TANDEM, ROLES, TRIED, WARM_UP, LaunchRow
from steelyard.stats.looks import next_look
from steelyard.stats.paired import Judgement
from steelyard.stats.verdict import CHANGED


@dataclass
class OpenBenchmark:
    """How far a benchmark has come."""

    number: int
    repeats: Repeats
    pairing: Pairing
    control: bool
    warm_ups: int = 0
    is_half_warm: bool = False
    """Whether an earlier session ended within a pair of its warm-up."""
    attempts: int = 0
    measured: int = 0
    """How many pairs of it were measured, whatever came of them, and `taken_s` how long that took."""
    taken_s: float = 0.0
    together: int = 1
    """How many benchmarks its next pair is measured with."""
    next_look_at: int = field(default_factory=lambda: next_look(0))
    judgement: Judgement | None = None
    stop: StopReason | None = None

    @property
    def kept(self) -> int:
        """How many pairs are judged."""
        return self.repeats.kept

    @property
    def is_changed(self) -> bool:
        """Whether it was found slower or faster."""
        return self.judgement is not None and self.judgement.verdict in CHANGED


def open_benchmark(number: int, header: Weighing, rows: Iterable[LaunchRow]) -> OpenBenchmark:
    """Return a benchmark as an earlier session, with these rows of it, left it: at its beginning if there was none."""
    metric, benchmark = timed(header.settings.metrics)[0], header.benchmarks[number]
    repeats = Repeats(metric, header.machine.cores_logical)
    pairing = Pairing(
        header.settings,
        header.machine.offers,
        memory_bytes=header.machine.memory_bytes,
        is_judged=bool(benchmark.ended),
        by_process=benchmark.clock == "process",
    )
    restored = OpenBenchmark(number, repeats, pairing, benchmark.control)
    if header.stop[number] == "failed":
        restored.stop = "failed"
    rows_by_pair = grouped(rows, lambda row: row.pair)
    warm_ups = [len(launches) for launches in rows_by_pair.values() if ROLES[launches[0].role] == WARM_UP]
    restored.warm_ups, restored.is_half_warm = warm_ups.count(2), 1 in warm_ups
    for launches in rows_by_pair.values():
        # A pair that was cut in two stays in the record, unused; the next one has its own number, and so its own draw.
        if len(launches) == 2:
            _count_pair(restored, (launches[0], launches[1]))
    restored.attempts = max(0, max(rows_by_pair, default=-1) + 1 - header.settings.warm_up)
    restored.next_look_at = next_look(max(0, restored.kept - 1), budgets_of(header.settings, benchmark))
    return restored


def _count_pair(benchmark: OpenBenchmark, pair: Pair) -> None:
    """Count a pair that an earlier session measured as that session did."""
    role = ROLES[pair[0].role]
    benchmark.measured += 1
    benchmark.taken_s += (max if pair[0].order >= IN_TANDEM else sum)([row.wall_ns for row in pair]) / 1e9
    if role != WARM_UP:
        benchmark.repeats.count(*pair, repeated=role == DISTURBED)
    if role != DISTURBED:
        benchmark.pairing.note(pair)
    if role == TRIED:
        benchmark.repeats.set_aside()
