"""What was tuned, on a terminal: setting by setting, from what to what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.cells import cell_len
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
        changes = [*group]
        # A name that is cut may lack the processor's number, and all settings of a group would look alike.
        names = sheet.names([_setting_name(change.setting) for change in changes], sheet.width - 2)
        for name, change in zip(names, changes, strict=True):
            before, after = (change.after, change.before) if restoring else (change.before, change.after)
            values = f"{sheet.name(before, _VALUE_COLUMNS)} -> {sheet.name(after, _VALUE_COLUMNS)}"
            if cell_len(f"  {name}  {values}") <= sheet.width:
                sheet.line(Text(f"  {name}  {values}"))
            else:
                sheet.line(Text(f"  {name}"))
                sheet.line(Text(f"    {values}"))


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
