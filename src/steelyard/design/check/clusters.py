"""Rules about what splits the launches of one benchmark: modes, and hash seeds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp, expm1, log1p

import numpy as np

from steelyard.design.check.evidence import FIXED, LONGEST, PLAIN, Evidence, ObservedLaunch
from steelyard.design.check.judged import BLURRED, LEVEL, TOO_FEW, Judged, Rule, percent
from steelyard.model.launches import FloatArray
from steelyard.report.figures import duration
from steelyard.stats import rank_sum
from steelyard.stats.blocks import p_value_of_groups, range_of_groups
from steelyard.stats.modes import SMALLEST_SHARE, Modes, change_rate, has_modes, may_have_modes, split, with_ties_spread

SEED_RANGE = 0.10
MODES_DISTANCE = 0.10

# Two halves of a normal sample have a contrast of 2.2, of a uniform one 2.7.
_LEAST_CONTRAST = 4.0
_MOST_VALUES = 200
_FEWEST_VALUES = 24
# So few hardly tell whether other work goes with the modes.
_ENOUGH_VALUES, _ENOUGH_LONG = 60, 40
_FEWEST_ROUNDS = 4
# The machine's modes last for several launches, a process's change from one to the next: 1 is independence.
_FEWEST_CHANGES = 0.5
_LOAD_LEVEL = 0.01
# With a neighbour on the core, the start was slower in 72 to 100 of 100 comparisons of launches in the machine's slow
# mode with those in its fast one, mostly in over 90; where modes were planted, in 40 to 85.
_MOST_COMPARISONS, _NEARLY_ALL = 0.65, 0.9
# There, the times of sound benchmarks ranged (80 % of them) 1.1 to 1.4 times as wide as the starts beside them, and
# those with planted modes, a factor of two, 2.0 to 2.2 times.
_MOST_WIDER = 1.6
# With less than this chance, it is no accident that all of the 12 launches in which only the process itself may differ
# are in the same mode.
_FIXED_LEVEL = 0.01
_LEAST_SHARE_OF_LAUNCHES = 0.8
# At most this part of the extra time of a launch's slow samples may be waits.
_MOST_WAITS = 0.2


@dataclass(frozen=True)
class _TimedLaunches:
    """Launches with a time each, the `starts` beside them, their name, and how many tell what goes with their modes."""

    launches: list[ObservedLaunch]
    times: FloatArray
    starts: FloatArray
    what: str
    enough: int

    @cached_property
    def logs(self) -> FloatArray:
        return np.log(with_ties_spread(self.times))

    @cached_property
    def found(self) -> Modes:
        return split(self.logs)


def hash_seed(evidence: Evidence) -> Judged:
    """Whether launches of one hash seed are alike, and those of another are not."""
    table = evidence.by_hash_seed()
    if len(table) < _FEWEST_ROUNDS:
        return TOO_FEW
    distance = expm1(range_of_groups(table))
    finding = f"of {table.shape[1]} hash seeds the slowest takes {percent(distance)} longer than the fastest"
    if distance <= SEED_RANGE:
        return Judged("sound", finding, distance)
    return Judged("trouble" if p_value_of_groups(table) <= LEVEL else "perhaps", finding, distance)


def modes(evidence: Evidence) -> Judged:
    """Whether launches, or the samples within them, have two modes, and what goes with these."""
    within = _within_launches(evidence.of(LONGEST))
    if within is not None:
        return within
    found = len(evidence.of(PLAIN)[:_MOST_VALUES])
    if found < _FEWEST_VALUES:
        return TOO_FEW
    launches, starts = _unblurred(evidence, PLAIN)
    if len(launches) < _FEWEST_VALUES:
        return BLURRED
    medians = _TimedLaunches(launches, np.array([one.value for one in launches]), starts, "launches", _ENOUGH_VALUES)
    judged = [_judge_modes(one, evidence) for one in (medians, *_by_fastest_samples(evidence))]
    return max(judged, key=lambda one: ("sound", "perhaps", "trouble").index(one.state))


def _unblurred(evidence: Evidence, kind: str) -> tuple[list[ObservedLaunch], FloatArray]:
    """Return the launches of a kind whose times are no waits, and their starts."""
    launches = evidence.of(kind)[:_MOST_VALUES]
    places = [place for place, one in enumerate(launches) if not one.is_blurred]
    return [launches[place] for place in places], evidence.starts(kind)[places]


def _by_fastest_samples(evidence: Evidence) -> list[_TimedLaunches]:
    """Return the long launches by their fastest samples.

    Work beside them comes and goes, and the process's own mode stays.
    """
    launches, starts = _unblurred(evidence, LONGEST)
    if len(launches) < _FEWEST_ROUNDS:
        return []
    fastest = np.array([one.fastest for one in launches])
    return [_TimedLaunches(launches, fastest, starts, "long launches", _ENOUGH_LONG)]


def _judge_modes(timed: _TimedLaunches, evidence: Evidence) -> Judged:
    found = timed.found
    if not _are_distant(found):
        return Judged("sound", "", 0.0)
    if not has_modes(timed.logs):
        return Judged("perhaps" if may_have_modes(timed.logs) else "sound", "", 0.0)
    distance = expm1(found.high - found.low)
    description = _describe_modes(found, timed.what)
    if hash_seed(evidence).state == "trouble":
        return Judged("trouble", f"{description}; the hash seed separates them", distance)
    if machine := _machine_reason(timed):
        return Judged("sound", f"{description}, {machine}", distance)
    if len(timed.launches) < timed.enough:
        return Judged("perhaps", description, distance)
    fixed_logs = np.log(evidence.values(FIXED)) if FIXED not in evidence.untried else np.array([])
    return Judged("trouble", f"{description}; {_what_separates(fixed_logs, found)}", distance)


def _what_separates(fixed_logs: FloatArray, found: Modes) -> str:
    """Say what separates the modes, from logs of launches in which only the process itself may differ."""
    distance = found.high - found.low
    above = fixed_logs > (found.low + found.high) / 2
    if above.any() and not above.all():
        return (
            "neither the hash seed nor the addresses separate them: something else that each process draws for itself"
        )
    is_one = len(fixed_logs) and np.ptp(fixed_logs) < distance / 2  # and not both, moved to one side by other work
    if is_one and (1 - found.minor) ** len(fixed_logs) <= _FIXED_LEVEL:
        return "with the same addresses in each launch there is but one: the layout in memory separates them"
    return "it is another one in each process"


def _machine_reason(timed: _TimedLaunches) -> str | None:
    """Return what shows that the modes are those of the machine; None if they are the program's own."""
    launches, found = timed.launches, timed.found
    if change_rate(found.upper) < _FEWEST_CHANGES:
        return "which come and go with time: the machine's, not the benchmark's"
    if _share_higher(np.array([one.load_ns / one.wall_ns for one in launches]), found) >= _MOST_COMPARISONS:
        return "which go with other work on the machine"
    # A neighbour on the same core makes everything slower, and nobody waits for it: the start of the program tells.
    share = _share_higher(timed.starts, found)
    if share >= _NEARLY_ALL or (share >= _MOST_COMPARISONS and not _is_wider(timed.times, timed.starts)):
        return "in which the start of a program is slow and fast, too: the machine's, not the benchmark's"
    return None


