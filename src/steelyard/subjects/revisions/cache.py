"""The folder in which builds are kept: one entry per build, locked while it is made or used; a bound on the total size.

An entry is a folder named by its key; all keys have the same length, as programs see the length of their paths. Its
facts are written last: an entry without them is of a build that failed or was cut short, and is made anew. The least
recently used entries are removed first.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from steelyard.model.errors import MeasurementError, UsageError
from steelyard.model.files import plain_json
from steelyard.model.locks import locked
from steelyard.model.owners import trusted_owners
from steelyard.model.parts import Record
from steelyard.model.writing import write_atomically

USUAL_BYTES = 10 << 30
_REMOVED_PREFIX = ".gone-"
_LIMIT = "max-size"
_FILES, _FACTS = "tree", "facts.json"
# Who makes backups passes over it, and so does git where it is in a repository, as CI may have it.
_MARKS = {
    "CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# A cache of steelyard: https://bford.info/cachedir/\n",
    ".gitignore": "*\n",
}
_BLOCK_BYTES = 512  # what st_blocks counts, whatever the disk's blocks are


class TargetFacts(Record):
    """What became of a target's own build."""

    mark: str
    """What identifies it among the builds of targets from the same sources."""
    command: str
    failure: str | None
    """How it failed; None if it ended well."""


class Facts(Record):
    """What is known about a kept build."""

    repository: str
    revision: str
    commit: str | None
    tree: str
    command: str | None
    made_s: float
    """When it was made, in seconds of the Unix clock."""
    size_bytes: int
    notes: list[str]
    targets: list[TargetFacts] = Field(default_factory=list)
    """The builds of single targets that were run, in any order."""


@dataclass(frozen=True)
class Kept:
    """A kept build, as `steelyard cache` lists it."""

    key: str
    facts: Facts | None
    """None for one that is being made, or was cut short."""
    size_bytes: int
    used_s: float
    """When it was used last, in seconds of the Unix clock."""
    is_in_use: bool


class Entry:
    """An entry of the cache that this process holds, alone or shared with other users of it."""

    def __init__(self, folder: Path, handle: int) -> None:
        self.folder, self._handle = folder, handle

    @property
    def files(self) -> Path:
        """The checkout, in which the program is built and run."""
        return self.folder / _FILES

    @property
    def git(self) -> Path:
        """What git keeps about the checkout."""
        return self.folder / "git"

    @property
    def log(self) -> Path:
        """What the build printed."""
        return self.folder / "log"

    def target_log(self, mark: str) -> Path:
        """Return the log of a target's own build."""
        return self.folder / f"log-{mark}"

    def facts(self) -> Facts | None:
        """Return what is known about it; None if it is not complete."""
        return _facts(self.folder)

    def begun_s(self) -> float:
        """Return when it was begun, in seconds of the Unix clock; now if its build has removed the file that tells."""
        try:
            return (self.git / "commondir").stat().st_mtime
        except OSError:
            return time.time()

    def begin(self) -> None:
        """Remove what an earlier attempt has left, except the lock."""
        for path in self.folder.iterdir():
            if path.name != "lock":
                remove(path)

    def complete(self, facts: Facts) -> None:
        """Mark it as complete, by writing its facts; raises OSError, as whoever makes it does where no room is left."""
        try:
            write_atomically(self.folder / _FACTS, plain_json(facts).encode(), private=True)
        except MeasurementError as error:
            raise error.__cause__ or error from None

    def share(self) -> bool:
        """Share the lock with others; return whether the entry is still there, as nobody holds it for a moment."""
        fcntl.flock(self._handle, fcntl.LOCK_SH)
        return _is_same_file(self._handle, self.folder / "lock") and self.facts() is not None

    def note_use(self) -> None:
        """Make it the most recently used one."""
        with suppress(OSError):
            os.utime(self._handle)


