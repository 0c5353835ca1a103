"""What the rules look at: launches of one benchmark under different conditions, side by side in random order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from typing import NamedTuple

import numpy as np

from steelyard.model.launches import FloatArray
from steelyard.model.measured import Measured
from steelyard.model.rows import Sample, judged_samples, knows_waits, waited_ns
from steelyard.stats.modes import Modes, split

# For a launch whose samples do not tell their waits: half of the least threshold for times.
_MOST_WAITS = 0.05

# The conditions. `plain` is a launch as in a weighing, under one of a few hash seeds.
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
class ObservedLaunch:
    """One launch: where it stood, and what it measured. Times are in ns of an iteration; of a command, of the launch.

    The rules look at all launches after each round, so what follows from one launch alone is kept.
    """

    kind: str
    round: int
    pair: int | None
    """Launches of one round with the same number ran next to each other, in random order."""
    hash_seed: int
    times: tuple[float, ...]
    """The times of its samples in order, without their waits for a processor where these are known."""
    fastest: float
    """The least time of one of its samples, waits included: a wait that the kernel notes late is subtracted from the
    next sample, which leaves that next to nothing."""
    wall_ns: int
    rss_bytes: int
    load_ns: float
    """How long it, or others on the machine, waited for a processor meanwhile."""
    start_ns: float
    """How long the launch took beside its samples: the start of the program, always the same work. 0 for a command."""
    loops: float = 1.0
    """The loops of a sample: the harness may have chosen them itself."""
    is_even: bool = True
    """Whether all its samples have the same number of loops."""
    waits_ns: float = 0.0
    """How much of its time was waiting for a processor, in whichever of its samples: they do not tell."""

    @cached_property
    def value(self) -> float:
        """The launch's time: the median of its samples, without the first, which pays for cold caches."""
        return median(self.times[1:] or self.times)

    @cached_property
    def thirds(self) -> tuple[float, float, float]:
        """The medians of the first, middle and last third of its samples, without the first sample.

        It needs three samples besides that one. The first third and the last have the same size, as a median of more
        samples has another distribution if a few of them are far off.
        """
        times = self.times[1:]
        size = len(times) // 3
        return median(times[:size]), median(times[size:-size]), median(times[-size:])

    @cached_property
    def clusters(self) -> Modes:
        """The two modes that fit best the logs of its samples, without the first; it needs four of them."""
        return split(np.log(self.times[1:]))

    @property
    def is_blurred(self) -> bool:
        """Whether its times may be waits: a long sample catches more of them than a short one, or none at all."""
        return self.waits_ns > _MOST_WAITS * self.wall_ns


@dataclass
class Evidence:
    """All launches of one benchmark so far, in order, and which kinds could not be launched and why."""

    benchmark: str
    amounts: dict[str, Amount]
    launches: list[ObservedLaunch] = field(default_factory=list)
    untried: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    is_pytest: bool = False
    """Whether each launch starts pytest."""
    failure: str | None = None
    """Why the last plain launch failed, after others that ran."""

    def of(self, kind: str) -> list[ObservedLaunch]:
        """Return the launches of one kind."""
        return [one for one in self.launches if one.kind == kind]

    def values(self, kind: str) -> FloatArray:
        """Return the times of the launches of one kind."""
        return np.array([one.value for one in self.of(kind)])

    def starts(self, kind: str) -> FloatArray:
        """Return how long work that is always the same took beside each launch of a kind, in ns; 0 if there is none.

        That is the start of its program; for a command, the empty processes next to it.
        """
        found = []
        for place, one in enumerate(self.launches):
            if one.kind == kind:
                beside = self.launches[max(0, place - 1) : place + 2]
                empty = [other.value for other in beside if other.kind == EMPTY]
                found.append(one.start_ns or (sum(empty) / len(empty) if empty else 0.0))
        return np.array(found)

    def log_ratios(self, kind: str) -> FloatArray:
        """Return ln(time of an iteration / that of the plain launch beside it), for each pair of a kind.

        Blurred pairs are left out if the two launches' samples differ in length.
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
        """Return how many loops a sample of a kind has."""
        return median(one.loops for one in self.of(kind))

    def by_hash_seed(self) -> FloatArray:
        """Return the logs of the plain launches' times, of shape (rounds, seeds): each round had each seed once."""
        seeds = sorted({one.hash_seed for one in self.of(PLAIN)})
        rounds: dict[int, dict[int, float]] = {}
        for one in self.of(PLAIN):
            rounds.setdefault(one.round, {})[one.hash_seed] = one.value
        whole = [row for row in rounds.values() if len(row) == len(seeds)]
        table = np.array([[row[seed] for seed in seeds] for row in whole], dtype=np.float64)
        return np.asarray(np.log(table.reshape(len(whole), len(seeds))), dtype=np.float64)


def observe_launch(
    place: tuple[str, int, int | None, int], measured: Measured, samples: Sequence[Sample] | None
) -> ObservedLaunch:
    """Return a launch at its place (kind, round, pair, hash seed); without samples it is a command's."""
    return ObservedLaunch(
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
    # A command's waits are subtracted from its time where they are known, which need not be so in each of its launches.
    told = [knows_waits(measured)] if samples is None else [one.time_ns("active") is not None for one in samples]
    if all(told):
        return 0.0
    waited = waited_ns(measured) if knows_waits(measured) else measured.pressure_ns
    return float((waited or 0) + (measured.steal_ns or 0))


def launch_ns(measured: Measured) -> float:
    """Return how long a launch took, in ns, without its waits for a processor where these are known."""
    waited = (waited_ns(measured) or 0) if knows_waits(measured) else 0
    return float(max(measured.wall_ns - waited, 1))


def _iteration_ns(sample: Sample) -> float:
    active = sample.time_ns("active")
    return max(active if active is not None else sample.ns / sample.loops, 1e-6)


def late_log_ratios(launches: Iterable[ObservedLaunch], judged: int) -> FloatArray:
    """Return for each launch ln(its last quarter / the samples that judge a normal launch, of `judged` samples)."""
    found = []
    for one in launches:
        first = one.times[1:judged] or one.times[:1]
        found.append(np.log(median(one.times[-max(1, len(one.times) // 4) :]) / median(first)))
    return np.array(found)


def sample_ns(samples: Sequence[Sample]) -> float:
    """Return how long a sample takes, in ns, without its waits for a processor."""
    return median(_iteration_ns(sample) * sample.loops for sample in judged_samples(samples))
