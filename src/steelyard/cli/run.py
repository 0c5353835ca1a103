"""`steelyard run`: measure one command alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.revisions import requested_run
from steelyard.cli.command import Only, ReadBy, Without, command
from steelyard.cli.inputs import warn_of_unread_input
from steelyard.cli.options import (
    SHOWN_FUNCTIONS,
    AlphaOfInterval,
    FileOptions,
    JudgingOptions,
    LaunchOptionsOfOne,
    Name,
    ShownFunctions,
    WeighingOptions,
)
from steelyard.cli.outputs import (
    WriteErrors,
    check_not_launched,
    check_writable,
    earlier_files_removed_on_error,
    is_printed,
)
from steelyard.cli.quotes import check_no_files
from steelyard.cli.revisions import OneRevisionOptions
from steelyard.cli.say import say
from steelyard.cli.settings import HeapOptions, MeasuringOptions, SuiteOptions, ThroughputOptions
from steelyard.cli.signals import uninterrupted
from steelyard.cli.views import ShownUnits, in_units
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError
from steelyard.model.values import metric_names, relative_margin, seconds

if TYPE_CHECKING:
    from steelyard.design.outcome import Outcome
    from steelyard.design.world import World
    from steelyard.model.records import Run

_BASELINES = "Baselines"


class DescribingOptions(JudgingOptions):
    """What is measured, and for how long; nothing is judged."""

    panel: ClassVar[str] = "What is measured"
    limit: ClassVar[str] = "--launches"

    pairs: Annotated[
        int | None,
        typer.Option(
            "--launches", "-M", metavar="N", help="Most launches to measure.  [default: as many as the time allows]"
        ),
    ]
    max_time: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Longest time to measure, also as 2m or 1h.  [default: 30, or none with a number of launches]",
        ),
        ReadBy(seconds),
    ]
    alpha: AlphaOfInterval


@dataclass(frozen=True, kw_only=True)
class RunOptions(MeasuringOptions):
    """The options of `run`."""

    command: Annotated[str, typer.Argument(metavar="COMMAND", help="The command to measure, in quotes.")]
    revisions: Annotated[OneRevisionOptions, Without("candidate")] = OneRevisionOptions()
    judging: Annotated[DescribingOptions, Only("metric", "pairs", "max_time", "alpha")] = DescribingOptions()
    name: Name = None
    weighing: Annotated[WeighingOptions, Only("parameter_list", "parameter_scan")] = WeighingOptions()
    suite: Annotated[SuiteOptions, Without("shard")] = SuiteOptions()
    heap: HeapOptions = HeapOptions()
    launch: Annotated[LaunchOptionsOfOne, Without("wait_quiet")] = LaunchOptionsOfOne()
    throughput: ThroughputOptions = ThroughputOptions()
    functions: ShownFunctions = SHOWN_FUNCTIONS
    unit: ShownUnits = None
    files: FileOptions = FileOptions()
    save_baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", rich_help_panel=_BASELINES, help="Keep the run by this name, over an older one."),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            rich_help_panel=_BASELINES,
            help="Compare with the run kept by this name, as diff does: measured apart, so far less is seen.",
        ),
    ] = None
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", rich_help_panel=_BASELINES, help="Exit with status 4 if that comparison stays undecided."
        ),
    ] = False


@command(
    RunOptions,
    examples=(
        "steelyard run 'gzip -9 -c /bin/sh' --metric wall,max_rss",
        "steelyard run 'gzip -{level} -c /bin/sh' -L level 1,6,9 --launches 20 -o levels.json",
    ),
)
def run(options: RunOptions, world: World) -> int:
    """Measure one command alone: median, spread, where the values crowd, how quiet the machine was. No verdict.

    To compare two versions use `steelyard compare`: numbers of two runs, taken one after the other, are apart by more
    than most changes.

    Exit status: 0 measured, 2 wrong usage, 3 a measurement failed, 130 interrupted; with --baseline also 1 slower than
    that, 4 undecided (with --strict).
    """
    with in_units(options.unit):
        return _measure(options, world)


def _measure(options: RunOptions, world: World) -> int:
    from steelyard.cli.outcome import report_outcome
    from steelyard.cli.screen import watching
    from steelyard.design.session import attempt
    from steelyard.model.files import save
    from steelyard.model.records import Run

    check_writable(*options.files.paths(), options.launch.output)
    if options.strict and options.baseline is None:
        raise UsageError("--strict is of what --baseline NAME compares with: a run alone has no verdict")
    baseline = None if options.baseline is None else _load_baseline(options.baseline, options, world)
    check_no_files([options.name] if options.name else [], [options.command])
    baseline_path = None if options.save_baseline is None else world.store().place_for(options.save_baseline)
    with (
        earlier_files_removed_on_error(*options.files.paths()),
        watching(world) as watch,
        requested_run(options.command, options.name, options, watch, world) as request,
    ):
        watch.wipe()
        check_not_launched(request, *options.files.paths())
        warn_of_unread_input(options.launch)
        outcome = attempt(request, watch, world)
    errors = WriteErrors()
    if baseline_path is not None and outcome.is_whole:  # an interrupted run is no baseline
        with uninterrupted(), errors.collected():  # before printing, as nobody may read what is printed
            save(outcome.record, baseline_path, private=True)
    try:
        status = report_outcome(outcome, options.files, world, functions=options.functions)
    except MeasurementError:
        _compare_measured_part(baseline, outcome, options, world)
        raise
    if status or not isinstance(outcome.record, Run):
        _say_skipped_baselines(options, compare=True)
        return status
    errors.raise_last()
    if baseline_path is not None:
        say(f"kept as the baseline {options.save_baseline}")
    return 0 if baseline is None else _compare_with_baseline(baseline, outcome.record, options, world)


def _compare_measured_part(baseline: Run | None, outcome: Outcome, options: RunOptions, world: World) -> None:
    """Compare what did not fail with a kept run, as `diff` does; that something failed is said afterwards."""
    from steelyard.model.records import Run

    record = outcome.record
    is_comparable = isinstance(record, Run) and record.derived is not None
    if not outcome.is_whole:
        _say_skipped_baselines(options, compare=not is_comparable)
    if baseline is not None and isinstance(record, Run) and is_comparable:
        try:
            _compare_with_baseline(baseline, record, options, world)
        except SteelyardError as nothing:  # the failed measurement says more, and decides the exit status
            say(str(nothing))


def _say_skipped_baselines(options: RunOptions, *, compare: bool) -> None:
    """Say which baselines were not kept or compared because not everything was measured."""
    if options.save_baseline is not None:
        say(f"not kept as the baseline {options.save_baseline}, as not all was measured")
    if options.baseline is not None and compare:
        say(f"not compared with the baseline {options.baseline}, as not all was measured")


def _load_baseline(name: str, options: RunOptions, world: World) -> Run:
    """Return the run kept by this name.

    Raises UsageError, before anything is measured, for one that cannot be compared: of another machine, or counted if
    this one is timed, or the other way round.
    """
    from steelyard.api.diffs import check_kind
    from steelyard.design.unpaired.comparable import require_run
    from steelyard.model.files import load_any

    path = world.store().find(name)
    run = require_run(load_any(path), path)
    if run.machine.key != world.facts().key:
        raise UsageError(
            f"the baseline {name} was measured on another machine ({run.machine.cpu_model or 'unknown'}, "
            f"{run.machine.key}): keep one of this machine by --save-baseline and a name of its own"
        )
    check_kind(run, Path(name), metric_names(options.judging.metric))
    return run


def _compare_with_baseline(baseline: Run, candidate: Run, options: RunOptions, world: World) -> int:
    """Compare with a kept run, as `diff` does, in the metrics measured now; return the verdict's exit status."""
    from steelyard.api.diffs import difference_of_runs
    from steelyard.cli.diff import show_difference
    from steelyard.design.unpaired.terms import Terms

    judging = options.judging
    terms = Terms(margin=relative_margin(judging.margin), alpha=judging.alpha, metrics=candidate.settings.metrics)
    return show_difference(
        difference_of_runs(baseline, candidate, terms),
        FileOptions(),
        world,
        functions=options.functions,
        strict=options.strict,
        beside_data=is_printed(*options.files.paths()),
    )
