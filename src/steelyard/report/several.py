"""Several weighings that give one answer: what each one weighs, and the overall result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from steelyard.model.derived import Verdict
from steelyard.report import figures, sentences
from steelyard.report.bounds import most_changed, show_left_out
from steelyard.report.sheet import Sheet
from steelyard.report.verdicts import STYLES, emphasised
from steelyard.stats.verdict import CHANGED


@dataclass(frozen=True)
class Result:
    """The result of one weighing: its deciding verdicts, the number of benchmarks weighed, and whether it failed."""

    name: str
    verdicts: Sequence[Verdict]
    weighed: int
    failed: bool = False


def heading(console: Console, name: str, *, first: bool, label: str = "weighing") -> None:
    """Print the name of the next weighing, or of what else the label says."""
    sheet = Sheet(console)
    if not first:
        sheet.blank()
    sheet.title(label, name)


def summary(console: Console, results: Sequence[Result], alpha: float, family: str, not_begun: int) -> None:
    """Print a tally of all verdicts, what changed, what failed, and how many weighings had not begun."""
    sheet = Sheet(console)
    verdicts = [verdict for result in results for verdict in result.verdicts]
    sheet.blank()
    # Of identical sides nothing is measured, and of a first suite nothing is said, so no verdict can be wrong.
    confidence = [_confidence(alpha, family)] if alpha and verdicts else []
    sheet.row("in all", _tally(verdicts, results), *confidence, style="bold")
    changed = [verdict for verdict in verdicts if verdict.verdict in CHANGED]
    shown = most_changed(changed)
    for verdict in shown:
        change = emphasised(sentences.estimate(verdict), verdict)
        name = sheet.name(verdict.benchmark, sheet.text_width)
        sheet.row(verdict.verdict, Text.assemble(change, "  ", name), style=STYLES[verdict.verdict])
    show_left_out(sheet, len(changed) - len(shown))
    for result in results:
        if result.failed:
            sheet.row("failed", sheet.name(result.name, sheet.text_width), style="bold red")
    if not_begun:
        sheet.row("left out", f"{figures.count(not_begun, 'weighing')} that had not begun")


def _tally(verdicts: Sequence[Verdict], results: Sequence[Result]) -> str:
    weighings = figures.count(len(results), "weighing")
    if not verdicts:
        return f"no verdict in {weighings}"
    weighed = sum(result.weighed for result in results)
    return f"{figures.tally(one.verdict for one in verdicts)} of {figures.count(weighed, 'benchmark')} in {weighings}"


def _confidence(alpha: float, family: str) -> Text:
    if family == "fdr":
        return Text(f"of what is called changed, {figures.percent(alpha)} is expected to be wrong at most", "dim")
    return Text(f"the chance of any wrong slower or faster among them is {figures.percent(alpha)} at most", "dim")
