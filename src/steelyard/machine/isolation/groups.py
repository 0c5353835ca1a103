"""Make, find and remove our own folders among the control groups. A lock on each tells whether its owner lives."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from steelyard.machine.hierarchies import hierarchies
from steelyard.machine.readings import Tree
from steelyard.machine.tuning.hand import Hand
from steelyard.model.locks import lock, locked

_NAME = re.compile(r"steelyard-isolated-[0-9a-f]{12}")
# A folder is created first and locked afterwards: a younger one may be unlocked and still in use.
_UNLOCKED_S = 1.0
# Another process that checks whether a folder is left over holds its lock for a moment.
_MOST_TRIES, _RETRY_S = 20, 0.001


def _check_writable(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))


@dataclass(frozen=True)
class Reach:
    """Access to the control groups below one root."""

    hand: Hand = field(default_factory=Hand)
    make: Callable[[Path], None] = os.mkdir
    remove: Callable[[Path], None] = os.rmdir
    check_writable: Callable[[Path], None] = _check_writable
    sleep: Callable[[float], None] = time.sleep

    @property
    def tree(self) -> Tree:
        """The files to read."""
        return self.hand.tree

    def set(self, path: Path, value: str) -> None:
        """Write one file of a group; raises the system's OSError, with the group's folder as its file name."""
        try:
            self.hand.set(str(path), value)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"/{path.parent}") from error

    def words(self, path: Path) -> list[str]:
        """Return the words of a file."""
        return (self.tree.text(path) or "").split()


@dataclass
class Folder:
    """One folder of ours among the control groups, in the tree of either version."""

    reach: Reach
    path: Path
    _lock: int | None = None

    @classmethod
    def made(cls, reach: Reach, parent: Path) -> Folder:
        """Create one in `parent`; raises OSError, also if this process could not be moved there from its own group."""
        # Moving a process takes the right to write to the group above both (man 7 cgroups, "Delegation Containment
        # Rules").
        try:
            reach.check_writable(reach.tree.root / parent / "cgroup.procs")
            folder = cls(reach, parent / f"steelyard-isolated-{uuid4().hex[:12]}")
            reach.make(reach.tree.root / folder.path)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"/{parent}") from error
        with suppress(OSError):
            folder._lock = os.open(reach.tree.root / folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            folder._hold(folder._lock)
        return folder

    def _hold(self, handle: int) -> None:
        for _ in range(_MOST_TRIES):
            if lock(handle):
                return
            self.reach.sleep(_RETRY_S)

    def admit(self, process: int) -> None:
        """Move a process into it, and with that all that it starts from then on; raises OSError."""
        self.reach.set(self.path / "cgroup.procs", str(process))

    def remove(self) -> bool:
        """Remove it and return whether it is gone, which it is not while something in it still runs. Call it once."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        return _remove_group(self.reach, self.path)


def in_use(reach: Reach) -> dict[Path, set[int]]:
    """Return the groups of weighings that run right now, as far as they can be seen, with the processors of each."""
    processors_by_group = {}
    for path in _own_groups(reach):
        if not _is_abandoned(reach, path):
            processors_by_group[path] = reach.tree.processor_list(path / "cpuset.cpus")
    return processors_by_group


def sweep(reach: Reach) -> None:
    """Remove the groups left by processes of ours that were killed."""
    for path in _own_groups(reach):
        with suppress(OSError):
            status = (reach.tree.root / path).stat()
            is_new = time.time() - status.st_ctime < _UNLOCKED_S
            if status.st_uid == os.getuid() and not is_new and _is_abandoned(reach, path):
                _remove_group(reach, path)


def _own_groups(reach: Reach) -> Iterator[Path]:
    """Yield our groups, which are made in the group of the process that measures or in one above it."""
    for hierarchy in hierarchies(reach.tree, "cpuset"):
        for parent in hierarchy.upwards():
            for path in reach.tree.below(parent, "steelyard-isolated-*"):
                if _NAME.fullmatch(path.name):
                    yield path


def _is_abandoned(reach: Reach, path: Path) -> bool:
    """Return whether nobody holds a group any more."""
    try:
        with locked(reach.tree.root / path, os.O_DIRECTORY | os.O_NOFOLLOW) as is_abandoned:
            return is_abandoned
    except OSError:
        return False


def _remove_group(reach: Reach, path: Path) -> bool:
    try:
        reach.remove(reach.tree.root / path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
