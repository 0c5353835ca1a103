"""Measures what is planned, in turns, until the time is over: each task as often as its share allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from steelyard.design.noise.plan import Task, Two
from steelyard.design.noise.probes import Probes, Rate
from steelyard.design.runner.draws import draw_pair, draw_places
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.pool import WorkerPool
from steelyard.design.runner.runner import LaunchServer, Runner
from steelyard.design.runner.target import Target
from steelyard.design.runner.targets import Targets
from steelyard.design.timing.disturbance import Repeats
from steelyard.design.timing.recorder import Recorder
from steelyard.model.errors import SteelyardError
from steelyard.model.launches import USED, Draw, LaunchRow
from steelyard.model.metrics import DEFAULT_METRIC
from steelyard.model.noise import Work
from steelyard.model.progress import Progress

# The partner of a launch goes on for longer, so that it is there all the time.
_PARTNER_TAKES = 1.5


class NoSink:
    """Where the rows of a weighing go that nobody carries on."""

    def append(self, row: LaunchRow) -> None:
        """Nothing: the recorder has it."""

    def discard(self, benchmark: int, pair: int) -> None:
        """Nothing."""

    def set_aside(self, benchmark: int, pair: int) -> None:
        """Nothing."""

    def fail(self, benchmark: int, message: str) -> None:
        """Nothing."""


@dataclass
class Turn:
    """How far one task has come."""

    task: Task
    number: int
    repeats: Repeats
    attempts: int = 0
    spent_s: float = 0.0
    alone_ns: list[int] = field(default_factory=list)
    beside_ns: list[int] = field(default_factory=list)
    refused: str | None = None
    """Why it cannot be measured here."""

    @property
    def each_s(self) -> float:
        """What a turn takes, as far as is known."""
        return self.spent_s / self.attempts if self.attempts else 0.0


@dataclass
class Measuring:
    """All tasks while they are measured. Of a probe of each kind the `rates` are known."""

    tasks: Sequence[Task]
    probes: Probes
    rates: Mapping[Work, Rate]
    launcher: LaunchServer
    runner: Runner
    pool: WorkerPool
    clock: Callable[[], float]
    watch: Callable[[Progress], None]
    seed: int
    processors: int

    def __post_init__(self) -> None:
        self.turns = [
            Turn(task, number, Repeats(DEFAULT_METRIC, self.processors)) for number, task in enumerate(self.tasks)
        ]
        self._makers = {number: self._maker(task) for number, task in enumerate(self.tasks)}
        self.recorder = Recorder(Targets(self._target), self.runner, NoSink(), together=self.launcher.launch_together)
        self.is_interrupted = False

    def run(self, seconds: float) -> None:
        """Measure for so long; what was measured until the user stops it is there as well."""
        end = self.clock() + seconds
        try:
            while (left_s := end - self.clock()) > 0:
                fitting = [one for one in self.turns if one.refused is None and self._length_s(one) <= left_s]
                if not fitting:
                    break
                self._take(min(fitting, key=lambda one: (one.spent_s / one.task.share, one.task.ms)))
                self.watch(Progress("measuring", *self._progress(seconds, left_s), seconds_left=left_s))
        except Interrupted:
            self.is_interrupted = True

    def _length_s(self, turn: Turn) -> float:
        return max(turn.each_s, 2 * turn.task.ms / 1e3)

    def _progress(self, seconds: float, left_s: float) -> tuple[int, int]:
        """In pairs, of which the number is known in the end alone."""
        done = sum(turn.attempts for turn in self.turns)
        return done, round(done * seconds / max(seconds - left_s, 1e-3))

    def _take(self, turn: Turn) -> None:
        started = self.clock()
        try:
            if isinstance(turn.task, Two):
                self._take_two(turn, turn.task)
            else:
                self._take_pair(turn, tandem=turn.task.pairing == "tandem")
        except SteelyardError as error:
            if not _may_be_refused(turn.task):
                raise
            turn.refused = str(error)
        turn.attempts += 1
        turn.spent_s += max(self.clock() - started, 1e-9)

    def _take_pair(self, turn: Turn, *, tandem: bool) -> None:
        places = draw_places(self.seed, turn.number, turn.attempts, USED, tandem=tandem)
        for rows in self.recorder.pairs(places):
            if turn.repeats.is_to_repeat(*rows):
                self.recorder.discard_pair(turn.number, rows[0].pair)

    def _take_two(self, turn: Turn, task: Two) -> None:
        draw = draw_pair(self.seed, turn.number, turn.attempts)
        mine = self._pinned(task, task.cpus[0], 1.0)(draw)
        partner = self._pinned(task, task.cpus[1], _PARTNER_TAKES)(draw)
        alone_ns = self._on_processor_ns(mine, self.runner)
        measured = dict(self.pool.do_all([partial(self._on_processor_ns, one) for one in (partner, mine)]))
        if len(measured) < 2:
            raise Interrupted
        turn.alone_ns.append(alone_ns)
        turn.beside_ns.append(measured[1])

    def _on_processor_ns(self, target: Target, runner: Runner) -> int:
        measured = runner.trial(target).measured
        return measured.user_ns + measured.sys_ns if measured.cpu_ns is None else measured.cpu_ns

    def _pinned(self, task: Two, cpu: int, times: float) -> Callable[[Draw], Target]:
        return self.probes.targets(task.work, self.rates[task.work].iterations(times * task.ms), cpu)

    def _maker(self, task: Task) -> Callable[[Draw], Target]:
        cpu = None if isinstance(task, Two) else task.cpu
        return self.probes.targets(task.work, self.rates[task.work].iterations(task.ms), cpu)

    def _target(self, benchmark: int, side: int, draw: Draw) -> Target:
        return replace(self._makers[benchmark](draw), side=side)


def _may_be_refused(task: Task) -> bool:
    """Whether it asks for a processor, which the system may keep from us."""
    return isinstance(task, Two) or task.cpu is not None or task.pairing == "tandem"
