"""A whole bisection: a line of commits, their folders, and the search among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from steelyard import __version__
from steelyard.design.bisection.search import Searching, Telling
from steelyard.design.bisection.trees import Commands, Trees, git_of
from steelyard.design.bisection.weighing import Asked, CommitScales
from steelyard.design.runner.failure import Interrupted
from steelyard.design.runner.interrupt import Interrupt
from steelyard.design.world import World
from steelyard.measure.scratch import scratch_folder
from steelyard.model.bisection import Bisection
from steelyard.model.errors import InterruptedBeforeStart, SteelyardError
from steelyard.subjects.commits import Ended, line_of, repository_of

NOT_BEGUN = "interrupted before anything was weighed"


def bisect(asked: Asked, telling: Telling, world: World) -> tuple[Bisection, SteelyardError | None]:
    """Search the commit that made a benchmark slower; with why it could not go on, if that failed on the way.

    Raises UsageError for revisions or a command that are not there, MeasurementError where one of the ends cannot be
    built or measured, InterruptedBeforeStart if the user stopped it before the ends were weighed.
    """
    started = world.clock()
    git = git_of(world.environment)
    try:
        with _commands(world) as commands:
            here = partial(_git, commands, git, Path(asked.settings.directory))
            repository = repository_of(here)
            line = line_of(here, asked.good, asked.bad)
            with _trees(Trees(commands, git, repository, asked.build)) as trees:
                scales = CommitScales(asked, trees.of, world, telling.progress)
                searching = Searching(line, asked.settings, scales, telling)
                ended = searching.run()
    except Interrupted:
        raise InterruptedBeforeStart(NOT_BEGUN) from None
    about: dict[str, Any] = {
        "tool": __version__,
        "repository": str(repository.top),
        "command": asked.command,
        "build": asked.build,
        "seconds": world.clock() - started,
    }
    return searching.result(ended, about), ended.error


@contextmanager
def _commands(world: World) -> Iterator[Commands]:
    world.sweep()
    with (
        world.launcher() as launcher,
        Interrupt(launcher.cancel, world.clock) as interrupt,
        scratch_folder("bisect") as folder,
    ):
        yield Commands(launcher, interrupt.is_requested, world.environment, folder)


def _git(commands: Commands, git: str, place: Path, *words: str) -> Ended:
    return commands([git, *words], place)


@contextmanager
def _trees(trees: Trees) -> Iterator[Trees]:
    try:
        yield trees
    finally:
        trees.remove()
