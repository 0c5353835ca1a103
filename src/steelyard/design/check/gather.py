"""Launches for the rules: one round after the other, each with every condition, in random order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from steelyard.design.check.evidence import (
    AFTER,
    DOUBLE,
    EMPTY,
    FIXED,
    LONGER,
    LONGEST,
    PLAIN,
    Amount,
    Evidence,
    observe_launch,
)
from steelyard.design.runner.draws import PADDING_BELOW
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.runner import Reading, Runner
from steelyard.design.runner.target import FIX_REMEDY, HARNESS_REMEDY, Target
from steelyard.model.errors import LaunchError, VanishedError
from steelyard.model.launch_spec import Draw, LaunchSpec
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample
from steelyard.subjects.harness import Harness, Work

HASH_SEEDS = 6
"""Enough to find what one seed in a few does; what one in a hundred does is not looked for."""

_FIXED_LAUNCHES = 12
# For launches in which it does not matter what is drawn.
ANY_DRAW = Draw(1, 0)

MakeSpec = Callable[[Draw], LaunchSpec]
Before = tuple[tuple[str, int], ...]
"""What runs before it in the same process: names, with their loops."""


class PlannedLaunch(NamedTuple):
    """A launch to come."""

    kind: str
    pair: int | None
    hash_seed: int


@dataclass(frozen=True)
class CheckedBenchmark:
    """What launches one benchmark of a harness, or the command itself."""

    name: str
    make: MakeSpec
    runner: Runner
    harness: Harness | None = None
    empty: MakeSpec | None = None
    """Starts a process that does nothing, to compare a command with."""
    remedy: str | None = None
    ignore_failure: bool = False

    def run(self, draw: Draw, amount: Amount, before: Before = (), *, fixed: bool = False) -> Reading[None]:
        """Launch it; raises LaunchError, with its name, if it fails."""
        return self.runner.trial(self.target(draw, amount, before, fixed=fixed))

    def target(self, draw: Draw, amount: Amount, before: Before = (), *, fixed: bool = False) -> Target:
        """Return the launch of this amount, under a draw."""
        spec = self.make(draw)
        spec = replace(spec, fixed_layout=True) if fixed else spec
        if self.harness is None:
            return Target(self.name, spec, ignore_failure=self.ignore_failure, remedy=self.remedy or FIX_REMEDY)
        # The same inputs in every launch, however they are drawn: they must not be what differs.
        samples = self.harness.samples_a_launch or amount.samples
        work = Work(self.name, amount.loops, samples, seed=1, before=before)
        spec = self.harness.running(spec, work)
        return Target(self.name, spec, harness=self.harness, work=work, remedy=self.remedy or HARNESS_REMEDY)


@dataclass
class Gatherer:
    """Fills the evidence of one benchmark; `others` are what runs before it, with their loops."""

    checked: CheckedBenchmark
    evidence: Evidence
    random: Random
    clock: Callable[[], float]
    others: Sequence[tuple[str, int]] = ()
    tell: Callable[[int], None] = lambda _: None
    """Is told how many launches there are."""
    seeds: list[int] = field(init=False)
    cut_short: bool = field(default=False, init=False)
    """Whether the user stopped it before all rounds that were asked for."""
    seconds: float = field(default=0.0, init=False)
    """How long it has taken so far."""

    def __post_init__(self) -> None:
        self.seeds = [self.random.randrange(1, 2**32) for _ in range(HASH_SEEDS)]

    def seconds_of(self, rounds: int) -> float:
        """Return how long `rounds` rounds take, going by the launches so far."""
        planned = len(round_plan(self.evidence.amounts, self.seeds, self.random))
        return self.seconds * rounds * planned / max(1, len(self.evidence.launches))

    def gather(self, rounds: int, until: float) -> None:
        """Go on until there are `rounds` in all, the time is up, or a plain launch fails after others that ran.

        Raises LaunchError if the first plain launch fails, Interrupted; the launches before that are in the evidence.
        """
        started = self.clock()
        try:
            self._gather(rounds, until)
        except Interrupted:
            self.cut_short = True
            raise
        finally:
            self.seconds += self.clock() - started

    def _gather(self, rounds: int, until: float) -> None:
        while self.evidence.failure is None and self.evidence.rounds < rounds:
            for place in round_plan(self.evidence.amounts, self.seeds, self.random):
                if self.evidence.failure or (self.clock() >= until and self._has_fewest_launches()):
                    return
                self._launch(place)
            self.evidence.rounds += 1

    def _has_fewest_launches(self) -> bool:
        return all(self.evidence.of(kind) for kind in (PLAIN, EMPTY) if kind in self.evidence.amounts)

    def gather_fixed(self) -> None:
        """Run launches in which nothing that can be held differs: addresses, hash seed, environment."""
        for _ in range(_FIXED_LAUNCHES):
            self._launch(PlannedLaunch(FIXED, None, self.seeds[0]))

    def _launch(self, place: PlannedLaunch) -> None:
        kind = place.kind
        if kind in self.evidence.untried:
            return
        if kind == EMPTY:
            measured = self.checked.runner.run(self._empty_spec())
            self._keep(place, measured, None)
            return
        padding = 0 if kind == FIXED else self.random.randrange(PADDING_BELOW)
        before = tuple(self.random.sample(self.others, len(self.others))) if kind == AFTER else ()
        amount = self.evidence.amounts[PLAIN if kind == FIXED else kind]
        try:
            reading = self.checked.run(Draw(place.hash_seed, padding), amount, before, fixed=kind == FIXED)
        except LaunchError as error:
            self._note_failure(kind, error)
            return
        self._keep(place, reading.measured, None if self.checked.harness is None else reading.samples)

    def _note_failure(self, kind: str, error: LaunchError) -> None:
        """Note why a launch failed; raises it if there is nothing else to say of the benchmark."""
        if kind != PLAIN:
            self.evidence.untried[kind] = str(error)
            return
        if not self.evidence.of(PLAIN) or isinstance(error, VanishedError):
            raise error
        self.evidence.failure = str(error)

    def _empty_spec(self) -> LaunchSpec:
        make = self.checked.empty or self.checked.make
        return make(Draw(self.seeds[0], self.random.randrange(PADDING_BELOW)))

    def _keep(self, place: PlannedLaunch, measured: Measured, samples: Sequence[Sample] | None) -> None:
        where = (place.kind, self.evidence.rounds, place.pair, place.hash_seed)
        self.evidence.launches.append(observe_launch(where, measured, samples))
        self.tell(len(self.evidence.launches))


# How many launches of each kind a round has; the first two kinds stand beside a plain one each.
_PAIRED_LAUNCHES = {DOUBLE: 2, AFTER: 2}
_SINGLE_LAUNCHES = {LONGER: 1, LONGEST: 2}


def round_plan(amounts: Mapping[str, Amount], seeds: Sequence[int], random: Random) -> list[PlannedLaunch]:
    """Plan one round: a plain launch of each hash seed, and those of the other kinds that `amounts` has."""
    drawn = random.sample(seeds, len(seeds))
    paired = [
        kind
        for kind, number_of_launches in _PAIRED_LAUNCHES.items()
        if kind in amounts
        for _ in range(number_of_launches)
    ]
    units: list[list[PlannedLaunch]] = []
    for number, (kind, seed) in enumerate(zip(paired, drawn, strict=False)):
        units.append(random.sample([PlannedLaunch(PLAIN, number, seed), PlannedLaunch(kind, number, seed)], 2))
    # A command has an empty process before each of its own: how long that takes tells how fast the machine is there.
    empty = [PlannedLaunch(EMPTY, None, seeds[0])] if EMPTY in amounts else []
    units += [[*empty, PlannedLaunch(PLAIN, None, seed)] for seed in drawn[len(paired) :]]
    for kind, number_of_launches in _SINGLE_LAUNCHES.items():
        units += [
            [PlannedLaunch(kind, None, random.choice(seeds))]
            for _ in range(number_of_launches if kind in amounts else 0)
        ]
    random.shuffle(units)
    return [place for unit in units for place in unit]
