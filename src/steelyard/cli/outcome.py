"""What `compare`, `run` and `show` do with an outcome: print it, write the requested files, choose the exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from steelyard.cli import signals
from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.options import SHOWN_FUNCTIONS, FileOptions
from steelyard.cli.outputs import Content, WriteErrors, is_printed, page_of, write
from steelyard.cli.say import say
from steelyard.cli.screen import output
from steelyard.cli.status import INTERRUPTED, announced_status
from steelyard.design.outcome import Outcome
from steelyard.design.world import World
from steelyard.model.derived import deciding_of
from steelyard.model.errors import MeasurementError, SteelyardError
from steelyard.model.files import record_bytes
from steelyard.model.records import Run, Weighing
from steelyard.model.typed import typed
from steelyard.report import terminal
from steelyard.report.sheet import Sheet

if TYPE_CHECKING:
    from rich.console import Console

    from steelyard.report.notes import Told


def report_outcome(
    outcome: Outcome,
    files: FileOptions,
    world: World,
    *,
    functions: int = SHOWN_FUNCTIONS,
    strict: bool = False,
    beside_data: bool = False,
) -> int:
    """Show what was measured, as `show_outcome` does, and return the exit status."""
    beside_data = beside_data or is_printed(*files.paths())
    try:
        show_outcome(outcome, files, world, functions=functions, beside_data=beside_data)
    except MeasurementError as error:
        # One benchmark failed, and the others may be undecided; or a file could not be written, and the store has all.
        show_how_to_continue(outcome, written(files, outcome, error), world, beside_data=beside_data)
        if error is not outcome.error:
            was_interrupted(outcome, FileOptions())
        raise
    if was_interrupted(outcome, files):
        return INTERRUPTED
    show_how_to_continue(outcome, files, world, beside_data=beside_data)
    deciding = deciding_of(outcome.record.verdicts)
    is_slower = any(verdict.verdict == "slower" and not verdict.control for verdict in outcome.record.verdicts)
    only_by = deciding[0].metric if is_slower else None
    deciding_verdicts = {verdict.verdict for verdict in deciding}
    return announced_status(deciding_verdicts, world, strict=strict, beside_data=beside_data, only_by=only_by)


def written(files: FileOptions, outcome: Outcome, error: SteelyardError | None) -> FileOptions:
    """Return the requested files once the outcome was shown; none if that ended in an `error` of writing them."""
    return files if error is outcome.error else FileOptions()


def was_interrupted(outcome: Outcome, files: FileOptions) -> bool:
    """Return whether there was more to measure; if so, say how to carry on a weighing."""
    if "interrupted" not in outcome.record.stop:
        return False
    say_how_to_carry_on(outcome.record, _file_of_record(outcome, files) or outcome.kept)
    return True


def say_how_to_carry_on(record: Weighing | Run, path: Path | None) -> None:
    """Name the command that carries on the weighing kept at `path`; a run is not carried on."""
    if path is not None and isinstance(record, Weighing):
        say(f"to carry on: steelyard compare --resume {typed(path)}")


def _file_of_record(outcome: Outcome, files: FileOptions) -> Path | None:
    """Return the record in a file that the user has named, which the store will not remove some day."""
    path = files.json
    is_record = path is not None and not is_printed(path) and path.is_file() and not outcome.record.is_empty()
    return path if is_record else None


def _resumed_by_own_file(outcome: Outcome, files: FileOptions) -> Outcome:
    """Return the outcome with the user's own file, if there is one, as the one to carry on."""
    path = _file_of_record(outcome, files)
    return outcome if path is None else replace(outcome, resumed_by=str(path))


