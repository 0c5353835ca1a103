"""What `import`, `show` and `diff` do with results that Steelyard did not measure."""

from __future__ import annotations

from pathlib import Path

import typer

from steelyard.cli import status
from steelyard.cli.screen import output
from steelyard.design.unpaired.foreign import compare_foreign, levels
from steelyard.model.files import save, write_atomically
from steelyard.model.foreign import ForeignResults
from steelyard.report import foreign as report


def show_foreign(record: ForeignResults, *, json: Path | None, markdown: Path | None, csv: Path | None) -> None:
    """Print an import, and write the files asked for."""
    described = levels(record)
    if json is not None:
        save(record, json)
    if markdown is not None:
        _write(markdown, report.markdown(record, described))
    if csv is not None:
        _write(csv, report.csv(record))
    report.show(output(), record, described)


def diff_foreign(
    baseline: ForeignResults,
    candidate: ForeignResults,
    *,
    margin: float,
    alpha: float,
    same_conditions: bool,
    force: bool,
    markdown: Path | None,
    strict: bool,
) -> None:
    """Compare two imports, print what they say, and exit with the verdict's status."""
    found = compare_foreign(
        baseline, candidate, margin=margin, alpha=alpha, same_conditions=same_conditions, force=force
    )
    if markdown is not None:
        _write(markdown, report.diff_markdown(found))
    report.show_diff(output(), found)
    verdicts = {verdict.verdict for verdict in found.verdicts}
    raise typer.Exit(status.of_words(verdicts, strict=strict))


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode(errors="backslashreplace"))
