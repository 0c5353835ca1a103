"""The points of a calibration: every pattern at sizes from well inside the first level to several times the last."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from steelyard.model.counting import Caches

# How many bytes one element of each pattern takes: four arrays of i32 or of u64, or one node that fills a line.
PATTERNS = {"linear-i32": 16, "random-i32": 16, "linear-u64": 32, "random-u64": 32, "chase": 64}
SIZES = 11
_SMALLEST, _LARGEST = 1 / 4, 4
# In the first level 2 million iterations take 2 to 9 ms natively, and the start of a process varies by 0.1 ms;
# under Valgrind, where counts do not vary, 200,000 take 0.05 to 0.2 s.
TIMED_ITERATIONS = 2_000_000
COUNTED_ITERATIONS = 200_000
# The two launches of a point: up to the walk, and with it.
WARM_UP, WALK = 0, 1
# However large the last level is, the probes leave the machine room; and they take no more elements than this.
_MOST_OF_MEMORY, _MOST_ELEMENTS = 1 / 16, 1 << 28
# However small the first level is, there is something to walk over.
_FEWEST_ELEMENTS = 3
# The random walk is index = 48271 index + 1 modulo the number of elements.
_MULTIPLIER = 48_271


@dataclass(frozen=True)
class SweepPoint:
    """What is measured at one point: a pattern, a size, and how many iterations come before the walk."""

    pattern: str
    elements: int
    before: int

    @property
    def size_bytes(self) -> int:
        """How many bytes the walk goes over."""
        return self.elements * PATTERNS[self.pattern]


def sweep(caches: Caches, memory_bytes: int | None) -> list[SweepPoint]:
    """Return every pattern at every size, from a quarter of the first level to four times the last one."""
    smallest, largest = caches.d1[0] * _SMALLEST, float(caches.ll[0] * _LARGEST)
    if memory_bytes is not None:
        largest = max(min(largest, memory_bytes * _MOST_OF_MEMORY), 2 * smallest)
    # A walk of this many iterations, each of which touches at least one line, has filled the last level, or all it can
    # use.
    lines = caches.ll[0] // caches.ll[2]
    points = []
    for pattern, size in product(PATTERNS, np.geomspace(smallest, largest, SIZES)):
        elements = whole_walk(min(max(int(size) // PATTERNS[pattern], _FEWEST_ELEMENTS), _MOST_ELEMENTS))
        points.append(SweepPoint(pattern, elements, min(elements, lines)))
    return points


def whole_walk(most: int) -> int:
    """Return the largest number of elements up to `most` (at least 3) of which the random walk reaches nearly all.

    Modulo most numbers it soon runs in a short circle: of 2^20 elements over 1/8 alone, say. Modulo a prime of which
    the multiplier is a primitive root, it reaches all elements but one (Knuth, TAOCP 2, 3.2.1.2).
    """
    return next(number for number in range(most, 2, -1) if number == 3 or _reaches_all(number))


def _reaches_all(number: int) -> bool:
    # Most numbers are not prime, and Fermat's test says so without a search for their factors.
    if pow(_MULTIPLIER, number - 1, number) != 1 or _prime_factors(number) != {number}:
        return False
    return all(pow(_MULTIPLIER, (number - 1) // factor, number) != 1 for factor in _prime_factors(number - 1))


def _prime_factors(number: int) -> set[int]:
    found, factor = set(), 2
    while factor * factor <= number:
        while number % factor == 0:
            found.add(factor)
            number //= factor
        factor += 1
    return found | ({number} if number > 1 else set())
