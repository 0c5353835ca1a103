"""What the kernel tells in its files below /proc and /sys, from a given root; what cannot be read is None."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

CPUS = "sys/devices/system/cpu"
# What `doctor` looks at and `tune` sets.
NO_TURBO, BOOST = f"{CPUS}/intel_pstate/no_turbo", f"{CPUS}/cpufreq/boost"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
SAMPLE_RATE = "proc/sys/kernel/perf_event_max_sample_rate"
# Waking up from a deeper state takes as long as a short launch varies: 100 us of 10 ms are 1 %.
DEEP_SLEEP_US = 100
_PROCESSOR = re.compile(r"cpu\d+")
_SPENT_ON = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Spent(NamedTuple):
    """What all processors have done since the start of the machine."""

    ticks: dict[str, int]
    """By what they were spent on: `user`, `steal`, ..."""
    interrupts: int | None
    processors: int
    """Of how many that is; 0 where the system does not tell."""


@dataclass(frozen=True)
class Tree:
    """The files below one root: `/`, or a made-up one."""

    root: Path = Path("/")

    def text(self, path: str | Path) -> str | None:
        """A file's text without blanks at its ends; None if it is empty or cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip() or None
        except OSError:
            return None

    def link(self, path: str | Path) -> str | None:
        """Where a symbolic link leads; None if it is none, or cannot be read."""
        try:
            return str((self.root / path).readlink())
        except OSError:
            return None

    def knows_us(self) -> bool:
        """Whether processes have the numbers there that they have for us: not in a /proc of another namespace."""
        return self.link("proc/self") in (None, str(os.getpid()))

    def number(self, path: str | Path) -> int | None:
        """The one whole number in a file."""
        return whole(self.text(path))

    def chosen(self, path: str | Path) -> str | None:
        """A file's text; of several choices, of which one stands in brackets, that one."""
        text = self.text(path)
        return text if text is None or "[" not in text else text.partition("[")[2].partition("]")[0]

    def named(self, name: str) -> list[int]:
        """The numbers of the processes of that name."""
        return [int(path.parent.name) for path in self.below("proc", "[0-9]*/comm") if self.text(path) == name]

    def waited_us(self, path: str | Path = "proc/pressure/cpu", tasks: str = "some") -> int | None:
        """For how long `some` task has waited for a processor so far, or the `full` number of those that could run.

        Of the machine, or of a control group; None where there is no pressure information.
        """
        line = next((line for line in (self.text(path) or "").splitlines() if line.startswith(tasks)), "")
        return whole(next((word.removeprefix("total=") for word in line.split() if word.startswith("total=")), None))

    def spent(self) -> Spent:
        """What all processors have done so far."""
        lines = (self.text("proc/stat") or "").splitlines()
        numbers = [int(word) for word in (lines[0].split() if lines else [])[1:9] if word.isdigit()]
        interrupts = whole(next((line.split(None, 2)[1] for line in lines if line.startswith("intr ")), None))
        processors = sum(line.startswith("cpu") for line in lines[1:])  # the first line is of all of them
        return Spent(dict(zip(_SPENT_ON, numbers, strict=False)), interrupts, processors)

    def siblings(self, processor: int) -> set[int]:
        """The other processors of its core that are on."""
        return self.processor_list(f"{CPUS}/cpu{processor}/topology/thread_siblings_list") - {processor}

    def fields(self, path: str | Path) -> dict[str, str]:
        """Lines of a name and a value, as in /proc/meminfo (`Name: value`) and cpu.stat (`name value`)."""
        words = (line.split(None, 1) for line in (self.text(path) or "").splitlines())
        return {found[0].rstrip(":"): found[1] for found in words if len(found) == 2}

    def is_there(self, path: str | Path) -> bool:
        """Whether there is such a file or folder that may be looked at."""
        try:
            return (self.root / path).exists()
        except OSError:
            return False

    def below(self, folder: str | Path, pattern: str) -> list[Path]:
        """What is in a folder, by a pattern, sorted by the numbers in the names; relative to the root."""
        try:
            found = [path.relative_to(self.root) for path in (self.root / folder).glob(pattern)]
        except OSError:
            return []
        return sorted(found, key=_by_number)

    def processors(self) -> Iterator[tuple[int, Path]]:
        """The number and the folder of every processor that the kernel knows, offline ones too."""
        for folder in self.below(CPUS, "cpu*"):
            if _PROCESSOR.fullmatch(folder.name):
                yield int(folder.name[3:]), folder

    def of_processors(self, name: str) -> dict[int, str]:
        """One file of every processor that has it, by the processor's number."""
        told = {number: self.text(folder / name) for number, folder in self.processors()}
        return {number: text for number, text in told.items() if text is not None}

    def processor_list(self, path: str | Path) -> set[int]:
        """A list of processors such as `0-3,7`; empty if the file is, or holds something else (as `(null)`)."""
        return processor_numbers(self.text(path) or "")


def whole(text: str | None) -> int | None:
    """A whole number, decimal or as C writes others; None for anything else."""
    try:
        return int(text, 0) if text else None
    except ValueError:
        return None


def processor_numbers(text: str) -> set[int]:
    """The processors of a list such as `0-3,7`, as the kernel writes and reads them; empty for anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        if not (found := re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip())):
            return set()
        numbers.update(range(int(found[1]), int(found[2] or found[1]) + 1))
    return numbers


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]
