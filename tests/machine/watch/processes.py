"""Made-up processes, as the kernel has them below /proc."""

from __future__ import annotations


def stat(
    name: str,
    *,
    number: int = 1,
    parent: int = 1,
    ticks: int = 0,
    ended: int = 0,
    started: int = 1,
    processor: int = 0,
) -> str:
    """Return the line of /proc/PID/stat; `ended` are the ticks of children that have ended."""
    words = ["0"] * 50
    words[:2] = ["S", str(parent)]
    # Half of each in user mode, half in the kernel.
    words[11:15] = [str(ticks - ticks // 2), str(ticks // 2), str(ended - ended // 2), str(ended // 2)]
    words[19], words[36] = str(started), str(processor)
    return f"{number} ({name}) {' '.join(words)}\n"