def _share_higher(values: FloatArray, found: Modes) -> float:
    """Return in which share of comparisons a value is higher in the slow mode; 0 if that may be chance.

    The share counts, and not significance alone: with enough launches, whatever spreads the modes shows something.
    """
    fast, slow = values[~found.upper], values[found.upper]
    return rank_sum.superiority(fast, slow) if rank_sum.p_value(fast, slow) <= _LOAD_LEVEL else 0.0


def _is_wider(times: FloatArray, starts: FloatArray) -> bool:
    """Whether times range so much wider than starts that what slows both cannot be all of it."""
    (least, most), (first, last) = (np.quantile(values, [0.1, 0.9]) for values in (times, starts))
    return bool(most * first > _MOST_WIDER * last * least)


def _within_launches(launches: list[ObservedLaunch]) -> Judged | None:
    """Judge the modes of samples, if most of the launches have them and alternate between them; else None."""
    long = [one for one in launches if len(one.times) > _FEWEST_VALUES]
    found = [one.clusters for one in long if _alternate(one.clusters) and not _is_mostly_waiting(one)]
    if len(long) < _FEWEST_ROUNDS or len(found) < _LEAST_SHARE_OF_LAUNCHES * len(long):
        return None
    distance = float(np.median([one.high - one.low for one in found]))
    description = _describe_modes(found[0], "samples")
    return Judged("trouble", f"{description}; both are there in one process: the samples alternate", expm1(distance))


def _is_mostly_waiting(launch: ObservedLaunch) -> bool:
    """Whether waits for a processor, which its times include, are a good part of the extra time of its slow samples."""
    found = launch.clusters
    longer_ns = (np.array(launch.times[1:])[found.upper] - exp(found.low)).sum() * launch.loops
    return launch.waits_ns > _MOST_WAITS * float(longer_ns)


def _alternate(found: Modes) -> bool:
    return _are_distant(found) and found.contrast >= _LEAST_CONTRAST and change_rate(found.upper) >= _FEWEST_CHANGES


def _are_distant(found: Modes) -> bool:
    return found.high - found.low > log1p(MODES_DISTANCE) and found.minor >= SMALLEST_SHARE


def _describe_modes(found: Modes, what: str) -> str:
    upper = float(found.upper.mean())
    low, high = (duration(float(np.exp(value))) for value in (found.low, found.high))
    return f"two modes: {low} ({percent(1 - upper)} of the {what}) and {high} ({percent(upper)})"


RULES = (
    Rule(
        "hash-seed",
        "it takes the same time under every hash seed",
        SEED_RANGE,
        "",
        "33 benchmarks without any hash seed reached 6 % by noise alone (steelyard docs check)",
        "Steelyard draws another seed for each pair, so that verdicts hold, at the price of more pairs; keep "
        "the order of sets out of the work, or weigh both versions under --env PYTHONHASHSEED=1",
        hash_seed,
    ),
    Rule(
        "modes",
        "its times cluster around one value",
        MODES_DISTANCE,
        "",
        "and a dip that unimodal samples have in 0.05 % of the cases (Hartigan and Hartigan 1985)",
        "find what differs: a median jumps from one mode to the other. What a process draws for itself (a random seed, "
        "a temporary name, a thread's place) can be fixed in the set-up; layouts can be averaged over",
        modes,
    ),
)
