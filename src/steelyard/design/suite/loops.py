"""How much one launch of a harness does: iterations a sample and samples a launch, chosen once for both sides.

A sample has to be long compared with the clock and short compared with a scheduler's slice, so that most samples are
disturbed by nothing (Vaskovic trades iterations for samples for the same reason); a launch takes as many samples as
pay.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isqrt, sqrt
from statistics import fmean, median, pvariance, variance
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from steelyard.model.errors import VanishedError
from steelyard.model.rows import Sample, judged_samples

TARGET_NS = 1_500_000
"""How long a sample is to take; anything from half of it to twice is good enough."""

TURN_NS = 200_000
"""The same for samples in turn with those of the other side: what slows a processor down often lasts for a ms or less,
and has to last for several samples to hit both sides alike. Shorter ones tell little more, and each turn costs the code
after it 3 µs or more of its sample (benchmarks/turn_lengths.py)."""

SHORTEST_TIMED_NS = 10_000
"""Shorter samples are told wrongly: reading the clock, and filling caches again, takes some 0.1 us of each."""

PILOT_LAUNCHES, PILOT_SAMPLES = 3, 6

_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result")

# The first of several samples is not judged; a single iteration as long as this has no cold caches to speak of.
_LONG_SAMPLE_NS = 100_000_000
# A clock that ticks only once a ms tells nothing of shorter samples, and so at first nothing at all: loops grow by this
# factor at most before the clock is read again.
_LARGEST_GROWTH = 1000
# One side may be slower than another by a bug that squares its time; then the samples of both sides give way.
_MUCH_SLOWER = 4
_SHORTEST_SAMPLE_NS = 50_000
# From this factor on, each side has loops of its own: with the other's, its samples would be too long or too short.
_FAR_APART_FACTOR = 10
# The first iteration may fill what the others only look up: among so few, it hides all else.
_FEW_LOOPS = 3
# The samples of a launch of the slowest side are not to take longer.
_LONGEST_LAUNCH_NS = 1_000_000_000
_MOST_LOOPS = 1 << 45
_MOST_TRIES = 12
_FEWEST_SAMPLES, _MOST_SAMPLES, _MOST_TURNS = 3, 40, 160

LEAST_SAMPLES = 1 + _FEWEST_SAMPLES
"""The samples of a launch if there was no time to find out how many pay."""

# Timed by its processor time, a launch is long compared with its start (some 4 ms, give or take a tenth). It has only
# one sample: each would have a start of its own, as that of Go collects garbage before it, and longer ones tell no
# more.
_PROCESS_LAUNCH_NS, _LONGEST_ITERATION_NS = 90_000_000, 10_000_000
# The same code takes 0.3 ns or 1.5 for such brief iterations, by what the processor makes of its stores in this
# process.
_BRIEF_ITERATION_NS = 5.0
# The least times of an iteration in a few samples differ by more than this only for a reason.
_ALIKE_SHARE = 0.25

TakeSamples = Callable[[int, int], Sequence[Sample]]
"""take(loops, samples): run one launch, and return the samples that it took."""

Amount = tuple[int, int]
"""(loops, samples) that a launch is asked for."""


class Ask(NamedTuple):
    """A launch of one benchmark of a subject, asked for by its trial."""

    subject: int
    loops: int
    samples: int
    by_process: bool = False
    is_given_up: bool = False
    """Whether it is ended without samples if it takes far longer than the baseline's: its loops may take hours."""


class Amounts(NamedTuple):
    """What each launch of a benchmark runs; no loops if the harness chooses them, neither if the trial failed."""

    loops: int | None = None
    samples: int | None = None
    clock: Literal["process", "plain"] | None = None
    own_loops: Mapping[int, int] = MappingProxyType({})
    """The loops of candidates, by their numbers, for whose iterations the common ones are far too many or too few."""

    def fields_for_candidate(self, candidate: int) -> dict[str, Any]:
        """Return what launches of the baseline and of this candidate run, by the names that records have for it."""
        own_loops = self.own_loops.get(candidate)
        return {"loops": self.loops, "samples": self.samples, "clock": self.clock, "candidate_loops": own_loops}


class NeverLongError(VanishedError):
    """A sample does not grow with its loops; the message lacks the benchmark's name."""


@dataclass(frozen=True)
class Pilot:
    """One pilot launch: how long it took beside its samples, in ns, and the samples themselves.

    `start_ns` is its part of a start that it shares with others.
    """

    overhead_ns: float
    samples: Sequence[Sample]
    start_ns: float = 0.0


