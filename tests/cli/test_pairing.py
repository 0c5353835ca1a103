"""Pairs in tandem with real programs: the longer one is found."""

from __future__ import annotations

from tests.in_process import InProcess
from tests.tool import TWICE_THE_WORK, WORK


def test_twice_the_work_is_slower_in_tandem_too(here: InProcess) -> None:
    done = here("compare", WORK, TWICE_THE_WORK, "--pairing", "tandem", "--max-time", "30", "--json", "r.json")
    assert done.status == 1
    record = here.json("r.json")
    assert record["verdict"] == "slower"
    launches = record["launches"]
    both = [place for place, order in enumerate(launches["order"]) if order >= 2]
    assert len(both) >= 2 * record["pairs"], record["findings"]
    for one, other in zip(both[::2], both[1::2], strict=True):
        assert launches["pair"][one] == launches["pair"][other]
        leader, follower = sorted((one, other), key=lambda place: launches["order"][place])
        assert launches["start_ns"][leader] < launches["start_ns"][follower]
    done.check_is_tidy()
