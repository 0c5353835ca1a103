"""Where control groups are mounted, and in which of them this process is (man 7 cgroups)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steelyard.machine.mounts import mounts
from steelyard.machine.readings import Tree

# What /proc/self/cgroup has instead of controllers for the tree of the second version.
_NO_NAME = ""
# In the first version a group without a limit has nearly 2**63, rounded down to whole pages.
_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Hierarchy:
    """One tree of control groups; its paths are relative to the root of the machine's files."""

    top: Path
    """Where it is mounted."""
    own: Path
    """The group of this process."""

    def upwards(self) -> Iterator[Path]:
        """Yield the group of this process and those above it, up to the top."""
        folder = self.own
        while True:
            yield folder
            if folder == self.top:
                return
            folder = folder.parent


def second_version(tree: Tree) -> Hierarchy | None:
    """Return the one tree of the second version, whatever it controls here; None where it is not mounted."""
    return _hierarchy(tree, "cgroup2", _NO_NAME)


def first_version(tree: Tree, controller: str) -> Hierarchy | None:
    """Return the tree of the first version that has a controller; None where there is none."""
    return _hierarchy(tree, "cgroup", controller)


def hierarchies(tree: Tree, controller: str) -> list[Hierarchy]:
    """Return the tree of the second version and that of the first with a controller, as far as they are mounted."""
    return [one for one in (second_version(tree), first_version(tree, controller)) if one is not None]


def limiting_groups(tree: Tree, controller: Literal["cpu", "cpuset", "memory"]) -> list[Path]:
    """Return the groups whose limits apply to this process: its own and those above it, in either version.

    Empty where no tree with the controller is mounted, or where the mount does not show this process's group.
    """
    return [folder for hierarchy in hierarchies(tree, controller) for folder in hierarchy.upwards()]


def memory_limits(tree: Tree) -> list[tuple[Path, int]]:
    """Return the groups that limit this process's memory, and the limits in bytes.

    Above `memory.high` (MemoryHigh of systemd) a group's processes are held up until some is taken back from them.
    """
    names = ("memory.max", "memory.high", "memory.limit_in_bytes")
    limits_by_folder = (
        (folder, tree.number(folder / name)) for folder in limiting_groups(tree, "memory") for name in names
    )
    return [(folder, limit) for folder, limit in limits_by_folder if limit and 0 < limit < _NO_LIMIT]


def _hierarchy(tree: Tree, kind: str, controller: str) -> Hierarchy | None:
    own_group = next((path for names, path in _memberships(tree) if controller in names), None)
    if own_group is None:
        return None
    for root, mounted, options in mounts(tree, kind):
        # A container may see the mount only from its own group down, and yet be told of groups above.
        if (controller == _NO_NAME or controller in options) and own_group.is_relative_to(root):
            top = Path(mounted.lstrip("/"))
            return Hierarchy(top, top / own_group.relative_to(root))
    return None


def _memberships(tree: Tree) -> Iterator[tuple[list[str], Path]]:
    """Yield the groups of this process: the controllers and the path of each."""
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if path.startswith("/") and ".." not in Path(path).parts:
            yield controllers.split(","), Path(path)
