"""The native part of the statistics (`native/signs`): what is computed for every pair, and every flip of the signs.

It works on dozens of numbers at a time, where a call of numpy takes ten times as long as the arithmetic, or on as many
as there are flips. Shapes: n >= 1 pairs in the order in which they ran, r hypothesised changes, k <= 2 kinds of scores.
"""

from __future__ import annotations

from ctypes import CDLL, byref, c_bool, c_double, c_float, c_size_t, c_void_p
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.native import library
from steelyard.stats.arrays import FloatArray, IntArray

# Scores and flips fit into two bytes each.
WholeScores = npt.NDArray[np.int16]
FlipArray = npt.NDArray[np.uint16]
Totals = npt.NDArray[np.float32]
# The kinds of numbers, by numpy's names.
_REAL, _ORDER, _SCORE, _FLIP, _TOTAL = (
    np.dtype(kind).str for kind in (np.float64, np.int64, np.int16, np.uint16, np.float32)
)


@lru_cache(maxsize=1)
def _library() -> CDLL:
    try:
        signs = CDLL(str(library("steelyard-signs")))
    except OSError as error:
        raise ImportError(str(error)) from error
    array, number, real = c_void_p, c_size_t, c_double
    signs.steelyard_scores.argtypes = (array, array, number, array, number, array)
    signs.steelyard_effects_of_order.argtypes = (array, array, number, array)
    signs.steelyard_ranks.argtypes = (array, number, array, number, array)
    signs.steelyard_whole.argtypes = (array, array, number, array, number, array, array)
    signs.steelyard_units.argtypes = (array, number, array)
    signs.steelyard_scales.argtypes = (array, array, number, real, array)
    signs.steelyard_sums.argtypes = (array, number, array, number)
    signs.steelyard_as_large.argtypes = (array, number, number, real, c_bool)
    signs.steelyard_look.argtypes = (array, number, number, real, array, number, number, real, array, array, array)
    for name in ("scores", "effects_of_order", "ranks", "whole", "units", "scales", "sums"):
        getattr(signs, f"steelyard_{name}").restype = None
    for name in ("as_large", "look"):
        getattr(signs, f"steelyard_{name}").restype = number
    return signs


def _address(array: npt.NDArray[np.generic], kind: str = _REAL) -> int:
    """Return the address of an array's numbers; ValueError unless they are of this kind, side by side in memory."""
    interface = array.__array_interface__
    if interface["strides"] is not None:
        raise ValueError("the numbers of an array do not lie side by side")
    if interface["typestr"] != kind:
        raise ValueError(f"the numbers of an array are {interface['typestr']} and not {kind}")
    address: int = interface["data"][0]
    return address


def _pair_count(d: FloatArray, levels: FloatArray) -> int:
    """Return the number of pairs; ValueError where the library would read beyond the arrays."""
    if not len(d) == len(levels) > 0:
        raise ValueError(f"{len(d)} differences at {len(levels)} levels")
    return len(d)


def signed_scores(d: FloatArray, levels: FloatArray, changes: npt.ArrayLike) -> FloatArray:
    """The signed scores, (r, n), of differences d (n,) at levels (n,) for changes (r,).

    A score is that of Student's t at the pair's own scale: it grows with the size of the difference, falls again where
    that is far out of scale, and is divided by the scale. The scale is estimated from the sizes |d - t|, the order of
    the pairs and their levels. Swapping the two sides of a pair changes none of these, so given them, under the
    hypothesis of a change t, the signs are fair coins.
    """
    tried = np.atleast_1d(np.asarray(changes, dtype=np.float64))
    scores = np.empty((len(tried), len(d)))
    _library().steelyard_scores(
        _address(d), _address(levels), _pair_count(d, levels), _address(tried), len(tried), _address(scores)
    )
    return scores


def effects_of_order(d: FloatArray, order: IntArray) -> FloatArray:
    """Return how much the order of each pair adds to its difference, (n,), for differences d (n,) in orders (n,).

    It is estimated from the pairs before each one alone, and is 0 where these show nothing. Orders 2k and 2k + 1 have
    one or the other side's launch first; another k is another way to run pairs, with effects of its own.
    """
    if len(d) != len(order):
        raise ValueError(f"{len(d)} differences in {len(order)} orders")
    effects = np.empty(len(d))
    if len(d):
        _library().steelyard_effects_of_order(_address(d), _address(order, _ORDER), len(d), _address(effects))
    return effects


