"""What interrupts the processors, and how often: the rows of /proc/interrupts, and their sources in words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.machine.readings import Tree

# The kernel's own interrupts by its description: the letters in front differ between architectures.
_KERNEL_SOURCES = {
    "Local timer interrupts": "the timer",
    "Rescheduling interrupts": "rescheduling by other processors",
    "Function call interrupts": "calls of other processors",
    "TLB shootdowns": "other processors' changes of memory maps",
    "IRQ work interrupts": "the kernel's postponed work",
    "Performance monitoring interrupts": "a profiler",
    "Hypervisor callback interrupts": "the hypervisor",
}
_TIMER = "timer"  # `arch_timer` of ARM, `riscv-timer`
# The drivers follow the interrupt's controller and its number there, which end in one of these words.
_DRIVERS = re.compile(r".*(?:edge|level|fasteoi)\s+(\S.*)", re.IGNORECASE)
# The part of `virtio1-req.0`, `eth0-TxRx-3`, `nvme0q7` and `ahci[0000:00:17.0]` that all queues of the device share.
_DEVICE = re.compile(r"nvme\d+|\w+")
# By the class of a PCI device.
_CLASSES = {"0x01": "disk", "0x02": "network card", "0x03": "graphics card", "0x0c03": "USB"}


class Source(NamedTuple):
    """One row of the table."""

    name: str
    """A number, or letters for one of the kernel's own."""
    told: str
    """The kernel's description: controller and drivers, or a few words."""

    def is_device(self) -> bool:
        """Return whether it is a device's; timers and the like interrupt every processor."""
        return self.name.isdigit() and _TIMER not in self.told


Counts = Mapping[Source, int]
_Row = tuple[Source, list[int]]


@dataclass
class Interrupts:
    """The interrupts of one processor, or of all together, read repeatedly; unchanged rows are not parsed again."""

    tree: Tree
    processor: int | None = None
    _head: str = ""
    _known: dict[str, _Row | None] = field(default_factory=dict)
    _words: dict[Source, str] = field(default_factory=dict)

    def read(self) -> Counts:
        """Return how often each source has interrupted so far; nothing where the system does not tell."""
        head, *rows = _lines(self.tree)
        if head != self._head:
            self._head, self._known = head, {}
        numbers = _processors(head)
        if not numbers or (self.processor is not None and self.processor not in numbers):
            return {}
        index = None if self.processor is None else numbers.index(self.processor)
        self._known = {row: self._known[row] if row in self._known else _parse_row(row, len(numbers)) for row in rows}
        known_rows = filter(None, self._known.values())
        return {source: sum(counts) if index is None else counts[index] for source, counts in known_rows}

    def grown(self, before: Counts, after: Counts) -> list[tuple[str, int]]:
        """Return what interrupted between two readings, in words, and how often; the busiest first."""
        times_by_source: defaultdict[str, int] = defaultdict(int)
        for source, count in after.items():
            if (times := count - before.get(source, count)) > 0:
                if source not in self._words:
                    self._words[source] = in_words(self.tree, source)
                times_by_source[self._words[source]] += times
        return sorted(times_by_source.items(), key=lambda one: (-one[1], one[0]))


def by_processor(tree: Tree, is_wanted: Callable[[Source], bool] = lambda source: True) -> dict[int, int]:  # noqa: ARG005
    """Return how often each processor was interrupted so far by the sources that are wanted."""
    head, *rows = _lines(tree)
    counts_by_processor = dict.fromkeys(_processors(head), 0)
    for source, counts in filter(None, (_parse_row(row, len(counts_by_processor)) for row in rows)):
        if is_wanted(source):
            for number, count in zip(counts_by_processor, counts, strict=True):
                counts_by_processor[number] += count
    return counts_by_processor


def in_words(tree: Tree, source: Source) -> str:
    """Describe a source: `the timer`, `the network card virtio2`."""
    if not source.name.isdigit():
        return _KERNEL_SOURCES.get(source.told, source.told or source.name)
    match = _DRIVERS.fullmatch(source.told)
    drivers = match[1] if match else source.told
    if drivers.endswith(_TIMER):
        return "the timer"
    device = _DEVICE.match(drivers)
    return f"the {_kind(tree, source.name)} {device[0] if device else source.name}"


def _kind(tree: Tree, number: str) -> str:
    """Return the kind of the PCI device that has this interrupt, or "device"."""
    for path in tree.below("sys/bus/pci/devices", f"*/msi_irqs/{number}"):
        device_class = tree.text(path.parent.parent / "class") or ""
        return next((kind for start, kind in _CLASSES.items() if device_class.startswith(start)), "device")
    return "device"


def _lines(tree: Tree) -> list[str]:
    return (tree.text("proc/interrupts") or "").splitlines() or [""]


def _processors(head: str) -> list[int]:
    return [int(name[3:]) for name in head.split() if name.startswith("CPU") and name[3:].isdecimal()]


def _parse_row(row: str, processors: int) -> _Row | None:
    """Parse a row that counts by processor; None for others, such as ERR and MIS with a single number."""
    name, _, rest = row.partition(":")
    words = rest.split(None, processors)
    counts, description = words[:processors], "".join(words[processors:])
    if len(counts) < processors or not all(word.isdecimal() for word in counts):
        return None
    return Source(name.strip(), description.strip()), [int(word) for word in counts]
