"""Folders of ours among the control groups: made, found and removed. A lock on each tells whether its owner lives."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from steelyard.machine.hierarchies import Hierarchy, first_version, second_version
from steelyard.machine.readings import Tree
from steelyard.machine.tuning.hand import Hand
from steelyard.model.locks import lock

_NAME = re.compile(r"steelyard-isolated-[0-9a-f]{12}")
# A folder is made first and locked then.
_UNLOCKED_S = 1.0
# Who looks whether a folder is left has its lock for a moment.
_MOST_TRIES, _APART_S = 20, 0.001


def _check_writable(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))


@dataclass(frozen=True)
class Reach:
    """What is done with control groups below one root."""

    hand: Hand = field(default_factory=Hand)
    make: Callable[[Path], None] = os.mkdir
    remove: Callable[[Path], None] = os.rmdir
    check_writable: Callable[[Path], None] = _check_writable
    sleep: Callable[[float], None] = time.sleep

    @property
    def tree(self) -> Tree:
        """What is read."""
        return self.hand.tree

    def set(self, path: Path, value: str) -> None:
        """Write one file of a group; raises OSError as the system does, with the group's folder."""
        try:
            self.hand.set(str(path), value)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"/{path.parent}") from error

    def words(self, path: Path) -> list[str]:
        """A file's words."""
        return (self.tree.text(path) or "").split()


@dataclass
class Folder:
    """One folder of ours among the control groups, in the tree of either version."""

    reach: Reach
    path: Path
    _lock: int | None = None

    @classmethod
    def made(cls, reach: Reach, parent: Path) -> Folder:
        """Make it in another; raises OSError, also where this process could not be put there from its own group."""
        # Who moves a process writes to the group that is above both (man 7 cgroups, "Delegation Containment Rules").
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
            self.reach.sleep(_APART_S)

    def admit(self, process: int) -> None:
        """Have a process, and all that it starts from then on, be in it; raises OSError."""
        self.reach.set(self.path / "cgroup.procs", str(process))

    def remove(self) -> bool:
        """Remove it, once; whether it is gone. It is not while something in it still runs."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        return _removed(self.reach, self.path)


def trees(tree: Tree) -> list[Hierarchy]:
    """Those in which there may be groups of ours: of the second version, and where the first has the processors."""
    return [one for one in (second_version(tree), first_version(tree, "cpuset")) if one is not None]


def in_use(reach: Reach) -> dict[Path, set[int]]:
    """The groups of weighings that run right now, as far as they can be seen, with the processors of each."""
    found = {}
    for path in _ours(reach):
        if not _is_left(reach, path):
            found[path] = reach.tree.processor_list(path / "cpuset.cpus")
    return found


def sweep(reach: Reach) -> None:
    """Remove the groups that processes of ours which were killed have left."""
    for path in _ours(reach):
        with suppress(OSError):
            found = (reach.tree.root / path).stat()
            is_new = time.time() - found.st_ctime < _UNLOCKED_S
            if found.st_uid == os.getuid() and not is_new and _is_left(reach, path):
                _removed(reach, path)


def _ours(reach: Reach) -> Iterator[Path]:
    """They are made in the group of the process that measures, or in one above it."""
    for hierarchy in trees(reach.tree):
        for parent in hierarchy.upwards():
            for path in reach.tree.below(parent, "steelyard-isolated-*"):
                if _NAME.fullmatch(path.name):
                    yield path


def _is_left(reach: Reach, path: Path) -> bool:
    """Whether nobody holds it any more."""
    try:
        handle = os.open(reach.tree.root / path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return lock(handle)
    finally:
        os.close(handle)


def _removed(reach: Reach, path: Path) -> bool:
    try:
        reach.remove(reach.tree.root / path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
