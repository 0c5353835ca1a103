"""What is mounted where (man 5 proc_pid_mountinfo)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from steelyard.machine.readings import Tree


def mounts(tree: Tree, kind: str) -> Iterator[tuple[Path, str, list[str]]]:
    """Yield for each mount of a kind of file system: the mounted part, the mount point, the file system's options."""
    for line in (tree.text("proc/self/mountinfo") or "").splitlines():
        mount, dash, system = line.partition(" - ")
        words, told = mount.split(), system.split()
        if dash and len(words) >= 5 and len(told) >= 3 and told[0] == kind:
            yield Path(_unescaped(words[3])), _unescaped(words[4]), told[2].split(",")


def _unescaped(path: str) -> str:
    """Decode the octal numbers that stand for blanks and the like."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)
