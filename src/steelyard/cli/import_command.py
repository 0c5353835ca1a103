"""`steelyard import`: results that other tools measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import input_paths
from steelyard.cli.options import FileOptions, Markdown, file_option, json_option
from steelyard.cli.outputs import check_apart, check_writable

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class ImportOptions(CommandOptions):
    """The options of `import`."""

    panel: ClassVar[str] = "What is imported"

    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="What the tool wrote; several are so many processes of the same."),
    ]
    format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What wrote them: google-benchmark, pyperf, hyperfine, pytest-benchmark, criterion, go, jmh, swift.  "
            "[default: by what is in them]",
        ),
    ] = None
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark", "-b", metavar="PATTERN", help="Only those; * and ? as in a shell, '!PATTERN': all but those."
        ),
    ] = None
    json: Annotated[Path | None, json_option("Keep them for show and diff (.gz compresses; - is stdout).")] = None
    markdown: Markdown = None
    csv: Annotated[Path | None, file_option("Write every sample as CSV; - is stdout.", "--csv")] = None


@command(
    ImportOptions,
    examples=(
        "hyperfine --export-json theirs.json 'gzip -9 -c /bin/sh' && steelyard import theirs.json",
        "steelyard import theirs.json --format hyperfine -o ours.json.gz --markdown ours.md",
    ),
)
def import_(options: ImportOptions, world: World) -> int:
    """Take over results that another tool measured, to show them and to compare them by `steelyard diff`.

    Reads what Google Benchmark, pyperf, hyperfine, pytest-benchmark, criterion.rs, go test -bench, JMH and Swift's
    Benchmark_O write. Units and direction are kept. Such results are marked as not measured by Steelyard, and are
    never compared with any that are.
    """
    from steelyard.cli.foreign import show_foreign
    from steelyard.design.conversion import convert_files

    outputs = FileOptions(json=options.json, markdown=options.markdown, csv=options.csv)
    check_writable(*outputs.paths())
    sources = input_paths(*options.files)
    check_apart(outputs.paths(), sources)
    patterns, created = options.benchmark or [], world.created()
    show_foreign(convert_files(sources, created=created, name=options.format, patterns=patterns), outputs, world)
    return 0
