"""The repeated interval: the changes that no look of a weighing has rejected so far (Jennison and Turnbull 1989).

It covers the true change at all looks together as often as claimed, and so at the look where a weighing stops. Its ends
are searched with the bounds that the joint test has at a few known changes, as bounds hardly depend on the change, and
then checked by the test itself: each end has been rejected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np

from steelyard.stats import sequential, spending, weighted
from steelyard.stats.arrays import BoolArray, FloatArray
from steelyard.stats.looks import Look
from steelyard.stats.sequential import Hypothesis
from steelyard.stats.signed_rank import Estimate
from steelyard.stats.signed_rank import estimate as by_ranks

# The ends are searched at these distances, in half-widths of the interval of this look alone; then more closely, by
# dividing the distance into parts, for a number of rounds.
_DISTANCES = np.geomspace(0.05, 2.5, 14)
_PARTS, _ROUNDS = 5, 2
_MOST_TIED = 8
# Looks at less than this share of the pairs hardly ever reject what later ones accept.
_RECENT_SHARE = 0.7
# An end is moved out by half of this share of the half-width: four in five are rejected there, and each trial repeats
# all looks. An end that the test still accepts is moved out by this share, then by twice as much, ...
_OUTWARD_SHARE, _MOST_MOVES = 0.04, 6


class Repeated(NamedTuple):
    """What all looks say about the change."""

    estimate: Estimate
    scored: float
    """The change that the scores of the newest look find, whatever earlier looks and the ranks say."""


def estimate(
    d: FloatArray, levels: FloatArray, looks: Sequence[Look], alpha: float, known: Sequence[float]
) -> Repeated:
    """Return estimate and interval at the last of the looks.

    If no single change describes the pairs, as when a candidate is slow in some of its launches, they are those of the
    ranks: what most averages of two pairs show.
    """
    level = spending.nominal_level(looks, alpha)
    look_estimate = weighted.estimate(d, levels, level, known)
    scored = look_estimate.centre
    if sequential.ranks_agree(d, levels, look_estimate.centre):
        lower, upper = interval(d, levels, looks, alpha, look_estimate, known)
    else:
        look_estimate = by_ranks(d, level)
        lower, upper = _Acceptance(d, levels, looks, [Hypothesis(change, alpha) for change in known]).adjusted(
            look_estimate
        )
    return Repeated(
        replace(look_estimate, centre=min(max(look_estimate.centre, lower), upper), lower=lower, upper=upper), scored
    )


def interval(
    d: FloatArray,
    levels: FloatArray,
    looks: Sequence[Look],
    alpha: float,
    look_estimate: Estimate,
    known: Sequence[float],
) -> tuple[float, float]:
    """Return the ends of the hull of the accepted changes, of differences d (n,) at levels (n,).

    `look_estimate` has the interval of the newest look alone. The `known` changes have been tested at every look: the
    interval holds those that are accepted, and ends before any outside them that are rejected.
    """
    half_width = (look_estimate.upper - look_estimate.lower) / 2
    if half_width == inf:
        return look_estimate.lower, look_estimate.upper
    accepts = _Acceptance(d, levels, looks, [Hypothesis(change, alpha) for change in known])
    if not half_width > 0:
        return accepts.adjusted(look_estimate)
    distances = _DISTANCES * half_width
    grid = np.unique(
        np.concatenate(
            [
                look_estimate.centre - distances,
                [look_estimate.centre],
                look_estimate.centre + distances,
                known,
                _tied_differences(d),
            ]
        )
    )
    accepted = np.flatnonzero(accepts(grid))
    if not len(accepted):
        return accepts.adjusted(by_ranks(d, spending.nominal_level(looks, alpha)))
    edges = np.concatenate([[grid[0] - half_width], grid, [grid[-1] + half_width]])
    inner, outer = grid[accepted[[0, -1]]], edges[[accepted[0], accepted[-1] + 2]]
    for _ in range(_ROUNDS):
        inner, outer = _narrow(accepts, inner, outer)
    ends = [
        _End(float(edge), side * half_width * _OUTWARD_SHARE, accepts.rejected)
        for edge, side in zip(outer, (-1, 1), strict=True)
    ]
    for _ in range(_MOST_MOVES):
        moving = [end for end in ends if not end.is_known]
        hypotheses = [Hypothesis(end.place, alpha) for end in moving]
        tests = sequential.run_tests(d, levels, looks, hypotheses, keep=False) if hypotheses else []
        for end, test in zip(moving, tests, strict=True):
            end.move(is_rejected=test.rejected)
    return ends[0].place, ends[1].place


def _tied_differences(d: FloatArray) -> FloatArray:
    """The changes that several differences share to the last digit, the most frequent ones.

    Only there do these differences have no sign. So such a change may be accepted where its neighbours on both sides
    are not.
    """
    values, counts = np.unique(d, return_counts=True)
    is_shared = counts > 1
    return np.asarray(values[is_shared][np.argsort(-counts[is_shared], kind="stable")[:_MOST_TIED]])


class _Acceptance:
    """Whether the looks seem to accept changes, by the bounds that they have at the known changes."""

    def __init__(self, d: FloatArray, levels: FloatArray, looks: Sequence[Look], known: Sequence[Hypothesis]) -> None:
        self._d, self._levels = d, levels
        known = sorted(known)
        self._known = np.array([item.change for item in known])
        tests = sequential.run_tests(d, levels, looks, known, keep=True)
        self._is_rejected = np.array([item.rejected for item in tests])
        bounds = sequential.bounds(d, levels, looks, known)
        fewest_pairs = _RECENT_SHARE * looks[-1].pairs
        self._bounds = [(look.pairs, at) for look, at in zip(looks, bounds, strict=True) if look.pairs >= fewest_pairs]

    @property
    def _accepted(self) -> FloatArray:
        return np.asarray(self._known[~self._is_rejected])

    @property
    def rejected(self) -> FloatArray:
        """The known changes that are rejected."""
        return np.asarray(self._known[self._is_rejected])

    def adjusted(self, other: Estimate) -> tuple[float, float]:
        """Return the interval of `other`, which is not the test's own, adjusted to agree with it at known changes.

        It ends before the rejected ones, and reaches to those accepted between them.
        """
        lowest = max([-inf, *np.nextafter(self.rejected[self.rejected < other.centre], inf)])
        highest = min([inf, *np.nextafter(self.rejected[self.rejected > other.centre], -inf)])
        accepted = self._accepted[(self._accepted > lowest) & (self._accepted < highest)]
        return float(max(lowest, min([other.lower, *accepted]))), float(min(highest, max([other.upper, *accepted])))

    def __call__(self, changes: FloatArray) -> BoolArray:
        """Return whether each of the changes, (r,), seems to be accepted; for known changes this is exact."""
        accepted = np.ones(len(changes), dtype=np.bool_)
        for pairs, bounds in self._bounds:
            bounds_here = np.interp(changes, self._known, bounds)
            accepted &= sequential.sum_sizes(self._d, self._levels, pairs, changes) <= bounds_here
        return np.asarray((accepted | np.isin(changes, self._accepted)) & ~np.isin(changes, self.rejected))


def _narrow(accepts: _Acceptance, inner: FloatArray, outer: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return inner and outer places of both ends, (2,) each, closer together: inner ones accepted, outer ones not."""
    shares = np.linspace(0, 1, _PARTS + 1)
    points = inner[:, None] + shares * (outer - inner)[:, None]
    accepted = accepts(points[:, 1:-1].ravel()).reshape(2, -1)
    accepted = np.concatenate([np.ones((2, 1), dtype=np.bool_), accepted], axis=1)
    last = accepted.shape[1] - 1 - np.argmax(accepted[:, ::-1], axis=1)
    rows = np.arange(2)
    return np.asarray(points[rows, last]), np.asarray(points[rows, last + 1])


class _End:
    """An end that moves outward until the test rejects it, or up to a change known to be rejected."""

    def __init__(self, place: float, step: float, barriers: FloatArray) -> None:
        beyond = barriers[(barriers - place) * step >= 0]
        self._limit = float(beyond[np.argmin(np.abs(beyond - place))]) if len(beyond) else inf * step
        self._step = step
        self.place, self.is_known = place + step / 2, False
        self._stay_within()

    def move(self, *, is_rejected: bool) -> None:
        """Apply the test's answer for this place."""
        self.is_known = is_rejected
        if not is_rejected:
            self.place, self._step = self.place + self._step, 2 * self._step
            self._stay_within()

    def _stay_within(self) -> None:
        if (self.place - self._limit) * self._step >= 0:  # intervals are closed, so the end stays before the limit
            self.place, self.is_known = float(np.nextafter(self._limit, -inf * self._step)), True
