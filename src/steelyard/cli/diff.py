"""`steelyard diff`: two kept runs, measured apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.api.diffs import difference
from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import record_paths
from steelyard.cli.options import (
    SHOWN_FUNCTIONS,
    WHAT_IS_JUDGED,
    Alpha,
    FileOptions,
    Html,
    JudgingOptions,
    Margin,
    Markdown,
    ShownFunctions,
    Strict,
    json_option,
)
from steelyard.cli.outputs import Content, as_json, check_apart, check_writable, is_printed, page_of, writing_files
from steelyard.cli.views import ShownUnits, in_units
from steelyard.model.values import alpha_checked, metric_names, relative_margin

if TYPE_CHECKING:
    from steelyard.api.diffs import Difference
    from steelyard.design.world import World
    from steelyard.model.foreign import ForeignReport
    from steelyard.model.unpaired import UnpairedReport


@dataclass(frozen=True, kw_only=True)
class DiffOptions(CommandOptions):
    """The options of `diff`."""

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
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark",
            "-b",
            metavar="PATTERN",
            rich_help_panel=WHAT_IS_JUDGED,
            help="Only those, judged as among all: they share --alpha with the others; * and ? as in a shell, "
            "'!PATTERN': all but those.",
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
            help="For imports: say that nothing else changed on the machine between A and B.",
        ),
    ] = False
    functions: ShownFunctions = SHOWN_FUNCTIONS
    unit: ShownUnits = None
    json: Annotated[Path | None, json_option("Write the answer as JSON; - is stdout.")] = None
    markdown: Markdown = None
    html: Html = None
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
    with in_units(options.unit):
        return _diff_files(options, world)


def _diff_files(options: DiffOptions, world: World) -> int:
    from steelyard.design.unpaired.terms import Terms
    from steelyard.model.files import load_any

    terms = Terms(
        margin=relative_margin(options.margin),
        alpha=alpha_checked(options.alpha),
        metrics=metric_names(options.metric) if options.metric else None,
        force=options.force,
        same_conditions=options.same_conditions,
        benchmarks=options.benchmark or [],
    )
    files = FileOptions(json=options.json, markdown=options.markdown, html=options.html)
    check_writable(*files.paths())
    paths = record_paths(world, options.baseline, options.candidate)
    check_apart(files.paths(), paths)
    records = [load_any(path) for path in paths]
    names = (options.baseline, options.candidate)
    found = difference(records[0], records[1], names, terms)
    return show_difference(found, files, world, functions=options.functions, strict=options.strict)


def show_difference(
    difference: Difference,
    files: FileOptions,
    world: World,
    *,
    functions: int,
    strict: bool,
    beside_data: bool = False,
) -> int:
    """Print what two records say about each other, write the files, and return the verdict's exit status.

    The result goes to stderr if stdout has data, of these files or others (`beside_data`).
    """
    from steelyard.cli.status import announced_status
    from steelyard.model.foreign import ForeignReport

    beside_data = beside_data or is_printed(*files.paths())
    if isinstance(difference, ForeignReport):
        from steelyard.report import foreign

        deciding = {verdict.verdict for verdict in difference.verdicts}
        show, markdown = partial(foreign.show_diff, report=difference), partial(foreign.diff_markdown, difference)
    else:
        from steelyard.model.records import Weighing  # takes time to import, which imports do without

        if isinstance(difference, Weighing):
            from steelyard.cli.outcome import report_outcome
            from steelyard.design.outcome import Outcome

            return report_outcome(
                Outcome(difference), files, world, functions=functions, strict=strict, beside_data=beside_data
            )
        from steelyard.report import unpaired

        deciding = {verdict.verdict for verdict in difference.deciding()}
        show, markdown = partial(unpaired.show, report=difference), partial(unpaired.markdown, difference)
    with writing_files(
        world,
        (files.json, partial(_as_json, difference)),
        (files.markdown, markdown),
        (files.html, partial(page_of, world, difference)),
        beside_data=beside_data,
    ) as console:
        show(console)
        return announced_status(deciding, world, strict=strict, beside_data=beside_data)


def _as_json(report: UnpairedReport | ForeignReport) -> Content:
    from steelyard.report import diff_json

    return as_json(diff_json.answer(report))
