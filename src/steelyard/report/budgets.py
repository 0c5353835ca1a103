"""What would decide an undecided weighing, a budget or something else."""

from __future__ import annotations

import math
from itertools import filterfalse
from typing import TYPE_CHECKING

from steelyard.model.findings import CONTROL_ALARM, NOISY_ALONE, WRITING_ALONE
from steelyard.model.metrics import is_counted
from steelyard.report import figures, printable
from steelyard.stats.looks import FEWEST_WITH_NOISE

if TYPE_CHECKING:
    from collections.abc import Callable

    from steelyard.model.derived import Verdict
    from steelyard.model.findings import Finding
    from steelyard.model.records import StopReason, Weighing
    from steelyard.model.settings import Settings

NO_PAIR = "no pair was measured to its end"
_WHY_UNDECIDED: dict[StopReason, str] = {
    "time": "time ran out",
    "pairs": "the limit on pairs was reached",
    "futile": "stopped early, as no verdict was within reach",
}
# Nobody waits longer than this for one verdict.
_LONGEST_SENSIBLE_S = 3600.0
# Hints grant this many times what is needed (pairs, seconds or margin), since that is itself an estimate. In ten
# kinds of noise, following them led to a verdict for 95 % of the hints of pairs (75 % in the worst kind), and for
# 90 % of those of a margin (benchmarks/hints_on_traces.py).
RESERVE_FACTOR = 1.4
# From this many times fewer pairs on, the smaller number is worth naming too.
_FAR_FEWER_FACTOR = 2
# --margin accepts up to 50 %.
LARGEST_HINTED_MARGIN = 0.4
# Disturbed launches per pair, of two, above which other work on the machine is worth mentioning.
_MANY_DISTURBED_PER_PAIR = 1.0
_WOULD_SETTLE_LARGE = "would settle a large change, and show how many more a small one needs"
SEE_NOTE = " (see the note)"
"""Refers to one of the verdict's notes, which says why; formats without notes leave it out."""
_COARSE_CLOCK = "coarse-clock"
_NAME_COLUMNS = 40
# By the finding that recommends it, the option that runs a pair's launches at the same time.
_PAIRING_OPTIONS = {NOISY_ALONE: "--pairing auto", WRITING_ALONE: "--pairing tandem"}
_FEW_LAYOUTS = "few-layouts"
_NOTED_CODES = frozenset({CONTROL_ALARM, NOISY_ALONE, WRITING_ALONE, _COARSE_CLOCK, "undefined"})


def budget(verdict: Verdict, record: Weighing) -> str:
    """Say what budget would decide an undecided verdict and which option grants it, or why no budget would."""
    if is_withheld(verdict):
        return f"the control alarmed, and no budget mends that{SEE_NOTE}"
    why = _WHY_UNDECIDED.get(record.stop[verdict.index])
    decider = _what_would_decide(verdict, record)
    return f"{why}; {decider}" if why else decider


def _shown_name(text: str) -> str:
    return printable.shown(text, _NAME_COLUMNS)


def budget_of_all(
    verdicts: list[Verdict], record: Weighing, shown_name: Callable[[str], str] = _shown_name
) -> list[str]:
    """Say once what would decide all undecided verdicts: the largest budget that any needs, or what else helps.

    Where those that seem changed need far less than the others, each of the two kinds has its own budget.
    """
    reachable = [verdict for verdict in verdicts if _is_in_reach(verdict)]
    unreachable = [verdict for verdict in verdicts if verdict.change is not None and not _is_in_reach(verdict)]
    changed, others = _changed_and_others(reachable, record.settings)
    groups = (
        (changed, "that seem changed", ", which seems changed", _seconds_needed),
        (others, "of them", "", _seconds_needed),
        (list(filterfalse(is_too_coarse, unreachable)), "of them", "", _margin_needed),
        (list(filter(is_too_coarse, unreachable)), "of them", "", _margin_needed),
    )
    answers = []
    for group, which, of_one, need in groups:
        if group:
            hardest = max(group, key=need)
            what = budget(_speaking_for_all(hardest, group), record)
            who = f"{shown_name(group[0].benchmark)}{of_one}" if len(group) == 1 else f"{len(group):,} {which}"
            answers.append(what if len(group) == len(verdicts) else f"{who}: {what}")
    return answers


