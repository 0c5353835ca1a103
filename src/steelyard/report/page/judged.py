"""What all tables of verdicts share, whether the sides were weighed together or measured apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.model.derived import Verdict
from steelyard.model.foreign import ForeignVerdict
from steelyard.model.grouping import grouped
from steelyard.report import figures
from steelyard.report.page import elements, svg
from steelyard.report.page.elements import Content, Markup
from steelyard.report.page.parts import Cell, Column

if TYPE_CHECKING:
    from steelyard.report.verdicts import AnyVerdict


@dataclass(frozen=True)
class Scales:
    """The scales of a table's bars, one per metric, since as much memory says nothing of as much time."""

    of_metrics: Mapping[str, svg.Scale]

    def of(self, verdict: AnyVerdict) -> svg.Scale:
        """Return the scale of a verdict's bar."""
        return self.of_metrics[_metric(verdict)]

    def heading(self) -> str:
        """Return the heading of the bars' column, with the scale if there is only one."""
        ends = {figures.percent(one.limit) for one in self.of_metrics.values()}
        return f"change and interval, {f'±{ends.pop()}' if len(ends) == 1 else 'scale by metric'}"

    def legend(self) -> str:
        """Return the scales in words, each with its metric where they differ."""
        metrics_by_scale = grouped(self.of_metrics, lambda metric: svg.ends_text(self.of_metrics[metric]))
        scale_texts = [
            f"{ends} ({', '.join(metrics)})" if len(metrics_by_scale) > 1 else ends
            for ends, metrics in metrics_by_scale.items()
        ]
        margin = ", the margin shaded" if any(one.margin for one in self.of_metrics.values()) else ""
        return f"drawn {', '.join(scale_texts)}{margin}"

    def symbols(self) -> Markup:
        """Return the backgrounds of the bars as symbols."""
        return elements.joined([one.symbol() for one in self.of_metrics.values()])


def scales_of(verdicts: Sequence[AnyVerdict], margin: float, key: str) -> Scales:
    """Return the scales for the bars of a part's table; `key` names the part."""
    by_metric = grouped(verdicts, _metric)
    return Scales(
        {
            metric: _scale(by_metric.get(metric, []), margin, f"scale-{key}{f'-{position}' if position else ''}")
            for position, metric in enumerate(by_metric or [""])
        }
    )


def _metric(verdict: AnyVerdict) -> str:
    return "" if isinstance(verdict, ForeignVerdict) else verdict.metric


def _scale(verdicts: Sequence[AnyVerdict], margin: float, name: str) -> svg.Scale:
    ends = [end for verdict in verdicts for end in (*(verdict.interval or ()), verdict.change) if end is not None]
    own_margins = [
        verdict.margin for verdict in verdicts if isinstance(verdict, Verdict) and verdict.margin is not None
    ]
    return svg.fitting_scale([*ends, *own_margins], margin, name)


def headline(verdicts: Sequence[AnyVerdict], number_of_benchmarks: int | None = None) -> str:
    """Return the headline, which tallies the verdicts if there are several.

    `number_of_benchmarks` is given if some of them have no verdict.
    """
    if len(verdicts) == 1 and (number_of_benchmarks is None or number_of_benchmarks == 1):
        verdict, change = verdicts[0].verdict, verdicts[0].change
        return verdict if change is None else f"{verdict} {figures.change(change)}"
    words = [one.verdict for one in verdicts]
    return f"{figures.tally(words)} of {figures.count(number_of_benchmarks or len(words), 'benchmark')}"


def columns(scales: Scales, *, several_metrics: bool) -> list[Column]:
    """Return the first columns of a table, with the bars' scales in the heading."""
    return [
        Column("benchmark", "text"),
        *([Column("metric", "text")] if several_metrics else []),
        Column("verdict", "verdict"),
        Column("change"),
        Column(scales.heading(), "bar"),
        Column("interval"),
    ]


def cells(verdict: AnyVerdict, scales: Scales, metric: str | None, shown_verdict: str | None = None) -> list[Cell]:
    """Return a row's cells in these columns; `metric` if there are several, `shown_verdict` in place of the verdict."""
    change, interval = verdict.change, verdict.interval
    margin = verdict.margin if isinstance(verdict, Verdict) else None
    return [
        Cell(elements.name(verdict.benchmark), verdict.benchmark),
        *([Cell(elements.breakable(metric), metric)] if metric else []),
        Cell(shown_verdict or verdict.verdict, shown_verdict or verdict.verdict),
        Cell(figures.change(change), change),
        Cell(svg.change_bar(scales.of(verdict), change, interval, margin), change),
        Cell(figures.interval(interval, unknown=""), interval[0] if interval else None),
    ]


def coloured_verdict(verdict: str) -> Content:
    """Return the verdict, or what stands in its place, in its colour."""
    return elements.element("b", verdict, class_=f"v {verdict}")
