"""What `compare`, `run` and `show` do with an outcome: print it, write the files asked for, choose the exit status."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.screen import output
from steelyard.design.session import Outcome
from steelyard.model.files import save, write_atomically
from steelyard.model.records import Derived, Weighing
from steelyard.report import markdown as as_markdown
from steelyard.report import table, terminal

INTERRUPTED, SLOWER, UNDECIDED = 130, 1, 4


def show_outcome(outcome: Outcome, *, json: Path | None, markdown: Path | None, csv: Path | None) -> None:
    """Print the verdict and write the files; a failed measurement writes its raw launches and raises its error."""
    record, derived = outcome.record, outcome.record.derived or Derived()
    if json is not None:
        save(record, json)
    if csv is not None:
        write_atomically(csv, table.launches_csv(record).encode(errors="backslashreplace"))
    if outcome.error is None and markdown is not None:
        text = (
            as_markdown.weighing(record, derived.verdicts)
            if isinstance(record, Weighing)
            else as_markdown.run(record, derived.summaries)
        )
        write_atomically(markdown, text.encode(errors="backslashreplace"))
    if outcome.error is not None:
        raise outcome.error
    if isinstance(record, Weighing):
        terminal.weighing(output(), record, derived.verdicts)
    else:
        terminal.run(output(), record, derived.summaries)


def exit_status(outcome: Outcome, *, strict: bool) -> int:
    """The exit status of a measurement; of several metrics the first decides."""
    if "interrupted" in outcome.record.stop:
        return INTERRUPTED
    verdicts = outcome.record.derived.verdicts if outcome.record.derived else []
    words = {verdict.verdict for verdict in verdicts[:: len(outcome.record.settings.metrics)]}
    if "slower" in words:
        return SLOWER
    return UNDECIDED if strict and "undecided" in words else 0
