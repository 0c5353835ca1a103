"""The sources of benchmarks: files that declare them, or a statement on the command line."""

from __future__ import annotations

from contextlib import contextmanager

from steelyard.harness.entry import Entry
from steelyard.harness.faults import STATEMENT, describe_error
from steelyard.harness.find import FindError, entries_of, files_of, find_entry, surround
from steelyard.harness.loop import Text, is_empty
from steelyard.harness.names import check_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Protocol

    from steelyard.harness.worker import Work

    class Suite(Protocol):
        """Benchmarks by their names. Its methods raise FindError or BadNameError for what the user has to mend."""

        @property
        def files(self) -> Mapping[str, str]:
            """The labels of the user's files, by path."""

        def entries(self) -> list[Entry]:
            """Return all benchmarks."""

        def called(self, name: str) -> Entry:
            """Return the benchmark of this name."""

        def prepared(self, entry: Entry, seed: int) -> AbstractContextManager[Work]:
            """Set a benchmark up for the context, and tear it down afterwards."""


class Files:
    """The benchmarks of files and folders."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths
        self._files: dict[str, str] | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """The labels of the files, by path."""
        return {file: label for label, file in self._files_by_label().items()}

    def entries(self) -> list[Entry]:
        """Return all benchmarks of the files, in their order."""
        return entries_of(self._files_by_label())

    def called(self, name: str) -> Entry:
        """Return the benchmark of this name, loading only its file."""
        return find_entry(name, self._files_by_label())

    def prepared(self, entry: Entry, seed: int) -> AbstractContextManager[Work]:
        """Set a benchmark up for the context, and tear it down afterwards."""
        from steelyard.harness.bodies import prepared

        if entry.declaration is None:
            raise FindError(f"{entry.name!r} was not declared")
        surround(entry.declaration.file)
        return prepared(entry.declaration, entry.values, seed)

    def _files_by_label(self) -> dict[str, str]:
        if self._files is None:
            self._files = files_of(self._paths)
        return self._files


class Statement:
    """A single benchmark that is a statement, compiled into the loop with its set-up before it."""

    def __init__(self, statement: str, setup: str, name: str) -> None:
        self._text = Text(statement, setup, file=STATEMENT)
        self._entry = Entry(name, STATEMENT)

    @property
    def files(self) -> Mapping[str, str]:
        """The statement's label, which is its file name in tracebacks."""
        return {STATEMENT: STATEMENT}

    def entries(self) -> list[Entry]:
        """Return the statement; raises FindError if it is not Python."""
        text = self._text
        try:
            # As statements of a module, to refuse those that would leave the loop around them: return, break, await.
            compile(text.setup, text.file, "exec", dont_inherit=True)
            compile(f"{text.setup}\n{text.body}" if text.setup else text.body, text.file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:  # a null byte is the ValueError of Python 3.11
            raise FindError(f"the statement does not compile: {describe_error(error, self.files)}") from error
        if is_empty(text):
            raise FindError("the statement is empty")
        check_names([self._entry.name])
        return [self._entry]

    def called(self, name: str) -> Entry:
        """Return the statement if it has this name; raises FindError if not."""
        (entry,) = self.entries()
        if entry.name != name:
            raise FindError(f"no benchmark is called {name!r}: the statement is {entry.name!r}")
        return entry

    @contextmanager
    def prepared(self, entry: Entry, seed: int) -> Iterator[Work]:  # noqa: ARG002 - as the others of Suite
        """Yield the statement, whose set-up is in the same function."""
        from steelyard.harness.worker import Work

        yield Work(self._text)
