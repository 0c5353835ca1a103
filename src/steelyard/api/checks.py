"""Checks of what is asked of `check`, which examines whether one target is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.api.options import Options
from steelyard.api.settings import settings_of
from steelyard.model.values import seconds_in_range

if TYPE_CHECKING:
    from steelyard.design.world import World
    from steelyard.model.settings import Settings
    from steelyard.model.subject import Subject

DEFAULT_LIMIT_S = 20.0
"""How long each benchmark is examined by default, s."""


def target_of(command: str, options: Options, max_time: float, world: World) -> tuple[Subject, Settings]:
    """Return the command to examine and how it is launched; raise UsageError, also for a bad `max_time` (s)."""
    from steelyard.subjects.command import command_subject

    check_limit(max_time)
    settings = settings_of(options, world)
    return command_subject(command, command, "checked", shell=False, search_path=world.search_path), settings


def check_limit(max_time: float) -> None:
    """Raise UsageError for a time for each benchmark (s) that is out of range."""
    seconds_in_range("--max-time", max_time, 0.1, 86_400)
