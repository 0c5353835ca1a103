"""How the kernel is set up: clocks, counters, randomisation, interrupts, and what it accounts for."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.machine.conditions.words import fine, processors, serious, slight, unknown
from steelyard.machine.facts import ASLR, CLOCK_SOURCE
from steelyard.machine.mounts import mounts
from steelyard.machine.readings import CPUS, SAMPLE_RATE, Tree
from steelyard.model.conditions import Condition

_SLOW_CLOCKS = ("hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies")
# The kernel's PROC_PID_INIT_INO.
_FIRST_NAMESPACE = "pid:[4026531836]"
_TRACEFS, _READABLE = "sys/kernel/tracing", "mode=755,gid=$(id -g)"
# The first since Linux 6.6, the second before.
_SCHEDULER_SLICES = ("base_slice_ns", "min_granularity_ns")
_UNTOLD = "`active` falls back to `wall`, and other work counts as the program's"


def waiting_times(tree: Tree) -> Condition:
    """Whether the scheduler tells how long a process waited; otherwise `active` is not defined."""
    if not tree.knows_us():
        return serious(
            "waiting-times",
            "/proc is of another namespace, where processes have other numbers: nothing is known of those here, so "
            + _UNTOLD,
            "this namespace's own: unshare --mount-proc, bwrap --proc /proc; till then --metric cpu",
        )
    schedstat = tree.text("proc/self/schedstat")
    if schedstat == "0 0 0":
        return serious(
            "waiting-times",
            f"the kernel keeps no account of waits (/proc/PID/schedstat is all 0): {_UNTOLD}",
            "as root: sysctl kernel.task_delayacct=1, or boot with delayacct; till then --metric cpu",
        )
    if schedstat:
        return fine("waiting-times", "the scheduler tells how long a process waited for a processor")
    return serious(
        "waiting-times",
        f"there is no /proc/PID/schedstat: {_UNTOLD}",
        "a kernel with CONFIG_SCHED_INFO, or a container that shows it; till then --metric cpu",
    )


def clock_source(tree: Tree) -> Condition:
    """The source that the clock is read from."""
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
    """Address-space randomisation, which should be on, so that launches average over it."""
    level = tree.number(ASLR)
    if level is None:
        return unknown("address-randomisation", "the system does not tell whether addresses are random")
    if level == 2:
        return fine("address-randomisation", "on, as it should be: launches average over where things lie")
    evidence = "in part: each launch has its heap right behind the program, lucky or not"
    if level == 0:
        evidence = "off: launches for which none are drawn (steelyard docs addresses) have the same ones, lucky or not"
    return slight(
        "address-randomisation",
        evidence,
        f"as root: echo 2 > /{ASLR}",
    )


@dataclass(frozen=True)
class Following:
    """Whether the scheduler's switches can be followed."""

    told: bool | None
    """What the launch server found; None where it does not run."""
    server: str
    """The file of the launch server."""
    is_root: bool


def threads(tree: Tree, following: Following) -> Condition:
    """Whether the waits of launches with several threads or processes can be corrected for (`lost_ns`)."""
    if following.told is None:
        return unknown(
            "threads", "the launch server, which would tell whether threads can be followed, does not run here"
        )
    if following.told:
        return fine(
            "threads", "the waits of threads, pipelines and process trees can be followed, so `active` has none"
        )
    consequence = "`active` falls back to `wall` for threads, pipelines and process trees: "
    if tree.link("proc/self/ns/pid") not in (None, _FIRST_NAMESPACE):
        return slight(
            "threads",
            f"{consequence}processes have numbers of their own here, as in a container, and others in the kernel's "
            "records",
            "outside of the container, or with the machine's numbers (docker run --pid=host --privileged)",
        )
    if following.is_root:
        return slight(
            "threads",
            f"{consequence}even root is not told of the scheduler's switches (perf_event_open, tracefs)",
            "outside of a container, whose filter may be between; on a kernel with perf events and tracefs",
        )
    is_mounted = any(mounted == f"/{_TRACEFS}" for _, mounted, _ in mounts(tree, "tracefs"))
    mount = f"-o remount,{_READABLE} /{_TRACEFS}" if is_mounted else f"-t tracefs -o {_READABLE} tracefs /{_TRACEFS}"
    return slight(
        "threads",
        f"{consequence}only root is told of the scheduler's switches",
        "as root; or as this user until the next start, once root did:\n"
        f"sudo mount {mount}\n"
        f"sudo setcap cap_perfmon=ep {shlex.quote(following.server)}",
    )


def perf_sampling(tree: Tree) -> Condition:
    """How often profilers may interrupt."""
    rate = tree.number(SAMPLE_RATE)
    if rate is None:
        return unknown("perf-sampling", "the system does not tell how often profilers may interrupt")
    return fine("perf-sampling", f"profilers may interrupt {rate:,} times a second, while one runs")


def counters(tree: Tree, refused: int | None) -> Condition:
    """Whether the processor's counters can be read; `refused` is the error number if the launch server cannot."""
    paranoia = tree.number("proc/sys/kernel/perf_event_paranoid")
    devices = [path.name for path in tree.below("sys/bus/event_source/devices", "*")]
    is_there = any(name.startswith(("cpu", "armv", "apple_")) for name in devices)
    if is_there and refused is not None:
        return fine(
            "counters",
            f"the processor counts instructions and cycles, but they are not to be had here ({os.strerror(refused)}): "
            "--metric cycles says what it takes, `steelyard count` needs none",
        )
    if is_there:
        who = "by everyone" if paranoia is not None and paranoia <= 2 else "by root"
        return fine("counters", f"the processor counts instructions and cycles; they can be read {who}")
    return fine("counters", "the processor's counters are hidden here: `steelyard count` needs none")


def interrupts(tree: Tree, per_s: Sequence[tuple[str, float]]) -> Condition:
    """Whether interrupts are moved about, which processors take them, and where most come from.

    `per_s` lists what interrupted and how often a second, the busiest first.
    """
    mask, named = tree.text("proc/irq/default_smp_affinity"), ", ".join(f"{name} {rate:,.0f}" for name, rate in per_s)
    busiest = f"; most a second: {named}" if named else ""
    if not all(map(tree.is_stopped, tree.named("irqbalance"))):  # `tune` stops it
        return slight(
            "interrupts",
            f"irqbalance runs, and moves interrupts between processors every ten seconds{busiest}",
            "as root: systemctl stop irqbalance, for as long as is measured",
        )
    if mask is None:
        return unknown("interrupts", f"the system does not tell which processors take interrupts{busiest}")
    bits = _bits(mask)
    taking = {bit for bit in range(4 * len(mask)) if bits >> bit & 1}
    online = tree.processor_list(f"{CPUS}/online") or taking
    return fine("interrupts", f"new ones are taken by {processors(taking & online)}{busiest}")


def scheduler_slice(tree: Tree) -> Condition:
    """For how long a process has a processor when others want it too."""
    slices = (tree.number(f"sys/kernel/debug/sched/{name}") for name in _SCHEDULER_SLICES)
    nanoseconds = next((slice_ns for slice_ns in slices if slice_ns is not None), None)
    if nanoseconds is None:
        return unknown(
            "scheduler-slice", "the length of the scheduler's turns is seen by root alone, and where debugfs is mounted"
        )
    return fine("scheduler-slice", f"the scheduler's turns take {nanoseconds / 1e6:.3g} ms")


def _bits(mask: str) -> int:
    try:
        return int(mask.replace(",", ""), 16)
    except ValueError:
        return 0
