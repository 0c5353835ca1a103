"""Options for times where only counts are wanted: refused on the command line, ignored in a project's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.api.asked import Asked, Counting
from steelyard.model.errors import UsageError

_UNDISTURBED = "other work does not disturb counts"
_NO_THROUGHPUT = "a count has no throughput"
# The option, and why counts have no use for it, by the group and the field of `Asked`.
_OF_TIMES: Mapping[tuple[str, str], tuple[str, str]] = {
    ("judging", "max_time"): ("--max-time", "counts end by themselves, and --timeout limits each launch"),
    ("judging", "pairs"): ("", "everything is counted twice, and more often where --alpha asks for it"),
    ("judging", "family"): ("--family", "counts share --alpha evenly"),
    ("weighing", "control"): ("--control", "each side is counted twice anyway"),
    ("weighing", "pairing"): ("--pairing", "counts need no pairs"),
    ("weighing", "own_addresses"): ("--own-addresses", "counts are of the same addresses every time"),
    ("weighing", "own_starts"): ("--own-starts", "each count has a start of its own anyway"),
    ("heap", "shuffled"): ("--heap-shuffle", "counts are of the same heap every time"),
    ("launch", "warm_up"): ("--warmup", "first counts that differ from later ones are set aside anyway"),
    ("launch", "repeat"): ("--repeat", "counts are of one run of the command"),
    ("launch", "isolate"): ("--isolate", _UNDISTURBED),
    ("launch", "wait_quiet"): ("--wait-quiet", _UNDISTURBED),
    ("throughput", "processed_bytes"): ("--bytes", _NO_THROUGHPUT),
    ("throughput", "processed_items"): ("--items", _NO_THROUGHPUT),
}
# These also apply to the launches whose heap is watched.
_OF_THE_HEAP = {("weighing", "own_addresses"), ("heap", "shuffled"), ("launch", "isolate")}


REASONS: Mapping[str, str] = {option: why for option, why in _OF_TIMES.values() if option}
"""Why counts have no use for an option."""
AS_OFTEN = _OF_TIMES["judging", "pairs"][1]
"""Why the number of counts cannot be chosen."""


def refuse_for_times(asked: Asked, metrics: Sequence[str]) -> None:
    """Raise UsageError for an option for times that somebody has given, if none of the metrics is timed."""
    for (group, field), (option, why) in _idle(asked, metrics).items():
        if getattr(asked, group).chooses(field):
            raise UsageError(f"{option or asked.judging.limit} is for times: {why}, so leave it out")


def of_target(asked: Asked, metrics: Sequence[str], beside: Sequence[Sequence[str]]) -> Asked:
    """Return what is asked of one target; `beside` has the metrics of the other targets.

    An option for times is left out of a target that is only counted, as long as another target is timed; and so is one
    for counts the other way round. Raises UsageError for an option for times if no target is timed.
    """
    from steelyard.model.metrics import counted, timed

    if not any(timed([*others]) for others in beside):
        refuse_for_times(asked, metrics)
    if not counted([*metrics]) and any(counted([*others]) for others in beside):
        asked = replace(asked, counting=Counting())
    return _without_times(asked, metrics)


def _without_times(asked: Asked, metrics: Sequence[str]) -> Asked:
    """Return what is asked, without the options for times if none of the metrics is timed."""
    usual = Asked()
    for group, field in _idle(asked, metrics):
        said = getattr(asked, group)
        given = {name: written for name, written in said.given.items() if name != field}
        usually = getattr(getattr(usual, group), field)
        asked = replace(asked, **{group: replace(said, **{field: usually}, given=given)})
    return asked


def _idle(asked: Asked, metrics: Sequence[str]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the part of `_OF_TIMES` that has no effect with these metrics."""
    from steelyard.model.metrics import timed

    if timed([*metrics]):
        return {}
    return {place: told for place, told in _OF_TIMES.items() if not (asked.heap.watched and place in _OF_THE_HEAP)}
