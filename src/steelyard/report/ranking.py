"""Several candidates from the fastest to the slowest, with ties reported as ties."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log1p

from rich.text import Text

from steelyard.model.derived import Verdict
from steelyard.model.records import Weighing
from steelyard.report import budgets, figures, words
from steelyard.report.bounds import show_left_out
from steelyard.report.markup import code, escape
from steelyard.report.sheet import Sheet
from steelyard.stats.ranking import Standing, fastest_first, ranks
from steelyard.stats.verdict import CHANGED

_MOST_RANKINGS = 10
# Each is compared with every other one.
_MOST_RANKED = 200
TIES = "overlapping places are ties: which is faster is undecided"


@dataclass(frozen=True)
class Ranked:
    """One line of a ranking."""

    place: str
    name: str
    said: str


@dataclass(frozen=True)
class Ranking:
    """The candidates of one benchmark with the baseline among them; `of` is empty if there is only one benchmark."""

    of: str
    lines: list[Ranked]

    @property
    def has_ties(self) -> bool:
        """Whether some subjects share their places."""
        return any("-" in line.place for line in self.lines)


def rankings(record: Weighing, verdicts: Sequence[Verdict]) -> list[Ranking]:
    """Return a ranking for each benchmark that several candidates have, in the metric that decides."""
    return [*_rankings(record, verdicts)]


def rows(sheet: Sheet, record: Weighing, verdicts: Sequence[Verdict]) -> None:
    """Print the first rankings, if there are any."""
    every = rankings(record, verdicts)
    for ranking in every[:_MOST_RANKINGS]:
        sheet.blank()
        places = max(len(line.place) for line in ranking.lines)
        room = max(8, sheet.text_width // 2)
        names = sheet.names([line.name for line in ranking.lines], room)
        widest = max(Text(name).cell_len for name in names)
        lines = [
            Text.assemble(
                f"{line.place.rjust(places)}  ",
                (name, "bold"),
                " " * (widest - Text(name).cell_len + 2),
                line.said,
            )
            for line, name in zip(ranking.lines, names, strict=True)
        ]
        about = [Text(sheet.name(ranking.of, sheet.text_width), "bold")] if ranking.of else []
        sheet.row("ranking", *about, *lines, *([Text(TIES, "dim")] if ranking.has_ties else []))
    show_left_out(sheet, len(every) - _MOST_RANKINGS, noun="more ranking")


def markdown(record: Weighing, verdicts: Sequence[Verdict]) -> list[str]:
    """Write each ranking as an item of a list."""
    told = []
    for ranking in rankings(record, verdicts):
        of = f" of {code(ranking.of)}" if ranking.of else ""
        lines = "; ".join(f"{line.place}. {code(line.name)} ({escape(line.said)})" for line in ranking.lines)
        told.append(f"ranking{of}: {lines}" + (f" ({TIES})" if ranking.has_ties else ""))
    return told


def _rankings(record: Weighing, verdicts: Sequence[Verdict]) -> Iterator[Ranking]:
    groups: dict[tuple[object, ...], dict[int, Verdict]] = {}
    for verdict in verdicts:
        benchmark = record.benchmarks[verdict.index]
        if not verdict.control:
            key = (benchmark.baseline, benchmark.entry, *benchmark.params.items())
            groups.setdefault(key, {}).setdefault(benchmark.candidate, verdict)
    several = sum(len(group) > 1 for group in groups.values()) > 1
    for group in groups.values():
        if 1 < len(group) <= _MOST_RANKED and len({verdict.metric for verdict in group.values()}) == 1:
            yield _ranking(record, group, several=several)


def _ranking(record: Weighing, group: dict[int, Verdict], *, several: bool) -> Ranking:
    first = record.benchmarks[next(iter(group.values())).index]
    names = [record.subjects[first.baseline].name, *(record.subjects[candidate].name for candidate in group)]
    standings = [Standing(0.0, (0.0, 0.0), is_baseline=True), *map(_standing, group.values())]
    margin = max(record.settings.margin if one.margin is None else one.margin for one in group.values())
    ranked = ranks(standings, log1p(margin))
    said = ["the baseline", *map(_said, group.values())]
    lines = []
    for place in fastest_first(standings, ranked):
        rank = ranked[place]
        text = f"{rank.best}" if rank.best == rank.worst else f"{rank.best}-{rank.worst}"
        lines.append(Ranked(text, names[place], said[place]))
    params = ", ".join(f"{name}={value}" for name, value in first.params.items())
    return Ranking((first.entry or params) if several else "", lines)


def _standing(verdict: Verdict) -> Standing:
    change, interval = verdict.change, verdict.interval
    # Whatever made the control alarm, by favouring one side, may favour one candidate over another, too.
    known = interval is not None and interval[0] > -1 and not budgets.is_withheld(verdict)
    return Standing(
        log1p(change) if change is not None and change > -1 else 0.0,
        (log1p(interval[0]), log1p(interval[1])) if interval is not None and known else None,
        verdict.verdict,
    )


def _said(verdict: Verdict) -> str:
    if verdict.change is None:
        return "nothing is known of it"
    told = figures.change(verdict.change)
    speed = words.speed(verdict.change, verdict.metric) if verdict.verdict in CHANGED else None
    if speed:
        told = f"{told}, {speed} as the baseline"
    return told if verdict.verdict != "undecided" else f"{told}, undecided"
