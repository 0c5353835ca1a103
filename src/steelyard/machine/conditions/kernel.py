"""How the kernel is set up: clocks, counters, randomisation, interrupts, and what it accounts for."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.machine.conditions.words import fine, ranges, serious, slight, unknown
from steelyard.machine.facts import ASLR, CLOCK_SOURCE
from steelyard.machine.readings import CPUS, SAMPLE_RATE, Tree
from steelyard.model.conditions import Condition

_SLOW_CLOCKS = ("hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies")
_SCHEDULER_SLICE = "sys/kernel/debug/sched/base_slice_ns"


def waiting_times(tree: Tree) -> Condition:
    """Whether the scheduler tells how long a process waited, without which `active` is not defined."""
    if tree.text("proc/self/schedstat"):
        return fine("waiting-times", "the scheduler tells how long a process waited for a processor")
    return serious(
        "waiting-times",
        "there is no /proc/PID/schedstat: `active` falls back to `wall`, and other work counts as the program's",
        "a kernel with CONFIG_SCHED_INFO, or a container that shows it; till then --metric cpu",
    )


def clock_source(tree: Tree) -> Condition:
    """What the clock is read from."""
    name = tree.text(CLOCK_SOURCE)
    if name is None:
        return unknown("clock", "the system does not tell what its clock is read from")
    if name in _SLOW_CLOCKS:
        return serious(
            "clock",
            f"{name}: reading the clock takes a system call of about a µs",
            "boot with tsc=reliable, if the processor's clock can be trusted",
        )
    return fine("clock", f"read from {name}")


def randomisation(tree: Tree) -> Condition:
    """Address-space randomisation: on is right, as launches then average over it."""
    level = tree.number(ASLR)
    if level is None:
        return unknown("address-randomisation", "the system does not tell whether addresses are random")
    if level == 2:
        return fine("address-randomisation", "on, as it should be: launches average over where things lie")
    return slight(
        "address-randomisation",
        f"{'off' if level == 0 else 'in part'}: each launch has the same addresses, lucky ones or not",
        f"as root: echo 2 > /{ASLR}",
    )


def perf_sampling(tree: Tree) -> Condition:
    """How often profilers may interrupt."""
    rate = tree.number(SAMPLE_RATE)
    if rate is None:
        return unknown("perf-sampling", "the system does not tell how often profilers may interrupt")
    return fine("perf-sampling", f"profilers may interrupt {rate:,} times a second, while one runs")


def counters(tree: Tree) -> Condition:
    """Whether the processor's own counters can be read."""
    paranoia = tree.number("proc/sys/kernel/perf_event_paranoid")
    devices = [path.name for path in tree.below("sys/bus/event_source/devices", "*")]
    if any(name.startswith(("cpu", "armv8", "armv9")) for name in devices):
        who = "by everyone" if paranoia is not None and paranoia <= 2 else "by root"
        return fine("counters", f"the processor counts instructions and cycles; they can be read {who}")
    return fine("counters", "the processor's counters are hidden here: `steelyard count` needs none")


def interrupts(tree: Tree, per_s: Sequence[tuple[str, float]]) -> Condition:
    """Whether interrupts are moved about, which processors take them, and where most come from.

    `per_s` says what interrupted, and how often in a second, the busiest first.
    """
    mask, named = tree.text("proc/irq/default_smp_affinity"), ", ".join(f"{name} {rate:,.0f}" for name, rate in per_s)
    busiest = f"; most a second: {named}" if named else ""
    if tree.named("irqbalance"):
        return slight(
            "interrupts",
            f"irqbalance runs, and moves interrupts between processors every ten seconds{busiest}",
            "as root: systemctl stop irqbalance, for as long as is measured",
        )
    if mask is None:
        return unknown("interrupts", f"the system does not tell which processors take interrupts{busiest}")
    taking = {bit for bit in range(4 * len(mask)) if _bits(mask) >> bit & 1}
    return fine("interrupts", f"new ones are taken by processors {ranges(taking & _online(tree, taking))}{busiest}")


def scheduler_slice(tree: Tree) -> Condition:
    """For how long a process has a processor, where others want it too."""
    nanoseconds = tree.number(_SCHEDULER_SLICE)
    if nanoseconds is None:
        return unknown("scheduler-slice", "only root can see the length of the scheduler's turns, in debugfs")
    return fine("scheduler-slice", f"the scheduler's turns take {nanoseconds / 1e6:.3g} ms")


def _bits(mask: str) -> int:
    try:
        return int(mask.replace(",", ""), 16)
    except ValueError:
        return 0


def _online(tree: Tree, otherwise: set[int]) -> set[int]:
    return tree.processor_list(f"{CPUS}/online") or otherwise
