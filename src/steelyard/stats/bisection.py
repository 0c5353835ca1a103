"""Bisection in which each answer may be wrong: which commit is next, what error each answer may spend, what it means.

The commits are 0 (good) to n (bad). Of two of them, `low` and `high`, it is known that high is slower than low: at
first these are the ends, which have a weighing of their own. Each step weighs a commit m between them against both. At
least one of two things is true: m is slower than low, or high is slower than m. Rejecting "m is no slower than low"
moves high to m, and rejecting "high is no slower than m" moves low to m. So high stays slower than low whatever the
curve between them is: one step, several, up and down. The two hypotheses cannot both be true, as high is slower than
low, so a step errs with the level of one test, not of two.

Alpha is spent on the ends (a quarter), on the steps (a half, shared evenly), and on the last commit against its parent
(a quarter). The last weighing uses new launches, so a commit that is not slower than its parent is named with a chance
of at most that quarter, even if all steps before went astray; and a range lacks a slow commit with a chance of at most
the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, expm1, log2
from typing import Literal

from steelyard.stats.verdict import VerdictName, verdict_of

Side = Literal["good", "bad"]

ENDS_SHARE, STEPS_SHARE, LAST_SHARE = 0.25, 0.5, 0.25
# What counts as a change in a step, as a part of the change searched for: a commit that is slightly slower than the
# good one, by its layout in memory, say, is not taken for a bad one. A third leaves room for an estimate that is too
# large.
STEP_MARGIN_SHARE, MOST_MARGIN = 1 / 3, 0.5


def steps_needed(suspects: int) -> int:
    """How many steps find one commit among `suspects`, if none has to be skipped."""
    return ceil(log2(suspects)) if suspects > 1 else 0


@dataclass
class Search:
    """Where a bisection stands: the slow commit is one of low + 1, ..., high."""

    high: int
    alpha: float
    low: int = 0
    skipped: set[int] = field(default_factory=set)
    spent: float = 0.0
    """The error that the steps have spent."""

    @property
    def suspects(self) -> range:
        """The commits of which one is the slow one."""
        return range(self.low + 1, self.high + 1)

    @property
    def fewest_steps(self) -> int:
        """How many steps are left, if none has to be skipped."""
        return steps_needed(len(self.suspects))

    def middle(self) -> int | None:
        """The commit to weigh next: the one nearest to the middle that was not skipped; None if there is none."""
        middle = (self.low + self.high) / 2
        between = [commit for commit in range(self.low + 1, self.high) if commit not in self.skipped]
        return min(between, key=lambda commit: abs(commit - middle), default=None)

    def share(self) -> float:
        """The error that the next step may spend, keeping some for uneven steps around skipped commits."""
        return (STEPS_SHARE * self.alpha - self.spent) / (self.fewest_steps + 1)

    def answer(self, commit: int, side: Side, spent: float) -> None:
        """Record that a commit was found to be on a side, at the cost of that error."""
        self.spent += spent
        if side == "bad":
            self.high = commit
        else:
            self.low = commit

    def skip(self, commit: int) -> None:
        """Record that a commit cannot be weighed."""
        self.skipped.add(commit)


@dataclass(frozen=True)
class Compared:
    """The good or the bad commit of a step, relative to the commit weighed against it."""

    verdict: VerdictName
    change: float
    """A log-ratio: ln(good or bad commit / weighed commit)."""


def step_margin(change: float) -> float:
    """The relative margin of a step that looks for a change (a log-ratio, positive)."""
    return min(expm1(STEP_MARGIN_SHARE * change), MOST_MARGIN)


def side_of(good: Compared | None, bad: Compared | None) -> Side | None:
    """Return the side of a commit that was weighed against the good and the bad one; None if that is open.

    It is `bad` if slower than the good one, and `good` if faster than the bad one. Both are true where several commits
    changed the time: then it goes to the side from which the smaller part of the change separates it.
    """
    is_slower = good is not None and good.verdict == "faster"
    is_faster = bad is not None and bad.verdict == "slower"
    if is_slower and is_faster:
        return "bad" if abs(good.change) >= abs(bad.change) else "good"  # type: ignore[union-attr]
    if is_slower or is_faster:
        return "bad" if is_slower else "good"
    return None


def exact_bad_end(good: Compared, total_change: float, margin: float) -> Compared:
    """The bad end relative to a commit, where the good end's change and that of the `total_change` are exact."""
    change = total_change + good.change
    return Compared(verdict_of(change, (change, change), margin), change)
