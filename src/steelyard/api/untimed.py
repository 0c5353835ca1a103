"""Options for times where only counts are wanted: refused on the command line, ignored in a project's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from steelyard.api.options import Counting, Options
from steelyard.model.errors import UsageError
from steelyard.model.metrics import counted, timed

_UNDISTURBED = "other work does not disturb counts"
_NO_THROUGHPUT = "a count has no throughput"
# The option, and why counts have no use for it, by the group and the field of `Options`.
_TIMED_OPTIONS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("judging", "max_time"): ("--max-time", "counts end by themselves, and --timeout limits each launch"),
    ("judging", "pairs"): ("", "everything is counted twice, and more often where --alpha asks for it"),
    ("judging", "family"): ("--family", "counts share --alpha evenly"),
    ("weighing", "control"): ("--control", "each side is counted twice anyway"),
    ("weighing", "pairing"): ("--pairing", "counts need no pairs"),
    ("weighing", "own_addresses"): ("--own-addresses", "counts are of the same addresses every time"),
    ("weighing", "own_starts"): ("--own-starts", "each count has a start of its own anyway"),
    ("heap", "heap_shuffle"): ("--heap-shuffle", "counts are of the same heap every time"),
    ("launch", "warm_up"): ("--warmup", "first counts that differ from later ones are set aside anyway"),
    ("launch", "repeat"): ("--repeat", "counts are of one run of the command"),
    ("launch", "isolate"): ("--isolate", _UNDISTURBED),
    ("launch", "wait_quiet"): ("--wait-quiet", _UNDISTURBED),
    ("throughput", "processed_bytes"): ("--bytes", _NO_THROUGHPUT),
    ("throughput", "processed_items"): ("--items", _NO_THROUGHPUT),
}
# These also apply to the launches whose heap is watched.
_TIMED_AND_HEAP_OPTIONS = {("weighing", "own_addresses"), ("heap", "heap_shuffle"), ("launch", "isolate")}


WHY_NOT_FOR_COUNTS: Mapping[str, str] = {option: why for option, why in _TIMED_OPTIONS.values() if option}
"""Why counts have no use for an option."""
WHY_NO_NUMBER_OF_COUNTS = _TIMED_OPTIONS["judging", "pairs"][1]
"""Why the number of counts cannot be chosen."""


def refuse_timed_options(options: Options, metrics: Sequence[str]) -> None:
    """Raise UsageError for an option for times that somebody has given, if none of the metrics is timed."""
    for (group, field), (option, why) in _ineffective_options(options, metrics).items():
        if getattr(options, group).is_given(field):
            raise UsageError(f"{option or options.judging.limit} is for times: {why}, so leave it out")


def options_of_target(options: Options, metrics: Sequence[str], other_metrics: Sequence[Sequence[str]]) -> Options:
    """Return what is asked of one target; `other_metrics` has those of the other targets.

    An option for times is left out of a target that is only counted, as long as another target is timed; and so is one
    for counts the other way round. Raises UsageError for an option for times if no target is timed.
    """
    if not any(map(timed, other_metrics)):
        refuse_timed_options(options, metrics)
    if not counted(metrics) and any(map(counted, other_metrics)):
        options = replace(options, counting=Counting())
    return _without_timed_options(options, metrics)


def _without_timed_options(options: Options, metrics: Sequence[str]) -> Options:
    """Return what is asked, without the options for times if none of the metrics is timed."""
    defaults = Options()
    for group, field in _ineffective_options(options, metrics):
        chosen = getattr(options, group)
        given = {name: spelling for name, spelling in chosen.given.items() if name != field}
        default = getattr(getattr(defaults, group), field)
        options = replace(options, **{group: replace(chosen, **{field: default}, given=given)})
    return options


def _ineffective_options(options: Options, metrics: Sequence[str]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the part of `_TIMED_OPTIONS` that has no effect with these metrics."""
    if timed(metrics):
        return {}
    return {
        place: entry
        for place, entry in _TIMED_OPTIONS.items()
        if not (options.heap.watched and place in _TIMED_AND_HEAP_OPTIONS)
    }