def show_outcome(
    outcome: Outcome,
    files: FileOptions,
    world: World,
    *,
    beside_data: bool,
    functions: int,
    draw: Callable[[Console], None] | None = None,
    told: Told | None = None,
) -> None:
    """Write the files and print the verdict, with up to `functions` functions of what was counted.

    The verdict goes to stderr if stdout has data (`beside_data`). `draw` prints in place of the report. `told` has the
    notes of other weighings above it. A failed measurement writes a record, with the raw launches if there are any, and
    raises its error.
    """
    if outcome.kept is not None:
        signals.set_kept_record(typed(outcome.kept))
    errors, to_print = WriteErrors(), None  # without a file, the verdict is still worth printing
    with signals.uninterrupted():
        for path, data in _file_contents(outcome, files, world, functions):
            if is_printed(path):
                to_print = data  # last, as its reader may make us wait
            else:
                with errors.collected():
                    write(path, data)
    if _has_results(outcome):
        console = output(world.environment, beside_data=beside_data)
        (draw or partial(_print_report, outcome=outcome, functions=functions, told=told))(console)
    if to_print is not None:
        write(STANDARD_STREAM, to_print)
    if outcome.unkept is not None:
        say(outcome.unkept)
    errors.raise_last(outcome.error)


def _print_report(console: Console, outcome: Outcome, functions: int, told: Told | None) -> None:
    record, running = outcome.record, outcome.is_running
    if isinstance(record, Weighing):
        terminal.weighing(console, record, record.verdicts, functions=functions, running=running, told=told)
    else:
        terminal.run(console, record, record.summaries, functions=functions, running=running)


def show_how_to_continue(outcome: Outcome, files: FileOptions, world: World, *, beside_data: bool) -> None:
    """Print how to continue what is undecided; for what was interrupted, more is said elsewhere."""
    if not _has_results(outcome) or "interrupted" in outcome.record.stop:
        return
    if (way_on := _resumed_by_own_file(outcome, files).way_on()) is not None:
        Sheet(output(world.environment, beside_data=beside_data)).command("go on", way_on)


def show_search(search: str | None, world: World, *, beside_data: bool) -> None:
    """Print the command that finds the commit by which something became slower, if there is one."""
    if search is not None:
        Sheet(output(world.environment, beside_data=beside_data)).command("find it", search)


def has_failed(outcome: Outcome) -> bool:
    """Return whether something failed, even before measuring; that the user stopped it is no failure."""
    return outcome.error is not None and outcome.error.exit_status != INTERRUPTED


def _has_results(outcome: Outcome) -> bool:
    """Return whether there is something to show: everything, or the benchmarks of a harness that did not fail."""
    return outcome.error is None or outcome.record.derived is not None


def _file_contents(
    outcome: Outcome, files: FileOptions, world: World, functions: int
) -> Iterator[tuple[Path, Content]]:
    """Yield each requested file with its contents."""
    record, is_empty, has_results = outcome.record, outcome.record.is_empty(), _has_results(outcome)
    if is_empty and not has_failed(outcome):
        return  # an earlier weighing's file is worth more than an empty one

    def is_wanted(path: Path | None, says_something: bool) -> TypeGuard[Path]:
        # After a failure, an earlier weighing's file would be taken for this one's; what is printed has no earlier one.
        return path is not None and (says_something or (has_failed(outcome) and not is_printed(path)))

    if is_wanted(files.json, not is_empty):
        yield files.json, record_bytes(record, files.json)
    if files.csv is not None and not is_empty:
        from steelyard.report import table

        yield files.csv, table.launches_csv(record) if len(record.launches) else table.counts_csv(record)
    if is_wanted(files.markdown, has_results and not is_empty):
        yield files.markdown, _markdown(outcome, functions)
    if is_wanted(files.html, has_results and not is_empty):
        yield files.html, page_of(world, _resumed_by_own_file(outcome, files))


def _markdown(outcome: Outcome, functions: int) -> str:
    from steelyard.report import markdown as as_markdown

    record, running = outcome.record, outcome.is_running
    if isinstance(record, Weighing):
        return as_markdown.weighing(record, record.verdicts, functions=functions, running=running)
    return as_markdown.run(record, record.summaries, functions=functions, running=running)
