"""Whether the processors' clock rates change, and the states in which they sleep."""

from __future__ import annotations

from steelyard.machine.conditions.words import fine, ranges, slight, unknown
from steelyard.machine.readings import BOOST, CPUS, DEEP_SLEEP_US, NO_TURBO, Tree
from steelyard.model.conditions import Condition


def turbo(tree: Tree) -> Condition:
    """Clock rates above the nominal one, which fall as other cores work or the processor grows hot."""
    off, on = tree.number(NO_TURBO), tree.number(BOOST)
    if off is None and on is None:
        return unknown("turbo", "the system does not tell whether the processor may exceed its nominal clock rate")
    if off == 1 or (off is None and on == 0):
        return fine("turbo", "off: the processor keeps to its nominal clock rate")
    path, value = (NO_TURBO, 1) if off is not None else (BOOST, 0)
    return slight(
        "turbo",
        "on: the clock rate falls as other cores start to work and as the processor grows hot",
        f"as root: echo {value} > /{path}",
    )


def governor(tree: Tree) -> Condition:
    """What decides on the clock rate."""
    governors = tree.of_processors("cpufreq/scaling_governor")
    if not governors:
        return unknown("governor", "the system does not tell who decides about the clock rate")
    others = {number: name for number, name in governors.items() if name != "performance"}
    if not others:
        return fine("governor", "performance: the clock rate is as high as it may be")
    names = ", ".join(sorted(set(others.values())))
    return slight(
        "governor",
        f"{names} on processors {ranges(others)}: the clock rate follows the load, and rises while a launch runs",
        "as root: cpupower frequency-set -g performance",
    )


def frequency_range(tree: Tree) -> Condition:
    """The limits between which the clock rate may change."""
    lowest, highest = (tree.of_processors(f"cpufreq/scaling_{end}_freq") for end in ("min", "max"))
    rates = {
        n: (int(lowest[n]), int(highest[n])) for n in lowest if lowest[n].isdigit() and highest.get(n, "").isdigit()
    }
    if not rates:
        return unknown("frequency-range", "the system does not tell between which limits the clock rate moves")
    variable = {number for number, (low, high) in rates.items() if low < high}
    if not variable:
        return fine("frequency-range", "the clock rate has one value on all processors")
    low, high = min(low for low, _ in rates.values()), max(high for _, high in rates.values())
    return slight(
        "frequency-range",
        f"from {low / 1e6:.3g} to {high / 1e6:.3g} GHz on processors {ranges(variable)}",
        f"as root: cpupower frequency-set -d {high}kHz",
    )


def sleep_states(tree: Tree) -> Condition:
    """How long a processor takes to wake up from the deepest state that it may sleep in."""
    deepest_us, name = 0, ""
    states = tree.below(f"{CPUS}/cpu0/cpuidle", "state*")
    for state in states:
        if tree.number(state / "disable"):
            continue
        latency_us = tree.number(state / "latency") or 0
        if latency_us > deepest_us:
            deepest_us, name = latency_us, tree.text(state / "name") or state.name
    if not states:
        return unknown("sleep-states", "the system does not tell in which states its processors sleep")
    if deepest_us <= DEEP_SLEEP_US:
        return fine("sleep-states", f"processors wake up within {deepest_us} µs")
    return slight(
        "sleep-states",
        f"a processor that sleeps in {name} takes {deepest_us} µs to wake up, in the middle of a program that waits",
        "as root: cpupower idle-set -D 100",
    )
