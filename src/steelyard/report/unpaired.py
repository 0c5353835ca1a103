"""Two kept runs, on a terminal and as Markdown. That they are unpaired comes first, whatever the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from steelyard.report import figures, notes, sentences, suite_mean, words
from steelyard.report.bounds import most_changed, show_left_out
from steelyard.report.markup import code, document, escape, items, table
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, print_verdict
from steelyard.stats.unpaired import FEWEST_LAUNCHES

if TYPE_CHECKING:
    from steelyard.model.unpaired import UnpairedReport, UnpairedVerdict

APART = (
    "measured apart: drift between the two looks like a change of the program, and is allowed for as far as it can "
    "be guessed; steelyard compare weighs both in adjacent pairs, where drift cancels"
)
WARNING = f"{APART}, and sees far smaller changes"


def show(console: Console, report: UnpairedReport) -> None:
    """Print what two runs say: the deciding metric in full, the others in one line each."""
    sheet = Sheet(console)
    sheet.row("apart", Text(WARNING, "yellow"), style="bold yellow")
    sheet.blank()
    for label, run in (("A", report.baseline), ("B", report.candidate)):
        name = Text(sheet.name(run.subjects[0].name, sheet.text_width), "bold")
        sheet.row(label, name, f"measured {run.created}")
    deciding = report.deciding()
    names = {verdict.benchmark for verdict in most_changed(deciding)}
    shown = [verdict for verdict in report.verdicts if verdict.benchmark in names]
    explained: set[str] = set()
    for place, verdict in enumerate(shown):
        if place == 0 or shown[place - 1].benchmark != verdict.benchmark:
            sheet.blank()
            if sentences.has_benchmark_name(report.baseline):
                sheet.title("benchmark", verdict.benchmark)
            _print_in_full(sheet, report, verdict, explained)
        else:
            _print_briefly(sheet, verdict)
    show_left_out(sheet, len(deciding) - len(names), ", which changed less")
    show_means(sheet, mean_sentences(report))
    notes.show(sheet, notes.of_unpaired(report))


def mean_sentences(report: UnpairedReport) -> list[str]:
    """Say what all benchmarks of a metric say together."""
    metrics = [verdict.metric for verdict in report.verdicts]
    return suite_mean.of_unpaired(report.means, metrics, figures.at_confidence(report.alpha))


def show_means(sheet: Sheet, means: list[str]) -> None:
    """Print what all benchmarks say together, labelled `in all` as for a weighing."""
    if means:
        sheet.blank()
        sheet.row("in all", *means)


def _print_in_full(sheet: Sheet, report: UnpairedReport, verdict: UnpairedVerdict, explained: set[str]) -> None:
    """Print one benchmark; the meaning of its metric is printed only once."""
    print_verdict(sheet, verdict, evidence(verdict, report.alpha), explanation(verdict, report.margin))
    sheet.blank()
    if verdict.metric not in explained:
        sheet.row("metric", sentences.metric(verdict.metric, report.baseline.settings))
        explained.add(verdict.metric)
    for label, side in (("A", verdict.baseline), ("B", verdict.candidate)):
        sheet.row(label, ", ".join(sentences.side(side, verdict.metric)))
    if verdict.block_spreads is not None:
        sheet.row("drift", drift_sentence(verdict.block_spreads, verdict.assumed))
    if smallest := sentences.resolution(verdict):
        sheet.row("resolution", smallest)


def _print_briefly(sheet: Sheet, verdict: UnpairedVerdict) -> None:
    change_text = "the change is not known"
    if verdict.change is not None:
        change_text = figures.change(verdict.change)
        change_text += f" {figures.interval(verdict.interval)}" if verdict.interval is not None else ", no interval"
    sheet.row(verdict.metric, Text.assemble((verdict.verdict, STYLES[verdict.verdict]), f" {change_text}"))


def evidence(verdict: UnpairedVerdict, alpha: float) -> str:
    """Write the change with its interval, and that the sides were measured apart."""
    launches = f"{verdict.baseline.launches:,} and {figures.count(verdict.candidate.launches, 'launch')}"
    if verdict.change is None:
        return f"the change is not known, {launches} measured apart"
    if verdict.interval is None:
        fewest = min(verdict.baseline.launches, verdict.candidate.launches)
        shortage = "too few launches" if fewest < FEWEST_LAUNCHES else "too short a time"
        return f"{figures.change(verdict.change)}, {shortage} for an interval, {launches} measured apart"
    estimate = sentences.estimate(verdict)
    return f"{estimate} {figures.at_confidence(alpha)}, {launches} measured apart"


def explanation(verdict: UnpairedVerdict, margin: float) -> list[str]:
    """Explain what the verdict's name and the numbers leave open."""
    if verdict.interval is None or verdict.change is None:
        return ["nothing is ruled out; steelyard compare decides it, in adjacent pairs"]
    low, high = verdict.interval
    if verdict.verdict == "same":
        return [sentences.within_margin(margin)]
    if verdict.verdict == "undecided":
        ruled_out = (
            f"not slower by more than {figures.extent(high)}, not faster by more than {figures.extent(low)}"
            if low <= 0 <= high
            else f"a change, perhaps smaller than your margin of {figures.threshold(margin)}"
        )
        return [f"{ruled_out}; two runs measured apart cannot tell more: steelyard compare can"]
    needs = words.needs_text(verdict.change, verdict.interval, verdict.metric, "A")
    return [f"B {needs}, which is more than drift between two runs would explain"]


def drift_sentence(block_spreads: tuple[float, float], assumed: float) -> str:
    """Say how much the level wandered within A and B, and how much is assumed between them."""
    one, other = map(figures.percent, block_spreads)
    return (
        f"the level wandered by {one} within A and {other} within B (standard deviation); between them at least "
        f"{figures.percent(assumed)} is assumed"
    )


# --- Markdown


def markdown(report: UnpairedReport) -> str:
    """Write what two runs say as a GitHub table, fit for a comment on a pull request."""
    first = report.verdicts[0]
    heading = f"**{first.verdict}** {escape(evidence(first, report.alpha))}"
    if len(deciding := report.deciding()) > 1:
        heading = f"**{figures.tally(one.verdict for one in deciding)}**"
    names = [code(run.subjects[0].name) for run in (report.baseline, report.candidate)]
    titles = ["benchmark", "metric", "verdict", "change", f"interval at {figures.confidence(report.alpha)}", "A", "B"]
    explanations = [
        f"{code(verdict.benchmark)}, {escape(verdict.metric)}: {escape('; '.join(explanation(verdict, report.margin)))}"
        for verdict in report.verdicts
    ]
    lines = [f"_{escape(WARNING)}_", "", heading, "", f"A {names[0]}, B {names[1]}", ""]
    lines += [
        *table(titles, map(_row, report.verdicts)),
        "",
        *items([*map(escape, mean_sentences(report)), *explanations, *notes.markdown(notes.of_unpaired(report))]),
    ]
    return document(lines)


def _row(verdict: UnpairedVerdict) -> list[str]:
    sides = (sentences.level(side, verdict.metric) for side in (verdict.baseline, verdict.candidate))
    change = figures.change(verdict.change)
    bounds = figures.interval(verdict.interval)
    return [code(verdict.benchmark), escape(verdict.metric), f"**{verdict.verdict}**", change, bounds, *sides]
