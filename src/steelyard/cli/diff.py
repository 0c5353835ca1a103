"""`steelyard diff`: two kept runs, measured apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.command import Options, command
from steelyard.cli.inputs import kept_by_name, readable
from steelyard.cli.options import (
    SHOWN_FUNCTIONS,
    WHAT_IS_JUDGED,
    Alpha,
    FileOptions,
    JudgingOptions,
    Margin,
    Markdown,
    ShownFunctions,
    Strict,
)
from steelyard.cli.outputs import check_writable, is_printed, write
from steelyard.cli.views import ShownUnits
from steelyard.model.errors import UsageError
from steelyard.model.values import alpha_checked, metric_names, relative_margin

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.foreign import ForeignResults
    from steelyard.model.records import Run


@dataclass(frozen=True, kw_only=True)
class DiffOptions(Options):
    """What `diff` is asked."""

    baseline: Annotated[
        Path,
        typer.Argument(
            metavar="A",
            help="The run to compare with, kept by `steelyard run -o`, or by --save-baseline, of that name.",
        ),
    ]
    candidate: Annotated[Path, typer.Argument(metavar="B", help="The run that is judged.")]
    margin: Margin = JudgingOptions.margin
    alpha: Alpha = JudgingOptions.alpha
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,NAME]",
            rich_help_panel=WHAT_IS_JUDGED,
            help="What is compared; the first decides.  [default: A's metrics]",
        ),
    ] = None
    force: Annotated[
        bool,
        typer.Option(
            "--force", rich_help_panel=WHAT_IS_JUDGED, help="Compare runs of two different machines all the same."
        ),
    ] = False
    same_conditions: Annotated[
        bool,
        typer.Option(
            "--same-conditions",
            rich_help_panel=WHAT_IS_JUDGED,
            help="Of imports: nothing else changed on the machine between A and B.",
        ),
    ] = False
    functions: ShownFunctions = SHOWN_FUNCTIONS
    unit: ShownUnits = None
    markdown: Markdown = None
    strict: Strict = False


@command(
    DiffOptions,
    examples=(
        "steelyard run 'sleep .1' -o a.json; steelyard run 'sleep .2' -o b.json; steelyard diff a.json b.json",
        "steelyard diff a.json b.json --margin 5% --markdown -",
    ),
)
def diff(options: DiffOptions, world: World) -> int:
    """Say whether run B is slower or faster than run A, as far as two runs measured apart can tell.

    Drift between the runs does not cancel: changes of a few percent stay undecided. `steelyard compare` sees them.
    Imports, which tell nothing of the machine's load, have verdicts only with --same-conditions (steelyard
    docs import).

    Exit status: 0 nothing is slower, 1 B is slower, 2 wrong usage, 3 the metric could not be measured, 4 undecided
    (with --strict).
    """
    from steelyard.report.figures import shown_in

    with shown_in(options.unit or {}):
        return _compared(options, world)


def _compared(options: DiffOptions, world: World) -> int:
    from steelyard.model.files import load_any
    from steelyard.model.foreign import ForeignResults

    margin = relative_margin(options.margin)
    alpha_checked(options.alpha)
    metrics = metric_names(options.metric) if options.metric else None
    _check_markdown(options)
    records = [load_any(path) for path in readable(*kept_by_name(world, options.baseline, options.candidate))]
    if isinstance(records[0], ForeignResults) and isinstance(records[1], ForeignResults):
        return _diff_foreign((records[0], records[1]), options, margin, world)
    if options.same_conditions:
        raise UsageError("--same-conditions is for imports: what runs tell of their conditions is judged; leave it out")
    from steelyard.design.unpaired.runs import run_of

    runs = (run_of(records[0], options.baseline), run_of(records[1], options.candidate))
    return diff_runs(runs, metrics or runs[0].settings.metrics, options, margin, world)


def diff_runs(runs: tuple[Run, Run], wanted: list[str], options: DiffOptions, margin: float, world: World) -> int:
    """Compare two runs in the metrics that are wanted, print what they say, and return the verdict's exit status."""
    from steelyard.model.metrics import METRICS

    compared = _diff_counts if METRICS[wanted[0]].counted else _diff_times
    return compared(runs, wanted, options, margin, world)


def _check_markdown(options: DiffOptions) -> None:
    check_writable(options.markdown)
    if options.markdown is None or is_printed(options.markdown):
        return
    if options.markdown.resolve() in (options.baseline.resolve(), options.candidate.resolve()):
        raise UsageError(f"--markdown {options.markdown} would overwrite a run: give another file")


def _diff_foreign(
    results: tuple[ForeignResults, ForeignResults], options: DiffOptions, margin: float, world: World
) -> int:
    from steelyard.cli.foreign import diff_foreign

    if options.metric:
        raise UsageError("--metric chooses from what steelyard measures; imports have one value a benchmark")
    return diff_foreign(
        *results,
        world,
        margin=margin,
        alpha=options.alpha,
        same_conditions=options.same_conditions,
        force=options.force,
        markdown=options.markdown,
        strict=options.strict,
    )


def _diff_counts(runs: tuple[Run, Run], wanted: list[str], options: DiffOptions, margin: float, world: World) -> int:
    """Two runs that were counted: as a weighing, since counts do not drift."""
    from steelyard.cli.outcome import shown
    from steelyard.design.outcome import Outcome
    from steelyard.design.unpaired.counts import compare_counts
    from steelyard.model.metrics import counted

    weighing = compare_counts(*runs, margin=margin, alpha=options.alpha, metrics=counted(wanted), force=options.force)
    files = FileOptions(markdown=options.markdown)
    return shown(Outcome(weighing), files, world, functions=options.functions, strict=options.strict)


def _diff_times(runs: tuple[Run, Run], wanted: list[str], options: DiffOptions, margin: float, world: World) -> int:
    from steelyard.cli.screen import output
    from steelyard.cli.status import said_status
    from steelyard.design.unpaired.runs import compare_runs
    from steelyard.model.metrics import timed
    from steelyard.report import unpaired

    metrics = timed(wanted)
    report = compare_runs(*runs, margin=margin, alpha=options.alpha, metrics=metrics, force=options.force)
    if options.markdown is not None:
        write(options.markdown, unpaired.markdown(report))
    unpaired.show(output(world.environment, beside_data=is_printed(options.markdown)), report)
    deciding = {verdict.verdict for verdict in report.verdicts[:: len(metrics)]}
    return said_status(deciding, world, strict=options.strict, beside_data=is_printed(options.markdown))
