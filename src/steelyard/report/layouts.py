"""How the layouts of a weighing differ, at which level of the experiment the variance lies, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.derived import Verdict
from steelyard.model.layouts import UNLIKE_BELOW, LayoutFacts, Level
from steelyard.report import figures
from steelyard.report.markup import code
from steelyard.report.sheet import Sheet

_ADVICE: dict[Level, str] = {
    "layout": "more layouts narrow the interval, more pairs of these hardly do",
    "launch": "more pairs narrow the interval, more layouts no more than by the pairs that they bring",
    "sample": "more samples a launch narrow the interval most",
}
# The same number of pairs from 10 layouts instead of 5 narrows the interval by a quarter (docs, layouts: how many).
_ADVICE_OF_FEW = "more pairs narrow the interval, most if they are of more layouts: so few tell little of their spread"


def show(sheet: Sheet, verdict: Verdict) -> None:
    """Print how the layouts of one benchmark differ, and the variance by level; nothing if it has no layouts."""
    if verdict.layouts is not None:
        sheet.row("layouts", differences(verdict.layouts))
        if verdict.layouts.parts:
            sheet.row("variance", *variance(verdict.layouts))


def markdown(verdicts: Sequence[Verdict]) -> list[str]:
    """Write how the layouts of each benchmark differ, as the items of a list."""
    return [
        "; ".join(
            [
                f"{code(verdict.benchmark)}, {verdict.metric}: {differences(verdict.layouts)}",
                *variance(verdict.layouts),
            ]
        )
        for verdict in verdicts
        if verdict.layouts is not None
    ]


def differences(facts: LayoutFacts) -> str:
    """Say how many layouts were measured, how far apart their changes lie, and whether that is more than chance."""
    changes = sorted(facts.changes.values())
    each = f"{figures.count(len(changes), 'build')} of each side"
    if len(changes) < 2:
        return f"{each} so far"
    text = f"{each}, by themselves {figures.change(changes[0])} to {figures.change(changes[-1])}"
    if facts.p_value is None:
        return f"{text}; whether by chance takes two pairs of each to tell"
    if facts.p_value < UNLIKE_BELOW:
        return f"{text}: more than equal builds would differ by chance (p = {facts.p_value:.2g})"
    return f"{text}: no more than equal builds differ by chance (p = {facts.p_value:.2g})"


def variance(facts: LayoutFacts) -> list[str]:
    """Give each level's share of the variance and say which repetitions help most; nothing if it is not known."""
    if not facts.parts:
        return []
    shares = ", ".join(
        f"{part.level} {figures.percent(part.share)} (± {figures.percent(part.spread)})" for part in facts.parts
    )
    if facts.most == "launch" and facts.assumed_normal:
        return [shares, _ADVICE_OF_FEW]
    return [shares, *([_ADVICE[facts.most]] if facts.most else [])]
