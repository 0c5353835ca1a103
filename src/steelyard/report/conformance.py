"""The rules that were tried on a program, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from steelyard.model.checked import Checked
from steelyard.report import figures, printable
from steelyard.report.sheet import Sheet


def rules(console: Console, command: str, found: Sequence[Checked], *, interrupted: bool = False) -> None:
    """Print each rule with what was seen, and whether all hold, or as many as were tried before an interruption."""
    sheet = Sheet(console)
    sheet.row("checked", Text(sheet.name(command, 3 * sheet.text_width), "bold"))
    sheet.blank()
    for rule in found:
        if rule.trouble is None:
            sheet.row("holds", rule.rule, style="green")
        else:
            sheet.row("broken", rule.rule, *printable.lines(rule.trouble), style="bold red")
    sheet.blank()
    broken = sum(rule.trouble is not None for rule in found)
    if interrupted:
        tried = figures.count(len(found), "rule was", "rules were")
        sheet.row("in all", f"interrupted: {tried} tried until then, {broken or 'none'} of them broken")
    elif not broken:
        sheet.row("in all", f"all {len(found)} rules hold")
    else:
        sheet.row(
            "in all",
            f"{broken} of {figures.count(len(found), 'rule')} broken: steelyard docs protocol explains them",
        )
