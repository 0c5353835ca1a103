"""`steelyard show`: look at a kept record again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import options


def show(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A record or a journal.  [default: the last one measured]"),
    ] = None,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Show a kept weighing or run again: its verdicts are derived anew from the raw launches; or an import."""
    import os

    from steelyard.cli.outcome import show_outcome
    from steelyard.design.session import recall
    from steelyard.history.store import Store
    from steelyard.model.foreign import NotMeasuredError

    options.check_writable(json, markdown, csv)
    try:
        outcome = recall(file or Store.of_user(os.environ).latest())
    except NotMeasuredError as found:
        from steelyard.cli.foreign import show_foreign

        show_foreign(found.record, json=json, markdown=markdown, csv=csv)
    else:
        show_outcome(outcome, json=json, markdown=markdown, csv=csv)
