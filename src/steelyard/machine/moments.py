"""What the kernel has counted since the start of the machine, in all and by process: two moments tell what ran."""

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
_LONGEST = 2048
# What programs and the kernel did for them: interrupts are nobody's.
WORKING = ("user", "nice", "system")


class Process(NamedTuple):
    """One process; times in ticks."""

    name: str
    parent: int
    ticks: int
    """Of all its threads, in programs and in the kernel."""
    ended_ticks: int
    """Of the children that it has waited for, and of theirs."""
    processor: int | None
    """Where it ran last."""


Processes = Mapping[tuple[int, int], Process]
"""By the number and the time of the start: numbers are used again."""


@dataclass(frozen=True)
class Moment:
    """What is counted since the start of the machine."""

    seconds: float
    ticks: Mapping[str, int]
    """Of all processors, by what they were spent on: `user`, `steal`, ..."""
    processors: int
    """Of how many those are; 0 where the system does not tell."""
    interrupts: int | None
    waiting_us: int | None
    """While some task waited for a processor."""
    processes: Processes


Lines = dict[bytes, tuple[int, Process] | None]
"""What the lines of processes say: of most processes it is the same at the next reading."""


def read_moment(tree: Tree, seconds: float, known: Lines | None = None) -> Moment:
    """Read it; `seconds` is the time of a monotonic clock. `known` are the lines of the one before, then its own."""
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
    """Every process that can be seen from here, with the kernel's threads; those that end meanwhile are left out."""
    found: dict[tuple[int, int], Process] = {}
    lines: Lines = {}
    try:
        # Not by Path, which takes four times as long, and this is done while launches run.
        numbers = [name for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208
    except OSError:
        return found
    for number in numbers:
        line = _read(f"{folder}/{number}/stat")
        told = lines[line] = known[line] if line in known else _process(line)
        if told is not None:
            found[int(number), told[0]] = told[1]
    known.clear()
    known.update(lines)
    return found


def _read(path: str) -> bytes:
    """The one line of a file; nothing where it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, _LONGEST)
    except OSError:
        return b""
    finally:
        os.close(file)


def _process(line: bytes) -> tuple[int, Process] | None:
    """When it started, and the rest. A name may hold blanks and brackets; what follows the last one are numbers."""
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
