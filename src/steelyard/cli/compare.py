"""`steelyard compare`: weigh two commands."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.model.errors import UsageError


def compare(
    baseline: Annotated[str, typer.Argument(metavar="BASELINE", help="The command to compare with, in quotes.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="The command that may be faster or slower.")],
    margin: Annotated[
        str,
        typer.Option(metavar="PERCENT", help="Smallest change that matters; less is `same`. 0.001% to 50%."),
    ] = "0.5%",
    metric: options.Metric = None,
    pairs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most pairs to measure.  [default: as many as the time allows]"),
    ] = None,
    max_time: options.MaxTime = None,
    alpha: options.Alpha = 0.01,
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="Names for the two.  [default: the commands themselves]")
    ] = None,
    warm_up: options.WarmUp = 1,
    prepare: options.Prepare = None,
    cleanup: options.Cleanup = None,
    stdin: options.Stdin = None,
    shell: options.Shell = False,
    ignore_failure: options.IgnoreFailure = False,
    timeout: options.Timeout = None,
    cpu: options.Cpu = None,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
    seed: options.Seed = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with status 4 if it stays undecided.")] = False,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Weigh two commands: say whether CANDIDATE is slower or faster than BASELINE, or the same.

    Both run in adjacent pairs, in random order, until the verdict stands or the budget ends.

    Exit status: 0 nothing is slower, 1 the candidate is slower, 2 wrong usage, 3 a measurement failed, 4 undecided
    (with --strict), 130 interrupted.
    """
    words = {**locals(), "margin": options.margin_percent(margin)}

    from steelyard.cli.outcome import exit_status, show_outcome
    from steelyard.cli.screen import watching
    from steelyard.design.session import measure
    from steelyard.stats.signed_rank import fewest_differences
    from steelyard.subjects.command import command_subject

    options.check_writable(json, markdown, csv)
    settings = options.settings_from(words, limit="--pairs", launches=pairs, least=fewest_differences)
    first, second = _names(names, baseline, candidate)
    subjects = (
        command_subject(baseline, first, "baseline", shell=shell),
        command_subject(candidate, second, "candidate", shell=shell),
    )
    with watching() as watch:
        outcome = measure(subjects, settings, watch)
    show_outcome(outcome, json=json, markdown=markdown, csv=csv)
    raise typer.Exit(exit_status(outcome, strict=strict))


def _names(names: str | None, baseline: str, candidate: str) -> tuple[str, str]:
    if names is None:
        return (baseline, candidate) if baseline != candidate else (f"{baseline} (1)", f"{candidate} (2)")
    parts = [name.strip() for name in names.split(",")]
    if len(parts) != 2 or not all(parts) or parts[0] == parts[1]:
        raise UsageError(f"--names {names!r} has to be two different names with a comma between them: --names old,new")
    return parts[0], parts[1]
