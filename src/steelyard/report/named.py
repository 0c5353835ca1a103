"""The name of the benchmark shown, wherever the subjects' names do not tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

if TYPE_CHECKING:
    from steelyard.model.records import Run, Weighing
    from steelyard.report.sheet import Sheet


def shows_benchmark_name(record: Weighing | Run) -> bool:
    """Return whether the report says which benchmark its numbers belong to: one of several, or chosen by name."""
    if len(record.benchmarks) > 1:
        return True
    has_name = any(one.entry or one.params for one in record.benchmarks)
    return has_name and not any(subject.is_statement() for subject in record.subjects)


def benchmark_row(sheet: Sheet, name: str, *paragraphs: Text) -> None:
    """Print the benchmark's name."""
    sheet.row("benchmark", Text(sheet.name(name, 3 * sheet.text_width), "bold"), *paragraphs)
