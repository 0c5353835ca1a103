"""What was tuned, on a terminal: setting by setting, from what to what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from steelyard.model.tuning import PROCESS, Change
from steelyard.report.sheet import Sheet

_VALUE_COLUMNS = 24


def show_changes(console: Console, made: Sequence[Change], *, restoring: bool = False) -> None:
    """Print changes, grouped by their operation; restored ones with old and new swapped."""
    sheet = Sheet(console)
    for code, group in groupby(made, key=lambda one: one.code):
        sheet.line(Text(code, "bold"))
        for change in group:
            before, after = (change.after, change.before) if restoring else (change.before, change.after)
            values = f"{sheet.name(before, _VALUE_COLUMNS)} -> {sheet.name(after, _VALUE_COLUMNS)}"
            sheet.line(
                Text(f"  {sheet.name(_setting_name(change.setting), max(8, sheet.width - len(values) - 4))}  {values}")
            )


def show_refused(console: Console, refusals: Sequence[tuple[Change, str]]) -> None:
    """Print the changes that the system refused, and why."""
    sheet = Sheet(console)
    for change, reason in refusals:
        sheet.row(
            "refused", f"{sheet.name(_setting_name(change.setting), 5 * sheet.text_width)}: {reason}", style="yellow"
        )


def _setting_name(setting: str) -> str:
    """Return a setting's name: the path of its file, or `process:...` for whether a process runs."""
    return setting if setting.startswith(PROCESS) else f"/{setting}"
