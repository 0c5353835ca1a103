"""`steelyard timeit`: weigh Python statements, each in fresh processes of a Python."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.api.names import default_names, names_of
from steelyard.api.settings import request_of, settings_of
from steelyard.cli.command import Only, Without, command
from steelyard.cli.options import (
    WHAT_IS_RUN,
    FileOptions,
    JudgingOptions,
    LaunchOptions,
    Names,
    OldNames,
    Strict,
)
from steelyard.cli.outputs import check_not_launched, check_writable
from steelyard.cli.settings import MeasuringOptions, SuiteOptions
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.subject import Subject


@dataclass(frozen=True, kw_only=True)
class TimeitOptions(MeasuringOptions):
    """The options of `timeit`."""

    statements: Annotated[
        list[str], typer.Argument(metavar="STATEMENT...", help="Python, in quotes; each is compared with the first.")
    ]
    setup: Annotated[
        list[str] | None,
        typer.Option(
            "--setup",
            "-s",
            metavar="CODE",
            rich_help_panel=WHAT_IS_RUN,
            help="Run before, untimed; given once for all, or once for each.",
        ),
    ] = None
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PROGRAM",
            rich_help_panel=WHAT_IS_RUN,
            help="The Python that runs it, with steelyard installed; several compare one statement between them.  "
            "[default: this one]",
        ),
    ] = None
    name: Names = None
    names: OldNames = None
    judging: Annotated[JudgingOptions, Without("family")] = JudgingOptions()
    suite: Annotated[SuiteOptions, Only()] = SuiteOptions(harness="protocol")
    launch: Annotated[LaunchOptions, Only("cpu", "isolate", "env", "inherit_env", "seed", "timeout")] = LaunchOptions()
    strict: Strict = False
    files: FileOptions = FileOptions()


@command(
    TimeitOptions,
    examples=(
        "steelyard timeit 'sorted(x)' 'x.sort()' -s 'x = list(range(1000))'",
        "steelyard timeit '[i for i in range(99)]' --max-time 5s",
    ),
)
def timeit(options: TimeitOptions, world: World) -> int:
    """Weigh Python statements against the first, or measure one alone.

    Each launch is a fresh Python, which runs one statement in samples of about 1.5 ms; of two statements in samples of
    0.2 ms, by turns with the other's, each pair with a hash seed of its own. The garbage collector is off meanwhile.

    Exit status: as for steelyard compare.
    """
    from steelyard.cli.outcome import report_outcome
    from steelyard.cli.screen import watching
    from steelyard.design.session import attempt

    check_writable(*options.files.paths())
    _check_names(options.name or [])
    pythons = options.python or [sys.executable]
    subjects = _subjects(options.statements, options.setup or [], pythons, world.search_path)
    if len(subjects) == 1:
        _check_no_verdict_options(options)
    names = names_of(options.name, options.names, [subject.name for subject in subjects])
    subjects = [one.model_copy(update={"name": name}) for one, name in zip(subjects, names, strict=True)]
    settings = settings_of(options, world, judged=len(subjects) > 1)
    request = request_of(options, subjects, settings)
    check_not_launched(request, *options.files.paths())
    with watching(world) as watch:
        outcome = attempt(request, watch, world)
    return report_outcome(outcome, options.files, world, strict=options.strict)


def _check_names(names: list[str]) -> None:
    """Raise UsageError for a number as a name: in Python's own timeit, -n is how often a statement runs."""
    if number := next((name for name in names if name.strip().isdigit()), None):
        raise UsageError(
            f"-n and --name name a statement here, and {number} is no name: how often it runs is found by itself; "
            "leave it out, and give --pairs N or --max-time SECONDS for more or less"
        )


def _check_no_verdict_options(options: TimeitOptions) -> None:
    """Raise UsageError for options that only a verdict has a use for."""
    for option in filter(None, (options.judging.given.get("margin"), options.given.get("strict"))):
        raise UsageError(f"{option} is of a verdict, and one statement alone has none: give two, or leave it out")


def _subjects(statements: list[str], setups: list[str], pythons: list[str], search_path: str | None) -> list[Subject]:
    """Return a subject per statement, or for a single statement a subject per Python."""
    from steelyard.subjects.command import command_subject

    if len(statements) > 1 and len(pythons) > 1:
        raise UsageError("several statements and several --python cannot be told apart: give one of either")
    if not all(statement.strip() for statement in statements):
        raise UsageError("the statement '' is empty: give Python to run, in quotes")
    if len(setups) > 1 and len(setups) != len(statements):
        raise UsageError(f"--setup was given {len(setups)} times: once for all statements, or once for each")
    several, names = max(len(statements), len(pythons)), default_names(statements)
    subjects = []
    for place in range(several):
        statement, program = statements[place % len(statements)], pythons[place % len(pythons)]
        setup = setups[place % len(setups)] if setups else None
        name = program if len(pythons) > 1 else names[place]
        argv = [program, "-m", "steelyard.harness", "--timeit", statement]
        argv += ["--setup", setup] if setup is not None else []
        subjects.append(command_subject(shlex.join(argv), name, "--python", shell=False, search_path=search_path))
    return subjects
