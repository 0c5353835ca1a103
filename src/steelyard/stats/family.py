"""Several benchmarks that share one alpha: the chance of any wrong `slower` or `faster` among them stays below it.

Holm's step-down over group-sequential tests (Ye, Li, Liu and Yao 2013; Maurer and Bretz 2013): with m benchmarks of
which r have been found changed, each of the others is looked at with alpha / (m - r). It starts as Bonferroni does, and
every finding gives its share to those that are still open. Nothing is assumed about how the benchmarks depend on each
other, which matters: they share one machine.
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.stats.verdict import Judgement

CHANGED = ("slower", "faster")


def members_left(members: int, changed: int) -> int:
    """Among how many benchmarks alpha is shared, once `changed` of them have been found changed."""
    return max(1, members - changed)


def step_down(members: int, judge: Callable[[int, int], Judgement | None]) -> list[Judgement | None]:
    """Judge all members of a family: `judge(member, sharing)` with alpha shared among `sharing`.

    A member that reaches a verdict keeps it; those still undecided are judged again with their larger share, until no
    further change is found.
    """
    judged: dict[int, Judgement | None] = {}
    sharing = members
    while True:
        for member in range(members):
            earlier = judged.get(member)
            if earlier is None or earlier.word == "undecided":
                judged[member] = judge(member, sharing)
        changed = sum(one is not None and one.word in CHANGED for one in judged.values())
        if members_left(members, changed) == sharing:
            return [judged[member] for member in range(members)]
        sharing = members_left(members, changed)
