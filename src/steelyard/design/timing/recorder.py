"""One launch after the other, each on disk before the next one starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from signal import Signals
from typing import Protocol

from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.errors import LaunchError, MeasurementError, SteelyardError
from steelyard.model.launches import (
    DISTURBED,
    NUMBERS,
    ROLES,
    Draw,
    LaunchRow,
    LaunchSpec,
    Measured,
    Place,
    Sample,
)
from steelyard.model.records import Finding

# Of the last line on stderr, in characters: some programs print without an end.
_MOST_WORDS = 300
_MOST_PAIRS = 8
_REMEDY = "mend the command, or accept failures with --ignore-failure"


class TargetLauncher(Protocol):
    """Whatever can run a launch: the native launcher, or a scripted one in tests."""

    def launch(self, spec: LaunchSpec) -> Measured:
        """Run one launch to its end."""


class RowSink(Protocol):
    """Where rows go before the next launch."""

    def append(self, row: LaunchRow) -> None:
        """Keep one row."""

    def discard(self, benchmark: int, pair: int) -> None:
        """Note that a pair that was kept as used is disturbed and will be repeated."""

    def fail(self, benchmark: int, message: str) -> None:
        """Note that a benchmark failed, and the others go on."""


Series = Callable[[Sequence[LaunchSpec], Sequence[Place]], Sequence[Measured | SteelyardError]]
"""series(specs, places) runs launches one after the other and keeps the rows of all but the last that it returns, each
before the next began. It may return fewer than asked for, and then began no more."""


class InterruptedByUser(Exception):  # noqa: N818 - it is no error
    """The user asked to stop; what was measured stands."""


def launched(launcher: TargetLauncher, spec: LaunchSpec, interrupted: Callable[[], bool]) -> Measured:
    """Run one launch; raises InterruptedByUser if the user asked to stop, before it or while it ran."""
    if interrupted():
        raise InterruptedByUser
    measured = launcher.launch(spec)
    if measured.cancelled:
        raise InterruptedByUser
    return measured


def of_side(specs: Sequence[LaunchSpec], side: int) -> LaunchSpec:
    """Of the commands that surround launches, that of a side: there is one for all of them, or one for each."""
    return specs[min(side, len(specs) - 1)]


@dataclass(frozen=True)
class Targets:
    """What is launched: each side's launch under a draw, and the commands that surround it."""

    name: Callable[[int, int], str]
    """name(benchmark, side)"""
    spec: Callable[[int, int, Draw], LaunchSpec]
    """spec(benchmark, side, draw)"""
    prepare: Sequence[LaunchSpec] = ()
    """Before each launch: one for all, or one for each side."""
    cleanup: Sequence[LaunchSpec] = ()
    """When all is measured, each once."""
    empty_shell: LaunchSpec | None = None
    """What is measured in each pair and subtracted from its launches, where they are run by a shell."""
    check: Callable[[int, int], None] = lambda benchmark, side: None  # noqa: ARG005
    """check(benchmark, side) raises MeasurementError if the target is no longer the program that it was."""
    samples: Callable[[int, int, Measured], tuple[Sample, ...]] = lambda benchmark, side, measured: ()  # noqa: ARG005
    """samples(benchmark, side, measured) reads what a harness answered; raises LaunchError if that is no answer."""
    complaint: Callable[[Measured], str | None] = lambda measured: None  # noqa: ARG005
    """complaint(measured): what a launch that failed says of it by itself, beside its stderr."""
    remedy: str = _REMEDY
    """What to do about a launch that failed."""


