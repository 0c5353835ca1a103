"""`steelyard init`: the first version of a project's file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from steelyard.api.settings import current_folder
from steelyard.cli.command import CommandOptions, command
from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.outputs import write
from steelyard.cli.say import say
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.design.world import World
    from steelyard.subjects.projects.discovery import FoundProject


@dataclass(frozen=True, kw_only=True)
class InitOptions(CommandOptions):
    """The options of `init`."""

    panel: ClassVar[str] = "What is written"

    force: Annotated[bool, typer.Option("--force", help="Overwrite a steelyard.toml that is there.")] = False
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the file's JSON Schema instead, for editors and checkers.")
    ] = False


@command(InitOptions, examples=("steelyard init", "steelyard init --schema | less"))
def init(options: InitOptions, world: World) -> int:
    """Write steelyard.toml, which says what `steelyard compare` weighs here: from what is in this folder.

    It knows criterion, Divan and steelyard-bench under Cargo, Google Benchmark and Catch2 under CMake, the
    former under Meson too, Go's benchmarks, @bench, weigh, pytest-benchmark and pyperf in Python, JMH under
    Maven and Gradle; where there are none, the programs of Cargo, CMake, Meson, Go, a configure script,
    pyproject.toml, a Makefile or a package.json.
    """
    from steelyard.model.project import schema

    if options.schema and options.force:
        raise UsageError("--schema writes no file: leave --force out")
    if options.schema:
        write(STANDARD_STREAM, f"{json.dumps(schema(), indent=2)}\n")
        return 0

    from steelyard.model.project_file import OWN
    from steelyard.subjects.projects.text import found_in, project_text

    folder = Path(current_folder())
    _check_no_project_file(folder, force=options.force)
    projects = found_in(folder, world.environment)
    write(Path(OWN), project_text(projects))
    say(f"{OWN} is written: {_summary(projects, _next_step(folder))}")
    return 0


def _check_no_project_file(folder: Path, *, force: bool) -> None:
    """Raise UsageError if there is a project's file already: what was put into it by hand is worth more."""
    from steelyard.model.project_file import OWN, SHARED, has_table

    own = folder / OWN
    if own.is_symlink() and not own.exists():
        raise UsageError(f"{OWN} is a link to a file that is not there: fix the link, or remove it")
    if own.exists() and not own.is_file():
        raise UsageError(f"{OWN} is there already, and is no file: remove it first")
    if not force and own.exists():
        raise UsageError(f"{OWN} is there already: change it, or write over it with --force")
    if has_table(folder / SHARED):
        raise UsageError(f"{SHARED} has a [tool.steelyard], which {OWN} would be read instead of: take that out first")


def _next_step(folder: Path) -> str:
    """Say what to do once the file says what it should."""
    from steelyard.model.project_file import repository_top

    if repository_top(folder) is not None:
        return "steelyard compare"
    return "commit all to a git repository (git init, git add, git commit), as it weighs revisions: steelyard compare"


_NOTHING_FOUND = "nothing was found here that it knows"


def _summary(projects: Sequence[FoundProject], next_step: str) -> str:
    """Say what was found, and what to do next."""
    from steelyard.design.findings import some_names
    from steelyard.subjects.projects.text import names_of

    targets = [target for project in projects for target in project.targets]
    what = " and ".join(project.what for project in projects)
    if not targets:
        undriven = ", ".join(project.not_driven for project in projects if project.not_driven)
        summary = f"{what}, but {undriven or 'no program or benchmark in it'}" if what else _NOTHING_FOUND
        return f"{summary}; put a command of yours into it, then {next_step}"
    names = some_names([*names_of(projects)])
    if any(target.harness is None for target in targets):
        return f"{what} ({names}); give the commands their work, then {next_step}"
    return f"{what} ({names}); next: {next_step}"
