"""What can run in tandem: both launches of a pair at the same time on one processor."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.model.metrics import PER_ITERATION, timed
from steelyard.model.settings import Settings
from steelyard.subjects.harness import AUTO, harness_named

# The metrics that a partner on the same processor distorts: what they would hold, and what to do instead.
_DISTORTED_METRICS = {
    "wall": "its wait for the partner: choose --metric active or cpu",
    "delay": "its wait for the partner: leave it out",
    "timeslices": "what the partner does to it: leave it out",
    "involuntary_switches": "what the partner does to it: leave it out",
    "migrations": "nothing, as both share one processor: leave it out",
}

# The least processor time of launches that may gain from a partner: the part that each has to itself, while the other
# one leads or has ended, has to be small, and the scheduler's turns of some ms have to be many.
LEAST_CPU_NS = 20_000_000
# Shorter commands may well be noisier in tandem, because of the part that each has to itself, so that they begin one
# after the other (docs/tandem.md).
COMMANDS_GAIN_FROM_NS = 40_000_000
# Beside its like, a program has half of the caches. If it takes longer there by more than this share, it no longer
# behaves as it does alone, and a change may cost more, too.
MOST_SLOWDOWN_IN_TANDEM = 0.2
# A target that spends more than this share of its time neither on a processor nor waiting for one waits for something
# else.
MOST_WAITING = 0.1


def has_short_turns(offers: Mapping[str, bool]) -> bool:
    """Whether the launch server can make turns short here."""
    return offers.get("short_turns", False)


def gains_beside(settings: Settings, offers: Mapping[str, bool]) -> bool:
    """Whether long launches are known to spread less beside their like (docs/tandem.md).

    Where turns are short, launches of commands do, and so do samples of harnesses that tell a time without the
    partner's.
    """
    if not has_short_turns(offers):
        return False
    if settings.harness is None:
        return True
    return settings.clock == "still" and "active" in harness_named(settings.harness).tells


def gains_from_ns(settings: Settings) -> int:
    """Return the processor time from which launches that gain begin in tandem; for suites, the least that may."""
    return COMMANDS_GAIN_FROM_NS if settings.harness is None else LEAST_CPU_NS


def tandem_obstacle(settings: Settings) -> str | None:
    """Why nothing can run in tandem with these settings, with the way out; None where it can."""
    judgeable = _judgeable_times(settings)
    for metric in timed(settings.metrics):
        if metric in PER_ITERATION and judgeable is not None:
            if metric not in judgeable:
                return f"samples of {settings.harness} do not tell {metric}{_other_metrics_hint(judgeable)}"
        elif metric in _DISTORTED_METRICS:
            return f"{metric} would hold {_DISTORTED_METRICS[metric]}"
    if settings.repeat > 1:
        return "--repeat runs processes one after the other: leave it out"
    if settings.has_hooks_around:
        return "--prepare and --conclude need a moment without a launch: choose --pairing adjacent"
    if settings.output is not None:
        return "both would write to the file of --output: leave it out"
    return None


def takes_samples_in_turn(settings: Settings) -> bool:
    """Whether the samples of both launches of a pair can be taken in turn."""
    return settings.harness is not None and harness_named(settings.harness).keeps_step


def not_in_turn_reason(settings: Settings) -> str:
    """Return why a program does not take its samples in turn, although its harness can."""
    return f"its samples are not taken in turn: {harness_named(settings.harness or '').out_of_step}"


def _judgeable_times(settings: Settings) -> frozenset[str] | None:
    """Return the times by which samples in tandem can be judged; None for launches without samples."""
    if settings.harness is None:
        return None
    if settings.harness == AUTO or takes_samples_in_turn(settings):
        return frozenset(PER_ITERATION)
    return harness_named(settings.harness).tells


def _other_metrics_hint(judgeable: frozenset[str]) -> str:
    if judgeable:
        return f" of their own: choose --metric {' or '.join(sorted(judgeable))}"
    return " of their own, nor can they be taken in turn: choose --pairing adjacent"
