"""`steelyard show`: look at a kept record again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.api.kept import kept_by_name
from steelyard.cli.command import Options, command
from steelyard.cli.inputs import readable
from steelyard.cli.options import SHOWN_FUNCTIONS, FileOptions, ShownFunctions
from steelyard.cli.outputs import check_files

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class ShowOptions(Options):
    """What `show` is asked."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A record or a journal, or the name of a kept baseline.  [default: the last one measured]",
        ),
    ] = None
    functions: ShownFunctions = SHOWN_FUNCTIONS
    files: FileOptions = FileOptions()


@command(
    ShowOptions,
    examples=(
        "steelyard show",
        "steelyard show --markdown - --functions 30",
    ),
)
def show(options: ShowOptions, world: World) -> int:
    """Show a kept weighing or run again: its verdicts are derived anew from the raw launches; or an import."""
    from steelyard.cli.outcome import show_outcome
    from steelyard.design.outcome import recall
    from steelyard.model.foreign import NotMeasuredError

    files = options.files
    check_files(files)
    try:
        outcome = recall(_path(options.file, world))
    except NotMeasuredError as found:
        from steelyard.cli.foreign import show_foreign

        show_foreign(found.record, files, world)
    else:
        show_outcome(outcome, files, world, functions=options.functions)
    return 0


def _path(asked: Path | None, world: World) -> Path:
    return world.store().latest() if asked is None else readable(*kept_by_name(world, asked))[0]
