from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from steelyard.design.runner.failure import TookTooLongError
from steelyard.design.runner.runner import Reading
from steelyard.design.suite.loops import Ask, Pilot
from steelyard.design.suite.pilots import Pilots, beside_samples_ns
from steelyard.model.errors import LaunchError
from steelyard.model.rows import Sample
from tests.design.scripted import PLAIN

MS = 1_000_000


def beside_ms(wall_ms: int, waited_ms: int | None, *samples: tuple[int, int | None]) -> float:
    """Return what a launch takes beside its samples, given as (ms, ms waited)."""
    taken = tuple(Sample(1, ms * MS, None, None if waited is None else waited * MS) for ms, waited in samples)
    delay_ns = None if waited_ms is None else waited_ms * MS
    return beside_samples_ns(Reading(replace(PLAIN, wall_ns=wall_ms * MS, delay_ns=delay_ns), taken, None)) / MS


def test_what_a_launch_takes_beside_its_samples_has_no_wait_for_a_processor() -> None:
    assert beside_ms(25, 0, (10, 0), (10, 0)) == 5
    assert beside_ms(45, 20, (22, 12), (13, 3)) == 5


def test_where_not_all_waits_are_known_they_stay_in_it() -> None:
    assert beside_ms(45, 20, (22, None), (13, 3)) == 10
    assert beside_ms(45, None, (22, 12), (13, 3)) == 10


class Failing(Pilots):
    """Pilots whose launches fail; notes the times that they may take."""

    def __init__(self, error: LaunchError, timeout_ns: int | None = None) -> None:
        given: Any = SimpleNamespace(trial=self.fail)
        nothing: Any = None
        super().__init__(nothing, nothing, [], nothing, given, nothing, False)
        self.error, self.timeout_ns, self.most_s = error, timeout_ns, list[float]()

    def fail(self, _: object) -> None:
        raise self.error

    def target(self, entry: str, ask: Ask) -> Any:  # noqa: ARG002 - as it is called
        return SimpleNamespace(within=self.most_s.append, spec=SimpleNamespace(timeout_ns=self.timeout_ns))


CRASHED, LATE = LaunchError("crashed"), TookTooLongError("did not end")


@pytest.mark.parametrize(
    ("error", "how"),
    [(CRASHED, {}), (LATE, {}), (CRASHED, {"is_given_up": True})],
)
def test_a_failed_launch_is_a_failure(error: LaunchError, how: dict[str, bool]) -> None:
    pilots = Failing(error)
    pilots.pair_s["a"] = 1.0
    with pytest.raises(type(error)):
        pilots.run_one("a", Ask(0, 1, 1, **how))


@pytest.mark.parametrize(
    ("error", "how"),
    [(LATE, {"is_given_up": True}), (CRASHED, {"by_process": True}), (LATE, {"by_process": True})],
)
def test_one_that_is_given_up_or_tried_another_way_only_has_no_samples(
    error: LaunchError, how: dict[str, bool]
) -> None:
    pilots = Failing(error)
    pilots.pair_s["a"] = 1.0
    assert pilots.run_one("a", Ask(0, 1, 1, **how)) == Pilot(0.0, ())


@pytest.mark.parametrize(
    ("pair_s", "timeout_ns", "most_s"), [(1.0, None, 5.0), (0.1, None, 2.0), (1.0, 3_000_000_000, 3.0)]
)
def test_one_is_given_up_after_ten_times_the_launch_before_it(
    pair_s: float, timeout_ns: int | None, most_s: float
) -> None:
    pilots = Failing(LATE, timeout_ns)
    pilots.pair_s["a"] = pair_s
    pilots.run_one("a", Ask(0, 1, 1, is_given_up=True))
    assert pilots.most_s == [most_s]