@dataclass
class Recorder:
    """Launches targets, checks how they ended, and keeps every row."""

    targets: Targets
    launcher: TargetLauncher
    sink: RowSink
    interrupted: Callable[[], bool]
    ignore_failure: bool = False
    rows: KeptRows = field(default_factory=KeptRows)
    """All rows so far; those of an earlier session first."""
    left_behind: list[str] = field(default_factory=list)
    series: Series | None = None
    """Launches several at once, so that the driver is woken less often; None: one launch after the other. Not where
    something else has to be done or measured in between."""
    _overhead_ns: int = 0

    def most_pairs(self) -> int:
        """How many pairs `pairs` takes at once."""
        return 1 if self.series is None else _MOST_PAIRS

    def pairs(self, places: Sequence[Place]) -> list[tuple[LaunchRow, LaunchRow]]:
        """Run, check and keep the launches of some pairs, two places a pair; raises as `launch` does.

        What an empty shell takes is measured once for all of them.
        """
        self._start_pair()
        rows = map(self.launch, places) if self.series is None else self._launch_all(self.series, places)
        return list(zip(rows, rows, strict=True))

    def _launch_all(self, series: Series, places: Sequence[Place]) -> Iterator[LaunchRow]:
        if self.interrupted():
            raise InterruptedByUser
        self._check_programs(places)
        results = series([self._spec(place) for place in places], places)
        try:
            for number, (place, result) in enumerate(zip(places, results, strict=False), start=1):
                if isinstance(result, SteelyardError):
                    raise result
                yield self._kept(result, place, journaled=number < len(results))
        finally:
            self._check_programs(places)  # that a launch has replaced one says more than what came of it
        yield from map(self.launch, places[len(results) :])

    def _check_programs(self, places: Sequence[Place]) -> None:
        for benchmark, side in {(place.benchmark, place.side) for place in places}:
            self.targets.check(benchmark, side)

    def _spec(self, place: Place) -> LaunchSpec:
        return self.targets.spec(place.benchmark, place.side, Draw(place.hash_seed, place.padding_bytes))

    def _start_pair(self) -> None:
        """Measure what the coming pair's launches have in common beside the commands: the start of a shell."""
        if self.targets.empty_shell is not None:
            started = self._run(self.targets.empty_shell)
            # Without its waits for a processor: those of the launches were others.
            self._overhead_ns = max(0, started.wall_ns - (started.delay_ns or 0))

    def launch(self, place: Place) -> LaunchRow:
        """Run, check and keep one launch; raises LaunchError if it failed, InterruptedByUser if cut short."""
        self._surround("--prepare", self.targets.prepare, place.side)
        self._check_programs([place])
        return self._kept(self._run(self._spec(place)), place)

    def _kept(self, measured: Measured, place: Place, *, journaled: bool = False) -> LaunchRow:
        name = self.targets.name(place.benchmark, place.side)
        complaint = self.targets.complaint(measured) if measured.has_failed() else None
        self.check_ended(measured, name, self.ignore_failure, complaint, self.targets.remedy)
        samples = self.targets.samples(place.benchmark, place.side, measured)
        row = LaunchRow._make((*place, *_numbers(measured), self._overhead_ns, samples))
        if not journaled:
            self.sink.append(row)
        self.rows.append(row)
        self.left_behind += measured.left_behind
        return row

    def discard_pair(self, benchmark: int, pair: int) -> None:
        """Give a pair that is complete the role `disturbed`: it is known as such only after its second launch."""
        self.sink.discard(benchmark, pair)
        self.rows.give_role(benchmark, pair, ROLES.index(DISTURBED))

    def fail(self, benchmark: int, message: str) -> Finding:
        """Keep that one benchmark of many failed, and return the finding that says so."""
        self.sink.fail(benchmark, message)
        return Finding(code="failed", message=message)

    def clean_up(self) -> None:
        """Run the clean-up commands, each once."""
        for side in range(len(self.targets.cleanup)):
            self._surround("--cleanup", self.targets.cleanup, side)

    def _surround(self, option: str, specs: Sequence[LaunchSpec], side: int) -> None:
        if specs:
            measured = self._run(of_side(specs, side))
            self.left_behind += measured.left_behind
            self.check_surrounding(option, measured)

    def _run(self, spec: LaunchSpec) -> Measured:
        return launched(self.launcher, spec, self.interrupted)

    @staticmethod
    def check_surrounding(option: str, measured: Measured) -> None:
        """Raise MeasurementError if a command that surrounds launches failed, InterruptedByUser if it was cut short."""
        if measured.cancelled:
            raise InterruptedByUser
        if failure := _failure(measured):
            raise MeasurementError(f"the {option} command {failure}{_last_words(measured)}")

    @staticmethod
    def check_ended(
        measured: Measured, name: str, ignore_failure: bool, complaint: str | None = None, remedy: str = _REMEDY
    ) -> None:
        """Raise LaunchError if a launch did not end well, InterruptedByUser if it was cut short."""
        if measured.cancelled:
            raise InterruptedByUser
        if measured.timed_out:
            raise LaunchError(
                f"{name} did not end within {measured.wall_ns / 1e9:.3g} s and was killed: does it wait for something? "
                "If it needs so long, raise --timeout, or --max-time, which no launch of a weighing may use up alone."
            )
        failure = _failure(measured)
        if failure and complaint:
            raise LaunchError(f"{name} {failure} and {complaint}")
        if failure and not ignore_failure:
            raise LaunchError(
                f"{name} {failure}{_last_words(measured)}: {remedy}. "
                "(A launch sees only a small environment: pass more with --env NAME or --inherit-env.)"
            )


def _failure(measured: Measured) -> str | None:
    if measured.signal is not None:
        return f"was killed by {_signal_name(measured.signal)}"
    if measured.exit_code:
        return f"failed with exit status {measured.exit_code}"
    return None


def _signal_name(number: int) -> str:
    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(measured: Measured) -> str:
    lines = (measured.stderr or b"").decode(errors="replace").strip().splitlines()
    words = lines[-1].strip() if lines else ""
    if len(words) > _MOST_WORDS:
        words = f"...{words[-_MOST_WORDS:]}"
    return f" (its last words: {words})" if words else ""


_numbers = attrgetter(*NUMBERS)
