"""Several candidates from the fastest to the slowest, with ties reported as ties."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log1p

from rich.cells import cell_len
from rich.text import Text

from steelyard.model.derived import Verdict
from steelyard.model.records import Weighing
from steelyard.report import budgets, figures, words
from steelyard.report.bounds import show_left_out
from steelyard.report.markup import code, escape
from steelyard.report.sheet import Sheet
from steelyard.stats.ranking import Standing, fastest_first, ranks

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


def show(sheet: Sheet, record: Weighing, verdicts: Sequence[Verdict]) -> None:
    """Print the first rankings, if there are any."""
    all_rankings = rankings(record, verdicts)
    for ranking in all_rankings[:_MOST_RANKINGS]:
        sheet.blank()
        places = max(len(line.place) for line in ranking.lines)
        room = max(8, sheet.text_width // 2)
        names = sheet.names([line.name for line in ranking.lines], room)
        widest = max(map(cell_len, names))
        lines = [
            Text.assemble(
                f"{line.place.rjust(places)}  ",
                (name, "bold"),
                " " * (widest - cell_len(name) + 2),
                line.said,
            )
            for line, name in zip(ranking.lines, names, strict=True)
        ]
        benchmark_lines = [Text(sheet.name(ranking.of, sheet.text_width), "bold")] if ranking.of else []
        sheet.row("ranking", *benchmark_lines, *lines, *([Text(TIES, "dim")] if ranking.has_ties else []))
    show_left_out(sheet, len(all_rankings) - _MOST_RANKINGS, noun="more ranking")


def markdown(record: Weighing, verdicts: Sequence[Verdict]) -> list[str]:
    """Write each ranking as an item of a list."""
    items = []
    for ranking in rankings(record, verdicts):
        of_benchmark = f" of {code(ranking.of)}" if ranking.of else ""
        lines = "; ".join(f"{line.place}. {code(line.name)} ({escape(line.said)})" for line in ranking.lines)
        items.append(f"ranking{of_benchmark}: {lines}" + (f" ({TIES})" if ranking.has_ties else ""))
    return items


def rankings(record: Weighing, verdicts: Sequence[Verdict]) -> list[Ranking]:
    """Return a ranking for each benchmark that several candidates have, in the metric that decides."""
    groups: dict[tuple[object, ...], dict[int, Verdict]] = {}
    for verdict in verdicts:
        benchmark = record.benchmarks[verdict.index]
        if not verdict.control:
            key = (benchmark.baseline, benchmark.entry, *benchmark.params.items())
            groups.setdefault(key, {}).setdefault(benchmark.candidate, verdict)
    several = sum(len(group) > 1 for group in groups.values()) > 1
    return [
        _ranking(record, group, several=several)
        for group in groups.values()
        if 1 < len(group) <= _MOST_RANKED and len({verdict.metric for verdict in group.values()}) == 1
    ]


def _ranking(record: Weighing, group: dict[int, Verdict], *, several: bool) -> Ranking:
    first = record.benchmarks[next(iter(group.values())).index]
    names = [record.subjects[first.baseline].name, *(record.subjects[candidate].name for candidate in group)]
    standings = [Standing(0.0, (0.0, 0.0), is_baseline=True), *map(_standing_of, group.values())]
    margin = max(record.settings.margin_of(one) for one in group.values())
    ranked = ranks(standings, log1p(margin))
    results = ["the baseline", *map(_result_text, group.values())]
    lines = []
    for position in fastest_first(standings, ranked):
        rank = ranked[position]
        text = f"{rank.best}" if rank.best == rank.worst else f"{rank.best}-{rank.worst}"
        lines.append(Ranked(text, names[position], results[position]))
    params = ", ".join(f"{name}={value}" for name, value in first.params.items())
    return Ranking((first.entry or params) if several else "", lines)


def _standing_of(verdict: Verdict) -> Standing:
    change, interval = verdict.change, verdict.interval
    # Whatever made the control alarm, by favouring one side, may favour one candidate over another, too.
    known = interval is not None and interval[0] > -1 and not budgets.is_withheld(verdict)
    return Standing(
        log1p(change) if change is not None and change > -1 else 0.0,
        (log1p(interval[0]), log1p(interval[1])) if interval is not None and known else None,
        verdict.verdict,
    )


def _result_text(verdict: Verdict) -> str:
    if verdict.change is None:
        return "nothing is known of it"
    result = figures.change(verdict.change)
    if speed := words.speed_of(verdict):
        result = f"{result}, {speed} as the baseline"
    return result if verdict.verdict != "undecided" else f"{result}, undecided"
