from __future__ import annotations

from collections import Counter as Tally

import pytest

from steelyard.design.calibration.sweep import PATTERNS, SIZES, sweep, whole_walk
from steelyard.model.counting import Caches

SWEEP = sweep(Caches(), None)


def test_the_sweep_spans_the_caches_in_every_pattern() -> None:
    assert Tally(point.pattern for point in SWEEP) == dict.fromkeys(PATTERNS, SIZES)
    for pattern in PATTERNS:
        sizes = [point.size_bytes for point in SWEEP if point.pattern == pattern]
        assert sizes == sorted(sizes)
        assert sizes[0] <= Caches().d1[0] / 4
        assert 3.9 * Caches().ll[0] < sizes[-1] <= 4 * Caches().ll[0]


def test_linear_and_random_walk_over_the_same_elements() -> None:
    elements = {pattern: [point.elements for point in SWEEP if point.pattern == pattern] for pattern in PATTERNS}
    assert elements["linear-i32"] == elements["random-i32"]
    assert elements["linear-u64"] == elements["random-u64"]


def test_what_comes_before_the_walk_fills_the_last_level() -> None:
    lines = Caches().ll[0] // 64
    assert all(point.before == min(point.elements, lines) for point in SWEEP)


def test_the_sweep_leaves_the_machine_its_memory() -> None:
    assert max(point.size_bytes for point in sweep(Caches(), 128 << 20)) <= 8 << 20
    assert sweep(Caches(), 1)  # an impossible machine


def test_a_first_level_of_a_few_lines_leaves_a_walk() -> None:
    for size in (64, 512):
        points = sweep(Caches(d1=(size, 1, 64)), None)
        assert min(point.elements for point in points) == 3


@pytest.mark.parametrize("most", [3, 4, 100, 1000, 5000])
def test_a_whole_walk_comes_by_all_elements_but_one(most: int) -> None:
    elements = whole_walk(most)
    assert most / 2 <= elements <= most
    seen, index = set(), 0
    while index not in seen:
        seen.add(index)
        index = (48_271 * index + 1) % elements
    assert len(seen) >= elements - 1
