"""`steelyard show`: look at a kept record again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import record_paths
from steelyard.cli.options import SHOWN_FUNCTIONS, FileOptions, ShownFunctions
from steelyard.cli.outputs import check_apart, check_writable, is_printed
from steelyard.cli.views import ShownUnits, ViewOptions, in_units, sorted_import, sorted_outcome

if TYPE_CHECKING:
    from rich.console import Console

    from steelyard.design.outcome import Outcome
    from steelyard.design.world import World
    from steelyard.model.derived import Derived
    from steelyard.model.foreign import ForeignResults
    from steelyard.model.records import Run, Weighing


@dataclass(frozen=True, kw_only=True)
class ShowOptions(CommandOptions):
    """The options of `show`."""

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
    check_writable(*options.files.paths())
    options.shown.check()
    with in_units(options.unit):
        _show(options, world)
    return 0


def _show(options: ShowOptions, world: World) -> None:
    from steelyard.cli.outcome import say_how_to_carry_on, show_outcome
    from steelyard.design.outcome import recall
    from steelyard.model.derived import Derived
    from steelyard.model.errors import NotMeasuredError

    files, (path,) = options.files, record_paths(world, options.file)
    check_apart(files.paths(), [path])
    try:
        outcome = sorted_outcome(recall(path), options.shown.sort)
    except NotMeasuredError as found:
        from steelyard.cli.foreign import show_foreign

        record = sorted_import(found.record, options.shown.sort)
        show_foreign(record, files, world, draw=_drawer_of_views(record, Derived(), options.shown))
        return
    derived = outcome.record.derived
    draw = None if derived is None else _drawer_of_views(outcome.record, derived, options.shown)  # a failed one says so
    beside_data = is_printed(*files.paths())
    show_outcome(outcome, files, world, beside_data=beside_data, functions=options.functions, draw=draw)
    if draw is None and _can_be_carried_on(outcome, path, world):
        say_how_to_carry_on(outcome.record, path)


def _drawer_of_views(
    record: Weighing | Run | ForeignResults, derived: Derived, shown: ViewOptions
) -> Callable[[Console], None] | None:
    """Return the function that draws the requested views in place of the report; None if none is requested."""
    if not (views := shown.views()):
        return None
    from steelyard.report.views import view

    series = view.series_of_views(record, derived, views, shown.benchmark or [])
    return partial(view.show, record=record, series=series, views=views)


def _can_be_carried_on(outcome: Outcome, path: Path, world: World) -> bool:
    if "interrupted" not in outcome.record.stop or not path.is_file():  # a pipe cannot be read again
        return False
    return not outcome.is_running and outcome.record.machine.key == world.facts().key
