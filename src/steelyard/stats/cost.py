"""Cost: the events of a simulated run, as hits of each level of the memory and their weighted sum.

The formula is Itamar Turner-Trauring's ("CI for performance: Reliable benchmarking in noisy environments", 2020), in
the version of his script that no longer counts RAM hits as hits of the last level too. A hit is an access to memory, of
instructions or data, named after the level that answered it.
"""

from __future__ import annotations

from collections.abc import Mapping

EVENTS = ("Ir", "I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw")
"""The events that have to be counted for hits and cost."""


def hits(events: Mapping[str, int]) -> tuple[int, int, int]:
    """How many accesses the first level, the last level and main memory answered, from Valgrind's event counts.

    They add up to all accesses, Ir + Dr + Dw. None is negative, even for the difference of two launches: if a walk
    stays in the first level, the end of the process may miss it once less, and main memory once more. Raises ValueError
    naming the missing events.
    """
    missing = [name for name in EVENTS if name not in events]
    if missing:
        raise ValueError(f"cost needs the simulation of caches: there are no counts of {', '.join(missing)}")
    ram = events["DLmr"] + events["DLmw"] + events["ILmr"]
    ll = max(0, events["I1mr"] + events["D1mr"] + events["D1mw"] - ram)
    l1 = max(0, events["Ir"] + events["Dr"] + events["Dw"] - ll - ram)
    return l1, ll, ram


def cost(events: Mapping[str, int], l1: float, ll: float, ram: float) -> float:
    """The weighted sum of the hits of each level: a convention, in units of hits of the first level, not a time.

    Raises ValueError as `hits` does.
    """
    hit_counts = hits(events)
    return l1 * hit_counts[0] + ll * hit_counts[1] + ram * hit_counts[2]


def hit_metrics(events: Mapping[str, int], l1: float, ll: float, ram: float) -> dict[str, float]:
    """The hits and the cost, by the names of their metrics; raises ValueError as `hits` does."""
    hit_counts = dict(zip(("l1_hits", "ll_hits", "ram_hits"), map(float, hits(events)), strict=True))
    return {**hit_counts, "cost": cost(events, l1, ll, ram)}
