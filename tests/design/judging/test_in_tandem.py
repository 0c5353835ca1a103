from __future__ import annotations

import pytest

from steelyard.design.judging.in_tandem import tandem_finding
from steelyard.model.findings import Finding
from steelyard.model.launches import Launches
from steelyard.model.rows import IN_TANDEM, LaunchRow
from tests.model.samples import pairs

MS = 1_000_000


def lasting(row: LaunchRow, ms: float) -> LaunchRow:
    ns = int(ms * MS)
    return row._replace(
        wall_ns=ns, cpu_ns=ns, user_ns=ns, sys_ns=0, delay_ns=0, others_ns=0, voluntary_switches=int(ms)
    )


def of(alone: tuple[float, float], *beside: tuple[float, float], shown: str = "active") -> Finding:
    """Return the finding on a pair whose launches ran one after the other and pairs in tandem, given their ms."""
    rows = pairs(1 + len(beside))
    times = {row.pair: both for row, both in zip(rows[::2], [alone, *beside], strict=True)}
    first = rows[0].pair
    rows = [lasting(row, times[row.pair][row.side]) for row in rows]
    placed = [row if row.pair == first else row._replace(order=row.order + IN_TANDEM) for row in rows]
    found = tandem_finding(Launches.of_rows(placed), 0, shown)
    assert found is not None
    return found


def test_two_alike_are_each_beside_their_like() -> None:
    said = of((40, 42), (40, 42), (41, 43)).message
    assert said.startswith(
        "the launches of 2 of 3 pairs ran at the same time on one processor: each beside a neighbour"
    )


@pytest.mark.parametrize("times", [(8, 700), (700, 8)])
def test_of_two_that_are_not_the_longer_one_is_not_beside_its_like(times: tuple[float, float]) -> None:
    said = of(times, times, times).message
    assert said.endswith("each beside the other while both ran, as the times shown reflect")


def test_how_much_longer_it_takes_is_told_side_by_side() -> None:
    """If one side is far longer, a figure between the two would be true of neither."""
    said = of((10, 1000), (15, 1500), (15, 1500), (30, 1500)).message
    assert "where it takes 50 % longer than alone, as far as 2 launches alone can tell: the two share" in said


def test_where_all_pairs_ran_so_none_tells_how_much_longer_it_takes() -> None:
    tandem = [row._replace(order=row.order + IN_TANDEM) for row in pairs(3)]
    found = tandem_finding(Launches.of_rows(tandem), 0, "active")
    assert found is not None
    assert found.message.startswith("the launches of a pair ran at the same time on one processor")
    assert found.message.endswith("as the times shown reflect")
    assert tandem_finding(Launches.of_rows(pairs(3)), 0, "active") is None


def test_of_what_is_no_time_nothing_takes_longer() -> None:
    rows = (10, 1000), (15, 1500), (15, 1500)
    assert "longer" in of(*rows).message
    assert of(*rows, shown="voluntary_switches").message.endswith("as the times shown reflect")
