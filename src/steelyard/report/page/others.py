"""Records without times of benchmarks as parts of a page: a check, a calibration, a bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, cycle

import numpy as np

from steelyard.model.bisection import Bisection, Commit
from steelyard.model.calibration import Calibration, InterruptedCalibration, Point
from steelyard.model.counting import Weights
from steelyard.model.grouping import grouped
from steelyard.model.soundness import Looked, Soundness
from steelyard.report import bisection, calibration, check, figures, notes
from steelyard.report.page import elements
from steelyard.report.page.data import Axis, Draw, Figure, Panel, Role, Series
from steelyard.report.page.elements import Content, Markup, element
from steelyard.report.page.parts import HOW, Cell, Column, Detail, Facts, Part, Row, sentence

_OUTCOMES = ("trouble", "sound", "untried")
_DRAW_STYLES: tuple[Draw, ...] = ("points", "rings", "crosses")
_ROLES: tuple[Role, ...] = ("baseline", "candidate", "steal", "pressure", "change")


def of_check(record: Soundness) -> Part:
    """Return the part for a check, with a row per benchmark."""
    results: dict[str, list[Looked]] = {name: [] for name in record.benchmarks}
    for result in record.looked:
        results.setdefault(result.benchmark, []).append(result)
    troubles = record.troubles()
    troubled_benchmarks = len({result.benchmark for result in troubles})
    benchmarks = figures.count(len(results), "benchmark")
    headline = f"{figures.count(len(troubles), 'trouble')} with {troubled_benchmarks} of {benchmarks}"
    return Part(
        kind="check",
        title=record.command,
        headline=headline if troubles else f"No trouble with {benchmarks}",
        lines=[
            *(["Interrupted: only what was launched until then is judged."] if record.interrupted else []),
            f"{figures.count(record.launches, 'launch')} in {figures.seconds(record.seconds)}.",
            "steelyard docs check explains each rule.",
        ],
        caption="Benchmarks, and how many rules each keeps",
        columns=[
            Column("benchmark", "text"),
            Column("outcome", "verdict"),
            Column("troubles"),
            Column("rules that hold"),
            Column("not tried"),
            *([Column("which", "text")] if troubles else []),
        ],
        rows=[_check_row(record, name, rules, shows_codes=bool(troubles)) for name, rules in results.items()],
        notes=notes.of_findings(record.findings),
        facts=[
            Facts(HOW, [("command", element("code", elements.name(record.command, 4))), ("Steelyard", record.tool)])
        ],
    )


def _check_row(record: Soundness, name: str, rules: Sequence[Looked], *, shows_codes: bool) -> Row:
    by_outcome = {outcome: [one for one in rules if one.outcome == outcome] for outcome in _OUTCOMES}
    word = next((outcome for outcome in ("trouble", "sound") if by_outcome[outcome]), "untried")
    cells = [
        Cell(elements.name(name), name),
        Cell(word, word),
        *(Cell(f"{len(by_outcome[outcome]):,}", float(len(by_outcome[outcome]))) for outcome in _OUTCOMES),
        *([Cell(", ".join(one.code for one in by_outcome["trouble"]))] if shows_codes else []),
    ]
    ordered_results = [one for outcome in _OUTCOMES for one in by_outcome[outcome]]
    body = [
        [one.code, element("b", one.outcome, class_=f"v {one.outcome}"), *_finding_and_remedy(one)]
        for one in ordered_results
    ]
    caption = f"The rules tried on {elements.plain_name(name)}"
    tables = [elements.table(caption, ["rule", "outcome", "finding", "remedy"], body, stacked=True)] if body else []
    lines: list[Content] = [sentence(check.heap_sentence(one)) for one in record.allocating if one.benchmark == name]
    return Row(name, cells, Detail(lines, [], tables), verdict=word)


def _finding_and_remedy(result: Looked) -> list[Content]:
    origin = (
        f" (threshold {check.threshold_text(result)}: {result.origin})"
        if result.figure is not None and result.outcome == "trouble"
        else ""
    )
    return [elements.long_sentence_markup(result.finding + origin), elements.long_sentence_markup(result.remedy)]


# --- calibrations


def of_calibration(record: Calibration) -> Part:
    """Return the part for a calibration: the weights, how well they fit, and that they do not carry over."""
    names = list(dict.fromkeys(point.pattern for point in record.points))
    return Part(
        kind="calibration",
        title=record.processor or record.machine,
        headline=(
            f"A hit of main memory costs {record.weights.ram:.3g} first-level hits, one of the last level "
            f"{record.weights.ll:.3g}"
        ),
        lines=[sentence(calibration.caution(record))],
        whole=Detail(
            figures=[_prediction_figure(record, names), _size_figure(record.points, names)],
            tables=[_pattern_table(record)],
        ),
        facts=[
            Facts(
                HOW,
                [
                    ("weights", f"{_ratio(record.weights)} (L1 : LL : RAM)"),
                    ("an L1 hit takes", figures.duration(record.fit.l1_ns)),
                    ("furthest off", elements.name(calibration.worst_point_sentence(record), 4)),
                    *_measurement_facts(record),
                ],
            )
        ],
    )


def _ratio(weights: Weights) -> str:
    return f"{weights.l1:g} : {weights.ll:.3g} : {weights.ram:.3g}"


def _measurement_facts(record: Calibration | InterruptedCalibration) -> list[tuple[str, Content]]:
    return [
        ("processor", elements.name(record.processor, 4)),
        ("machine", record.machine),
        ("begun", elements.name(figures.moment(record.created))),
        ("took", figures.seconds(record.seconds)),
        ("launches a point", f"{record.repeats:,}"),
        ("Valgrind", elements.name(record.valgrind)),
        ("Steelyard", elements.name(record.tool)),
    ]


def _prediction_figure(record: Calibration, names: Sequence[str]) -> Figure:
    points = [point for point in record.points if record.fit.predicted_ns(point) > 0]
    series = _series_by_pattern(points, names, lambda point: point.ns, record.fit.predicted_ns)
    all_ns = np.array([point.ns for point in record.points])
    ends = np.array([all_ns.min(), all_ns.max()])
    series.append(Series("as predicted", "dashes", "fit", ends, ends))
    panel = Panel(
        "One point a pattern and size", Axis("measured", "ns", log=True), Axis("predicted", "ns", log=True), series
    )
    return Figure(
        "Predicted against measured time of a step",
        f"Furthest off: {calibration.worst_point_sentence(record)}.",
        [panel],
    )


def _size_figure(points: Sequence[Point], names: Sequence[str]) -> Figure:
    series = _series_by_pattern(points, names, lambda point: point.size_bytes / 1024, lambda point: point.ns)
    panel = Panel(
        "Time of a step",
        Axis("size of what is walked over", "KiB", log=True),
        Axis("time of a step", "ns", log=True),
        series,
    )
    low, high = min(points, key=lambda point: point.ns), max(points, key=lambda point: point.ns)
    lower_end = f"From {figures.duration(low.ns)} ({low.pattern} over {figures.size(low.size_bytes)}) "
    return Figure(
        "Time of a step by size",
        f"{lower_end}to {figures.duration(high.ns)} ({high.pattern} over {figures.size(high.size_bytes)}).",
        [panel],
    )


def _series_by_pattern(
    points: Sequence[Point], names: Sequence[str], x: Callable[[Point], float], y: Callable[[Point], float]
) -> list[Series]:
    """Return a series for each pattern, each drawn in another way."""
    by_pattern = grouped(sorted(points, key=x), lambda point: point.pattern)
    series = []
    for name, draw, role in zip(names, cycle(_DRAW_STYLES), cycle(_ROLES), strict=False):
        ordered = by_pattern.get(name, [])
        series.append(Series(name, draw, role, np.array([*map(x, ordered)]), np.array([*map(y, ordered)])))
    return series


def _pattern_table(record: Calibration) -> Markup:
    rows: list[list[Content]] = [
        [
            elements.name(fit.pattern),
            figures.NOT_KNOWN if fit.fit.weights is None else _ratio(fit.fit.weights),
            *map(calibration.correlation_text, (fit.by_default, fit.by_calibrated, fit.by_own)),
        ]
        for fit in record.patterns
    ]
    titles = ["pattern", "own weights", "by default weights", "by those of all", "by its own"]
    caption = "How well the cost follows the processor time (Pearson's correlation)"
    return elements.table(caption, titles, rows, numbers=frozenset({1, 2, 3, 4}))


def of_interrupted(record: InterruptedCalibration) -> Part:
    """Return the part for a calibration that was interrupted or failed: what it had measured."""
    points = {
        (one.pattern, one.elements): one
        for one in [*record.times, *(point for each in record.counted for point in each.points)]
    }
    rows: list[list[Content]] = [
        [elements.name(one.pattern), figures.size(one.size_bytes), f"{len(one.cpu_with_ns):,}"]
        for one in points.values()
    ]
    table = elements.table("Points that were timed", ["pattern", "size", "launches"], rows, numbers=frozenset({1, 2}))
    return Part(
        kind="interrupted calibration",
        title=record.processor or record.machine,
        headline="Ended before weights could be fitted",
        lines=[f"{figures.count(record.measurements(), 'measurement')} until then."],
        whole=Detail(tables=[table] if rows else []),
        facts=[Facts(HOW, _measurement_facts(record))],
    )


# --- bisections


def of_bisection(record: Bisection) -> Part:
    """Return the part for a bisection: the commit or the range, and the decisions on the way."""
    numbers = list(accumulate(int(step.kind == "step") for step in record.steps))
    decisions = [
        bisection.decision_sentence(step, number, numbers[-1], record.sought).partition(": ")
        for step, number in zip(record.steps, numbers, strict=True)
    ]
    body = [[elements.name(step_title), elements.long_sentence_markup(text)] for step_title, _, text in decisions]
    tables = [elements.table("The decisions on the way", ["step", "decision"], body, stacked=True)] if body else []
    suspects = [
        [element("code", one.short), elements.name(one.subject, 2), elements.name(one.author), one.date]
        for one in record.suspects
    ]
    if suspects and record.found is None:
        tables.append(elements.table("Commits that are left", ["commit", "subject", "author", "date"], suspects))
    return Part(
        kind="bisection",
        title=record.command,
        headline=_bisection_headline(record),
        has_verdicts=True,
        lines=_bisection_lines(record),
        whole=Detail(tables=tables),
        notes=notes.of_findings(record.findings),
        facts=[
            Facts(
                HOW,
                [
                    ("command", element("code", elements.name(record.command, 4))),
                    ("repository", elements.name(record.repository, 4)),
                    *([("built by", element("code", elements.name(record.build, 4)))] if record.build else []),
                    ("commits", f"{record.commits:,}"),
                    ("metric", record.metric),
                    ("margin", figures.threshold(record.margin)),
                    ("alpha", f"{record.alpha:g}"),
                    ("took", figures.seconds(record.seconds)),
                    ("Steelyard", elements.name(record.tool)),
                ],
            )
        ],
    )


def _bisection_lines(record: Bisection) -> list[Content]:
    """Return lines about the commit and how certain it is, or why none is named; and what else changed."""
    lines: list[Content] = [_commit_line(record.found), sentence(bisection.certainty(record))] if record.found else []
    return lines + [sentence(text) for text in (record.why, bisection.caution(record)) if text]


def _bisection_headline(record: Bisection) -> str:
    if record.found is not None:
        change = (
            "" if record.change is None or record.change.change is None else f" {figures.change(record.change.change)}"
        )
        return f"{record.sought}{change} since {record.found.short}"
    if record.end == "nothing":
        return "same: there is nothing to find"
    word = "undecided" if record.end == "range" else record.end
    # Where the ends could not be told apart, none is suspected.
    return f"{word}: {figures.count(len(record.suspects), 'commit')} left" if record.suspects else word


def _commit_line(commit: Commit) -> Content:
    return elements.joined(
        [element("b", elements.name(commit.subject, 2)), f" by {commit.author}, {commit.date}, {commit.hash}"]
    )
