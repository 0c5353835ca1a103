"""The files that commands name, such as scripts and input: launches before and after a change in one differ."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, Self

from steelyard.design.findings import some_names
from steelyard.model.findings import CHANGED_FILES, Finding
from steelyard.model.records import Run, Weighing
from steelyard.model.subject import Subject
from steelyard.subjects.programs import behind_env, digest

# Of larger files, only the size is compared: reading this much takes 10 to 50 ms.
_MOST_BYTES_READ = 16 << 20


class _FileState(NamedTuple):
    """The state in which a file was seen."""

    marks: tuple[int, ...]
    content: str


class NamedFiles:
    """Finds files that are not the same at the end as when the warm-up was over, in this session or an earlier one.

    Those that the warm-up has written to are left out: they are output, or what the commands themselves work on. Where
    there is none, the first launches of all take its place.
    """

    def __init__(
        self,
        places: Mapping[str, str] | None = None,
        known: Mapping[str, str] | None = None,
        keep: Callable[[dict[str, str]], None] = lambda _: None,
    ) -> None:
        """Take the files by their paths, with what commands call them.

        The contents of `known` ones are those of an earlier session; `keep` is called with those that are noted.
        """
        self._places, self._keep = places or {}, keep
        self._marks_before = {path: _file_marks(path) for path in self._places}
        self._states = {path: _FileState((), content) for path, content in (known or {}).items()}
        self._are_noted = bool(self._states)

    @classmethod
    def of(cls, record: Weighing | Run, keep: Callable[[dict[str, str]], None] = lambda _: None) -> Self:
        """Return the files that all commands name, and the input that each launch reads."""
        named = [(path, word) for subject in record.subjects for path, word in _files_named_in(subject)]
        stdin = record.settings.stdin
        places = dict([*named, *([] if stdin is None else [(stdin, stdin)])])
        return cls({**{path: path for path in record.files}, **places}, record.files, keep)

    def note_states(self) -> None:
        """Note the state of the files, now that each command has run; of those of an earlier session it is known."""
        if self._are_noted:
            return
        self._are_noted = True
        unwritten = [
            path for path, marks in self._marks_before.items() if marks is not None and marks == _file_marks(path)
        ]
        self._states = {path: state for path in unwritten if (state := _file_state(path)) is not None}
        if self._states:
            self._keep(self.contents())

    def contents(self) -> dict[str, str]:
        """Return what tells each file's content from another, by its path."""
        return {path: state.content for path, state in self._states.items()}

    def findings(self) -> list[Finding]:
        """Return a finding that names the files that have changed, if any."""
        changed = [self._places[path] for path, state in self._states.items() if _has_changed(path, state)]
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


def _files_named_in(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield the files among a command's words, and after the `=` of its options, as (path, name)."""
    folder, argv = behind_env(subject.argv)
    for word in argv[1:]:
        name = word.partition("=")[2] if word.startswith("-") else word
        path = os.path.join(subject.directory or "", folder, name)  # noqa: PTH118 - of a name with a NUL, too
        if name and os.path.isfile(path):  # noqa: PTH113 - Path's raises where a word is too long for a name
            yield path, name


def _file_marks(path: str) -> tuple[int, ...] | None:
    """Return the marks by which a file is known to be unchanged, its size first; None if there is no file."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns


def _file_state(path: str) -> _FileState | None:
    """Return the state of a file now; None if there is no file."""
    marks = _file_marks(path)
    if marks is None:
        return None
    return _FileState(marks, (digest(path) if marks[0] <= _MOST_BYTES_READ else None) or f"{marks[0]} bytes")


def _has_changed(path: str, before: _FileState) -> bool:
    now = _file_state(path)
    return now is None or (now.marks != before.marks and now.content != before.content)