def _changed_and_others(verdicts: list[Verdict], settings: Settings) -> tuple[list[Verdict], list[Verdict]]:
    """Split off those that seem changed, if the others need far more time; else return all as the others."""

    def seems_changed(verdict: Verdict) -> bool:
        return abs(verdict.change or 0.0) > settings.margin_of(verdict)

    changed, others = list(filter(seems_changed, verdicts)), list(filterfalse(seems_changed, verdicts))
    longest_s, others_s = (max(map(_seconds_needed, group), default=0.0) for group in (changed, others))
    return (changed, others) if changed and others and _FAR_FEWER_FACTOR * longest_s <= others_s else ([], verdicts)


def _seconds_needed(verdict: Verdict) -> float:
    return verdict.seconds_needed or 0.0


def _margin_needed(verdict: Verdict) -> float:
    return verdict.margin_needed or 0.0


def _speaking_for_all(speaker: Verdict, verdicts: list[Verdict]) -> Verdict:
    """Return the verdict that speaks for some others, without hints at ways of pairing that would not help them all."""
    codes = [finding.code for finding in speaker.findings if finding.code in _PAIRING_OPTIONS]
    not_shared = {code for code in codes if not all(_has_finding(verdict, code) for verdict in verdicts)}
    return speaker.model_copy(update={"findings": [each for each in speaker.findings if each.code not in not_shared]})


def option_to_continue(verdicts: list[Verdict], record: Weighing) -> str | None:
    """Return the option that makes an undecided weighing go on from here; None if that would decide nothing."""
    settings = record.settings
    open_verdicts = [verdict for verdict in verdicts if verdict.verdict == "undecided" and _is_in_reach(verdict)]
    if not settings.reserve or record.parts or not open_verdicts:
        return None
    if settings.pairs is not None:
        pairs = max(RESERVE_FACTOR * (verdict.pairs_needed or 0) - verdict.pairs for verdict in open_verdicts)
        return f"--pairs {rounded_up(pairs)}"
    used_s = record.preparing_s + record.seconds
    seconds = max(RESERVE_FACTOR * _seconds_needed(verdict) - used_s for verdict in open_verdicts)
    return f"--max-time {rounded_up(seconds)}"


def _is_in_reach(verdict: Verdict) -> bool:
    """Return whether a number of pairs that somebody would wait for decides the verdict."""
    if verdict.pairs_needed is None or is_withheld(verdict):
        return False
    return _seconds_needed(verdict) <= _LONGEST_SENSIBLE_S


def _what_would_decide(verdict: Verdict, record: Weighing) -> str:
    if is_counted(verdict.metric):
        return _what_would_decide_counts(verdict)
    if verdict.change is None:
        return f"no number of pairs would tell one{SEE_NOTE}" if verdict.pairs else NO_PAIR
    if verdict.pairs_needed is None or not _is_in_reach(verdict):
        return _other_ways(verdict, record.settings)
    pairs, seconds = rounded_up(verdict.pairs_needed), verdict.seconds_needed
    amount = f"about {figures.count(pairs, 'pair')}" + ("" if seconds is None else f", {figures.seconds(seconds)},")
    effect = (
        "would decide" if verdict.interval is not None or verdict.pairs >= FEWEST_WITH_NOISE else _WOULD_SETTLE_LARGE
    )
    pairing = _pairing_option(verdict)
    sooner = f"; perhaps far sooner: {pairing}{SEE_NOTE}" if pairing else ""
    options = _budget_options(pairs, seconds, record, record.stop[verdict.index])
    return f"{amount} {effect}{_even_chance(verdict)}{options}{sooner}"


def _even_chance(verdict: Verdict) -> str:
    """Say what is enough in half of all cases, if that is far less than what is needed."""
    pairs, seconds = verdict.pairs_even, verdict.seconds_even
    if pairs is None or seconds is None or _FAR_FEWER_FACTOR * pairs > (verdict.pairs_needed or 0):
        return ""
    return f" (50 % chance at {rounded_up(pairs):,}, {figures.seconds(seconds)})"


def _pairing_option(verdict: Verdict) -> str | None:
    """Return the option that runs a pair's launches at the same time, if the verdict may gain by that."""
    return next((option for code, option in _PAIRING_OPTIONS.items() if _has_finding(verdict, code)), None)


