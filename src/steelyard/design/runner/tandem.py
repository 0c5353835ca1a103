"""What can run in tandem: both launches of a pair at the same time on one processor."""

from __future__ import annotations

from steelyard.model.metrics import PER_ITERATION, timed
from steelyard.model.records import Settings
from steelyard.subjects.harness import AUTO, harness_named

# What a partner on the same processor makes of its own, with what would be better.
_OF_THE_PARTNER = {
    "wall": "its wait for the partner: choose --metric active or cpu",
    "delay": "its wait for the partner: leave it out",
    "timeslices": "what the partner does to it: leave it out",
    "involuntary_switches": "what the partner does to it: leave it out",
}


def obstacle(settings: Settings) -> str | None:
    """Why nothing can run in tandem with these settings, with the way out; None where it can."""
    in_turn = settings.harness is not None and (settings.harness == AUTO or keeps_step(settings))
    for metric in timed(settings.metrics):
        if metric in _OF_THE_PARTNER and not (in_turn and metric in PER_ITERATION):
            return f"{metric} would hold {_OF_THE_PARTNER[metric]}"
    if settings.harness is not None and not in_turn:
        return f"samples of {settings.harness} cannot be taken in turn: choose --pairing adjacent"
    if settings.repeat > 1:
        return "--repeat runs processes one after the other: leave it out"
    if settings.prepare or settings.conclude:
        return "--prepare and --conclude need a moment without a launch: choose --pairing adjacent"
    if settings.output is not None:
        return "both would write to the file of --output: leave it out"
    return None


def keeps_step(settings: Settings) -> bool:
    """Whether the samples of both launches of a pair can be taken in turn."""
    return settings.harness is not None and harness_named(settings.harness).keeps_step
