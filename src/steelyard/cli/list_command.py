"""`steelyard list`: what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import Options, command
from steelyard.cli.options import OUTPUT
from steelyard.cli.outputs import check_writable, is_printed, write

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class ListOptions(Options):
    """What `list` is asked."""

    json: Annotated[
        Path | None,
        typer.Option(
            "--json", "-o", metavar="FILE", rich_help_panel=OUTPUT, help="Write the list as JSON; - is stdout."
        ),
    ] = None


@command(ListOptions, examples=("steelyard list", "steelyard list --json -"))
def list_(options: ListOptions, world: World) -> int:
    """List what is kept: the latest records, newest first, and the runs that --save-baseline gave names."""
    from json import dumps

    from steelyard.cli.screen import output
    from steelyard.design.inventory import inventory
    from steelyard.report.inventory import show

    check_writable(options.json)
    store = world.store()
    entries = inventory(store)
    if options.json is not None:
        write(options.json, dumps([entry.model_dump(mode="json") for entry in entries], indent=1) + "\n")
    show(output(world.environment, beside_data=is_printed(options.json)), entries, store.folder)
    return 0
