"""`steelyard import`: results that other tools measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli import options


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="What the tool wrote; several are so many processes of the same."),
    ],
    format: Annotated[  # noqa: A002 - it is the option's name
        str | None,
        typer.Option(
            metavar="NAME",
            help="google-benchmark, pyperf, hyperfine, pytest-benchmark, criterion, go, jmh or swift.  "
            "[default: by what is in them]",
        ),
    ] = None,
    benchmark: Annotated[
        list[str] | None,
        typer.Option("--benchmark", "-b", metavar="PATTERN", help="Only those; * and ? as in a shell."),
    ] = None,
    json: Annotated[
        Path | None, typer.Option("--json", "-o", metavar="FILE", help="Keep them for show and diff (.gz compresses).")
    ] = None,
    markdown: options.Markdown = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write every sample as CSV.")] = None,
) -> None:
    """Take over results that another tool measured, to show them and to compare them by `steelyard diff`.

    Reads what Google Benchmark, pyperf, hyperfine, pytest-benchmark, criterion.rs, go test -bench, JMH and Swift's
    Benchmark_O write. Units and direction are kept. Such results are marked as not measured by Steelyard, and are
    never compared with any that are.
    """
    from steelyard.cli.foreign import show_foreign
    from steelyard.design.conversion import convert_files
    from steelyard.model.errors import UsageError

    options.check_writable(json, markdown, csv)
    given = {path.resolve() for path in files}
    for output in (json, markdown, csv):
        if output is not None and output.resolve() in given:
            raise UsageError(f"{output} would be overwritten, which is to be imported: give another file")
    show_foreign(convert_files(files, name=format, patterns=benchmark or []), json=json, markdown=markdown, csv=csv)
