"""Memory: how much of it is free, what is swapped, and how large its pages are."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.conditions.words import fine, serious, slight, unknown
from steelyard.machine.hierarchies import limiting
from steelyard.machine.readings import HUGE_PAGES, Tree, whole
from steelyard.model.conditions import Condition

_TOO_LITTLE = 0.10
_GIB = 1 << 20  # in KiB, the unit of /proc/meminfo


def free_memory(tree: Tree) -> Condition:
    """What programs can have before something has to be thrown out for it."""
    total, available = (_kib(tree, name) for name in ("MemTotal", "MemAvailable"))
    if not total or available is None:
        return unknown("free-memory", "the system does not tell how much memory is free")
    told = f"{available / _GIB:.3g} of {total / _GIB:.3g} GiB available"
    limits = [one for folder in limiting(tree, "memory") if (one := _limit(tree, folder)) and one[0] < total]
    if limits:
        total, available = min(limits, key=lambda one: one[1] / one[0])
        told = f"{told}, and to this control group {available / _GIB:.3g} of {total / _GIB:.3g}"
    if available >= _TOO_LITTLE * total:
        return fine("free-memory", told)
    return serious("free-memory", f"{told}: launches wait for pages", "end what takes it, or measure elsewhere")


def swap(tree: Tree) -> Condition:
    """Whether memory has gone to disk."""
    total, free = (_kib(tree, name) for name in ("SwapTotal", "SwapFree"))
    if total is None or free is None:
        return unknown("swap", "the system does not tell whether it swaps")
    if total == 0:
        return fine("swap", "there is none")
    if total - free < total // 100:
        return fine("swap", f"next to none of {total / _GIB:.3g} GiB is used")
    return slight(
        "swap",
        f"{(total - free) / _GIB:.3g} of {total / _GIB:.3g} GiB used: some launches fetch pages from disk",
        "free memory; as root: swapoff -a && swapon -a brings it back",
    )


def huge_pages(tree: Tree) -> Condition:
    """Whether the kernel joins pages to large ones by itself, at moments of its own."""
    told = tree.text(HUGE_PAGES)
    chosen = (told or "").partition("[")[2].partition("]")[0]
    if not chosen:
        return unknown("huge-pages", "the system does not tell whether it makes huge pages")
    if chosen != "always":
        return fine("huge-pages", f"{chosen}: only programs that ask for them have any")
    return slight(
        "huge-pages",
        "always: whether a launch's memory is made of large pages depends on what is free at the moment",
        f"as root: echo madvise > /{HUGE_PAGES}",
    )


def _limit(tree: Tree, folder: Path) -> tuple[int, int] | None:
    """What a control group may have, and what of that is left, in KiB: pages of files are thrown out for others."""
    for names in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        limit, used = (tree.number(folder / name) for name in names)
        if limit and used is not None:
            told = tree.fields(folder / "memory.stat")
            # The first version tells of the groups below by names of their own.
            files = (told.get(f"total_{name}", told.get(name)) for name in ("active_file", "inactive_file"))
            return limit // 1024, max(0, limit - used + sum(whole(one) or 0 for one in files)) // 1024
    return None


def _kib(tree: Tree, name: str) -> int | None:
    words = tree.fields("proc/meminfo").get(name, "").split()
    return int(words[0]) if words and words[0].isdigit() else None
