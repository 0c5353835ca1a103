"""Launches for the rules: one round after the other, in each of them every condition, in random order."""

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
    observed,
)
from steelyard.design.runner.draws import PADDING_BELOW
from steelyard.design.runner.targets import check_harness_ended, samples_of
from steelyard.design.timing.recorder import Recorder, TargetLauncher, launched
from steelyard.model.errors import LaunchError
from steelyard.model.launches import Draw, LaunchSpec, Measured, Sample
from steelyard.subjects.harness import Harness, Work

HASH_SEEDS = 6
"""What one seed in a hundred does is not looked for; what one in a few does is."""

_FIXED_LAUNCHES = 12

Make = Callable[[Draw], LaunchSpec]


class Place(NamedTuple):
    """A launch to come."""

    kind: str
    pair: int | None
    hash_seed: int


@dataclass
class Launches:
    """Starts every process of a check, and counts them."""

    launcher: TargetLauncher
    interrupted: Callable[[], bool]
    count: int = 0

    def __call__(self, spec: LaunchSpec) -> Measured:
        """Run one; raises InterruptedByUser."""
        measured = launched(self.launcher, spec, self.interrupted)
        self.count += 1
        return measured


@dataclass(frozen=True)
class Target:
    """What launches one benchmark: of a harness, or the command itself."""

    name: str
    make: Make
    launch: Callable[[LaunchSpec], Measured]
    harness: Harness | None = None
    empty: Make | None = None
    """The start of a process that does nothing, to hold a command against."""

    def run(
        self, draw: Draw, amount: Amount, before: tuple[tuple[str, int], ...] = (), *, fixed: bool = False
    ) -> tuple[Measured, Sequence[Sample] | None]:
        """Launch it; raises LaunchError, with its name, for a launch that fails."""
        spec = replace(self.make(draw), fixed_layout=fixed)
        if self.harness is None:
            measured = self.launch(spec)
            Recorder.check_ended(measured, self.name, ignore_failure=False)
            return measured, None
        # The same inputs in every launch, however they are drawn: they shall not be what differs.
        samples = self.harness.samples_a_launch or amount.samples
        work = Work(self.name, amount.loops, samples, seed=1, before=before)
        measured = self.launch(self.harness.running(spec, work))
        check_harness_ended(self.harness, measured, self.name)
        return measured, samples_of(self.harness, measured, work, self.name)


@dataclass
class Gatherer:
    """Fills the evidence of one benchmark. `others` are what runs before it, with their loops."""

    target: Target
    evidence: Evidence
    random: Random
    clock: Callable[[], float]
    others: Sequence[tuple[str, int]] = ()
    seeds: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.seeds = [self.random.randrange(1, 2**32) for _ in range(HASH_SEEDS)]

    def gather(self, rounds: int, until: float) -> None:
        """Go on to so many rounds in all, or until the clock says so; raises LaunchError if a plain launch fails."""
        while self.evidence.rounds < rounds:
            for place in round_plan(self.evidence.amounts, self.seeds, self.random):
                if self.clock() >= until and self._has_least():
                    return
                self._launch(place)
            self.evidence.rounds += 1

    def _has_least(self) -> bool:
        return all(self.evidence.of(kind) for kind in (PLAIN, EMPTY) if kind in self.evidence.amounts)

    def gather_fixed(self) -> None:
        """Launches in which nothing that can be held differs: addresses, hash seed, environment."""
        for _ in range(_FIXED_LAUNCHES):
            self._launch(Place(FIXED, None, self.seeds[0]))

    def _launch(self, place: Place) -> None:
        kind = place.kind
        if kind in self.evidence.untried:
            return
        if kind == EMPTY:
            measured = self.target.launch(self._empty())
            self._keep(place, measured, None)
            return
        padding = 0 if kind == FIXED else self.random.randrange(PADDING_BELOW)
        before = tuple(self.random.sample(self.others, len(self.others))) if kind == AFTER else ()
        amount = self.evidence.amounts[PLAIN if kind == FIXED else kind]
        try:
            measured, samples = self.target.run(Draw(place.hash_seed, padding), amount, before, fixed=kind == FIXED)
        except LaunchError as error:
            if kind == PLAIN:
                raise
            self.evidence.untried[kind] = str(error)
            return
        self._keep(place, measured, samples)

    def _empty(self) -> LaunchSpec:
        make = self.target.empty or self.target.make
        return make(Draw(self.seeds[0], self.random.randrange(PADDING_BELOW)))

    def _keep(self, place: Place, measured: Measured, samples: Sequence[Sample] | None) -> None:
        where = (place.kind, self.evidence.rounds, place.pair, place.hash_seed)
        self.evidence.launches.append(observed(where, measured, samples))


# How many launches of each kind a round has; the first two stand beside a plain one each.
_PAIRED = {DOUBLE: 2, AFTER: 2}
_ALONE = {LONGER: 1, LONGEST: 2}


def round_plan(amounts: Mapping[str, Amount], seeds: Sequence[int], random: Random) -> list[Place]:
    """One round: a plain launch of each hash seed, and those of the other kinds that `amounts` has."""
    drawn = random.sample(seeds, len(seeds))
    paired = [kind for kind, many in _PAIRED.items() if kind in amounts for _ in range(many)]
    units: list[list[Place]] = []
    for number, (kind, seed) in enumerate(zip(paired, drawn, strict=False)):
        units.append(random.sample([Place(PLAIN, number, seed), Place(kind, number, seed)], 2))
    # A command has an empty process before each of its own: what that takes says how fast the machine is there.
    empty = [Place(EMPTY, None, seeds[0])] if EMPTY in amounts else []
    units += [[*empty, Place(PLAIN, None, seed)] for seed in drawn[len(paired) :]]
    for kind, many in _ALONE.items():
        units += [[Place(kind, None, random.choice(seeds))] for _ in range(many if kind in amounts else 0)]
    random.shuffle(units)
    return [place for unit in units for place in unit]
