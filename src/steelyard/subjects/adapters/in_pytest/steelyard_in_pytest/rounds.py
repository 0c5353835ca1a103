"""Rounds of pytest-benchmark: their clock, what the scheduler says of each, and whose turn it is.

The plugin imports this in the user's Python, so nothing of Steelyard is imported here.
"""

from __future__ import annotations

import resource
import time

from .shared import Partner, let_threads_rest, scheduled

# As in steelyard.harness.worker: work of other threads and children up to this is ignored.
_MOST_ELSEWHERE, _LEAST_ELSEWHERE_NS = 0.01, 1_000_000


class clocks:  # noqa: N801
    """The clocks of `time` as they are now: a test may replace them by ones that stand still (freezegun)."""

    perf_counter, thread_time_ns, process_time_ns = time.perf_counter, time.thread_time_ns, time.process_time_ns


# Before and after each round: ns on a processor of this thread and of everything, and this thread's wait for one.
_noted: list[tuple[int, int, int]] = []
_partners: list[Partner] = []


def begin(partner: Partner | None = None) -> None:
    """Start to note the rounds that count; with a `partner`, they take turns with its rounds."""
    let_threads_rest()
    _noted.clear()
    _partners[:] = [] if partner is None else [partner]


def clock() -> float:
    """Serve as pytest-benchmark's clock; note what the scheduler says, as far outside of the round as possible.

    The wait is read right next to the clock: when the kernel is asked for processor time, it also checks whether others
    wait for the processor, and the wait that follows would not be in the round.
    """
    if len(_noted) % 2:
        now, waited = clocks.perf_counter(), _waited()
        _noted.append((clocks.thread_time_ns(), _worked(), waited))
        for partner in _partners:
            partner.hand_over()
        return now
    for partner in _partners:
        partner.await_turn()
    everything, own = _worked(), clocks.thread_time_ns()
    _noted.append((own, everything, _waited()))
    return clocks.perf_counter()


def _worked() -> int:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clocks.process_time_ns() + int(1e9 * (children.ru_utime + children.ru_stime))


def _waited() -> int:
    told = scheduled("/proc/thread-self/schedstat")
    return -1 if told is None else told[1]


def are_told() -> bool:
    """Return whether this clock timed the rounds, and what the scheduler says of them covers all of their work."""
    if not _noted or len(_noted) % 2:
        return False
    own, everything = (_noted[-1][place] - _noted[0][place] for place in (0, 1))
    return everything - own <= max(_MOST_ELSEWHERE * own, _LEAST_ELSEWHERE_NS)


def told() -> list[tuple[int, int | None, int | None]]:
    """Return for each round the ns on a processor, the ns waiting for one, and its order; empty if that is unknown."""
    if not are_told():
        return []
    pairs = list(zip(_noted[::2], _noted[1::2]))  # noqa: B905 - Python 3.9 has no `strict`
    orders = _partners[0].orders if _partners else [None] * len(pairs)
    return [
        (end[0] - start[0], end[2] - start[2] if start[2] >= 0 <= end[2] else None, order)
        for (start, end), order in zip(pairs, orders)  # noqa: B905
    ]
