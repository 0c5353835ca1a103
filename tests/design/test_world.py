from __future__ import annotations

from steelyard.design.world import World


def test_a_seed_that_nobody_gave_is_another_one_each_time() -> None:
    seeds = {World().new_seed() for _ in range(10)}
    assert len(seeds) > 1
    assert all(0 <= seed < 2**32 for seed in seeds)
