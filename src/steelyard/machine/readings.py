"""Read what the kernel tells in its files below /proc and /sys, from a given root; what cannot be read is None."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

CPUS = "sys/devices/system/cpu"
# The settings that `doctor` looks at and `tune` sets.
NO_TURBO, BOOST = f"{CPUS}/intel_pstate/no_turbo", f"{CPUS}/cpufreq/boost"
HUGE_PAGES = "sys/kernel/mm/transparent_hugepage/enabled"
SAMPLE_RATE = "proc/sys/kernel/perf_event_max_sample_rate"
# Waking up from a deeper state takes as long as a short launch varies: 100 us of 10 ms are 1 %.
DEEP_SLEEP_US = 100
_PROCESSOR = re.compile(r"cpu\d+")
_SPENT_ON = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


class Spent(NamedTuple):
    """What all processors have done since boot."""

    ticks: dict[str, int]
    """Ticks by what they were spent on: `user`, `steal`, ..."""
    interrupts: int | None
    processors: int
    """The number of processors that this covers; 0 where the system does not tell."""


@dataclass(frozen=True)
class Tree:
    """The files below one root: `/`, or a made-up one."""

    root: Path = Path("/")

    def text(self, path: str | Path) -> str | None:
        """Return a file's text, stripped; None if it is empty or cannot be read."""
        try:
            return (self.root / path).read_text(encoding="utf-8", errors="replace").strip() or None
        except OSError:
            return None

    def link(self, path: str | Path) -> str | None:
        """Return the target of a symbolic link; None if it is not a link or cannot be read."""
        try:
            return str((self.root / path).readlink())
        except OSError:
            return None

    def knows_us(self) -> bool:
        """Return whether processes have the same numbers there as for us; not so in another namespace's /proc."""
        return self.link("proc/self") in (None, str(os.getpid()))

    def number(self, path: str | Path) -> int | None:
        """Return the one whole number in a file."""
        return whole(self.text(path))

    def chosen(self, path: str | Path) -> str | None:
        """Return a file's text, or only the chosen word if it lists choices with the chosen one in brackets."""
        text = self.text(path)
        return text if text is None or "[" not in text else text.partition("[")[2].partition("]")[0]

    def named(self, name: str) -> list[int]:
        """Return the numbers of the processes of a name."""
        return [int(path.parent.name) for path in self.below("proc", "[0-9]*/comm") if self.text(path) == name]

    def is_stopped(self, number: int) -> bool:
        """Return whether a process stands still, by a signal or a debugger."""
        return (self.text(f"proc/{number}/stat") or "").rpartition(") ")[2][:1] in ("T", "t")

    def waited_us(self, path: str | Path = "proc/pressure/cpu", tasks: str = "some") -> int | None:
        """Return for how long `some` task, or with `full` every task that could run, has waited for a processor so far.

        On the machine, or in the control group whose file is `path`; None where there is no pressure information.
        """
        line = next((line for line in (self.text(path) or "").splitlines() if line.startswith(tasks)), "")
        return whole(next((word.removeprefix("total=") for word in line.split() if word.startswith("total=")), None))

    def spent(self) -> Spent:
        """Return what all processors have done so far."""
        lines = (self.text("proc/stat") or "").splitlines()
        numbers = [int(word) for word in (lines[0].split() if lines else [])[1:9] if word.isdigit()]
        interrupts = whole(next((line.split(None, 2)[1] for line in lines if line.startswith("intr ")), None))
        processors = sum(line.startswith("cpu") for line in lines[1:])  # the first line is of all of them
        return Spent(dict(zip(_SPENT_ON, numbers, strict=False)), interrupts, processors)

    def siblings(self, processor: int) -> set[int]:
        """Return the other processors of its core that are on."""
        return self.processor_list(f"{CPUS}/cpu{processor}/topology/thread_siblings_list") - {processor}

    def fields(self, path: str | Path) -> dict[str, str]:
        """Return the names and values in a file such as /proc/meminfo (`Name: value`) or cpu.stat (`name value`)."""
        words = (line.split(None, 1) for line in (self.text(path) or "").splitlines())
        return {found[0].rstrip(":"): found[1] for found in words if len(found) == 2}

    def is_there(self, path: str | Path) -> bool:
        """Return whether a file or folder exists and may be looked at."""
        try:
            return (self.root / path).exists()
        except OSError:
            return False

    def below(self, folder: str | Path, pattern: str) -> list[Path]:
        """Return the paths in a folder that match a pattern, relative to the root, sorted by numbers in the names."""
        try:
            paths = [path.relative_to(self.root) for path in (self.root / folder).glob(pattern)]
        except OSError:
            return []
        return sorted(paths, key=_by_number)

    def processors(self) -> Iterator[tuple[int, Path]]:
        """Yield the number and the folder of every processor that the kernel knows, including offline ones."""
        for folder in self.below(CPUS, "cpu*"):
            if _PROCESSOR.fullmatch(folder.name):
                yield int(folder.name[3:]), folder

    def of_processors(self, name: str) -> dict[int, str]:
        """Return the text of one file of every processor that has it, by the processor's number."""
        texts = {number: self.text(folder / name) for number, folder in self.processors()}
        return {number: text for number, text in texts.items() if text is not None}

    def processor_list(self, path: str | Path) -> set[int]:
        """Return the processors in a file such as `0-3,7`; empty if it is empty or has something else (`(null)`)."""
        return processor_numbers(self.text(path) or "")


def allowed_processors(tree: Tree) -> set[int]:
    """Return the processors on which this process may run; empty if the system does not tell."""
    return processor_numbers(tree.fields("proc/self/status").get("Cpus_allowed_list", ""))


def whole(text: str | None) -> int | None:
    """Parse a whole number, decimal or in another of C's notations; None for anything else."""
    try:
        return int(text, 0) if text else None
    except ValueError:
        return None


def processor_numbers(text: str) -> set[int]:
    """Parse a list of processors such as `0-3,7`, as the kernel writes and reads it; empty for anything else."""
    numbers: set[int] = set()
    for part in text.split(","):
        if not (match := re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip())):
            return set()
        numbers.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return numbers


def _by_number(path: Path) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]
