"""What the kernel has counted since boot, in all and by process; two such moments tell what ran in between."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from steelyard.machine.readings import Tree

# A process may give itself a name of blanks, which would leave a hole in a sentence.
_NAMELESS = "a nameless program"
# A line of /proc/PID/stat has up to 52 numbers and a name of 15 bytes.
_MOST_LINE_BYTES = 2048
# Time in programs, and in the kernel on their behalf; interrupts belong to nobody.
WORKING = ("user", "nice", "system")


class Process(NamedTuple):
    """One process; times in ticks."""

    name: str
    parent: int
    ticks: int
    """Those of all its threads, in the program and in the kernel."""
    ended_ticks: int
    """Those of the children that it has waited for, and of their children."""
    processor: int | None
    """The processor on which it ran last."""


Processes = Mapping[tuple[int, int], Process]
"""By number and start time, as numbers are reused."""


@dataclass(frozen=True)
class Moment:
    """What the kernel has counted since boot, at one moment."""

    seconds: float
    ticks: Mapping[str, int]
    """Those of all processors, by what they were spent on: `user`, `steal`, ..."""
    processors: int
    """The number of processors that `ticks` covers; 0 where the system does not tell."""
    interrupts: int | None
    waiting_us: int | None
    """The time during which some task waited for a processor."""
    processes: Processes


Lines = dict[bytes, tuple[int, Process] | None]
"""Processes by their unparsed lines: most lines are the same at the next reading."""


def read_moment(tree: Tree, seconds: float, known: Lines | None = None) -> Moment:
    """Read a moment; `seconds` is the time of a monotonic clock.

    `known` has the lines of the reading before, and is updated to those of this one.
    """
    spent = tree.spent()
    return Moment(
        seconds=seconds,
        ticks=spent.ticks,
        processors=spent.processors,
        interrupts=spent.interrupts,
        waiting_us=tree.waited_us(),
        processes=read_processes(tree.root / "proc", {} if known is None else known),
    )


def read_processes(folder: Path, known: Lines) -> Processes:
    """Return every process that can be seen from here, including kernel threads, but not those that end meanwhile."""
    processes: dict[tuple[int, int], Process] = {}
    lines: Lines = {}
    try:
        # Path would take four times as long, and this runs while launches do.
        numbers = [name for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return processes
    for number in numbers:
        line = _read_line(f"{folder}/{number}/stat")
        entry = lines[line] = known[line] if line in known else _parse_process(line)
        if entry is not None:
            processes[int(number), entry[0]] = entry[1]
    known.clear()
    known.update(lines)
    return processes


def _read_line(path: str) -> bytes:
    """Return the one line of a file; empty if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, _MOST_LINE_BYTES)
    except OSError:
        return b""
    finally:
        os.close(file)


def _parse_process(line: bytes) -> tuple[int, Process] | None:
    """Return the start time and the process of a line of /proc/PID/stat.

    The name may contain blanks and parentheses; only numbers follow the last parenthesis.
    """
    begin, end = line.find(b" ("), line.rfind(b") ")
    words = line[end + 2 :].split()
    if begin < 0 or end < begin or len(words) < 20:
        return None
    try:
        ticks, ended = int(words[11]) + int(words[12]), int(words[13]) + int(words[14])
        name, processor = line[begin + 2 : end].decode("utf-8", "replace"), int(words[36]) if len(words) > 36 else None
        return int(words[19]), Process(name.strip() or _NAMELESS, int(words[1]), ticks, ended, processor)
    except ValueError:
        return None
