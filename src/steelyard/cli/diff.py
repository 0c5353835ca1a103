"""`steelyard diff`: two kept runs, measured apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli import options, status
from steelyard.cli.counting import ShownFunctions
from steelyard.model.errors import UsageError


def diff(
    baseline: Annotated[Path, typer.Argument(metavar="A", help="The run to compare with, kept by `steelyard run -o`.")],
    candidate: Annotated[Path, typer.Argument(metavar="B", help="The run that is judged.")],
    margin: Annotated[
        str, typer.Option(metavar="PERCENT", help="Smallest change that matters; less is `same`. 0.001% to 50%.")
    ] = "0.5%",
    alpha: options.Alpha = 0.01,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[,NAME]", help="What is compared; the first decides.  [default: A's metrics]"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare runs of two different machines all the same.")
    ] = False,
    same_conditions: Annotated[
        bool,
        typer.Option("--same-conditions", help="Of imports: nothing else changed on the machine between A and B."),
    ] = False,
    functions: ShownFunctions = 10,
    markdown: options.Markdown = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 4 if it stays undecided.")] = False,
) -> None:
    """Say whether run B is slower or faster than run A, as far as two runs measured apart can tell.

    Drift between the runs does not cancel: changes of a few percent stay undecided. `steelyard compare` sees them.
    Imports, which tell nothing of the machine's load, have verdicts only with --same-conditions (docs/import.md).

    Exit status: 0 nothing is slower, 1 B is slower, 2 wrong usage, 3 the metric could not be measured, 4 undecided
    (with --strict).
    """
    from steelyard.cli.screen import output
    from steelyard.design.unpaired.runs import compare_runs, run_of
    from steelyard.model.files import load_any, write_atomically
    from steelyard.model.foreign import ForeignResults
    from steelyard.model.metrics import METRICS, counted, timed
    from steelyard.report import unpaired as apart

    margin_relative = options.margin_percent(margin) / 100
    if not 1e-5 <= alpha <= 0.2:
        raise UsageError(f"--alpha {alpha:g} is out of range: 1e-05 to 0.2")
    metrics = options.metric_names(metric) if metric else None
    options.check_writable(markdown)
    if markdown is not None and markdown.resolve() in (baseline.resolve(), candidate.resolve()):
        raise UsageError(f"--markdown {markdown} would overwrite a run: give another file")
    records = [load_any(path) for path in (baseline, candidate)]
    if isinstance(records[0], ForeignResults) and isinstance(records[1], ForeignResults):
        from steelyard.cli.foreign import diff_foreign

        if metric:
            raise UsageError("--metric chooses from what steelyard measures; imports have one value a benchmark")
        diff_foreign(
            records[0],
            records[1],
            margin=margin_relative,
            alpha=alpha,
            same_conditions=same_conditions,
            force=force,
            markdown=markdown,
            strict=strict,
        )
    if same_conditions:
        raise UsageError("--same-conditions is for imports: what runs tell of their conditions is judged; leave it out")
    runs = (run_of(records[0], baseline), run_of(records[1], candidate))
    wanted = metrics or runs[0].settings.metrics
    limits: dict[str, Any] = {"margin": margin_relative, "alpha": alpha, "metrics": metrics, "force": force}
    if METRICS[wanted[0]].counted:
        _diff_counts(runs, {**limits, "metrics": counted(wanted)}, functions, markdown, strict=strict)
    report = compare_runs(*runs, **{**limits, "metrics": timed(wanted)})
    if markdown is not None:
        write_atomically(markdown, apart.markdown(report).encode(errors="backslashreplace"))
    apart.show(output(), report)
    deciding = {verdict.verdict for verdict in report.verdicts[:: len(timed(wanted))]}
    raise typer.Exit(status.of_words(deciding, strict=strict))


def _diff_counts(
    runs: tuple[Any, Any], limits: dict[str, Any], functions: int, markdown: Path | None, *, strict: bool
) -> None:
    """Two runs that were counted: as a weighing, since counts do not drift."""
    from steelyard.cli.outcome import exit_status, show_outcome
    from steelyard.design.session import Outcome
    from steelyard.design.unpaired.counts import compare_counts

    outcome = Outcome(compare_counts(*runs, **limits))
    show_outcome(outcome, json=None, markdown=markdown, csv=None, functions=functions)
    raise typer.Exit(exit_status(outcome, strict=strict))
