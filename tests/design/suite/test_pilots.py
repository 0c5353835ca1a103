from __future__ import annotations

from dataclasses import replace

from steelyard.design.runner.runner import Reading
from steelyard.design.suite.pilots import beside_samples_ns
from steelyard.model.launches import Sample
from tests.design.scripted import PLAIN

MS = 1_000_000


def beside_ms(wall_ms: int, waited_ms: int | None, *samples: tuple[int, int | None]) -> float:
    """Of a launch and its samples with their waits."""
    taken = tuple(Sample(1, ms * MS, None, None if waited is None else waited * MS) for ms, waited in samples)
    delay_ns = None if waited_ms is None else waited_ms * MS
    return beside_samples_ns(Reading(replace(PLAIN, wall_ns=wall_ms * MS, delay_ns=delay_ns), taken, None)) / MS


def test_what_a_launch_takes_beside_its_samples_has_no_wait_for_a_processor() -> None:
    assert beside_ms(25, 0, (10, 0), (10, 0)) == 5
    assert beside_ms(45, 20, (22, 12), (13, 3)) == 5


def test_where_not_all_waits_are_known_they_stay_in_it() -> None:
    assert beside_ms(45, 20, (22, None), (13, 3)) == 10
    assert beside_ms(45, None, (22, 12), (13, 3)) == 10
