"""The files that commands name, as scripts and input: launches before and after a change of one are not the same."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from steelyard.design.findings import some_names
from steelyard.model.kept import CHANGED_FILES, Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from steelyard.subjects.programs import digest

# Of larger ones the size has to do: reading this much takes 10 to 50 ms.
_MOST_READ = 16 << 20


class _Seen(NamedTuple):
    """What a file was."""

    marks: tuple[int, ...]
    content: str | None


class NamedFiles:
    """Tells of files that are not at the end what they were when the warm-up was over.

    Not of those that the warm-up has written to: they are output, or what the commands themselves work on.
    """

    def __init__(self, places: Mapping[str, str] | None = None) -> None:
        """Of files by their paths, with what commands call them."""
        self._places = places or {}
        self._before = {path: _marks(path) for path in self._places}
        self._seen: dict[str, _Seen] = {}

    @classmethod
    def of(cls, record: Weighing | Run) -> Self:
        """Those of all commands, and the input that each launch reads."""
        named = [(path, word) for subject in record.subjects for path, word in _named_by(subject)]
        stdin = record.settings.stdin
        return cls(dict([*named, *([] if stdin is None else [(stdin, stdin)])]))

    def look(self) -> None:
        """See what they are now that each command ran."""
        left_alone = [path for path, marks in self._before.items() if marks is not None and marks == _marks(path)]
        self._seen = {path: seen for path in left_alone if (seen := _look(path)) is not None}

    def findings(self) -> list[Finding]:
        """Name those that are not what they were."""
        changed = [self._places[path] for path, seen in self._seen.items() if _is_another(path, seen)]
        if not changed:
            return []
        what = "a file that is named in a command" if len(changed) == 1 else "files that are named in commands"
        return [
            Finding(
                code=CHANGED_FILES,
                message=f"{what} changed while launches were measured, so that not all of them had the same: "
                f"{some_names([*dict.fromkeys(changed)])}",
                remedy="weigh a copy that nobody works on",
            )
        ]


def _named_by(subject: Subject) -> Iterator[tuple[str, str]]:
    """The files among the words of a command, and what is behind the `=` of its options."""
    for word in subject.argv[1:]:
        name = word.partition("=")[2] if word.startswith("-") else word
        path = os.path.join(subject.directory or "", name)  # noqa: PTH118 - of a name with a NUL, too
        if name and os.path.isfile(path):  # noqa: PTH113 - Path's raises where a word is too long for a name
            yield path, name


def _marks(path: str) -> tuple[int, ...] | None:
    """By what a file is known to be as it was, its size first; None where there is none."""
    try:
        seen = Path(path).stat()
    except OSError:
        return None
    return seen.st_size, seen.st_dev, seen.st_ino, seen.st_mtime_ns


def _look(path: str) -> _Seen | None:
    """What a file is now; None where there is none."""
    marks = _marks(path)
    return None if marks is None else _Seen(marks, digest(path) if marks[0] <= _MOST_READ else None)


def _is_another(path: str, before: _Seen) -> bool:
    now = _look(path)
    if now is None or now.marks == before.marks:
        return now is None
    return now.content != before.content or now.marks[0] != before.marks[0]