class TriedLoops(NamedTuple):
    """The loops that one side needs, and the samples that were taken last to find them."""

    loops: int
    samples: Sequence[Sample]

    @property
    def sample_ns(self) -> float:
        """How long a sample of these loops takes, in ns."""
        return self.loops * iteration_ns(self.samples)


def choose_loops(take: TakeSamples) -> int:
    """Return the iterations that make a sample long enough; raises NeverLongError if it does not grow with them."""
    return answer_all(ask_for_loops(), lambda amount: take(*amount))


def answer_all(asking: Generator[_Question, _Answer, _Result], answer: Callable[[_Question], _Answer]) -> _Result:
    """Return the result of `asking`, which gets the answer to each thing that it asks for."""
    try:
        ask = next(asking)
        while True:
            ask = asking.send(answer(ask))
    except StopIteration as end:
        result: _Result = end.value
        return result


def ask_for_loops(target_ns: int = TARGET_NS, *, hurried: bool = False) -> Generator[Amount, Sequence[Sample], int]:
    """As `choose_loops`, for callers that have several launches to run at once: it asks for one after the other.

    In a hurry, one more look settles the iterations.
    """
    first = yield 1, 1
    if is_long(first):
        return 1
    loops = _loops_needed(1, first[0].ns / first[0].loops, target_ns)  # too few, if it paid for cold caches
    lower, upper = 0, 0
    for _ in range(1 if hurried else _MOST_TRIES):
        samples = yield loops, 3
        ns = min(sample.ns / sample.loops for sample in samples) * loops
        if ns >= target_ns / 2 and (ns <= 2 * target_ns or loops == 1):
            return loops
        lower, upper = (loops, upper) if ns < target_ns / 2 else (lower, loops)
        loops = _loops_needed(loops, ns, target_ns)
        if upper and not lower < loops < upper:  # the clock's ticks are longer than a sample, or the times jump
            loops = isqrt(lower * upper)
        if loops in (lower, upper) or loops > _MOST_LOOPS:
            break
    if hurried and loops <= _MOST_LOOPS:
        return loops
    if not upper:
        raise NeverLongError("takes no longer however often it is repeated: does the compiler remove its body?")
    return upper


def shared_loops(loops: int, tries: Sequence[Sequence[Sample]], target_ns: int = TARGET_NS) -> int:
    """Return the iterations for all sides, from a try of each: the baseline's, but fewer if another is far slower.

    Then the slowest side's samples are long enough, as far as a clock can still tell the fastest one's. For that there
    are more if the baseline is far slower; but no sample is to be a long one.
    """
    iteration_times_ns = [iteration_ns(samples) for samples in tries]
    timeable = max(
        1, min(ceil(_SHORTEST_SAMPLE_NS / min(iteration_times_ns)), int(_LONG_SAMPLE_NS / max(iteration_times_ns)))
    )
    if loops * max(iteration_times_ns) > _MUCH_SLOWER * target_ns:
        loops = min(loops, max(1, ceil(target_ns / max(iteration_times_ns)), timeable))
    return loops if loops * min(iteration_times_ns) >= SHORTEST_TIMED_NS else max(loops, timeable)


def first_samples(loops: int) -> int:
    """Return how many samples of `loops` to take first, to see how long another side's iteration takes."""
    return 1 if loops > _FEW_LOOPS else 2


def may_hide_more(samples: Sequence[Sample], baseline: Sequence[Sample]) -> bool:
    """Whether a single sample may be little else than its first iteration, which took as long as the baseline's."""
    return len(samples) == 1 and samples[0].ns < 2 * iteration_ns(baseline)


def are_far_apart(one: Sequence[Sample], other: Sequence[Sample]) -> bool:
    """Whether two sides differ so much that the loops of one do not suit the other."""
    iteration_times_ns = iteration_ns(one), iteration_ns(other)
    return max(iteration_times_ns) >= _FAR_APART_FACTOR * min(iteration_times_ns)


def long_loops(samples: Sequence[Sample]) -> int:
    """Return the iterations that make a sample a long one, which has no cold caches to speak of."""
    return max(1, round(_LONG_SAMPLE_NS / iteration_ns(samples)))


def loops_for_long_samples(sides: Mapping[int, TriedLoops]) -> dict[int, int]:
    """Return the loops of sides that have their own, one of them in long samples: the others get samples as long."""
    return {number: max(tried.loops, long_loops(tried.samples)) for number, tried in sides.items()}


