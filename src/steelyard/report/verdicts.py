"""Verdicts of any kind of record on a terminal: their colours, and the closing line of an open one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from steelyard.report import figures, sentences
from steelyard.report.sheet import Sheet

if TYPE_CHECKING:
    from steelyard.model.derived import Verdict
    from steelyard.model.findings import VerdictName
    from steelyard.model.foreign import ForeignVerdict
    from steelyard.model.records import Weighing
    from steelyard.model.unpaired import UnpairedVerdict

    AnyVerdict = Verdict | UnpairedVerdict | ForeignVerdict

STYLES: dict[VerdictName, str] = {
    "slower": "bold red",
    "faster": "bold green",
    "same": "bold cyan",
    "undecided": "bold yellow",
}


def print_verdict(sheet: Sheet, verdict: AnyVerdict, evidence: str, explanation: Sequence[str]) -> None:
    """Print a verdict with its evidence, and what that leaves open."""
    sheet.row(verdict.verdict, emphasised(evidence, verdict), *explanation, style=STYLES[verdict.verdict])


def emphasised(evidence: str, verdict: AnyVerdict) -> Text:
    """Return evidence with the change that it begins with in the verdict's colour."""
    line = Text(evidence)
    if verdict.change is not None:
        line.stylize(STYLES[verdict.verdict], 0, len(figures.change(verdict.change)))
    return line


def print_exit_status_note(console: Console, sentence: str) -> None:
    """Print, as the last line, what exit status 0 means for an undecided weighing."""
    Sheet(console).row("exit", Text(sentence, "dim"))


def verdict_text(verdict: Verdict) -> Text:
    """Return the verdict in its colour; for a control without an alarm, say just that."""
    if quiet := sentences.without_alarm(verdict):
        return Text(quiet)
    return Text(verdict.verdict, STYLES[verdict.verdict])


def print_margins(sheet: Sheet, record: Weighing) -> None:
    """Print the margins if some benchmark or metric has its own."""
    if margins := sentences.margins(record):
        sheet.row("margin", margins)
