"""The files that a command writes, or standard output in their place; and checks before measuring that it can."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.api import streams
from steelyard.cli.inputs import STANDARD_STREAM
from steelyard.cli.say import say
from steelyard.model.errors import MeasurementError, SteelyardError, UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console

    from steelyard.design.reporting import Reportable
    from steelyard.design.request import Request
    from steelyard.design.world import World
    from steelyard.model.records import Weighing

Content = str | bytes | Iterable[bytes]
"""What a file is to hold; what is not Unicode in a text is escaped."""


def check_writable(*paths: Path | None) -> None:
    """Raise UsageError, before anything is measured, for an output file that could not be written afterwards."""
    wanted = [path for path in paths if path is not None and path != STANDARD_STREAM]
    if paths.count(STANDARD_STREAM) > 1:
        raise UsageError("two outputs would go to standard output: give one of them a file")
    for path in wanted:
        if reason := _why_unwritable(path):
            raise UsageError(f"cannot write {path}: {reason}")
    files = [os.path.realpath(path) for path in wanted if path.is_file() or not path.exists()]
    if len(set(files)) < len(files):
        raise UsageError(f"two outputs would go to the same file, {files[0]}: give each its own")


def check_apart(outputs: Iterable[Path | None], read: Iterable[Path]) -> None:
    """Raise UsageError for an output file that is also read, and would be lost."""
    streams.check_apart([path for path in outputs if path is not None and not is_printed(path)], read)


def check_not_launched(request: Request | Weighing, *outputs: Path | None) -> None:
    """Raise UsageError for an output file that launches read or execute, or a copy of it in a revision."""
    check_apart(outputs, streams.launched_files(request.subjects, request.settings))


def absolute(path: Path | None) -> Path | None:
    """Return a file's absolute path, as this process will change its folder; standard output stays what it is."""
    return path if path is None or path == STANDARD_STREAM else Path.cwd() / path


def is_printed(*paths: Path | None) -> bool:
    """Return whether data go to standard output, which then may hold nothing else."""
    return STANDARD_STREAM in paths


def write(path: Path, data: Content) -> None:
    """Write a file whole, or print its contents; raise MeasurementError if the file cannot be written."""
    if not is_printed(path):
        from steelyard.model.writing import write_file

        write_file(path, data)
        return
    if isinstance(data, str):
        data = data.encode(errors="backslashreplace")
    sys.stdout.flush()
    sys.stdout.buffer.writelines([data] if isinstance(data, bytes) else data)
    sys.stdout.flush()


class WriteErrors:
    """Collects the files that could not be written, to name each of them at the end."""

    def __init__(self) -> None:
        self._errors: list[MeasurementError] = []

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Note that a file cannot be written, to be told later, so that the others are written all the same."""
        try:
            yield
        except MeasurementError as error:
            self._errors.append(error)

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._errors)

    def raise_last(self, failure: SteelyardError | None = None) -> None:
        """Say what went wrong with all files, if anything, and raise the last error: the measurement's `failure`."""
        errors: list[SteelyardError] = [*self._errors, *([] if failure is None else [failure])]
        for error in errors[:-1]:
            say(str(error))
        if errors:
            raise errors[-1]


@contextmanager
def writing_files(
    world: World, *files: tuple[Path | None, Callable[[], Content]], beside_data: bool = False
) -> Iterator[Console]:
    """Write the requested files, then let the caller print the result on the console; data for stdout come last.

    The console is stderr if stdout has data, of these files or others (`beside_data`). A file that cannot be written
    hides neither the printed result nor the other files: its MeasurementError is raised afterwards.
    """
    from steelyard.cli.screen import output

    errors, to_print = WriteErrors(), list[Callable[[], Content]]()
    for path, content in files:
        if path == STANDARD_STREAM:
            to_print.append(content)
        elif path is not None:
            with errors.collected():
                write(path, content())
    yield output(world.environment, beside_data=beside_data or bool(to_print))
    for content in to_print:
        write(STANDARD_STREAM, content())
    errors.raise_last()


@contextmanager
def earlier_files_removed_on_error(*paths: Path | None, what: str = "weighing") -> Iterator[None]:
    """Remove files of earlier weighings, or of `what` this is, if it fails before it has a record to overwrite them.

    It says so. Otherwise the earlier one would be taken for this one. After an interruption or wrong usage, nobody
    expects a new record.
    """
    try:
        yield
    except MeasurementError:
        for path in filter(None, paths):
            if path.is_file():
                Path(os.path.realpath(path)).unlink()  # a link itself stays
                say(f"{path} was removed: it came from an earlier {what}, and this one has no record")
        raise


def as_json(found: BaseModel | Sequence[BaseModel]) -> Content:
    """Return the findings as JSON."""
    from steelyard.model.files import plain_json

    return plain_json(found)


def page_of(world: World, *shown: Reportable) -> str:
    """Return the page for a browser of what a command shows."""
    from steelyard.design.reporting import page_of_shown

    return page_of_shown(shown, world.now())


def _why_unwritable(path: Path) -> str | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return _why_folder_unwritable(Path(os.path.realpath(path)).parent)
    except OSError as error:
        return f"{error.strerror}; give another place"
    if stat.S_ISDIR(status.st_mode):
        return "it is a folder; give a file's name"
    if (stream_content := _stream_behind(status)) is not None:
        return f"{stream_content} is printed there; give a file's name, or - for these data alone"
    if not os.access(path, os.W_OK):
        return "it is not writable; give another place"
    return _why_folder_unwritable(Path(os.path.realpath(path)).parent) if stat.S_ISREG(status.st_mode) else None


def _stream_behind(status: os.stat_result) -> str | None:
    """Return what is printed to a file that is standard output or error; None for other files and for devices."""
    for stream, content in ((1, "the verdict"), (2, "what goes on")):
        with suppress(OSError):  # the stream is closed
            if not stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.fstat(stream)):
                return content
    return None


def _why_folder_unwritable(folder: Path) -> str | None:
    if not folder.is_dir():
        return f"there is no folder {folder}; make it first"
    try:
        # Only an attempt can tell: permissions say nothing about quotas, read-only disks or /proc.
        with tempfile.NamedTemporaryFile(prefix=".steelyard-", dir=folder):
            return None
    except OSError as error:
        return f"the folder {folder} is not writable ({error.strerror}); give another place"