class Cache:
    """The builds of a user."""

    def __init__(self, folder: Path, owners: Iterable[int] = ()) -> None:
        """Use a folder, which has to belong to this user, to root or to one of `owners`."""
        self.folder, self._owners = folder, (0, os.geteuid(), *owners)

    @classmethod
    def of_user(cls, environment: Mapping[str, str]) -> Cache:
        """Return the user's own cache, under XDG_CACHE_HOME; raises UsageError if there can be none."""
        # The XDG Base Directory Specification says to ignore relative paths.
        places = [Path(environment.get("XDG_CACHE_HOME", "")), Path(environment.get("HOME", "")) / ".cache"]
        place = next((place for place in places if place.is_absolute()), None)
        if place is None:
            raise UsageError("there is no folder to keep builds in: set XDG_CACHE_HOME")
        return cls(place / "steelyard" / "builds", trusted_owners(environment))

    def open(self) -> None:
        """Create the folder, and finish removals that were cut short when their process was killed.

        Raises MeasurementError if it cannot be created, or is another user's, who could put any program there.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.folder.stat().st_uid not in self._owners:
                raise OSError(errno.EPERM, "it is another user's, whose programs would run as yours")
            for name, text in _MARKS.items():
                if not (self.folder / name).exists():
                    (self.folder / name).write_text(text)
            for leftover in self.folder.glob(f"{_REMOVED_PREFIX}*"):
                remove(leftover)
        except OSError as error:
            raise self._cannot_keep(error) from error

    def _cannot_keep(self, error: OSError) -> MeasurementError:
        return MeasurementError(f"builds cannot be kept in {self.folder}: {error.strerror}; set XDG_CACHE_HOME")

    @contextmanager
    def held(self, key: str, *, exclusive: bool, waiting: Callable[[], None] = lambda: None) -> Iterator[Entry]:
        """Hold the entry of a key, created if need be, for as long as the context lasts: `exclusive`, or shared.

        Calls `waiting` before it waits for another holder.
        """
        folder = self.folder / key
        try:
            handle = _lock_entry(folder, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH, waiting)
        except OSError as error:
            raise self._cannot_keep(error) from error
        try:
            yield Entry(folder, handle)
        finally:
            os.close(handle)

    def facts_of(self, key: str) -> Facts | None:
        """Return what is known about an entry; None if it is not there, or not complete."""
        return _facts(self.folder / key)

    def keys_from(self, beginning: str) -> list[str]:
        """Return the keys of all entries that begin so, sorted."""
        return sorted(folder.name for folder in self._entries() if folder.name.startswith(beginning))

    def kept(self) -> list[Kept]:
        """Return all entries, the least recently used first."""
        entries = []
        for folder in self._entries():
            with suppress(OSError):  # it has been removed, or is another user's
                facts = _facts(folder)
                used_s = (folder / "lock").stat().st_mtime
                size = facts.size_bytes if facts else size_of(folder)
                with locked(folder / "lock", os.O_RDWR) as is_unused:
                    entries.append(Kept(folder.name, facts, size, used_s, is_in_use=not is_unused))
        return sorted(entries, key=lambda entry: (entry.used_s, entry.key))

    def limit_bytes(self) -> int:
        """Return how much the cache may hold."""
        try:
            return int((self.folder / _LIMIT).read_text())
        except (OSError, ValueError):
            return USUAL_BYTES

    def set_limit(self, limit_bytes: int) -> None:
        """Set how much the cache may hold from now on."""
        write_atomically(self.folder / _LIMIT, f"{limit_bytes}\n".encode(), private=True)

    def bound(self, limit_bytes: int | None = None) -> list[Kept]:
        """Remove the least recently used entries, except those in use, until the rest is within the limit.

        Returns those that were removed.
        """
        limit = self.limit_bytes() if limit_bytes is None else limit_bytes
        kept, removed = self.kept(), []
        size = sum(entry.size_bytes for entry in kept)
        for entry in kept:
            if size <= limit:
                break
            if self._remove(entry.key):
                removed.append(entry)
                size -= entry.size_bytes
        return removed

    def clear(self) -> list[Kept]:
        """Remove all entries that nobody uses; return them."""
        return [one for one in self.kept() if self._remove(one.key)]

    def _entries(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if os.path.isfile(path / "lock")]  # noqa: PTH113 - never raises
        except OSError:
            return []

    def _remove(self, key: str) -> bool:
        folder, removed = self.folder / key, self.folder / f"{_REMOVED_PREFIX}{key}-{os.getpid()}-{time.monotonic_ns()}"
        try:
            with locked(folder / "lock", os.O_RDWR) as is_unused:
                if not is_unused:
                    return False
                folder.rename(removed)  # atomic: a process that waits for the lock then sees that the entry is gone
        except OSError:
            return False
        remove(removed)
        return True


@contextmanager
def in_use(directories: Iterable[str]) -> Iterator[None]:
    """Keep the entries that contain these folders, if any, from being removed."""
    with ExitStack() as holding:
        for directory in directories:
            for tree in (Path(directory), *Path(directory).parents):
                if not _is_entry_checkout(tree):
                    continue
                with suppress(OSError):
                    handle = os.open(tree.parent / "lock", os.O_RDWR | os.O_CLOEXEC)
                    holding.callback(os.close, handle)
                    fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    break
        yield


def _is_entry_checkout(tree: Path) -> bool:
    """Return whether a folder is the checkout of an entry: a file `lock` elsewhere belongs to other programs."""
    return tree.name == _FILES and os.path.isfile(tree.parent / _FACTS)  # noqa: PTH113 - never raises


def remove(path: Path) -> None:
    """Remove a file, or a folder with everything in it, even if that is read-only, as Go's modules are."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for folder, _, _ in os.walk(path):
        with suppress(OSError):
            os.chmod(folder, stat.S_IRWXU)  # noqa: PTH101
    shutil.rmtree(path, ignore_errors=True)


def size_of(path: Path) -> int:
    """Return what a folder takes on the disk, in bytes."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in (*files, ""):
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * _BLOCK_BYTES  # noqa: PTH118
    return total


def _lock_entry(folder: Path, operation: int, waiting: Callable[[], None]) -> int:
    """Lock an entry, created if need be, and return the descriptor of its lock file."""
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # it was removed in between
        try:
            try:
                fcntl.flock(handle, operation | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(handle, operation)
            if _is_same_file(handle, folder / "lock"):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False


def _facts(folder: Path) -> Facts | None:
    """Return what is known about an entry; None also if something else, as a cleaner of caches, has removed its files.

    A checkout is never empty, as git's own file is in it.
    """
    try:
        if not os.listdir(folder / _FILES):  # noqa: PTH208
            return None
        return Facts.model_validate(json.loads((folder / _FACTS).read_bytes()))
    except (OSError, ValueError):
        return None
