"""Measures what is planned, in turns, until the time is over: each task as often as its share allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from steelyard.design.noise.plan import LONGEST_SHARE, NeighbourTask, PairsTask, Task
from steelyard.design.noise.probes import Probes, Rate
from steelyard.design.runner.draws import draw_pair, draw_places
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.series import unkept_series
from steelyard.design.runner.target import Target
from steelyard.design.runner.targets import Targets
from steelyard.design.timing.disturbance import Repeats
from steelyard.design.timing.recorder import Recorder
from steelyard.measure.instrument import on_processor_ns
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.launch_spec import Draw
from steelyard.model.metrics import DEFAULT_METRIC
from steelyard.model.noise import Work
from steelyard.model.progress import Progress, Watch
from steelyard.model.rows import USED

# The partner of a launch takes longer, so that it is there all the time.
_PARTNER_LENGTH_FACTOR = 1.5
# Short pairs are measured several at once, for about this long, after a launch of their own kind.
_REQUEST_S = 0.2
_WARM_UP_MS = 10.0
# Much of a shorter launch is its start, which is no part of its length.
_LONG_ENOUGH_MS = 30.0


@dataclass
class Turn:
    """How far one task has come."""

    task: Task
    number: int
    repeats: Repeats
    attempts: int = 0
    spent_s: float = 0.0
    paired_s: float = 0.0
    """How much of that its pairs took, without what goes before several of them."""
    alone_ns: list[int] = field(default_factory=list)
    beside_ns: list[int] = field(default_factory=list)
    is_refused: bool = False
    """Whether it cannot be measured here."""


@dataclass
class NoiseMeasurement:
    """All tasks while they are measured; `rates` are those of a probe of each kind."""

    tasks: Sequence[Task]
    probes: Probes
    rates: Mapping[Work, Rate]
    launcher: LaunchServer
    runner: Runner
    pool: WorkerPool
    clock: Callable[[], float]
    watch: Watch
    seed: int
    processors: int

    def __post_init__(self) -> None:
        self.turns = [
            Turn(task, number, Repeats(DEFAULT_METRIC, self.processors)) for number, task in enumerate(self.tasks)
        ]
        cells = {number: task for number, task in enumerate(self.tasks) if isinstance(task, PairsTask)}
        self._makers = {number: self._maker(cell.work, cell.ms, cell.cpu) for number, cell in cells.items()}
        self._warming = {
            number: self._maker(cell.work, min(cell.ms, _WARM_UP_MS), cell.cpu) for number, cell in cells.items()
        }
        self.recorder = Recorder(Targets(self._target), self.runner, None, series=unkept_series(self.launcher))
        self.is_interrupted = False

    def run(self, seconds: float) -> None:
        """Measure for `seconds`; if the user stops it, what was measured until then is kept."""
        end = self.clock() + seconds
        try:
            while (left_s := end - self.clock()) > 0:
                longest_s = min(left_s, LONGEST_SHARE * seconds)
                fitting = [one for one in self.turns if not one.is_refused and self._length_s(one) <= longest_s]
                if not fitting:
                    break
                self._take_turn(min(fitting, key=lambda one: (one.spent_s / one.task.share, one.task.ms)))
                # The number of pairs is known only at the end.
                done = sum(turn.attempts for turn in self.turns)
                in_all = round(done * seconds / max(seconds - left_s, 1e-3))
                self.watch(Progress("measuring", done, in_all, seconds_left=left_s))
        except Interrupted:
            self.is_interrupted = True

    def _length_s(self, turn: Turn) -> float:
        """Return how long a turn will take; for a first one, as much longer than its launches as others were."""
        if turn.attempts:
            return turn.spent_s / turn.attempts
        measured = [one for one in self.turns if one.attempts and one.task.ms >= _LONG_ENOUGH_MS]
        if not measured:
            return _alone_s(turn.task)
        slowed = sum(one.spent_s for one in measured) / sum(one.attempts * _alone_s(one.task) for one in measured)
        return _alone_s(turn.task) * max(1.0, slowed)

    def _take_turn(self, turn: Turn) -> None:
        started = self.clock()
        try:
            if isinstance(turn.task, NeighbourTask):
                self._take_neighbours(turn, turn.task)
            else:
                self._take_pairs(turn, turn.task)
        except SteelyardError:
            if not _may_be_refused(turn.task):
                raise
            turn.is_refused = True
        turn.spent_s += max(self.clock() - started, 1e-9)

    def _take_pairs(self, turn: Turn, task: PairsTask) -> None:
        """Measure pairs as a weighing does: many short ones in a row, and none in the wake of another task."""
        number = turn.attempts
        draw = draw_pair(self.seed, turn.number, number)
        if not self.recorder.begins_with_unkept_launch(turn.number):
            self.runner.trial(self._warming[turn.number](draw))
        number_of_pairs = max(1, min(self.recorder.most_pairs(), int(_REQUEST_S / self._length_s(turn))))
        places = [
            place
            for pair in range(number, number + number_of_pairs)
            for place in draw_places(self.seed, turn.number, pair, USED, tandem=task.pairing == "tandem")
        ]
        turn.attempts += number_of_pairs
        started = self.clock()
        for rows in self.recorder.pairs(places):
            if turn.repeats.is_to_repeat(*rows):
                self.recorder.discard_pair(turn.number, rows[0].pair)
        turn.paired_s += self.clock() - started

    def _take_neighbours(self, turn: Turn, task: NeighbourTask) -> None:
        draw = draw_pair(self.seed, turn.number, turn.attempts)
        turn.attempts += 1
        own_target = self._maker(task.work, task.ms, task.cpus[0])(draw)
        partner = self._maker(task.work, _PARTNER_LENGTH_FACTOR * task.ms, task.cpus[1])(draw)
        alone_ns = _processor_ns(own_target, self.runner)
        measured = dict(self.pool.do_all([partial(_processor_ns, one) for one in (partner, own_target)]))
        if len(measured) < 2:  # after Ctrl-C, or because one of them failed in an earlier turn
            raise Interrupted if self.runner.interrupted() else MeasurementError("no two launches ran at the same time")
        turn.alone_ns.append(alone_ns)
        turn.beside_ns.append(measured[1])

    def _maker(self, work: Work, ms: float, cpu: int | None) -> Callable[[Draw], Target]:
        return self.probes.targets(work, self.rates[work].iterations(ms), cpu)

    def _target(self, benchmark: int, side: int, draw: Draw) -> Target:  # noqa: ARG002 - both are one program
        return self._makers[benchmark](draw)


def _processor_ns(target: Target, runner: Runner) -> int:
    """Return the processor time of one launch, in ns."""
    return on_processor_ns(runner.trial(target).measured)


def _alone_s(task: Task) -> float:
    """Return how long two undisturbed launches take, in seconds."""
    return 2 * task.ms / 1e3


def _may_be_refused(task: Task) -> bool:
    """Whether it asks for a processor, or for two launches on one, which the system may refuse."""
    return isinstance(task, NeighbourTask) or task.cpu is not None or task.pairing == "tandem"
