"""Control groups, of the first version and the second."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.readings import Tree


def groups(tree: Tree) -> list[Path]:
    """The folders of our control group and of those above it, of the first version and the second."""
    top = Path("sys/fs/cgroup")
    folders: list[Path] = []
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3:
            continue
        controllers, inner = parts[1].split(","), Path(parts[2].lstrip("/"))
        if parts[1] == "":
            tops = [top, top / "unified"]
        elif "cpu" in controllers:
            tops = [top / "cpu", top / parts[1]]
        else:
            continue
        folders += [one / each for one in tops for each in (inner, *inner.parents) if ".." not in each.parts]
    return list(dict.fromkeys(folders))
