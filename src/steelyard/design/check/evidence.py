"""What the rules look at: launches of one benchmark under different conditions, next to each other in random order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import NamedTuple

import numpy as np

from steelyard.model.launches import FloatArray, Measured, Sample, judged_samples
from steelyard.model.rows import knows_waits, waited_ns
from steelyard.stats.modes import Modes, split

# Of a launch whose samples do not tell their waits: half of the least threshold that times are held to.
_MOST_WAITS = 0.05

# The conditions. `plain` is a launch as a weighing has them, under one of a few hash seeds.
PLAIN, DOUBLE, AFTER, LONGER, LONGEST, FIXED, EMPTY = (
    "plain",
    "double",  # twice the loops, or several times as many where the harness chooses them
    "after",  # others have run in its process before
    "longer",  # more samples
    "longest",
    "fixed",  # the same addresses, hash seed and environment each time
    "empty",  # the start of a process that does nothing
)


class Amount(NamedTuple):
    """How much a launch runs."""

    loops: int
    samples: int


@dataclass(frozen=True)
class Observed:
    """One launch: where it stood, and what it measured. Times in ns, of one iteration; of a command, of the launch.

    The rules look at all launches after each round: what is worked out of one launch alone is kept.
    """

    kind: str
    round: int
    pair: int | None
    """Launches of one round with the same number ran next to each other, in random order."""
    hash_seed: int
    times: tuple[float, ...]
    """Of its samples in their order, without the time that they waited for a processor where that is known."""
    fastest: float
    """The least time that one of its samples took, waits and all: a wait that the kernel notes late is taken off the
    sample after, and leaves it next to nothing."""
    wall_ns: int
    rss_bytes: int
    load_ns: float
    """For how long it, or others on the machine, waited for a processor meanwhile."""
    start_ns: float
    """What the launch took beside its samples: the start of the program, always the same work. 0 of a command."""
    loops: float = 1.0
    """Of a sample: the harness may have chosen them itself."""
    is_even: bool = True
    """Whether all its samples have as many."""
    waits_ns: float = 0.0
    """How much of what it took was waiting for a processor, in whichever of its samples: they do not tell it."""

    @cached_property
    def value(self) -> float:
        """The launch's time: the median of its samples but the first, which pays for cold caches."""
        return median(self.times[1:] or self.times)

    @cached_property
    def thirds(self) -> tuple[float, float, float]:
        """The median of the first, the middle and the last third of its samples but the first, of which it needs three.

        The first third and the last are of the same size, as a median of more samples has another distribution where a
        few of them are far off.
        """
        times = self.times[1:]
        size = len(times) // 3
        return median(times[:size]), median(times[size:-size]), median(times[-size:])

    @cached_property
    def clusters(self) -> Modes:
        """The two that the logs of its samples but the first fall into best; it needs four of them."""
        return split(np.log(self.times[1:]))

    @property
    def is_blurred(self) -> bool:
        """Whether its times may be waits: a long sample catches more of them than a short one, or none at all."""
        return self.waits_ns > _MOST_WAITS * self.wall_ns


