"""When a pair is repeated: decided from the covariates alone, blind to the values and equal for both sides."""

from __future__ import annotations

from steelyard.model.launches import LaunchRow

# A pair is disturbed if this share of its time went to other work in a way that its metric does not correct for.
DISTURBED_SHARE = 0.02
# Repeats are worth their time on a machine that is quiet now and then; on one that never is they only cost the budget.
# Judged by wall time, these two take +1 % on the `bursts` trace from 45 pairs to 38, repeats included, and leave 4 %
# instead of 13 % of identical pairs undecided; on `ambient` 29 to 24 (benchmarks/repeats_on_traces.py).
REPEATS_PER_PAIR = 0.25


def is_disturbed(first: LaunchRow, second: LaunchRow, metric: str) -> bool:
    """Whether the pair lost too much time to others: stolen time always, waiting only for metrics that include it."""
    wall = first.wall_ns + second.wall_ns
    lost = (first.steal_ns or 0) + (second.steal_ns or 0)
    if metric in ("wall", "delay"):
        lost += (first.delay_ns or 0) + (second.delay_ns or 0)
    return lost > DISTURBED_SHARE * wall


def may_repeat(repeated: int, kept: int) -> bool:
    """Whether one more disturbed pair may be repeated, after `repeated` repeats for `kept` pairs that were kept."""
    return repeated < 1 + REPEATS_PER_PAIR * kept
