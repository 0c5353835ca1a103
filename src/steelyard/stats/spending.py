"""How much of alpha each look of a weighing may spend: in flips that it may drop, and in exact tests.

All of it follows from the looks alone, whatever they see.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf

import numpy as np

from steelyard.stats import joint
from steelyard.stats.arrays import FloatArray
from steelyard.stats.looks import ONE_BUDGET, Budgets, Look, look_sizes, plan_looks
from steelyard.stats.quantiles import NORMAL

EXACT_ALPHA = 2e-4
"""The most of alpha that the exact tests get."""
SCORES_SHARE = 0.75
"""The share of an exact test's level that scores have beside ranks."""
# Only every second look has one: their levels add up, so more of them would cost more than they gain.
_EXACT_LOOK_INTERVAL = 2
# In budgets of more pairs than this, the level at the end hardly affects the interval's width.
_FAR_END_PAIRS = 20_000


def is_only_look(looks: Sequence[Look]) -> bool:
    """Whether the first look is the only one so far, and ends its budget."""
    return len(looks) == 1 and looks[0].last and not looks[0].share_before


@lru_cache(maxsize=4096)
def droppable_flips(look: Look, alpha: float) -> int:
    """Return how many flips a look may drop of those that alpha allows, less what goes to the exact tests.

    Each flip belongs to the same look whatever alpha is, and a larger alpha allows more flips, so no look may drop
    fewer of them.
    """
    positions = _even_positions()[: int(max(0.0, alpha - EXACT_ALPHA) * joint.FLIPS + 1e-6)]
    return int(((positions >= look.share_before) & (positions < look.share)).sum())


@lru_cache(maxsize=1)
def _even_positions() -> FloatArray:
    """Return numbers in [0, 1) of which the first k are spread evenly for any k (van der Corput)."""
    positions = np.zeros(1)
    for bit in range(1, joint.BITS + 1):
        positions = np.concatenate([positions, positions + 0.5**bit])
    return positions


def exact_test_share(looks: Sequence[Look]) -> float:
    """The share of alpha that the last of the looks may spend in an exact test; 0 if it has none."""
    last_index = len(looks) - 1
    if last_index % _EXACT_LOOK_INTERVAL and not looks[-1].last:
        return 0.0
    earlier = [look.share for index, look in enumerate(looks[:-1]) if look.last or not index % _EXACT_LOOK_INTERVAL]
    return looks[-1].share - (earlier[-1] if earlier else looks[0].share_before)


def nominal_level(looks: Sequence[Look], alpha: float) -> float:
    """Return about the level at which the last of the looks tests scores, taken from noise that never changes.

    For uses that need no exact level: how wide an interval should be, what a later look would find.
    """
    if is_only_look(looks):
        return looks[0].share * alpha * (1.0 if looks[0].pairs <= joint.BITS + 1 else SCORES_SHARE)
    bound = _typical_test(tuple(looks), alpha).bound
    by_flips = 2 * NORMAL.cdf(-bound) if bound < inf else 0.0
    return max(by_flips, (looks[-1].share - looks[-1].share_before) * min(alpha, EXACT_ALPHA))


@lru_cache(maxsize=1024)
def _typical_test(looks: tuple[Look, ...], alpha: float) -> joint.Test:
    test = _typical_test(looks[:-1], alpha) if len(looks) > 1 else joint.NOT_STARTED
    return joint.look(test, _typical_sums(looks[-1].pairs), droppable_flips(looks[-1], alpha))


@lru_cache(maxsize=4)
def _typical_sums(pairs: int) -> joint.Flipped:
    """Flip scores that are nearly equal, and differ only to avoid ties."""
    spread = np.arange(pairs) * 0.618033988749895 % 1
    return joint.flipped(np.asarray(0.7 + 0.3 * spread, dtype=np.float64))


@lru_cache(maxsize=1024)
def level_at_end(pairs: int, alpha: float, budgets: Budgets = ONE_BUDGET) -> float:
    """Return about the level at which a budget of so many pairs, earlier budgets included, is judged at its end.

    It is the level of a budget that ends at the size of a look, so that it is worked out once although the budget
    changes from pair to pair, and quickly however long the budget is.
    """
    most = max(min(pairs, _FAR_END_PAIRS), budgets.ended or 0)
    size = next(size for size in look_sizes() if size >= most)
    return nominal_level(plan_looks(size, ended=True, budgets=budgets), alpha)
