"""`steelyard show`: look at a kept record again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.api.kept import kept_by_name
from steelyard.cli.command import Options, command
from steelyard.cli.inputs import readable
from steelyard.cli.options import SHOWN_FUNCTIONS, FileOptions, ShownFunctions
from steelyard.cli.outputs import check_apart, check_files
from steelyard.cli.views import ShownUnits, ViewOptions, in_units, sorted_import, sorted_outcome

if TYPE_CHECKING:
    from steelyard.design.outcome import Outcome
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class ShowOptions(Options):
    """What `show` is asked."""

    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="A record or a journal, or a name that steelyard list shows.  [default: the last one measured]",
        ),
    ] = None
    shown: ViewOptions = ViewOptions()
    functions: ShownFunctions = SHOWN_FUNCTIONS
    unit: ShownUnits = None
    files: FileOptions = FileOptions()


@command(
    ShowOptions,
    examples=(
        "steelyard show --markdown - --functions 30",
        "steelyard show --hist --unit ms",
    ),
)
def show(options: ShowOptions, world: World) -> int:
    """Show a kept weighing or run again: its verdicts are derived anew from the raw launches; or an import."""
    check_files(options.files)
    options.shown.check()
    with in_units(options.unit):
        _show(options, world)
    return 0


def _show(options: ShowOptions, world: World) -> None:
    from steelyard.cli.outcome import say_how_to_carry_on, show_outcome
    from steelyard.design.outcome import recall
    from steelyard.model.derived import Derived
    from steelyard.model.foreign import NotMeasuredError
    from steelyard.report.views import view

    files, views, chosen = options.files, options.shown.views(), options.shown.benchmark or []
    path = _path(options.file, world)
    check_apart(files.paths(), [path])
    try:
        outcome = sorted_outcome(recall(path), options.shown.sort)
    except NotMeasuredError as found:
        from steelyard.cli.foreign import show_foreign

        record = sorted_import(found.record, options.shown.sort)
        drawn = view.prepared(record, Derived(), views, chosen)
        show_foreign(
            record, files, world, drawn=partial(view.show, record=record, shown=drawn, views=views) if views else None
        )
        return
    if not views or outcome.record.derived is None:  # what has failed says so
        show_outcome(outcome, files, world, functions=options.functions)
        if _can_be_carried_on(outcome, path, world):
            say_how_to_carry_on(outcome.record, path)
        return
    shown = view.prepared(outcome.record, outcome.record.derived, views, chosen)
    show_outcome(outcome, files, world, drawn=partial(view.show, record=outcome.record, shown=shown, views=views))


def _can_be_carried_on(outcome: Outcome, path: Path, world: World) -> bool:
    if "interrupted" not in outcome.record.stop or not path.is_file():  # from a pipe it cannot be read again
        return False
    return not outcome.is_running and outcome.record.machine.key == world.facts().key


def _path(asked: Path | None, world: World) -> Path:
    return world.store().latest() if asked is None else readable(*kept_by_name(world, asked))[0]
