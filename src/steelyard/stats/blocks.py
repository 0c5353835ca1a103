"""Whether groups differ, where each block of neighbouring launches holds one launch of every group, in random order.

Friedman's test by permutation: within a block every order of the groups was equally likely, so permuting the values of
each block gives the null distribution, whatever drifts from block to block.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from steelyard.stats.arrays import FloatArray, PlaceArray

_PERMUTATIONS = 20_000


def range_of_groups(values: npt.ArrayLike) -> float:
    """How far apart the groups' medians lie, in the unit of the values, shape (blocks, groups), 2 or more each."""
    table = np.asarray(values, dtype=np.float64)
    medians = np.median(table - np.median(table, axis=1, keepdims=True), axis=0)
    return float(medians.max() - medians.min())


def p_value_of_groups(values: npt.ArrayLike) -> float:
    """The p-value of "the groups do not differ"; ties count as halves."""
    ranks = _ranks(np.asarray(values, dtype=np.float64))
    observed = float((ranks.sum(axis=0) ** 2).sum())
    blocks, groups = ranks.shape
    is_untied = bool((np.sort(ranks, axis=1) == np.arange(1, groups + 1)).all())
    null = _untied_statistics(blocks, groups) if is_untied else _statistics(ranks)
    return (1 + int((null >= observed - 1e-9).sum())) / (1 + _PERMUTATIONS)


def _statistics(ranks: FloatArray) -> FloatArray:
    """The statistic of each permutation of the ranks, shape (blocks, groups), within their blocks."""
    groups = ranks.shape[1]
    sums = sum(of_block[_orders(block, groups)] for block, of_block in enumerate(ranks))
    return np.asarray((sums**2).sum(axis=0), dtype=np.float64)


@lru_cache(maxsize=64)
def _untied_statistics(blocks: int, groups: int) -> FloatArray:
    """The same for all tables without ties: whatever order the ranks of a block have, its permutations are alike."""
    return _statistics(np.tile(np.arange(1.0, groups + 1), (blocks, 1)))


@lru_cache(maxsize=64)
def _orders(block: int, groups: int) -> PlaceArray:
    """Random orders of the groups in one block, (groups, permutations): drawn once for all tables."""
    places = np.broadcast_to(np.arange(groups), (_PERMUTATIONS, groups))
    return np.ascontiguousarray(np.random.default_rng(block).permuted(places, axis=1).T)


def _ranks(table: FloatArray) -> FloatArray:
    below = (table[:, :, None] > table[:, None, :]).sum(axis=2)
    equal = (table[:, :, None] == table[:, None, :]).sum(axis=2)
    return np.asarray(below + (equal + 1) / 2, dtype=np.float64)
