"""The rows of timed launches: each on disk before the next one starts."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from operator import attrgetter
from statistics import median_low
from typing import Protocol

from steelyard.design.findings import cold_finding, not_measured_finding
from steelyard.design.named_files import NamedFiles
from steelyard.design.preliminaries import shell_start_ns
from steelyard.design.runner.runner import TIMER, LaunchSeries, Reading, Runner
from steelyard.design.runner.target import Shared, Target
from steelyard.design.runner.targets import Targets
from steelyard.design.stderr_notes import StderrNotes
from steelyard.design.timing.kept_rows import KeptRows, Pair
from steelyard.design.timing.watched import Watched
from steelyard.model.errors import LaunchError
from steelyard.model.findings import Finding
from steelyard.model.launch_spec import Draw
from steelyard.model.numbers import NUMBERS
from steelyard.model.records import Run, StopReason, Weighing
from steelyard.model.rows import (
    DISTURBED,
    IN_TANDEM,
    ROLES,
    TRIED,
    USED,
    WARM_UP,
    LaunchRow,
    Place,
    Sample,
    knows_waits,
    waited_ns,
    worked_alone,
)
from steelyard.model.subject import Benchmark

_MOST_PAIRS_A_REQUEST = 8
_KEPT_SHELL_STARTS = 9
# After a pause a launch takes 0.05 to 0.3 ms longer than right after another like it, and varies more
# (docs/statistics.md#after-a-pause): for launches shorter than this, that is worth one more launch, of which nothing is
# kept.
PAUSE_MATTERS_BELOW_NS = 20_000_000
_numbers = attrgetter(*NUMBERS)


class RowSink(Protocol):
    """Where rows go before the next launch."""

    def append(self, row: LaunchRow) -> None:
        """Keep one row."""

    def discard(self, benchmark: int, pair: int) -> None:
        """Note that a pair that was kept as used is disturbed and will be repeated."""

    def set_aside(self, benchmark: int, pair: int) -> None:
        """Note that a pair that was kept as used belongs to a way of pairing that was only tried."""

    def fail(self, benchmark: int, message: str) -> None:
        """Note that a benchmark failed, and the others go on."""


@dataclass
class Recorder:
    """Runs the launches at places of the plan, and keeps every row."""

    targets: Targets
    runner: Runner
    sink: RowSink | None
    """None where nobody carries on what is measured."""
    rows: KeptRows = field(default_factory=KeptRows)
    """All rows so far; those of an earlier session first."""
    series: LaunchSeries | None = None
    """Runs the launches of several places at once, so that the driver is woken less often. None runs them one by one:
    then something else has to be done or measured in between."""
    watched: Watched = field(default_factory=Watched)
    """What is seen of the machine meanwhile, if anybody looks."""
    stderr_notes: StderrNotes = field(default_factory=StderrNotes)
    """What launches other than warm-ups wrote to standard error."""
    files: NamedFiles = field(default_factory=NamedFiles)
    """The files that the commands name."""
    _shell_starts_ns: deque[int] = field(default_factory=lambda: deque(maxlen=_KEPT_SHELL_STARTS))
    _with_others: set[int] = field(default_factory=set)
    """Benchmarks with other threads or processes. New threads take longer to start where the stack may be as large as
    drawn addresses need it."""
    _commands_with_others: set[int] = field(default_factory=set)
    """Those of them that are commands: what they lose beside a partner is told of all their threads and processes
    together."""
    _latest_ns: dict[int, float] = field(default_factory=dict)
    """How long the last launch of each benchmark took, without its waits; infinite if it failed."""

    def __post_init__(self) -> None:
        for row in self.rows:
            self._note_row(row)

    def begins_with_unkept_launch(self, benchmark: int) -> bool:
        """Whether the next pairs of a benchmark run right after one more launch of it, which is not kept."""
        return self.series is not None and self._latest_ns.get(benchmark, inf) < PAUSE_MATTERS_BELOW_NS

    def most_pairs(self) -> int:
        """How many pairs `pairs` takes at once."""
        return 1 if self.series is None else _MOST_PAIRS_A_REQUEST

    def pairs(self, places: Sequence[Place], longest_s: float | None = None) -> list[Pair]:
        """Run, check and keep the launches of some pairs, two places a pair; raises as `launch` does.

        The start of an empty shell is measured once for all of them.
        """
        self._time_empty_shell()
        if places[0].order >= IN_TANDEM:
            pairs = [self._launch_together(pair, longest_s) for pair in zip(places[::2], places[1::2], strict=True)]
        else:
            rows = self._launch_all(places, longest_s)
            pairs = list(zip(rows, rows, strict=True))
        self.watched.keep()
        return pairs

    def shared_pair(self, sides: Sequence[Sequence[Place]], longest_s: float | None) -> list[Pair | LaunchError]:
        """Return one pair each of several benchmarks, from one launch per side, or why it failed.

        Raises as `launch` does if a launch as a whole failed.
        """
        both = [self._shared_launch(places).within(longest_s) for places in sides]
        rows = self.runner.launch_shared_pair(
            both,
            lambda side, number, reading: self._keep(reading, _with_true_order(sides[side][number], reading.samples)),
        )
        self.watched.keep()
        return [_in_order(rows[0, number], rows[1, number]) for number in range(len(sides[0]))]

    def _shared_launch(self, places: Sequence[Place]) -> Shared:
        if self.targets.shared is None:
            raise AssertionError("nothing to launch several at once with")
        first = places[0]
        draw = Draw(first.hash_seed, first.padding_bytes, first.layout)
        benchmarks, turns = [place.benchmark for place in places], [place.order for place in places]
        return self.targets.shared(benchmarks, first.side, draw, turns)

    def launch(self, place: Place, longest_s: float | None = None) -> LaunchRow:
        """Run, check and keep one launch, limited to `longest_s` if that is given, and else as planned.

        Raises LaunchError if it failed, Interrupted if cut short.
        """
        row = self.runner.launch(self._target(place, longest_s), TIMER, lambda reading: self._keep(reading, place))
        self.watched.keep()
        return row

    def _launch_together(self, pair: tuple[Place, Place], longest_s: float | None) -> Pair:
        places, benchmark = iter(pair), pair[0].benchmark
        may_have_others = benchmark in self._commands_with_others or benchmark not in self._latest_ns
        return self.runner.launch_together(
            [self._target(place, longest_s) for place in pair],
            lambda reading: self._keep(reading, next(places)),
            second_begins=pair[1].order == IN_TANDEM,
            followed=may_have_others,
        )

    def _launch_all(self, places: Sequence[Place], longest_s: float | None) -> Iterator[LaunchRow]:
        remaining = iter(places)

        def keep(already: bool, reading: Reading[None]) -> LaunchRow:
            return self._keep(reading, next(remaining), journaled=already)

        if self.series is not None:
            targets = [self._target(place, longest_s) for place in places]
            # Of the second launch's side: whichever side comes first, it then follows one of the other side.
            unkept_first = targets[1] if self.begins_with_unkept_launch(places[0].benchmark) else None
            yield from self.runner.launch_series(targets, partial(self.series, places), keep, unkept_first)
        yield from map(partial(self.launch, longest_s=longest_s), remaining)

    def _time_empty_shell(self) -> None:
        """Measure what the launches of the coming pair have in common besides the commands: the start of a shell."""
        if self.targets.empty_shell is not None:
            self._shell_starts_ns.append(shell_start_ns(self.runner.run(self.targets.empty_shell)))

    def _target(self, place: Place, longest_s: float | None) -> Target:
        draw = Draw(place.hash_seed, place.padding_bytes, place.layout)
        if place.order >= IN_TANDEM and self.targets.in_turn is not None:
            target = self.targets.in_turn(place.benchmark, place.side, draw, place.order - IN_TANDEM)
        else:
            target = self.targets.of(place.benchmark, place.side, draw)
        # Beside a partner, new threads take as long on both sides, and equal addresses matter more.
        if place.benchmark in self._with_others and place.order < IN_TANDEM:
            target = target.at_own_addresses()
        return target.within(longest_s)

    def _note_row(self, row: LaunchRow) -> None:
        waited = waited_ns(row) if knows_waits(row) else 0
        # A series ends at a launch that does not end well: such a benchmark gets none to run after.
        self._latest_ns[row.benchmark] = inf if row.exit_code != 0 else row.wall_ns - (waited or 0)
        if worked_alone(row):
            return
        # Only what is not judged may say so: all launches that are judged have the same kind of addresses.
        if ROLES[row.role] == WARM_UP:
            self._with_others.add(row.benchmark)
        if not row.samples:
            self._commands_with_others.add(row.benchmark)

    def _keep(self, reading: Reading[None], place: Place, *, journaled: bool = False) -> LaunchRow:
        measured = reading.measured
        # The median of the last few, as a single disturbed start may take longer than a whole command.
        overhead_ns = median_low(self._shell_starts_ns) if self._shell_starts_ns else 0
        inner = (overhead_ns, reading.samples, measured.counters)
        row = LaunchRow._make((*place, *_numbers(measured), *inner))
        if self.sink is not None and not journaled:
            self.sink.append(row)
        self.rows.append(row)
        self._note_row(row)
        if ROLES[place.role] != WARM_UP:
            self.stderr_notes.take(place.benchmark, place.side, measured)
        return row

    def discard_pair(self, benchmark: int, pair: int) -> None:
        """Give a complete pair the role `disturbed`: this is known only after its second launch."""
        if self.sink is not None:
            self.sink.discard(benchmark, pair)
        self.rows.give_role(benchmark, pair, DISTURBED)

    def set_aside(self, benchmark: int, pair: int) -> None:
        """Give a pair the role `tried`: it belongs to a way of pairing that is not continued."""
        if self.sink is not None:
            self.sink.set_aside(benchmark, pair)
        self.rows.give_role(benchmark, pair, TRIED)

    def settle(self, benchmarks: Sequence[Benchmark], stop: Sequence[StopReason | None]) -> Iterator[Finding]:
        """Use the warm-up as the measurement of each benchmark that came no further when a run was cut off.

        Returns a finding that names these benchmarks; the journal does not.
        """
        cold = self.cold_benchmarks(stop)
        for number in cold:
            self.rows.use_warm_ups(number)
        return cold_finding([benchmarks[number].name for number in cold], len(benchmarks))

    def cold_benchmarks(self, stop: Sequence[StopReason | None]) -> list[int]:
        """Return the benchmarks that were cut off by the time or the user, no further than in their warm-up."""
        cold = self.rows.benchmarks_in(WARM_UP) - self.rows.benchmarks_in(USED)
        return [number for number, reason in enumerate(stop) if reason in ("time", "interrupted") and number in cold]

    def closing_findings(self, header: Weighing | Run, stop: Sequence[StopReason | None]) -> list[Finding]:
        """Return what there is to say of the launches as a whole once the last one has ended."""
        return [
            *self._not_reached_finding(header.benchmarks, stop),
            *self.stderr_notes.findings(header),
            *self.files.findings(),
            *self.runner.survivor_findings(),
        ]

    def _not_reached_finding(
        self, benchmarks: Sequence[Benchmark], stop: Sequence[StopReason | None]
    ) -> Iterator[Finding]:
        """Return a finding that names the benchmarks for which there was no time."""
        reached = self.rows.benchmarks_in(USED) | self.rows.benchmarks_in(WARM_UP)
        missed = [
            one
            for number, (one, reason) in enumerate(zip(benchmarks, stop, strict=True))
            if reason == "time" and number not in reached
        ]
        of_harness = any(one.entry is not None for one in missed)
        return not_measured_finding([one.name for one in missed], of_harness=of_harness)

    def fail(self, benchmark: int, message: str) -> Finding:
        """Keep the failure of one benchmark of many, and return the finding that says so."""
        if self.sink is not None:
            self.sink.fail(benchmark, message)
        return Finding(code="failed", message=message)


def _with_true_order(place: Place, samples: Sequence[Sample]) -> Place:
    """Return the place as it ran: beside its partner if samples were taken in turn; else one after the other."""
    is_in_turn = bool(samples) and samples[-1].order is not None
    return place._replace(order=place.order + IN_TANDEM) if is_in_turn else place


def _in_order(one: LaunchRow | LaunchError, other: LaunchRow | LaunchError) -> Pair | LaunchError:
    """Return the rows in the order in which they ran, or the error of a side that failed."""
    if isinstance(one, LaunchError):
        return one
    if isinstance(other, LaunchError):
        return other
    return (one, other) if one.order < other.order else (other, one)
