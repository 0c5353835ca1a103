from __future__ import annotations

from steelyard.design.timing.kept_rows import KeptRows
from steelyard.model.rows import COLUMNS, DISTURBED, IN_TANDEM, ROLES, USED, WARM_UP, LaunchRow, Sample

PLAIN = LaunchRow._make([*[0] * len(COLUMNS), (), ()])
ROWS = [
    PLAIN._replace(benchmark=0, wall_ns=2**62, delay_ns=None),
    PLAIN._replace(benchmark=1, wall_ns=7, signal=None),
    PLAIN._replace(benchmark=0, wall_ns=5, signal=9, exit_code=None),
]


def test_rows_come_back_as_they_were_kept() -> None:
    kept = KeptRows(ROWS)
    assert (list(kept), len(kept)) == (ROWS, 3)
    assert kept.launches().rows() == ROWS


def test_a_benchmark_has_its_own_rows_only() -> None:
    kept = KeptRows(ROWS)
    assert kept.launches_of(0).rows() == [ROWS[0], ROWS[2]]
    assert kept.launches_of(5).rows() == []


def test_only_the_rows_of_that_pair_and_benchmark_get_another_role() -> None:
    kept = KeptRows([PLAIN._replace(benchmark=benchmark, pair=pair) for pair in range(4) for benchmark in (0, 1, 0)])
    kept.give_role(0, 2, DISTURBED)
    assert [row.role for row in kept] == [0] * 6 + [2, 0, 2] + [0] * 3


def test_the_time_used_is_all_launches() -> None:
    assert KeptRows(ROWS[1:]).wall_s() == 12e-9
    at_once = [PLAIN._replace(side=side, order=IN_TANDEM + side, wall_ns=8) for side in (0, 1)]
    assert KeptRows([*ROWS[1:], *at_once]).wall_s() == 20e-9


def test_what_warmed_a_benchmark_up_is_used_and_nothing_else_of_it() -> None:
    kept = KeptRows([PLAIN._replace(benchmark=benchmark, role=role) for benchmark in (0, 1) for role in range(4)])
    kept.use_warm_ups(0)
    used, warm_up = ROLES.index(USED), ROLES.index(WARM_UP)
    assert [row.role for row in kept] == [used if role == warm_up else role for role in range(4)] + [*range(4)]


def test_the_samples_of_a_harness_come_back_with_their_launch() -> None:
    sampled = [ROWS[0]._replace(samples=(Sample(3, 5), Sample(3, 2**62, 1, 0))), ROWS[1], ROWS[2]]
    kept = KeptRows(sampled)
    assert list(kept) == kept.launches().rows() == sampled
    assert kept.launches_of(0).samples == [[(3, 5, None, None), (3, 2**62, 1, 0)], []]
    assert kept.launches_of(1).samples == []
