"""Choose the quietest processor: by how busy it and those on its core are, and by what else it has to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from steelyard.machine.hierarchies import limiting_groups
from steelyard.machine.interrupts import Source, by_processor
from steelyard.machine.readings import CPUS, Tree

# In either version of control groups.
_CPUSETS = ("cpuset.cpus.effective", "cpuset.effective_cpus")
# Half a second is 50 ticks of a processor.
_INTERVAL_S = 0.5
# Less than this counts as idle: what runs now and then may run on any processor.
_BUSY_SHARE = 0.05
# Slower ones, such as small cores, are of another kind; the highest rates of one kind differ by less (turbo by 5 %).
_SAME_KIND_SPEED = 0.9
# A processor with over this many times an even share of all devices' interrupts is the one that takes them.
_UNEVEN_FACTOR = 1.5


@dataclass(frozen=True)
class Choice:
    """A processor, and why this one: a clause for a sentence."""

    processor: int
    why: str


@dataclass(frozen=True)
class _Observed:
    """What was observed of one processor."""

    number: int
    busy: float
    beside: float
    """How busy the busiest of those that share its core was."""
    is_isolated: bool
    is_slow: bool
    takes_interrupts: bool

    def rank(self) -> tuple[float, ...]:
        """Return a sort key, the lowest for the quietest: how shared it is, then what it is, then its number.

        Processor 0 is last among equals, as the kernel starts its own chores there.
        """
        return (
            _load(self.busy),
            self.is_slow,
            _load(self.beside),
            not self.is_isolated,
            self.takes_interrupts,
            self.busy,
            self.number == 0,
            -self.number,
        )

    def why(self, *, shares_core: bool) -> str:
        """Return what speaks for it, and what against."""
        reasons = [f"{100 * self.busy:.0f} % busy over half a second"]
        if shares_core:
            reasons.append(f"{100 * self.beside:.0f} % beside it on its core")
        if self.is_isolated:
            reasons.append("kept free by isolcpus")
        if self.takes_interrupts:
            reasons.append("though it takes the devices' interrupts")
        if self.is_slow:
            reasons.append("though it is a slow one")
        return ", ".join(reasons)


def kept_free(tree: Tree = Tree()) -> set[int]:
    """Return the processors that isolcpus keeps free: nothing runs there unless it asks for one of them.

    Those that a cpuset withholds from this process, as in a container, may not be asked for.
    """
    free = tree.processor_list(f"{CPUS}/isolated") & tree.processor_list(f"{CPUS}/online")
    for group in limiting_groups(tree, "cpuset"):
        for name in _CPUSETS:
            free &= tree.processor_list(group / name) or free
    return free


def quietest(
    allowed: Collection[int],
    *,
    taken: Collection[int] = (),
    tree: Tree = Tree(),
    sleep: Callable[[float], None] = time.sleep,
) -> Choice:
    """Return the quietest of the `allowed` processors, of which there is at least one; looking takes half a second.

    Those that are `taken` are left out as long as there are others.
    """
    choices = {*allowed} - {*taken} or {*allowed}
    if len(choices) == 1:
        others_are_taken = len({*allowed}) > 1
        return Choice(
            min(choices), f"the only one that {'no other weighing has' if others_are_taken else 'may be used'}"
        )
    before = _ticks(tree)
    sleep(_INTERVAL_S)
    after = _ticks(tree)
    if not after:
        return Choice(max(choices), "the system does not tell how busy they are")
    observed = _observe(
        tree, choices, {number: _share(before.get(number, (0, 0)), ticks) for number, ticks in after.items()}
    )
    best = min(observed, key=_Observed.rank)
    return Choice(best.number, best.why(shares_core=bool(tree.siblings(best.number))))


def _observe(tree: Tree, choices: Collection[int], busy: Mapping[int, float]) -> list[_Observed]:
    isolated, interrupts = tree.processor_list(f"{CPUS}/isolated"), by_processor(tree, Source.is_device)
    speeds = {number: _speed(tree, number) for number in choices}
    return [
        _Observed(
            number,
            busy.get(number, 0.0),
            max((busy.get(other, 0.0) for other in tree.siblings(number)), default=0.0),
            number in isolated,
            speeds[number] < _SAME_KIND_SPEED * max(speeds.values()),
            interrupts.get(number, 0) * len(interrupts) > _UNEVEN_FACTOR * sum(interrupts.values()),
        )
        for number in sorted(choices)
    ]


def _load(share: float) -> int:
    """Return a load in steps of a tenth, or 0 if it counts as idle."""
    return 0 if share < _BUSY_SHARE else 1 + int(10 * share)


def _ticks(tree: Tree) -> dict[int, tuple[int, int]]:
    """Return for each processor that is on its busy ticks, including those stolen by a hypervisor, and all ticks."""
    ticks_by_processor = {}
    for line in (tree.text("proc/stat") or "").splitlines():
        name, *words = line.split()
        number = name.removeprefix("cpu")
        if number.isdigit() and len(words) >= 8 and all(word.isdigit() for word in words[:8]):
            ticks = [int(word) for word in words[:8]]  # user nice system idle iowait irq softirq steal
            ticks_by_processor[int(number)] = (sum(ticks) - ticks[3] - ticks[4], sum(ticks))
    return ticks_by_processor


def _share(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return the busy share of a processor; one that was switched on meanwhile had no ticks before."""
    worked, passed = (max(0, late - early) for early, late in zip(before, after, strict=True))
    return worked / passed if passed else 0.0


def _speed(tree: Tree, processor: int) -> int:
    """Return the speed of a processor, in whatever unit the machine has for all of its processors."""
    folder = f"{CPUS}/cpu{processor}"
    return tree.number(f"{folder}/cpu_capacity") or tree.number(f"{folder}/cpufreq/cpuinfo_max_freq") or 0
