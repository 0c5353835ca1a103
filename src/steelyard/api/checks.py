"""Checks of what is asked of `check`, which examines whether one target is sound."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.api.options import Options
from steelyard.api.revisions import subject_of_revision
from steelyard.api.settings import settings_of
from steelyard.model.values import seconds_in_range

if TYPE_CHECKING:
    from steelyard.design.check.session import CheckRequest
    from steelyard.design.world import World
    from steelyard.model.progress import Watch

DEFAULT_LIMIT_S = 20.0
"""How long each benchmark is examined by default, s."""


@contextmanager
def requested_check(
    command: str, options: Options, max_time: float, watch: Watch, world: World
) -> Iterator[CheckRequest]:
    """Return what is asked about a command, with what the user should know of its revision, if it has one.

    The command exists as long as the context lasts. Raises UsageError, also for a bad `max_time` (s); for a revision
    also as a run of one does.
    """
    from steelyard.design.check.session import CheckRequest
    from steelyard.design.suite.selection import Selection
    from steelyard.subjects.command import command_subject

    check_limit(max_time)
    settings, selection = settings_of(options, world), Selection(only=options.suite.benchmark or [])
    if options.revisions.given:
        with subject_of_revision(command, command, options, settings, watch, world) as (subject, findings):
            yield CheckRequest(subject=subject, settings=settings, selection=selection, findings=findings)
    else:
        subject = command_subject(command, command, "checked", shell=False, search_path=world.search_path)
        yield CheckRequest(subject=subject, settings=settings, selection=selection)


def check_limit(max_time: float) -> None:
    """Raise UsageError for a time for each benchmark (s) that is out of range."""
    seconds_in_range("--max-time", max_time, 0.1, 86_400)
