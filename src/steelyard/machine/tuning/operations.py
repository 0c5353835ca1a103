"""What can be calmed on a machine: for each operation the settings that it would change, and their new values.

Address-space randomisation is not among them: it stays on, so that launches average over addresses. Switched off, all
of them would have the same addresses, lucky or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from steelyard.machine.conditions.words import ranges
from steelyard.machine.hierarchies import first_version
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
"""Settings and their wanted values."""


def _sampling(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001 - as all of them
    """Let profilers interrupt once a second at most."""
    yield SAMPLE_RATE, "1"


def _governor(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Keep the clock rate as high as it may be."""
    for _, folder in hand.tree.processors():
        if hand.read(f"{folder}/cpufreq/scaling_governor") in ("performance", "userspace"):
            continue  # the latter holds the rate that root has chosen, which it would forget
        choices = hand.tree.text(folder / "cpufreq/scaling_available_governors")
        if choices is None or "performance" in choices.split():
            # The governor changes this too, and not every driver (amd-pstate) puts it back.
            yield folder / "cpufreq/energy_performance_preference", "performance"
            yield folder / "cpufreq/scaling_governor", "performance"


def _lowest_rate(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Keep the clock rate from falling."""
    for _, folder in hand.tree.processors():
        if highest := hand.tree.text(folder / "cpufreq/scaling_max_freq"):
            yield folder / "cpufreq/scaling_min_freq", highest


def _turbo(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Keep the clock rate from exceeding the nominal one."""
    yield NO_TURBO, "1"
    yield BOOST, "0"


def _sleep_states(hand: Hand, processor: int | None) -> Wanted:
    """Let the processor wake up within 100 µs."""
    for number, folder in hand.tree.processors():
        if processor is not None and number != processor:
            continue
        for state in hand.tree.below(folder / "cpuidle", "state*"):
            if (hand.tree.number(state / "latency") or 0) > DEEP_SLEEP_US:
                yield state / "disable", "1"


def _huge_pages(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Give huge pages only to programs that ask for them; where no program has any, leave it so."""
    if hand.read(HUGE_PAGES) != "never":
        yield HUGE_PAGES, "madvise"


def _irqbalance(hand: Hand, processor: int | None) -> Wanted:  # noqa: ARG001
    """Stop the service that moves interrupts about."""
    yield "process:irqbalance", "stopped"


def _interrupts(hand: Hand, processor: int | None) -> Wanted:
    """Move interrupts away from the processor that is measured on; those that cannot be moved stay where they are.

    Those that only its siblings take are moved too: otherwise the kernel would move them when the siblings are switched
    off, and would not move them back.
    """
    if processor is None:
        return
    siblings = hand.tree.siblings(processor)
    other_processors = hand.tree.processor_list(f"{CPUS}/online") - {processor} - siblings
    for path in hand.tree.below("proc/irq", "[0-9]*/smp_affinity_list"):
        current = processor_numbers(hand.tree.text(path) or "")
        if current & other_processors:
            wanted = current - {processor}
        elif processor in current:
            wanted = other_processors
        else:
            wanted = other_processors or {processor} if current & siblings else current
        if wanted and wanted != current:
            yield path, ranges(wanted)


def _siblings(hand: Hand, processor: int | None) -> Wanted:
    """Switch off the processors that share a core with the one that is measured on.

    A group's cpuset of the first version would lose them for good (man 7 cpuset), so those that one has stay on.
    """
    if processor is None:
        return
    cpusets = first_version(hand.tree, "cpuset")
    groups = hand.tree.below(cpusets.top, "*/cpuset.cpus") if cpusets else []
    for number in sorted(hand.tree.siblings(processor).difference(*map(hand.tree.processor_list, groups))):
        yield f"{CPUS}/cpu{number}/online", "0"


_OPERATIONS: dict[str, Callable[[Hand, int | None], Wanted]] = {
    "irqbalance": _irqbalance,
    "interrupts": _interrupts,
    "perf-sampling": _sampling,
    "governor": _governor,
    "frequency-range": _lowest_rate,
    "turbo": _turbo,
    "sleep-states": _sleep_states,
    "huge-pages": _huge_pages,
    "siblings": _siblings,
}
"""In the order in which they are done. Switching off processors comes last, as their other files disappear then."""


def planned_changes(hand: Hand, processor: int | None) -> list[Change]:
    """Return the changes of all settings that exist and do not have the wanted value yet.

    `processor` is the one that is measured on, if one was chosen.
    """
    wanted = ((code, str(path), value) for code, look in _OPERATIONS.items() for path, value in look(hand, processor))
    return [
        Change(code=code, setting=setting, before=before, after=value)
        for code, setting, value in wanted
        if (before := hand.read(setting)) not in (None, value)
    ]
