"""Noise in words: how long launches waited for a processor, and who or what was beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from steelyard.report import figures
from steelyard.report.printable import plain, shorten

if TYPE_CHECKING:
    from steelyard.model.derived import Summary, Verdict
    from steelyard.model.watch import Disturber

_MOST_NAMED = 3
# In columns. The kernel's own names have up to 15 bytes, but a record may hold any.
_LONGEST = 48
# What was beside a smaller share of launches cannot move a median or a rank test by much.
_FEW = 0.05
# These may make a single launch many times as long, and nothing else shows it.
_RARE: Final = ("still",)
_NOT_KNOWN = "not known"
# Where no launch waited, others can disturb only through the caches and the clock rate, which takes a good part of a
# processor.
_BUSY = 0.5
_BESIDE: Final = {
    "program": "{name} ran beside {launches}",
    "hidden": "programs that cannot be seen from here ran beside {launches}",
    "steal": "the host gave time to its other machines during {launches}",
    "limit": "this control group stood still at its limit during {launches}",
    "heat": "the processor was slowed, being too hot, during {launches}",
    "clock": "the clock rate was low during {launches}",
    "interrupts": "{name} interrupted more than usual during {launches}, which took {longer} longer",
    "still": "this command stood still during {launches}",
    "speed": "the processor itself was slower during {launches}, which took {longer} longer",
}


def quality(summary: Summary) -> str:
    """Return how quiet the machine was.

    Launches that vary little do not prove it quiet if the machine does not tell how long they waited.
    """
    return _NOT_KNOWN if summary.quality == "quiet" and _is_silent(summary) else summary.quality


def _is_silent(verdict: Verdict | Summary) -> bool:
    return verdict.worst_delay is None and not verdict.disturbed


def noise(verdict: Verdict | Summary) -> str:
    """Say what disturbed the launches: how many waited for a processor, the worst of them, repeats, disturbers."""
    from steelyard.model.derived import Verdict  # already loaded by any caller

    repeated = verdict.repeated if isinstance(verdict, Verdict) else 0
    if _is_silent(verdict):
        text = f"{_NOT_KNOWN}, this machine does not tell how long a launch waited for a processor"
    elif not verdict.disturbed:
        text = "quiet, no launch waited long for a processor"
    else:
        text = waited(_of_launches(verdict), verdict.worst_delay)
    if repeated:
        text += f"; {figures.count(repeated, 'disturbed pair')} repeated"
    return with_beside(text, verdict.disturbers, launches_of(verdict), waited=verdict.disturbed > 0)


def of_several(verdicts: Sequence[Verdict], called: Callable[[Verdict], str] | None = None) -> str | None:
    """Say what disturbed the launches of several benchmarks; None if no launch waited.

    `called` names the benchmark of the launch that waited longest.
    """
    disturbed = sum(verdict.disturbed for verdict in verdicts)
    if not disturbed:
        return None
    worst = max(verdicts, key=lambda verdict: verdict.worst_delay or 0.0)
    text = waited(figures.count(disturbed, "launch"), worst.worst_delay)
    if called is not None and worst.worst_delay is not None:
        text += f" ({called(worst)})"
    return with_beside(text, together(verdicts), sum(map(launches_of, verdicts)), waited=True)


def with_beside(text: str, disturbers: Sequence[Disturber], launches: int, *, waited: bool) -> str:
    """Append to a sentence about so many `launches` who and what was beside them, where that matters."""
    told = beside(disturbers, launches, waited=waited)
    return text if told is None else f"{text}; {told}"


def waited(launches: str, worst_delay: float | None) -> str:
    """Say that these launches waited for a processor, and for which share of its time the worst one did."""
    text = f"{launches} waited for a processor"
    return text if worst_delay is None else f"{text}, the worst for {figures.percent(worst_delay)} of its time"


def _of_launches(verdict: Verdict | Summary) -> str:
    launches = launches_of(verdict)
    if launches < verdict.disturbed:
        return figures.count(verdict.disturbed, "launch")
    return f"{verdict.disturbed:,} of {figures.count(launches, 'launch')}"


def launches_of(verdict: Verdict | Summary) -> int:
    """Return how many launches a verdict or summary rests on."""
    from steelyard.model.derived import Verdict

    if isinstance(verdict, Verdict):
        return sum(part.launches for part in (verdict.baseline, verdict.candidate) if part)
    return verdict.launches


def beside(disturbers: Sequence[Disturber], launches: int, *, waited: bool) -> str | None:
    """Name who and what was beside so many `launches`, some of which `waited`; None if that does not matter.

    Fewer may have been watched, where the process that measured a part of them was killed.
    """
    told = [one for one in disturbers if one.launches >= _FEW * one.of or one.kind in _RARE]
    if not waited:
        told = [one for one in told if one.share >= _BUSY or one.kind not in ("program", "hidden")]
    if not told:
        return None
    named = [
        _BESIDE[one.kind].format(
            name=shorten(plain(one.name), _LONGEST),
            launches=_part(one, launches, is_first=place == 0),
            longer=figures.percent(one.share),
        )
        for place, one in enumerate(told)
    ]
    return figures.some(named, _MOST_NAMED)


def _part(one: Disturber, launches: int, *, is_first: bool) -> str:
    if not is_first:
        return f"{one.launches:,}"
    watched = figures.count(one.of, "watched launch" if one.of < launches else "launch")
    return f"all {watched}" if one.launches == one.of > 1 else f"{one.launches:,} of {watched}"


def together(verdicts: Sequence[Verdict]) -> list[Disturber]:
    """Return who and what was beside the launches of several benchmarks, by the time taken, the most first."""
    found: dict[tuple[str, str], Disturber] = {}
    for one in (one for verdict in verdicts for one in verdict.disturbers):
        before = found.get((one.kind, one.name))
        launches = one.launches + (before.launches if before else 0)
        share = one.share * one.launches + (before.share * before.launches if before else 0.0)
        found[one.kind, one.name] = one.model_copy(update={"launches": launches, "share": share / launches})
    watched = sum(max((one.of for one in verdict.disturbers), default=launches_of(verdict)) for verdict in verdicts)
    told = [one.model_copy(update={"of": watched}) for one in found.values()]
    return sorted(told, key=lambda one: (-one.share * one.launches, one.name))
