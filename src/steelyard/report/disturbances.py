"""Noise in words: how long launches waited for a processor, and who or what was beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from steelyard.model.derived import Summary, Verdict
from steelyard.model.watch import Disturber
from steelyard.report import figures
from steelyard.report.printable import shown

_MOST_DISTURBERS_NAMED = 3
# In columns. The kernel's own names have up to 15 bytes, but a record may hold any.
_LONGEST_NAME_COLUMNS = 48
# What was beside a smaller share of launches cannot move a median or a rank test by much.
_NEGLIGIBLE_SHARE = 0.05
# These may make a single launch many times as long, and nothing else shows it.
_RARE_KINDS: Final = ("still",)
# In which a launch stood still, while others merely ran beside it: never among those left out.
_STOPPING_KINDS: Final = ("still", "limit")
_NOT_KNOWN = "not known"
# Where no launch waited, others can disturb only through the caches and the clock rate, which takes a good part of a
# processor.
_BUSY_SHARE = 0.5
_SENTENCES: Final = {
    "program": "{name} ran beside {launches}",
    "hidden": "programs that cannot be seen from here ran beside {launches}",
    "steal": "the host gave time to its other machines during {launches}",
    "limit": "this control group stood still at its limit during {launches}",
    "heat": "the processor was slowed, being too hot, during {launches}",
    "clock": "the clock rate was low during {launches}, which took {longer} longer",
    "interrupts": "{name} interrupted more than usual during {launches}, which took {longer} longer",
    "still": "this command stood still during {launches}",
    "speed": "the processor itself was slower during {launches}, which took {longer} longer",
}


def quality(summary: Summary) -> str:
    """Return how quiet the machine was.

    Launches that vary little do not prove it quiet if the machine does not tell how long they waited.
    """
    return _NOT_KNOWN if summary.quality == "quiet" and _is_wait_unknown(summary) else summary.quality


def _is_wait_unknown(verdict: Verdict | Summary) -> bool:
    return verdict.worst_delay is None and not verdict.disturbed


def noise(verdict: Verdict | Summary) -> str:
    """Say what disturbed the launches: how many waited for a processor, the worst of them, repeats, disturbers."""
    repeated = verdict.repeated if isinstance(verdict, Verdict) else 0
    if _is_wait_unknown(verdict):
        text = f"{_NOT_KNOWN}, this machine does not tell how long a launch waited for a processor"
    elif not verdict.disturbed:
        text = "quiet, no launch waited long for a processor"
    else:
        launches_text = figures.count(verdict.launches, "launch")
        text = _waiting_sentence(f"{verdict.disturbed:,} of {launches_text}", verdict.worst_delay)
    if repeated:
        text += f"; {figures.count(repeated, 'disturbed pair')} repeated"
    disturbers = disturbers_sentence(verdict.disturbers, verdict.launches, has_waited=verdict.disturbed > 0)
    return "; ".join(filter(None, (text, disturbers)))


def of_several(verdicts: Sequence[Verdict], name_of: Callable[[Verdict], str] | None = None) -> str | None:
    """Say what disturbed the launches of several benchmarks; None if no launch waited.

    `name_of` names the benchmark of the launch that waited longest.
    """
    disturbed = sum(verdict.disturbed for verdict in verdicts)
    if not disturbed:
        return None
    worst = max(verdicts, key=lambda verdict: verdict.worst_delay or 0.0)
    text = _waiting_sentence(figures.count(disturbed, "launch"), worst.worst_delay)
    if name_of is not None and worst.worst_delay is not None:
        text += f" ({name_of(worst)})"
    launches = sum(verdict.launches for verdict in verdicts)
    disturbers = disturbers_sentence(combined_disturbers(verdicts), launches, has_waited=True)
    return "; ".join(filter(None, (text, disturbers)))


def _waiting_sentence(launches: str, worst_delay: float | None) -> str:
    """Say that these launches waited for a processor, and for which share of its time the worst one did."""
    text = f"{launches} waited for a processor"
    return text if worst_delay is None else f"{text}, the worst for {figures.percent(worst_delay)} of its time"


def disturbers_sentence(disturbers: Sequence[Disturber], launches: int, *, has_waited: bool) -> str | None:
    """Name who and what was beside so many `launches`, None if that does not matter; `has_waited` if any waited.

    Fewer may have been watched, where the process that measured a part of them was killed.
    """
    relevant = [
        one
        for one in disturbers
        if (one.launches >= _NEGLIGIBLE_SHARE * one.of or one.kind in _RARE_KINDS)
        and (has_waited or one.share >= _BUSY_SHARE or one.kind not in ("program", "hidden"))
    ]
    if not relevant:
        return None
    relevant.sort(key=lambda one: one.kind not in _STOPPING_KINDS)
    sentences = [
        _SENTENCES[disturber.kind].format(
            name=shown(disturber.name, _LONGEST_NAME_COLUMNS),
            launches=_affected_launches(disturber, launches, is_first=position == 0),
            longer=figures.percent(disturber.share),
        )
        for position, disturber in enumerate(relevant)
    ]
    return figures.first_few(sentences, _MOST_DISTURBERS_NAMED)


def _affected_launches(disturber: Disturber, launches: int, *, is_first: bool) -> str:
    if not is_first:
        return f"{disturber.launches:,}"
    watched = figures.count(disturber.of, "watched launch" if disturber.of < launches else "launch")
    return f"all {watched}" if disturber.launches == disturber.of > 1 else f"{disturber.launches:,} of {watched}"


def combined_disturbers(verdicts: Sequence[Verdict]) -> list[Disturber]:
    """Return who and what was beside the launches of several benchmarks, by the time taken, the most first."""
    combined: dict[tuple[str, str], Disturber] = {}
    for disturber in (disturber for verdict in verdicts for disturber in verdict.disturbers):
        earlier = combined.get((disturber.kind, disturber.name))
        launches = disturber.launches + (earlier.launches if earlier else 0)
        share = disturber.share * disturber.launches + (earlier.share * earlier.launches if earlier else 0.0)
        combined[disturber.kind, disturber.name] = disturber.model_copy(
            update={"launches": launches, "share": share / launches}
        )
    watched = sum(
        max((disturber.of for disturber in verdict.disturbers), default=verdict.launches) for verdict in verdicts
    )
    disturbers = [disturber.model_copy(update={"of": watched}) for disturber in combined.values()]
    return sorted(disturbers, key=lambda one: (-one.share * one.launches, one.name))
