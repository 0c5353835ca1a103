"""Check that a program is still the file that the weighing began with."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.model.errors import MeasurementError

if TYPE_CHECKING:
    from steelyard.model.subject import Subject


def behind_env(argv: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the folder and the command of `env -C FOLDER COMMAND`; of any other command, "" and that itself."""
    is_env = list(argv[:2]) == ["env", "-C"] and len(argv) >= len(["env", "-C", "FOLDER", "PROGRAM"])
    return (argv[2], argv[3:]) if is_env else ("", argv)


def path_behind_env(argv: Sequence[str]) -> tuple[str, str] | None:
    """Return the folder and the program of `env -C FOLDER ./program`; None for any other command.

    A name without a slash is not returned, as env looks for it on PATH.
    """
    folder, (program, *_) = behind_env(argv)
    return (folder, program) if folder and "/" in program and "=" not in program else None


def weighed_file(subject: Subject) -> str:
    """Return the path of the program that does a subject's work: of `env -C FOLDER ./program`, the latter."""
    behind = path_behind_env(subject.argv)
    return subject.program if behind is None else os.path.join(subject.directory or "", *behind)  # noqa: PTH118


def digest(program: str) -> str | None:
    """Return the SHA-256 of a program's file; None if it may be executed but not read."""
    try:
        with Path(program).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class Programs:
    """Notices a program that was replaced or removed between two launches, whose numbers would be another program's.

    Checking the file's place, size and time costs 2 µs a launch; only if these changed is the file read again. A
    program that may be executed but not read then counts as replaced.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[tuple[int, ...], str | None]] = {}

    def check(self, program: str, name: str) -> None:
        """Raise MeasurementError if the program is not what it was at its first check.

        One that was never there is left to its launch, which says what is missing.
        """
        try:
            status = os.stat(program)  # noqa: PTH116 - a Path for each launch costs as much as the rest of this check
        except OSError as error:
            if program not in self._seen:
                return
            raise MeasurementError(f"{name}: {program} is gone ({error.strerror}): it was there before") from error
        marks = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
        known = self._seen.get(program)
        if known is None:
            self._seen[program] = (marks, digest(program))
        elif known[0] != marks:
            content = digest(program)
            if content is None or content != known[1]:  # without its content, only the marks can tell
                raise MeasurementError(
                    f"{name}: {program} was replaced while it was measured: build first, then weigh, or weigh a copy"
                )
            self._seen[program] = (marks, content)
