"""`steelyard calibrate`: what a hit of each cache level costs on this machine, and how well a cost predicts time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.counting import jobs_checked
from steelyard.cli.command import CommandOptions, command
from steelyard.cli.options import OUTPUT, json_option
from steelyard.cli.outputs import check_writable, write, writing_files
from steelyard.model.errors import InterruptedBeforeEnd, MeasurementError, SteelyardError
from steelyard.model.values import in_range

if TYPE_CHECKING:
    from steelyard.design.world import World


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions(CommandOptions):
    """The options of `calibrate`."""

    panel: ClassVar[str] = "How it is measured"

    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Count on this many processors at once.  [default: all]")
    ] = None
    launches: Annotated[
        int, typer.Option(metavar="N", help="Time each point this many times; more for a machine that is not quiet.")
    ] = 5
    caches: Annotated[
        str,
        typer.Option(
            metavar="NAME|SIZES",
            help="Simulated caches: fit (this machine's, with as much of the last level as explains the times best), "
            "host (as it says), or as for steelyard count.",
        ),
    ] = "fit"
    chart: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg",
            rich_help_panel=OUTPUT,
            help="Draw predicted against measured times as SVG; - is stdout.",
        ),
    ] = None
    json: Annotated[Path | None, json_option("Keep all that was measured, as JSON; - is stdout.")] = None


@command(
    CalibrateOptions,
    examples=(
        "steelyard calibrate --chart calibration.svg",
        "steelyard calibrate --launches 9 --json calibration.json",
    ),
)
def calibrate(options: CalibrateOptions, world: World) -> int:
    """Fit the weights of the counted cost to this machine, show how well they fit, and store them for it.

    Probes whose use of the caches is known walk over memory in five patterns, at sizes from a part of the first cache
    level to four times the last one. Each is timed natively and counted under Valgrind with this machine's cache
    sizes; weights are fitted to both. A machine that shares its last level with others has less of it than it says:
    smaller ones are tried too, and the one that explains the times best is kept. It takes about two minutes on two
    processors that have nothing else to do.

    The weights do not carry over between access patterns: the report shows each pattern's own beside them, and how
    well the cost follows the time. A cost stays a convention, not a time.

    Exit status: 0 the weights are stored, 2 wrong usage, 3 the probes could not be measured or no weights fit,
    130 interrupted (no weights are stored; what was measured is kept).
    """
    jobs_checked(options.jobs)
    in_range("--launches", options.launches, 1, 1000)
    check_writable(options.chart, options.json)

    from steelyard.cli.screen import watching
    from steelyard.design.calibration.calibration import calibrate as measure
    from steelyard.history.calibrations import to_json
    from steelyard.model.calibration import InterruptedCalibration
    from steelyard.report import calibration as report

    with watching(world) as watch:
        kept = measure(world, watch, repeats=options.launches, jobs=options.jobs, caches=options.caches)
    record = kept.record
    if isinstance(record, InterruptedCalibration):
        if options.json is not None:
            write(options.json, to_json(record))
        raise _early_end_error(kept.failure, report.kept_sentence(record, str(kept.path)))
    files = ((options.json, partial(to_json, record)), (options.chart, partial(report.svg, record)))
    with writing_files(world, *files) as console:
        report.show(console, record, str(kept.path))
    return 0


def _early_end_error(failure: MeasurementError | None, kept: str) -> SteelyardError:
    """Return the error for a calibration ended early, by a failure or by the user; `kept` says where its data are."""
    if failure is None:
        return InterruptedBeforeEnd(f"interrupted before weights could be fitted; {kept}")
    error = MeasurementError(f"{failure}; {kept}")
    error.lines = failure.lines
    return error
