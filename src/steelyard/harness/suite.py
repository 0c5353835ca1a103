"""Where benchmarks come from: files that declare them, or a statement on the command line."""

from __future__ import annotations

from contextlib import contextmanager

from steelyard.harness.entry import Entry
from steelyard.harness.faults import STATEMENT, told
from steelyard.harness.find import FindError, entries_of, entry_called, files_of
from steelyard.harness.loop import Text, is_empty
from steelyard.harness.names import check_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from typing import Protocol

    from steelyard.harness.worker import Work

    class Suite(Protocol):
        """Benchmarks by their names. What its methods raise as FindError or BadNameError is the user's to mend."""

        @property
        def files(self) -> Mapping[str, str]:
            """What the files that the user wrote are called."""

        def entries(self) -> list[Entry]:
            """All benchmarks."""

        def called(self, name: str) -> Entry:
            """The one of this name."""

        def prepared(self, entry: Entry, seed: int) -> AbstractContextManager[Work]:
            """A benchmark, from its set-up to its tear-down."""


class Files:
    """The benchmarks of files and folders."""

    def __init__(self, paths: list[str]) -> None:
        self._paths = paths
        self._files: dict[str, str] | None = None

    @property
    def files(self) -> Mapping[str, str]:
        """The names of the files by their paths."""
        return {file: label for label, file in self._found().items()}

    def entries(self) -> list[Entry]:
        """All benchmarks of the files, in their order."""
        return entries_of(self._found())

    def called(self, name: str) -> Entry:
        """The one of this name; only its file is loaded."""
        return entry_called(name, self._found())

    def prepared(self, entry: Entry, seed: int) -> AbstractContextManager[Work]:
        """A benchmark, from its set-up to its tear-down."""
        from steelyard.harness.bodies import prepared

        if entry.declaration is None:
            raise FindError(f"{entry.name!r} was not declared")
        return prepared(entry.declaration, entry.values, seed)

    def _found(self) -> dict[str, str]:
        if self._files is None:
            self._files = files_of(self._paths)
        return self._files


class Statement:
    """The one benchmark that is a statement, compiled into the loop with its set-up before it."""

    file = STATEMENT

    def __init__(self, statement: str, setup: str, name: str) -> None:
        self._text = Text(statement, setup, file=self.file)
        self._entry = Entry(name, self.file)

    @property
    def files(self) -> Mapping[str, str]:
        """What tracebacks call it is what it is called."""
        return {self.file: self.file}

    def entries(self) -> list[Entry]:
        """The statement; raises FindError if it is no Python."""
        text = self._text
        try:
            # As statements of a module, so that none can leave the loop that it will stand in: return, break, await.
            compile(text.setup, text.file, "exec", dont_inherit=True)
            compile(f"{text.setup}\n{text.body}" if text.setup else text.body, text.file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:  # a null byte is the ValueError of Python 3.11
            raise FindError(f"the statement does not compile: {told(error, self.files)}") from error
        if is_empty(text):
            raise FindError("the statement is empty")
        check_names([self._entry.name])
        return [self._entry]

    def called(self, name: str) -> Entry:
        """The statement, if that is its name."""
        for entry in self.entries():
            if entry.name == name:
                return entry
        raise FindError(f"no benchmark is called {name!r}: the statement is {self._entry.name!r}")

    @contextmanager
    def prepared(self, entry: Entry, seed: int) -> Iterator[Work]:  # noqa: ARG002 - as the others of Suite
        """The statement, whose set-up stands in the same function."""
        from steelyard.harness.worker import Work

        yield Work(self._text)
