"""`steelyard list`: what is kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.options import json_option
from steelyard.cli.outputs import as_json, check_writable, writing_files

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class ListOptions(CommandOptions):
    """The options of `list`."""

    json: Annotated[Path | None, json_option("Write the list as JSON; - is stdout.")] = None


@command(ListOptions, examples=("steelyard list", "steelyard list --json -"))
def list_(options: ListOptions, world: World) -> int:
    """List what is kept: the latest records, newest first, and the runs that --save-baseline gave names."""
    from steelyard.design.inventory import inventory
    from steelyard.report.inventory import show

    check_writable(options.json)
    store = world.store()
    entries = inventory(store)
    with writing_files(world, (options.json, partial(as_json, entries))) as console:
        show(console, entries, store.folder)
    return 0
