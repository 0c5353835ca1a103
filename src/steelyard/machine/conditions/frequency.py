"""Whether the processors' clock rates change, and the states in which they sleep."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.conditions.words import fine, processors, slight, unknown
from steelyard.machine.readings import BOOST, CPUS, DEEP_SLEEP_US, NO_TURBO, Tree
from steelyard.model.conditions import Condition

# Of these drivers alone `powersave` follows the load; of all others it holds the lowest rate.
_FOLLOWING_DRIVERS = ("intel_pstate", "amd-pstate-epp")


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
    drivers = tree.of_processors("cpufreq/scaling_driver")
    others = {number: name for number, name in governors.items() if not _holds(name, drivers.get(number, ""))}
    names = ", ".join(sorted(set((others or governors).values())))
    if not others:
        height = "as high as it may be" if names == "performance" else "held"
        return fine("governor", f"{names}: the clock rate is {height}")
    return slight(
        "governor",
        f"{names} on {processors(others)}: the clock rate follows the load, and rises while a launch runs",
        "as root: cpupower frequency-set -g performance",
    )


def _holds(governor: str, driver: str) -> bool:
    """Return whether a governor keeps the clock rate where it is, whatever the load."""
    is_lowest = governor == "powersave" and driver != "" and driver not in _FOLLOWING_DRIVERS
    return is_lowest or governor in ("performance", "userspace")


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
        f"from {low / 1e6:.3g} to {high / 1e6:.3g} GHz on {processors(variable)}",
        f"as root: cpupower frequency-set -d {high}kHz",
    )


def sleep_states(tree: Tree) -> Condition:
    """How long a processor takes to wake up from the deepest state that it may sleep in."""
    online = tree.processor_list(f"{CPUS}/online")
    all_deepest = {
        number: deepest
        for number, folder in tree.processors()
        if (not online or number in online) and (deepest := _deepest_state(tree, folder))
    }
    if not all_deepest:
        return unknown("sleep-states", "the system does not tell in which states its processors sleep")
    latency_us, name = max(all_deepest.values())
    if latency_us <= DEEP_SLEEP_US:
        return fine("sleep-states", f"processors wake up within {latency_us} µs")
    deep = {number for number, (us, _) in all_deepest.items() if us > DEEP_SLEEP_US}
    which = "" if len(deep) == len(all_deepest) else f" ({processors(deep)})"  # `tune --cpu` calms one alone
    return slight(
        "sleep-states",
        f"a processor that sleeps in {name} takes {latency_us} µs to wake up, in the middle of a program that "
        f"waits{which}",
        "as root: cpupower idle-set -D 100",
    )


def _deepest_state(tree: Tree, processor: Path) -> tuple[int, str] | None:
    """Return how long a processor takes to wake up from its deepest state, in µs, and its name; None if untold."""
    states = tree.below(processor / "cpuidle", "state*")
    enabled = [state for state in states if not tree.number(state / "disable")]
    latencies = [(tree.number(state / "latency") or 0, tree.text(state / "name") or state.name) for state in enabled]
    return max(latencies, default=(0, "")) if states else None