def signed_ranks(d: FloatArray, changes: FloatArray) -> FloatArray:
    """The signed ranks (Wilcoxon), (r, n), of differences d (n,) for changes (r,).

    Equal sizes are ranked in the order of their pairs.
    """
    ranks = np.empty((len(changes), len(d)))
    _library().steelyard_ranks(_address(d), _pair_count(d, d), _address(changes), len(changes), _address(ranks))
    return ranks


def whole_scores(d: FloatArray, levels: FloatArray, changes: FloatArray) -> tuple[WholeScores, FloatArray]:
    """Return the signed scores and signed ranks for changes (r,), in whole units (see `whole_units`), (r, 2, n).

    The second value has the sum of each of the two, divided by the root of its squares, (r, 2).
    """
    scores = np.empty((len(changes), 2, len(d)), dtype=np.int16)
    return scores, sums_by_root(d, levels, changes, _address(scores, _SCORE))


def sums_by_root(d: FloatArray, levels: FloatArray, changes: FloatArray, scores: int | None = None) -> FloatArray:
    """Return the sums of the whole scores and ranks for changes (r,), divided by the roots of their squares, (r, 2).

    The scores and ranks themselves are written to the address `scores`, if given.
    """
    sums, pairs = np.empty((len(changes), 2)), _pair_count(d, levels)
    _library().steelyard_whole(
        _address(d), _address(levels), pairs, _address(changes), len(changes), scores, _address(sums)
    )
    return sums


def whole_units(signed: FloatArray) -> WholeScores:
    """Return signed scores (n,) in whole units, small enough that few sums are equal and so cannot be dropped apart.

    Each is at least one unit: rounding a score to 0 would take its sign out of the test.
    """
    rounded = np.empty(len(signed), dtype=np.int16)
    _library().steelyard_units(_address(signed), len(signed), _address(rounded, _SCORE))
    return rounded


def scales(d: FloatArray, levels: FloatArray, change: float) -> FloatArray:
    """Return the scale of each pair's noise, (n,), around a change."""
    values = np.empty(len(d))
    _library().steelyard_scales(_address(d), _address(levels), _pair_count(d, levels), change, _address(values))
    return values


def sums(scores: WholeScores, flips: int) -> Totals:
    """Return the sum of signed whole scores (n,) after each of the first `flips`, a power of two; shape (flips,)."""
    totals = np.empty(flips, dtype=np.float32)
    _library().steelyard_sums(_address(scores, _SCORE), len(scores), _address(totals, _TOTAL), flips)
    return totals


def flips_as_large(scores: WholeScores, second_weight: float, *, fold: bool) -> int:
    """Return after how many distinct flips the sum of whole scores (k, n) is at least as large as the observed one.

    Of two kinds the larger sum counts, each divided by the root of its squares, and the second multiplied by
    `second_weight`.
    With `fold` only flips of the subgroup are tried.
    """
    kinds, pairs = scores.shape
    return int(_library().steelyard_as_large(_address(scores, _SCORE), kinds, pairs, second_weight, fold))


class Dropped(NamedTuple):
    """The distinct flips that a look drops, (m,), the sum beyond which it drops them, and whether flip 0 is one."""

    newest: FlipArray
    bound: float
    rejected: bool


def look(scores: WholeScores, second_weight: float, dropped: FlipArray, may_drop: int, likely: float) -> Dropped:
    """Drop up to `may_drop` flips, not yet `dropped`, with the largest sums of whole scores (k, n).

    The sums are those of `flips_as_large`.

    Sums above `likely` are tried first: there are only few, which saves time and changes no result.
    """
    kinds, pairs = scores.shape
    newest, bound, rejected = np.empty(1 << 16, dtype=np.uint16), c_float(), c_bool()
    count = _library().steelyard_look(
        *(
            _address(scores, _SCORE),
            kinds,
            pairs,
            second_weight,
            _address(dropped, _FLIP),
            len(dropped),
            may_drop,
            likely,
        ),
        *(_address(newest, _FLIP), byref(bound), byref(rejected)),
    )
    return Dropped(newest[:count].copy(), bound.value, rejected.value)
