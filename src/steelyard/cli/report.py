"""`steelyard report`: one page for a browser from anything kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import record_paths
from steelyard.cli.options import file_option
from steelyard.cli.outputs import check_apart, check_writable, write
from steelyard.cli.say import say

if TYPE_CHECKING:
    from steelyard.design.world import World

_PAGE = Path("report.html")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(CommandOptions):
    """The options of `report`."""

    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Records of any kind, journals, findings of check, calibrations, bisections, or names of kept "
            "baselines.  [default: the last record measured]",
        ),
    ] = None
    html: Annotated[
        Path, file_option("Where the page is written, over what is there; - is stdout.", "--html", "-o")
    ] = _PAGE


@command(
    ReportOptions,
    examples=(
        "steelyard compare 'sleep .1' 'sleep .11' -o a.json; steelyard report a.json -o a.html",
        "steelyard report -o - | wc -c",
    ),
)
def report(options: ReportOptions, world: World) -> int:
    """Write what records say as one page for a browser: tables, charts and the machine. It needs no network.

    Exit status: 0 the page is written, 2 wrong usage, 3 the page cannot be written.
    """
    from steelyard.design.findings import some_names
    from steelyard.design.reporting import page_of

    check_writable(options.html)
    paths = record_paths(world, *(options.files or ()))
    # A kept record is found by its name; its path would say who measured it.
    names = list(map(str, options.files)) if options.files else [paths[0].name]
    check_apart([options.html], paths)
    write(options.html, page_of(paths, names, world.now()))
    if options.html == _PAGE:
        say(f"{_PAGE} is the page of {some_names(names)}")
    return 0
