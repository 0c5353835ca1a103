"""What can be calmed on a machine: for each operation the settings that it would change, and to what.

Address-space randomisation is none of them: it stays on, as launches are to average over addresses; switched off, all
of them would have the same ones, lucky or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.machine.conditions.words import ranges
from steelyard.machine.readings import (
    BOOST,
    CPUS,
    DEEP_SLEEP_US,
    HUGE_PAGES,
    NO_TURBO,
    SAMPLE_RATE,
    processor_numbers,
)
from steelyard.machine.tuning.hand import Hand
from steelyard.model.tuning import Change

Wanted = Iterator[tuple[str | Path, str]]


@dataclass(frozen=True)
class Operation:
    """One thing that is calmed."""

    code: str
    wanted: Callable[[Hand, int | None], Wanted]
    """The settings and what they should be, given the processor that is measured on."""

    def changes(self, hand: Hand, processor: int | None) -> Iterator[Change]:
        """Those that are there and not so yet."""
        for setting, value in self.wanted(hand, processor):
            before = hand.read(str(setting))
            if before is not None and before != value:
                yield Change(code=self.code, setting=str(setting), before=before, after=value)


def _sampling(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001 - as all of them
    """Profilers interrupt once a second at most."""
    yield SAMPLE_RATE, "1"


def _governor(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """The clock rate is as high as it may be."""
    for _, folder in hand.tree.processors():
        choices = hand.tree.text(folder / "cpufreq/scaling_available_governors")
        if choices is None or "performance" in choices.split():
            yield folder / "cpufreq/scaling_governor", "performance"


def _lowest_rate(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """The clock rate does not fall."""
    for _, folder in hand.tree.processors():
        if highest := hand.tree.text(folder / "cpufreq/scaling_max_freq"):
            yield folder / "cpufreq/scaling_min_freq", highest


def _turbo(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """The clock rate does not exceed the nominal one."""
    yield NO_TURBO, "1"
    yield BOOST, "0"


def _sleep_states(hand: Hand, processor: int | None) -> Wanted:
    """The processor wakes up within 100 µs."""
    for number, folder in hand.tree.processors():
        if processor is not None and number != processor:
            continue
        for state in hand.tree.below(folder / "cpuidle", "state*"):
            if (hand.tree.number(state / "latency") or 0) > DEEP_SLEEP_US:
                yield state / "disable", "1"


def _huge_pages(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Only programs that ask for them have huge pages; where none has any it stays so."""
    if hand.read(HUGE_PAGES) != "never":
        yield HUGE_PAGES, "madvise"


def _irqbalance(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """The service that moves interrupts about stands still."""
    yield "process:irqbalance", "stopped"


def _interrupts(hand: Hand, processor: int | None) -> Wanted:
    """All away from the processor that is measured on; those that cannot be moved are left where they are.

    Those of its siblings alone are moved too: the kernel would do so when these are switched off, and leave them there.
    """
    if processor is None:
        return
    leaving = hand.tree.siblings(processor)
    staying = hand.tree.processor_list(f"{CPUS}/online") - {processor} - leaving
    for path in hand.tree.below("proc/irq", "[0-9]*/smp_affinity_list"):
        taking = processor_numbers(hand.tree.text(path) or "")
        if taking & staying:
            wanted = taking - {processor}
        elif processor in taking:
            wanted = staying
        else:
            wanted = staying or {processor} if taking & leaving else taking
        if wanted and wanted != taking:
            yield path, ranges(wanted)


def _siblings(hand: Hand, processor: int | None) -> Wanted:
    """The processor that shares a core with the one that is measured on."""
    if processor is None:
        return
    for number in sorted(hand.tree.siblings(processor)):
        yield f"{CPUS}/cpu{number}/online", "0"


OPERATIONS = (
    Operation("irqbalance", _irqbalance),
    Operation("interrupts", _interrupts),
    Operation("perf-sampling", _sampling),
    Operation("governor", _governor),
    Operation("frequency-range", _lowest_rate),
    Operation("turbo", _turbo),
    Operation("sleep-states", _sleep_states),
    Operation("huge-pages", _huge_pages),
    Operation("siblings", _siblings),
)
"""In the order in which they are done. A processor that is switched off comes last: its other files go with it."""


def planned(hand: Hand, processor: int | None) -> list[Change]:
    """All that would be changed; `processor` is the one that is measured on, if one was chosen."""
    return [change for operation in OPERATIONS for change in operation.changes(hand, processor)]
