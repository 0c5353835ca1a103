"""Several benchmarks that share one alpha.

`holm`: the chance of any wrong `slower` or `faster` among them stays below alpha. Holm's step-down over group-
sequential tests (Ye, Li, Liu and Yao 2013; Maurer and Bretz 2013): with m benchmarks of which r were found changed,
each of the others is tested at alpha / (m - r). It starts like Bonferroni's, and every benchmark found changed gives
its share to those still open. Nothing is assumed about how the benchmarks depend on each other, which matters: they
share one machine.

`fdr`: the expected share of wrong verdicts among all `slower` and `faster` stays below alpha, which finds more in large
suites. Benjamini and Hochberg's step-up (1995) over the same looks: r benchmarks are found if each of them is at level
alpha r / m. It holds for independent benchmarks and for those whose noise rises and falls together (Benjamini and
Yekutieli 2001).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from steelyard.stats.paired import Judgement
from steelyard.stats.verdict import CHANGED

Judge = Callable[[int, float], Judgement | None]
"""judge(member, sharing): judge one member, with alpha shared among `sharing` members."""


def sharing_now(family: str, members: int, changed: int) -> float:
    """Among how many benchmarks alpha is shared at the next look, once `changed` of them have been found changed."""
    if family == "fdr":
        return members / min(members, changed + 1)
    return max(1, members - changed)


def judge_family(family: str, members: int, judge: Judge, elsewhere: int = 0) -> list[Judgement | None]:
    """Judge the members of a family that are here; `elsewhere` counts further ones, of which nothing is known."""
    return (step_up if family == "fdr" else step_down)(members, judge, elsewhere)


def step_down(members: int, judge: Judge, elsewhere: int = 0) -> list[Judgement | None]:
    """Judge all members that are here by Holm's procedure.

    A member that reaches a verdict keeps it; those still undecided are judged again with their larger share, until no
    further change is found.
    """
    judged: dict[int, Judgement | None] = {}
    sharing: float = members + elsewhere
    while True:
        for member in range(members):
            earlier = judged.get(member)
            if earlier is None or earlier.verdict == "undecided":
                judged[member] = judge(member, sharing)
        left = sharing_now("holm", members + elsewhere, changed_among(judged.values()))
        if left == sharing:
            return [judged[member] for member in range(members)]
        sharing = left


def step_up(members: int, judge: Judge, elsewhere: int = 0) -> list[Judgement | None]:
    """Judge all members that are here by Benjamini and Hochberg's procedure, for the most findings that hold."""
    assumed = members
    while True:
        judged = [judge(member, (members + elsewhere) / max(1, assumed)) for member in range(members)]
        found = changed_among(judged)
        if found >= assumed or assumed <= 1:
            return judged
        assumed = found


def changed_among(judged: Iterable[Judgement | None]) -> int:
    """How many of the judgements are `slower` or `faster`."""
    return sum(one is not None and one.verdict in CHANGED for one in judged)
