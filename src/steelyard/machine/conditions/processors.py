"""Which processors there are, which of them share a core, and which are kept free."""

from __future__ import annotations

from steelyard.machine.conditions.words import fine, processors, ranges, serious, slight, unknown
from steelyard.machine.quietest import kept_free
from steelyard.machine.readings import CPUS, Tree, allowed_processors, processor_numbers
from steelyard.model.conditions import Condition


def cores(tree: Tree = Tree()) -> list[frozenset[int]]:
    """Return the processors of each core; nothing where the system does not tell which ones share a core."""
    texts = tree.of_processors("topology/thread_siblings_list")
    return sorted({frozenset(processor_numbers(text)) for text in texts.values()}, key=sorted)


def siblings(tree: Tree) -> Condition:
    """Processors that share a core: each is slowed down by what the other does."""
    all_cores = cores(tree)
    if not all_cores:
        return unknown("siblings", "the system does not tell which processors share a core")
    shared = [core for core in all_cores if len(core) > 1]
    if not shared:
        return fine("siblings", "no two processors share a core, as far as the system tells")
    names = ", ".join(f"{ranges(core)}" for core in shared[:4]) + (", ..." if len(shared) > 4 else "")
    return slight(
        "siblings",
        f"processors share a core ({names}): work on one slows the others of it down",
        "--cpu auto, which takes one beside which nothing runs; as root: --isolate keeps all of its core free, or echo "
        f"off > /{CPUS}/smt/control",
    )


def isolation(tree: Tree) -> Condition:
    """Processors that are kept free of the scheduler, the timer tick or RCU's callbacks."""
    isolated, tickless = (tree.processor_list(f"{CPUS}/{name}") for name in ("isolated", "nohz_full"))
    callbacks = processor_numbers(_option(tree, "rcu_nocbs"))
    if not (isolated or tickless or callbacks):
        return fine("isolation", "no processor is kept free (isolcpus, nohz_full, rcu_nocbs): all are alike")
    evidence = [
        f"{name} {ranges(numbers)}"
        for name, numbers in (("isolcpus", isolated), ("nohz_full", tickless), ("rcu_nocbs", callbacks))
        if numbers
    ]
    if any(_is_set_at_ticks(tree, number) for number in tickless):
        # https://vstinner.github.io/journey-to-stable-benchmark-system.html
        return serious(
            "isolation",
            f"{', '.join(evidence)}: intel_pstate sets the clock rate of a processor at its timer tick, which "
            "nohz_full switches off, so that the rate is whatever it was",
            "as root: cpupower frequency-set -g performance; or boot without nohz_full, or with intel_pstate=disable",
        )
    if free := kept_free(tree):
        return fine("isolation", f"{', '.join(evidence)}: --cpu {min(free)} runs where nothing else does")
    return fine("isolation", ", ".join(evidence))


def _is_set_at_ticks(tree: Tree, processor: int) -> bool:
    """Return whether the driver keeps adjusting the clock rate at timer ticks.

    With the governor `performance` it sets the rate once; with HWP, where there is a preference, the processor sets it.
    """
    driver = f"{CPUS}/cpu0/cpufreq"
    return (
        (tree.text(f"{driver}/scaling_driver") or "").startswith("intel_pstate")
        and not tree.is_there(f"{driver}/energy_performance_preference")
        and tree.text(f"{CPUS}/cpu{processor}/cpufreq/scaling_governor") != "performance"
    )


def offline(tree: Tree) -> Condition:
    """Processors that are switched off."""
    online = tree.processor_list(f"{CPUS}/online")
    if not online:
        return unknown("offline", "the system does not tell which processors are on")
    missing = tree.processor_list(f"{CPUS}/present") - online
    evidence = f"all processors are on ({ranges(online)})"
    if missing:
        are_on, are_off = ("is" if len(numbers) == 1 else "are" for numbers in (online, missing))
        evidence = f"{processors(online)} {are_on} on, {ranges(missing)} {are_off} off"
    allowed = allowed_processors(tree) & online
    if allowed and allowed != online:
        evidence += f"; of these this process may use {ranges(allowed)} (taskset, cpuset, isolcpus)"
    return fine("offline", evidence)


def _option(tree: Tree, name: str) -> str:
    words = (tree.text("proc/cmdline") or "").split()
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), "")
