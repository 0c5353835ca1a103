"""Memory: how much of it is free, what is swapped, and how large its pages are."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.conditions.words import fine, serious, slight, unknown
from steelyard.machine.hierarchies import memory_limits
from steelyard.machine.readings import HUGE_PAGES, Tree, whole
from steelyard.model.conditions import Condition

_TOO_LITTLE = 0.10
_GIB = 1 << 30


def free_memory(tree: Tree) -> Condition:
    """How much memory programs can still have before other pages have to be evicted."""
    total, available = (_bytes(tree, name) for name in ("MemTotal", "MemAvailable"))
    if not total or available is None:
        return unknown("free-memory", "the system does not tell how much memory is free")
    evidence = f"{available / _GIB:.3g} of {total / _GIB:.3g} GiB available"
    rooms = [(limit, _left(tree, folder, limit)) for folder, limit in memory_limits(tree) if limit < total]
    if rooms:
        limit, left = min(rooms, key=lambda room: room[1] / room[0])
        evidence = f"{evidence}, and to this control group {left / _GIB:.3g} of {limit / _GIB:.3g}"
    if all(left >= _TOO_LITTLE * most for most, left in [(total, available), *rooms]):
        return fine("free-memory", evidence)
    return serious("free-memory", f"{evidence}: launches wait for pages", "end what takes it, or measure elsewhere")


def swap(tree: Tree) -> Condition:
    """Whether memory has gone to a disk, or is kept compressed (zram)."""
    total, free = (_bytes(tree, name) for name in ("SwapTotal", "SwapFree"))
    if total is None or free is None:
        return unknown("swap", "the system does not tell whether it swaps")
    if total == 0:
        return fine("swap", "there is none")
    if total - free < total // 100:
        return fine("swap", f"next to none of {total / _GIB:.3g} GiB is used")
    return slight(
        "swap",
        f"{(total - free) / _GIB:.3g} of {total / _GIB:.3g} GiB used: some launches fetch pages from a disk, or from "
        "compressed memory",
        f"free memory; as root: {_off_and_on(tree)} brings it back",
    )


def huge_pages(tree: Tree) -> Condition:
    """Whether the kernel joins pages into huge ones by itself, at moments of its own choosing."""
    chosen = tree.chosen(HUGE_PAGES)
    if chosen not in ("always", "madvise", "never"):
        return unknown("huge-pages", "the system does not tell whether it makes huge pages")
    if chosen != "always":
        whose = "no program has" if chosen == "never" else "only programs that ask for them have"
        return fine("huge-pages", f"{chosen}: {whose} any")
    return slight(
        "huge-pages",
        "always: whether a launch's memory is made of large pages depends on what is free at the moment",
        f"as root: echo madvise > /{HUGE_PAGES}",
    )


def _off_and_on(tree: Tree) -> str:
    """Return the commands that empty what is swapped to, and swap there again as before."""
    lines = [line.split() for line in (tree.text("proc/swaps") or "").splitlines()[1:]]
    commands = []
    for name, _, _, _, priority in (words for words in lines if len(words) == 5 and words[3] != "0"):
        # By name, as swapon -a knows only those of /etc/fstab, which systemd's zram is not among.
        commands.append(f"swapoff {name} && swapon {'' if priority.startswith('-') else f'-p {priority} '}{name}")
    return " && ".join(commands) or "swapoff -a && swapon -a"


def _left(tree: Tree, folder: Path, limit: int) -> int:
    """Return how much a control group may still have, in bytes, including pages of files, which can be evicted."""
    used = tree.number(folder / "memory.current") or tree.number(folder / "memory.usage_in_bytes") or 0
    fields = tree.fields(folder / "memory.stat")
    # In the first version the names with `total_` include the groups below.
    files = (fields.get(f"total_{name}", fields.get(name)) for name in ("active_file", "inactive_file"))
    return max(0, min(limit, limit - used + sum(whole(text) or 0 for text in files)))


def _bytes(tree: Tree, name: str) -> int | None:
    words = tree.fields("proc/meminfo").get(name, "").split()
    return 1024 * int(words[0]) if words and words[0].isdigit() else None
