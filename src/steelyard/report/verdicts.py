"""Verdicts on a terminal, of whatever was weighed: their colours, and the last line of an open one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from steelyard.report import figures, sentences
from steelyard.report.sheet import Sheet

if TYPE_CHECKING:
    from steelyard.model.kept import VerdictName

STYLES: dict[VerdictName, str] = {
    "slower": "bold red",
    "faster": "bold green",
    "same": "bold cyan",
    "undecided": "bold yellow",
}


def emphasised(evidence: str, verdict: VerdictName, change: float | None) -> Text:
    """Evidence that begins with a change, which has the verdict's colour."""
    line = Text(evidence)
    if change is not None:
        line.stylize(STYLES[verdict], 0, len(figures.change(change)))
    return line


def open_end(console: Console) -> None:
    """Print as the last line what the exit status of an undecided weighing means, where it is 0."""
    Sheet(console).row("exit", Text(sentences.not_strict(), "dim"))
