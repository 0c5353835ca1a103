"""Who else wants the processors, from two readings a moment apart."""

from __future__ import annotations

from pathlib import Path

from steelyard.machine.conditions.words import fine, serious, slight, times, unknown
from steelyard.machine.hierarchies import limiting_groups
from steelyard.machine.moments import WORKING, Moment
from steelyard.machine.quietest import kept_free
from steelyard.machine.readings import CPUS, Tree, allowed_processors, whole
from steelyard.machine.watch.names import Names
from steelyard.machine.watch.strangers import Time, own_processes, strangers, ticks_between
from steelyard.model.conditions import Condition

# Shares of one processor, or of the time.
_BUSY, _VERY_BUSY = 0.05, 0.5
STOLEN, MUCH_STOLEN = 0.005, 0.05
_WAITING, _MUCH_WAITING = 0.05, 0.5
# Over half a second the processes' own run times and the processors' ticks differ by less than this.
_UNSEEN = 0.5
_MOST_NAMED = 5


def load(tree: Tree, before: Moment, after: Moment, own: int) -> Condition:
    """Which other processes ran; `own` is the number of our process."""
    all_ticks = _ticks(before, after)
    # The processors that the ticks are of: a container may be told of fewer than /sys has, and /sys may have none.
    processors = after.processors or len(tree.processor_list(f"{CPUS}/online")) or 1
    ticks = sum(all_ticks.values()) / processors
    if not ticks:
        return unknown("load", "the system does not tell what ran")
    # Where our own processes cannot be told from others, nobody is named.
    ran = ticks_between(before.processes, after.processes) if tree.knows_us() else {}
    names = Names.among(tree, after.processes)
    processes = {**before.processes, **after.processes}
    others = strangers(processes, ran, own_processes(processes, {own}, own), Time(ticks, 1), names)
    busy = [(stranger.ran_ns / ticks, stranger.name) for stranger in others if stranger.ran_ns > _BUSY * ticks]
    unseen = (sum(all_ticks.get(name, 0) for name in WORKING) - sum(ran.values())) / ticks
    if unseen > _UNSEEN:
        busy = sorted([*busy, (unseen, "programs that cannot be seen from here")], reverse=True)
    if not busy:
        return fine("load", f"nothing else took more than {_percent(_BUSY)} of a processor")
    named = ", ".join(f"{name} ({_percent(min(share, processors))})" for share, name in busy[:_MOST_NAMED])
    more = f" and {len(busy) - _MOST_NAMED} more" if len(busy) > _MOST_NAMED else ""
    taken = sum(share for share, _ in busy)
    make = serious if taken > _VERY_BUSY * processors else slight
    remedy = "end it, wait for its end, or take --cpu for a processor that it leaves alone"
    is_none_left = taken > processors - _VERY_BUSY
    if is_none_left or len(allowed_processors(tree) | kept_free(tree)) == 1:  # no other that --cpu could have
        remedy = "end it, or wait for its end"
    return make("load", f"running beside: {named}{more}; 100 % is one processor of {processors}", remedy)


def pressure(before: Moment, after: Moment) -> Condition:
    """For what share of the time some task waited for a processor."""
    if before.waiting_us is None or after.waiting_us is None:
        return unknown("pressure", "the kernel does not tell how often tasks wait for a processor (psi=1)")
    share = (after.waiting_us - before.waiting_us) / 1e6 / max(after.seconds - before.seconds, 1e-9)
    evidence = f"some task waited for a processor for {_percent(min(max(share, 0.0), 1.0))} of the time"
    if share < _WAITING:
        return fine("pressure", evidence)
    remedy = "--max-time gives it more pairs; of suites --pairing auto weighs beside such work"
    return (serious if share > _MUCH_WAITING else slight)("pressure", evidence, remedy)


def stolen_time(before: Moment, after: Moment) -> Condition:
    """What share of the processors' time the hypervisor gave to others."""
    ticks = _ticks(before, after)
    if "steal" not in ticks or not sum(ticks.values()):
        return unknown("stolen-time", "the system does not tell whether a hypervisor takes its processors away")
    share = ticks["steal"] / sum(ticks.values())
    evidence = f"{100 * share:.1f} % of the processors' time went to other machines of the host"
    if not after.ticks["steal"]:
        evidence = "none of the processors' time since the start went to other machines, as far as the system tells"
    if share < STOLEN:
        return fine("stolen-time", evidence)
    return (serious if share > MUCH_STOLEN else slight)("stolen-time", evidence, "another hour, or another machine")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _ticks(before: Moment, after: Moment) -> dict[str, int]:
    return {name: max(0, ticks - before.ticks.get(name, 0)) for name, ticks in after.ticks.items()}


# --- limits of the control group


def processor_limit(tree: Tree) -> Condition:
    """How many processors this control group, or one above it, may use, and whether it was stopped at that limit."""
    limits, periods, folders = [], 0, limiting_groups(tree, "cpu")
    if not folders:
        return unknown("processor-limit", "this system shows no control groups, so no limits of theirs either")
    for folder in folders:
        quota, period = _quota(tree, folder)
        if quota is not None and period:
            limits.append(quota / period)
        periods += whole(tree.fields(folder / "cpu.stat").get("nr_throttled")) or 0
    online = tree.processor_list(f"{CPUS}/online")
    if not limits or min(limits) >= len(online) > 0:
        return fine("processor-limit", "no control group limits the time on processors")
    evidence = f"this control group may use {min(limits):.3g} processor{'' if min(limits) == 1 else 's'}"
    if periods:
        return serious(
            "processor-limit",
            f"{evidence}, and has been stopped {times(periods)} for the rest of a period: launches stand still "
            "meanwhile",
            "a larger limit (docker run --cpus, limits.cpu of a pod), or less beside what is measured",
        )
    if min(limits) >= len(allowed_processors(tree) & online) > 0:  # a cpuset of as many, as of a pod that is guaranteed
        return fine("processor-limit", f"{evidence}, and this process runs on no more")
    return slight(
        "processor-limit", f"{evidence}: what needs more stands still for the rest of each period", "a larger limit"
    )


def _quota(tree: Tree, folder: Path) -> tuple[int | None, int | None]:
    words = (tree.text(folder / "cpu.max") or "").split()
    if len(words) == 2:
        return whole(words[0]), whole(words[1])  # the first may be `max`
    quota = tree.number(folder / "cpu.cfs_quota_us")
    return (quota if quota and quota > 0 else None), tree.number(folder / "cpu.cfs_period_us")
