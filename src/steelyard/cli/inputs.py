"""Files that are read; `-` is standard input."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api.kept import kept_paths
from steelyard.cli.say import say
from steelyard.model.errors import UsageError

if TYPE_CHECKING:
    from steelyard.api.options import Launching
    from steelyard.design.world import World
    from steelyard.model.project_file import Project

STANDARD_STREAM = Path("-")
_STDIN_PATH = Path("/dev/stdin")
_STDIN_NUMBER = 0


def input_paths(*paths: Path) -> list[Path]:
    """Return where to read these files; raise UsageError if two are standard input, which can be read only once."""
    if paths.count(STANDARD_STREAM) > 1:
        raise UsageError("two files would be read from standard input: give one of them by its name")
    return [_STDIN_PATH if path == STANDARD_STREAM else path for path in paths]


def record_paths(world: World, *named: Path | None) -> list[Path]:
    """Return where to read these files and kept runs, or the last record measured if none is named; raise likewise."""
    paths = list(filter(None, named))
    return input_paths(*kept_paths(world, *paths)) if paths else [world.store().latest()]


def project_instead_of_command(name: str, example: str) -> Project:
    """Return the project here, for a subcommand that was given no command; raise UsageError if there is none."""
    from steelyard.api.settings import current_folder
    from steelyard.model.project_file import load_project

    project = load_project(Path(current_folder()))
    if project is None:
        raise UsageError(
            f"{name} needs a command, in quotes: steelyard {example}; or a project's file, which steelyard init writes"
        )
    return project


def warn_of_unread_input(launch: Launching) -> None:
    """Say that data waiting on standard input reach no launch, if no other input is given."""
    if launch.stdin is None and _has_data(_STDIN_NUMBER):
        say("what comes on standard input reaches no launch: put it into a file, and give that by --stdin FILE")


def _has_data(number: int) -> bool:
    """Return whether a file or pipe put there has data to read, as far as can be told by now."""
    try:
        status = os.fstat(number)
        if stat.S_ISREG(status.st_mode):
            return os.lseek(number, 0, os.SEEK_CUR) < status.st_size
        is_piped = stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode)
        waiting = fcntl.ioctl(number, termios.FIONREAD, bytes(4)) if is_piped else b""
    except OSError:
        return False
    return int.from_bytes(waiting, sys.byteorder) > 0