@dataclass
class Evidence:
    """All launches of one benchmark so far, in their order, and which kinds could not be launched and why."""

    benchmark: str
    amounts: dict[str, Amount]
    launches: list[Observed] = field(default_factory=list)
    untried: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    is_pytest: bool = False
    """Whether it is pytest that starts with each launch."""
    failure: str | None = None
    """Why a plain launch failed, the last one, after others that ran."""

    def of(self, kind: str) -> list[Observed]:
        """The launches of one kind."""
        return [one for one in self.launches if one.kind == kind]

    def values(self, kind: str) -> FloatArray:
        """Their times."""
        return np.array([one.value for one in self.of(kind)])

    def starts(self, kind: str) -> FloatArray:
        """What always the same work took beside each of them, in ns; 0 where there is none.

        That is the start of its program; of a command, the empty processes next to it.
        """
        found = []
        for place, one in enumerate(self.launches):
            if one.kind == kind:
                beside = self.launches[max(0, place - 1) : place + 2]
                empty = [other.value for other in beside if other.kind == EMPTY]
                found.append(one.start_ns or (sum(empty) / len(empty) if empty else 0.0))
        return np.array(found)

    def log_ratios(self, kind: str) -> FloatArray:
        """ln(time of one of its iterations / of one of the plain launch beside it), of each pair.

        Without pairs that are blurred, if the two launches' samples are of different length.
        """
        is_alike = self.amounts[kind] == self.amounts[PLAIN]
        plain: dict[tuple[int, int | None], float] = {
            (one.round, one.pair): one.value
            for one in self.of(PLAIN)
            if one.pair is not None and (is_alike or not one.is_blurred)
        }
        places = [(one.value, (one.round, one.pair)) for one in self.of(kind) if is_alike or not one.is_blurred]
        pairs = [(value, plain[place]) for value, place in places if place in plain]
        return np.array([np.log(value / beside) for value, beside in pairs])

    def loops(self, kind: str = PLAIN) -> float:
        """How many loops a sample of a kind has."""
        return median(one.loops for one in self.of(kind))

    def by_hash_seed(self) -> FloatArray:
        """Logs of the plain launches' times, of shape (rounds, seeds): each round had each seed once."""
        seeds = sorted({one.hash_seed for one in self.of(PLAIN)})
        rounds: dict[int, dict[int, float]] = {}
        for one in self.of(PLAIN):
            rounds.setdefault(one.round, {})[one.hash_seed] = one.value
        whole = [row for row in rounds.values() if len(row) == len(seeds)]
        table = np.array([[row[seed] for seed in seeds] for row in whole], dtype=np.float64)
        return np.asarray(np.log(table.reshape(len(whole), len(seeds))), dtype=np.float64)


def observed(place: tuple[str, int, int | None, int], measured: Measured, samples: Sequence[Sample] | None) -> Observed:
    """A launch at its place (kind, round, pair, hash seed); without samples it is a command's."""
    return Observed(
        *place,
        times=(launch_ns(measured),) if samples is None else tuple(map(_iteration_ns, samples)),
        fastest=launch_ns(measured) if samples is None else min(max(one.ns / one.loops, 1e-6) for one in samples),
        wall_ns=measured.wall_ns,
        rss_bytes=measured.max_rss_bytes,
        load_ns=float((measured.pressure_ns or 0) + (measured.steal_ns or 0) + (measured.delay_ns or 0)),
        start_ns=0.0 if samples is None else max(0.0, measured.wall_ns - sum(sample.ns for sample in samples)),
        loops=1.0 if samples is None else median(sample.loops for sample in samples),
        is_even=len({sample.loops for sample in samples or ()}) <= 1,
        waits_ns=_waits_ns(measured, samples),
    )


def _waits_ns(measured: Measured, samples: Sequence[Sample] | None) -> float:
    # A command's are taken off its time where they are known, which they need not be of each of its launches.
    told = [knows_waits(measured)] if samples is None else [one.time_ns("active") is not None for one in samples]
    if all(told):
        return 0.0
    waited = waited_ns(measured) if knows_waits(measured) else measured.pressure_ns
    return float((waited or 0) + (measured.steal_ns or 0))


def launch_ns(measured: Measured) -> float:
    """How long a launch took, without its waits for a processor where these are known."""
    waited = (waited_ns(measured) or 0) if knows_waits(measured) else 0
    return float(max(measured.wall_ns - waited, 1))


def _iteration_ns(sample: Sample) -> float:
    active = sample.time_ns("active")
    return max(active if active is not None else sample.ns / sample.loops, 1e-6)


def early_and_late(launches: Iterable[Observed], judged: int) -> FloatArray:
    """Of each launch ln(its last quarter / the samples by which a normal launch, that takes so many, is judged)."""
    found = []
    for one in launches:
        first = one.times[1:judged] or one.times[:1]
        found.append(np.log(median(one.times[-max(1, len(one.times) // 4) :]) / median(first)))
    return np.array(found)


def sample_ns(samples: Sequence[Sample]) -> float:
    """How long a sample takes, without its waits for a processor."""
    return median(_iteration_ns(sample) * sample.loops for sample in judged_samples(samples))
