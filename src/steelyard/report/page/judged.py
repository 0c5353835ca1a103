"""What the tables of verdicts have in common, whether both sides were weighed or measured apart."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.model.derived import Verdict
from steelyard.model.foreign import ForeignVerdict
from steelyard.model.unpaired import UnpairedVerdict
from steelyard.report import figures
from steelyard.report.page import elements, svg
from steelyard.report.page.elements import Content
from steelyard.report.page.parts import Cell, Column

Judged = Verdict | UnpairedVerdict | ForeignVerdict


def scale_of(verdicts: Sequence[Judged], margin: float, key: str) -> svg.Scale:
    """The scale of the bars of a part's table, the part called by a `key`."""
    ends = [end for one in verdicts for end in (*(one.interval or ()), one.change) if end is not None]
    own = [one.margin for one in verdicts if isinstance(one, Verdict) and one.margin is not None]
    return svg.scale([*ends, *own], margin, f"scale-{key}")


def headline(verdicts: Sequence[Judged], weighed: int | None = None) -> tuple[str, str]:
    """The verdict that colours the sentence, and the sentence: of several benchmarks how many have which.

    So many were `weighed`, where some of them have no verdict.
    """
    if len(verdicts) == 1 and (weighed is None or weighed == 1):
        verdict, change = verdicts[0].verdict, verdicts[0].change
        return verdict, verdict if change is None else f"{verdict} {figures.change(change)}"
    words = [one.verdict for one in verdicts]
    most = next(name for name in ("slower", "undecided", "faster", "same") if name in words)
    return most, f"{figures.tally(words)} of {figures.count(weighed or len(words), 'benchmark')}"


def columns(scale: svg.Scale, *, several_metrics: bool) -> list[Column]:
    """The first columns of a table, its bars on a scale."""
    return [
        Column("benchmark", "text"),
        *([Column("metric", "text")] if several_metrics else []),
        Column("verdict", "verdict"),
        Column("change"),
        Column(f"change and interval, ±{figures.percent(scale.limit)}", "bar"),
        Column("interval"),
    ]


def cells(verdict: Judged, scale: svg.Scale, metric: str | None, said: str | None = None) -> list[Cell]:
    """Those of a row in these columns; `metric` where there are several, `said` in the place of the verdict."""
    change, interval = verdict.change, verdict.interval
    margin = verdict.margin if isinstance(verdict, Verdict) else None
    return [
        Cell(elements.name(verdict.benchmark), verdict.benchmark),
        *([Cell(elements.parted(metric), metric)] if metric else []),
        Cell(said or verdict.verdict, said or verdict.verdict),
        Cell(figures.change(change), change),
        Cell(svg.change_bar(scale, change, interval, margin), change),
        Cell(figures.interval(interval) if interval else "", interval[0] if interval else None),
    ]


def word(verdict: str) -> Content:
    """The verdict in its colour; or what stands in its place."""
    return elements.element("b", verdict, class_=f"v {verdict}")
