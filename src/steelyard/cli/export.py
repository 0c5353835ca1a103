"""`steelyard export`: kept records in the formats of other tools."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import STANDARD_STREAM, record_paths
from steelyard.cli.options import file_option
from steelyard.cli.outputs import check_apart, check_writable, is_printed, write
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.world import World

_ENDINGS = {".csv": "csv", ".jsonl": "json-lines", ".ndjson": "json-lines", ".parquet": "parquet", ".xml": "junit"}


@dataclass(frozen=True, kw_only=True)
class ExportOptions(CommandOptions):
    """The options of `export`."""

    panel: ClassVar[str] = "What is written"

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A record, a journal, what check, calibrate or bisect wrote, or the name of a kept baseline.  "
            "[default: the last one measured]",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="As csv, json-lines, parquet, pyperf, hyperfine, google-benchmark or junit.  [default: as -o ends]",
        ),
    ] = None
    output: Annotated[Path, file_option("Where to write it; - is stdout.", "--output", "-o")] = STANDARD_STREAM
    side: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of a weighing for pyperf, hyperfine and google-benchmark: baseline or candidate.",
        ),
    ] = None
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What pyperf, hyperfine and google-benchmark are given.  [default: the record's first metric]",
        ),
    ] = None


@command(
    ExportOptions,
    examples=(
        "steelyard export --format csv | head",
        "steelyard export --format pyperf --side baseline -o before.json",
    ),
)
def export(options: ExportOptions, world: World) -> int:
    """Write a kept record for other programs: as a table, or as another tool's file (steelyard docs export).

    csv, json-lines and parquet hold every kind of record: one row a sample and metric. pyperf, hyperfine and
    google-benchmark hold the samples of weighings, runs and imports; junit the verdicts of a weighing, or what a check
    found.
    """
    from steelyard.api.exports import check_not_compressed, exported, format_named
    from steelyard.model.documents import load_document

    implied = _format_of_ending(options.output)
    if (wanted := options.format or implied) is None:
        raise UsageError(
            "--format says as what to write it: csv, json-lines, parquet, pyperf, hyperfine, google-benchmark or junit"
        )
    export_format = format_named(wanted)
    if implied is not None and implied != export_format.name:
        raise UsageError(
            f"{options.output} is called as {implied}, and would be {export_format.name}: leave --format out, or give "
            "-o another name"
        )
    check_writable(options.output)
    check_not_compressed(export_format, options.output)
    if export_format.is_binary and is_printed(options.output) and is_terminal():
        raise UsageError(f"{export_format.name} is no text for a terminal: give -o FILE, or a pipe")
    (path,) = record_paths(world, options.file)
    check_apart([options.output], [path])
    name = str(options.file or path.name)
    data = exported(load_document(path), export_format.name, name=name, side=options.side, metric=options.metric)
    write(options.output, data)
    return 0


def is_terminal() -> bool:
    """Return whether what is printed goes to a terminal."""
    return sys.stdout.isatty()


def _format_of_ending(output: Path) -> str | None:
    """Return the format that a file's ending stands for, compressed or not; None if it stands for none."""
    whole = output.with_suffix("") if output.suffix == ".gz" else output
    return _ENDINGS.get(whole.suffix.lower())