def process_amounts(each_ns: Sequence[float]) -> Amount | None:
    """Return what a launch timed by its processor time runs, given an iteration's time on each side, in ns.

    None if few iterations take long, or one side takes far less time than another: other ways find that out sooner.
    """
    fastest_ns, slowest_ns = min(each_ns), max(each_ns)
    if slowest_ns > min(_LONGEST_ITERATION_NS, max(_BRIEF_ITERATION_NS, _MUCH_SLOWER * fastest_ns)):
        return None
    return ceil(_PROCESS_LAUNCH_NS / fastest_ns), 1


def computes_alone(whole: Sample, usual_ns: float, alone_ns: float) -> bool:
    """Whether the processor time of a `whole` launch is the time of its work, which one thread does.

    `usual_ns` and `alone_ns` are the least elapsed times of an iteration, as usual and on one processor, where it takes
    longer if several threads work. Elapsed time is more than the processor time if the work waits, and less if it
    leaves some of the work out.
    """
    cpu_ns, most_ns = (whole.cpu_ns or 0) / whole.loops, (1 + _ALIKE_SHARE) * whole.ns / whole.loops
    return abs(alone_ns / usual_ns - 1) <= _ALIKE_SHARE and (1 - _ALIKE_SHARE) * alone_ns <= cpu_ns <= most_ns


def iteration_ns(samples: Sequence[Sample]) -> float:
    """Return the least time of an iteration, in ns."""
    return min(sample.ns / sample.loops for sample in samples)


def is_long(samples: Sequence[Sample]) -> bool:
    """Whether a sample takes so long that a launch has only one."""
    return median(sample.ns for sample in samples) >= _LONG_SAMPLE_NS


def long_samples_in_step(samples: Sequence[Sample]) -> int:
    """Return how many long samples a launch takes in turn with the other side's.

    Half a second of them, as a start takes as long. Each is weighed against its neighbour, and the first of several is
    not judged.
    """
    judged = int(_LONGEST_LAUNCH_NS / 2 / median(sample.ns for sample in samples))
    return 1 + judged if judged > 1 else 1


def _loops_needed(loops: int, ns: float, target_ns: int) -> int:
    """Return the iterations that would make a sample long enough, if `loops` take `ns`."""
    return max(1, min(ceil(loops * target_ns / ns), loops * _LARGEST_GROWTH))


def choose_samples(
    pilots: Sequence[Pilot], slowest_ns: float = 0.0, brief: Pilot | None = None, *, in_step: bool = False
) -> int:
    """Return the samples a launch, by where the variance is (two-stage sampling: Cochran, Sampling Techniques, 10.6).

    `slowest_ns` is how long a sample takes on the slowest side, whose launches are not to become too long. A `brief`
    launch, with fewer samples than the pilots', tells what a sample costs beside its own time, as where a garbage
    collector runs before each. Samples taken `in_step` with those of the other side cancel what their launch as a whole
    is off by.

    With variance w within launches and b between them, and costs c of a sample and s of starting a launch, the least
    time for a given precision takes sqrt(w / b * s / c) samples a launch; one more is for the first, which is not
    judged.
    """
    times = [[sample.ns / sample.loops for sample in judged_samples(pilot.samples)] for pilot in pilots]
    sample_ns = median(sample.ns for pilot in pilots for sample in pilot.samples)
    within = fmean(pvariance(values) / fmean(values) ** 2 for values in times)
    medians = [median(values) for values in times]
    between = variance(medians) / fmean(medians) ** 2 - within / len(times[0])
    overhead_ns, pilot_samples = median(pilot.overhead_ns for pilot in pilots), len(pilots[0].samples)
    beside_ns = 0.0
    # A benchmark whose code fixes the number of samples has as many in each launch.
    if brief is not None and len(brief.samples) < pilot_samples:
        beside_ns = max(0.0, (overhead_ns - brief.overhead_ns) / (pilot_samples - len(brief.samples)))
    # The time of a shared start differs from launch to launch by more than any sample takes.
    starting = median(pilot.start_ns for pilot in pilots) + overhead_ns - pilot_samples * beside_ns
    most = _MOST_TURNS if in_step else _MOST_SAMPLES
    # A few launches cannot tell a small variance between them from none.
    between = max(0.0 if in_step else between, within / most)
    best = sqrt(within / between * max(starting, 0.0) / (sample_ns + beside_ns)) if between > 0 else _FEWEST_SAMPLES
    most = min(most, int(_LONGEST_LAUNCH_NS / max(slowest_ns, 1.0)))
    return 1 + max(min(round(best), most), _FEWEST_SAMPLES)
