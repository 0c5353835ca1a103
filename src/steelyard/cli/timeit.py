"""`steelyard timeit`: weigh Python statements, each in fresh processes of a Python."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import options
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.model.records import Subject


def timeit(
    statements: Annotated[
        list[str], typer.Argument(metavar="STATEMENT...", help="Python, in quotes; each is compared with the first.")
    ],
    setup: Annotated[
        list[str] | None,
        typer.Option("--setup", "-s", metavar="CODE", help="Run before, untimed; once for all, or once for each."),
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROGRAM",
            help="The Python that runs it, with steelyard installed; several compare one statement between them.  "
            "[default: this one]",
        ),
    ] = None,
    margin: options.Margin = "0.5%",
    metric: options.Metric = None,
    pairs: options.Pairs = None,
    max_time: options.MaxTime = None,
    alpha: options.Alpha = 0.01,
    cpu: options.Cpu = None,
    env: options.Env = None,
    inherit_env: options.InheritEnv = False,
    seed: options.Seed = None,
    strict: options.Strict = False,
    json: options.Json = None,
    markdown: options.Markdown = None,
    csv: options.Csv = None,
) -> None:
    """Weigh Python statements against the first, or measure one alone.

    Each launch is a fresh Python with a hash seed of its own, which runs one statement in samples of about 1.5 ms;
    the garbage collector is off meanwhile.

    Exit status: as for steelyard compare.
    """
    words = {**locals(), "margin": options.margin_percent(margin), "harness": "protocol"}
    del words["statements"], words["setup"], words["python"], words["strict"], words["markdown"], words["csv"]

    from steelyard.cli.outcome import exit_status, show_outcome
    from steelyard.cli.screen import watching
    from steelyard.cli.suite import selection_from
    from steelyard.design.request import Request
    from steelyard.design.session import measure
    from steelyard.design.world import World
    from steelyard.stats.signed_rank import fewest_differences

    options.check_writable(json, markdown, csv)
    subjects = _subjects(statements, setup or [], python or [sys.executable])
    least = fewest_differences if len(subjects) > 1 else None
    settings = options.plain_settings(**words, warm_up=1, limit="--pairs", launches=pairs, least=least)
    with watching() as watch:
        outcome = measure(Request(subjects, settings, selection=selection_from(words)), watch, World())
    show_outcome(outcome, json=json, markdown=markdown, csv=csv)
    raise typer.Exit(exit_status(outcome, strict=strict))


def _subjects(statements: list[str], setups: list[str], pythons: list[str]) -> list[Subject]:
    """One subject a statement, or one a Python where there is one statement."""
    from steelyard.subjects.command import command_subject

    if len(statements) > 1 and len(pythons) > 1:
        raise UsageError("several statements and several --python cannot be told apart: give one of either")
    if len(setups) > 1 and len(setups) != len(statements):
        raise UsageError(f"--setup was given {len(setups)} times: once for all statements, or once for each")
    several = max(len(statements), len(pythons))
    subjects = []
    for place in range(several):
        statement, program = statements[place % len(statements)], pythons[place % len(pythons)]
        setup = setups[place % len(setups)] if setups else None
        name = program if len(pythons) > 1 else _named(statement, statements, place)
        words = [program, "-m", "steelyard.harness", "--timeit", statement]
        command = shlex.join([*words, *(["--setup", setup] if setup is not None else [])])
        subjects.append(command_subject(command, name, "--python", shell=False))
    return subjects


def _named(statement: str, statements: list[str], place: int) -> str:
    """A statement as its own name; alike ones, which may differ in their set-up, with their places."""
    return statement if statements.count(statement) == 1 else f"{statement} ({place + 1})"