def findings_with_notes(verdict: Verdict) -> list[Finding]:
    """Return the findings that SEE_NOTE may refer to."""
    return [finding for finding in verdict.findings if finding.code in _NOTED_CODES]


def is_too_coarse(verdict: Verdict) -> bool:
    """Return whether the clock's ticks may hide a change."""
    return _has_finding(verdict, _COARSE_CLOCK)


def is_withheld(verdict: Verdict) -> bool:
    """Return whether the control raised an alarm, so that the figures say nothing about the change."""
    return _has_finding(verdict, CONTROL_ALARM)


def _has_finding(verdict: Verdict, code: str) -> bool:
    return any(finding.code == code for finding in verdict.findings)


def _other_ways(verdict: Verdict, settings: Settings) -> str:
    """Say what else would decide a verdict that no sensible number of pairs decides."""
    if is_too_coarse(verdict):
        return f"what a clock's ticks may hide, no number of pairs shows{SEE_NOTE}"
    why = f"no sensible budget would decide it at your margin of {figures.threshold(settings.margin_of(verdict))}"
    if verdict.pairs_needed is not None and verdict.seconds_needed is not None:
        why = f"more pairs would take {figures.seconds(verdict.seconds_needed)}"
    pairing = _pairing_option(verdict)
    ways = [f"{pairing} may need far fewer{SEE_NOTE}"] if pairing else []
    ways += _layouts_hint(verdict)
    margin = RESERVE_FACTOR * (math.inf if verdict.margin_needed is None else verdict.margin_needed)
    if margin <= LARGEST_HINTED_MARGIN:
        ways.append(f"--margin {rounded_up(1e4 * margin) / 100:g}% would be decided in as many pairs")
    if verdict.disturbed > _MANY_DISTURBED_PER_PAIR * verdict.pairs:
        ways.append("a machine with less other work needs fewer pairs")
    if not ways and verdict.seconds_needed is not None:
        ways.append("a smaller input would take less")
    return "; ".join([why, *ways])


def _layouts_hint(verdict: Verdict) -> list[str]:
    """Say how many layouts would decide what no number of pairs does, unless a note says so already."""
    facts = verdict.layouts
    if (
        facts is None
        or facts.needed is None
        or facts.needed <= len(facts.changes)
        or _has_finding(verdict, _FEW_LAYOUTS)
    ):
        return []
    return [f"about {facts.needed} layouts of each side would, with as many pairs of each"]


def _what_would_decide_counts(verdict: Verdict) -> str:
    if verdict.pairs < 2:
        return "too few counts for any verdict: let it run to its end"
    if verdict.pairs_needed is not None:
        return f"{verdict.pairs_needed} counts a side are needed to decide: let it run to its end"
    if verdict.change is None:
        return "a side without any has no relative change: choose another metric, such as instructions"
    return "the counts of one program differ by more than the change: fix what makes them differ, or weigh by time"


def _budget_options(pairs: int, seconds: float | None, record: Weighing, reason: StopReason) -> str:
    """Return the options that grant a budget, with a reserve because the need is itself an estimate.

    For a merged suite it is the budget of a part, since merging measures nothing.
    """
    settings, is_of_part = record.settings, bool(record.parts)
    options = []
    if reason == "interrupted":
        return ""  # carrying it on takes only --resume, and it keeps its budget
    if settings.pairs is not None and pairs > settings.pairs:
        options.append(f"--pairs {rounded_up(RESERVE_FACTOR * pairs)}")
    if settings.max_time_s is not None and seconds is not None:
        reserved_s = RESERVE_FACTOR * seconds
        if reserved_s > settings.max_time_s or reason == "time":
            options.append(f"--max-time {rounded_up(max(reserved_s, settings.max_time_s + 1))}")
    if not options:
        return "; your budget allows it"
    # The report also names the option that goes on from here, which takes less than measuring anew.
    rerun = "rerun " if settings.reserve and not is_of_part else ""
    return f"; {rerun}with some to spare{', given to its part' if is_of_part else ''}: {' '.join(options)}"


def rounded_up(number: float) -> int:
    """Round up to two digits, as what is needed is itself an estimate."""
    step: int = 10 ** max(0, math.floor(math.log10(max(number, 1))) - 1)
    return math.ceil(number / step) * step
