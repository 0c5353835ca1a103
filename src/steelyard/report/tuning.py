"""What was tuned, on a terminal: setting by setting, from what to what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from steelyard.model.tuning import PROCESS, Change
from steelyard.report.sheet import Sheet

_VALUE_COLUMNS = 24


def changes(console: Console, made: Sequence[Change], *, restoring: bool = False) -> None:
    """Print changes, grouped by their operation; restored ones with old and new swapped."""
    sheet = Sheet(console)
    for code, group in groupby(made, key=lambda one: one.code):
        sheet.line(Text(code, "bold"))
        for one in group:
            was, now = (one.after, one.before) if restoring else (one.before, one.after)
            values = f"{sheet.name(was, _VALUE_COLUMNS)} -> {sheet.name(now, _VALUE_COLUMNS)}"
            sheet.line(Text(f"  {sheet.name(_place(one.setting), max(8, sheet.width - len(values) - 4))}  {values}"))


def refused(console: Console, ones: Sequence[tuple[Change, str]]) -> None:
    """Print the changes that the system refused, and why."""
    sheet = Sheet(console)
    for change, reason in ones:
        sheet.row("refused", f"{sheet.name(_place(change.setting), 5 * sheet.text_width)}: {reason}", style="yellow")


def _place(setting: str) -> str:
    """Return a setting's name: the path of its file, or `process:...` for whether a process runs."""
    return setting if setting.startswith(PROCESS) else f"/{setting}"
