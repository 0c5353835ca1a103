"""`steelyard tune`: calm the machine for measuring, and restore it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.cli.command import CommandOptions, command
from steelyard.cli.status import FAILED
from steelyard.model.errors import MeasurementError, UsageError

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.machine.readings import Tree
    from steelyard.machine.tuning.tuner import Done, Tuner


@dataclass(frozen=True, kw_only=True)
class TuneOptions(CommandOptions):
    """The options of `tune`."""

    panel: ClassVar[str] = "What is done"

    cpu: Annotated[
        int | None,
        typer.Option(metavar="N", help="The processor to keep free, which --cpu of compare then takes."),
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be changed; needs no rights.")] = (
        False
    )
    restore: Annotated[bool, typer.Option("--restore", help="Put back what was before, after a crash too.")] = False


@command(TuneOptions, examples=("steelyard tune --dry-run", "steelyard tune"))
def tune(options: TuneOptions, world: World) -> int:
    """Calm this machine for measuring, until `steelyard tune --restore` (steelyard docs tune). Needs root.

    What was before is on disk before anything is changed. Address-space randomisation stays on.

    Exit status: 0 done, 2 wrong usage, 3 something was refused.
    """
    if options.restore and (options.dry_run or options.cpu is not None):
        raise UsageError("--restore puts back exactly what was: leave --dry-run and --cpu out")
    from steelyard.cli.calm import restore_machine, tuned_unless_ended
    from steelyard.cli.signals import uninterrupted

    tuner = world.tuner()
    if options.cpu is not None:
        _check_processor(options.cpu, tuner.hand.tree)
    if options.dry_run:
        return _show_plan(tuner, options.cpu, world)
    if options.restore:
        with uninterrupted():
            done = tuner.restore()
        return _show_result(done, world, restoring=True)
    with tuned_unless_ended(tuner, options.cpu, world) as done:
        try:
            return _show_result(done, world, restoring=False)
        except BrokenPipeError:
            raise  # a reader that stops reading has seen what was changed
        except OSError as error:
            restore_machine(tuner)
            raise MeasurementError(
                f"{error.strerror} while the output was written; what was changed is put back"
            ) from error


def _check_processor(number: int, tree: Tree) -> None:
    from steelyard.machine.readings import CPUS

    existing = {processor for processor, _ in tree.processors()}
    usable = tree.processor_list(f"{CPUS}/online") & existing or existing
    if number not in usable:
        reason = f"processor {number} is switched off" if number in existing else f"there is no processor {number} here"
        raise UsageError(f"{reason}: choose from {', '.join(map(str, sorted(usable)))}")


def _show_plan(tuner: Tuner, processor: int | None, world: World) -> int:
    from steelyard.cli.screen import output
    from steelyard.report import tuning

    changes = tuner.plan(processor)
    tuning.show_changes(output(world.environment), changes)
    print("this would be changed" if changes else "there is nothing to change that this machine lets be changed")
    return 0


def _show_result(done: Done, world: World, *, restoring: bool) -> int:
    from steelyard.cli.screen import output
    from steelyard.report import tuning

    console = output(world.environment)
    tuning.show_changes(console, done.changes, restoring=restoring)
    tuning.show_refused(console, [(one.change, one.reason) for one in done.refused])
    if restoring:
        print("restored" if not done.refused else "restored, but for what was refused")
    elif done.changes:
        print("tuned; steelyard tune --restore puts back what was", flush=True)
    else:
        print("nothing was changed")
    return FAILED if done.refused and (restoring or not done.changes) else 0
