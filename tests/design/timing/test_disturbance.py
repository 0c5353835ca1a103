from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.design.judging.pairs import MetricPairs
from steelyard.design.timing.disturbance import STEAL_TICK_NS, Repeats, is_disturbed, surely_stolen_ns
from steelyard.model.launch_spec import LaunchSpec
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.rows import DISTURBED, IN_TANDEM, ROLES, USED, LaunchRow
from tests.design.scripted import PLAIN, noisy, weigh, weighing
from tests.model.samples import row

CALM = row(wall_ns=12_000_000, cpu_ns=11_900_000, delay_ns=0, others_ns=0, steal_ns=0)
WAITED = CALM._replace(delay_ns=9_000_000)
OTHERS = CALM._replace(others_ns=5_000_000)


@pytest.mark.parametrize(
    ("metric", "lost", "disturbed"),
    [
        ("active", {"steal_ns": 2 * STEAL_TICK_NS}, True),
        ("active", {"steal_ns": STEAL_TICK_NS}, False),
        ("active", {"delay_ns": 9_000_000}, False),  # corrected for
        ("wall", {"delay_ns": 9_000_000}, True),
        ("wall", {"delay_ns": 400_000}, False),
        ("wall", {"others_ns": 5_000_000, "lost_ns": 9_000_000}, True),
        ("active", {"others_ns": 5_000_000, "lost_ns": 9_000_000}, False),
        ("wall", {"delay_ns": None, "steal_ns": None}, False),
        ("delay", {"delay_ns": 9_000_000}, False),  # its own value
        ("delay", {"steal_ns": 2 * STEAL_TICK_NS}, True),
        ("max_rss", {"steal_ns": 9 * STEAL_TICK_NS}, False),
        ("minor_faults", {"steal_ns": 9 * STEAL_TICK_NS}, False),
    ],
)
def test_only_what_the_metric_does_not_correct_for_disturbs(metric: str, lost: dict[str, Any], disturbed: bool) -> None:
    assert is_disturbed(CALM._replace(**lost), CALM, metric, 2) is disturbed
    assert is_disturbed(CALM, CALM._replace(**lost), metric, 2) is disturbed


@pytest.mark.parametrize(
    ("metric", "disturbed"), [("wall", True), ("active", True), ("cpu", False), ("max_rss", False)]
)
def test_what_stood_still_disturbs_what_is_elapsed_time(metric: str, disturbed: bool) -> None:
    assert is_disturbed(CALM, CALM, metric, 2, (0.0, 9e6)) is disturbed
    assert not is_disturbed(CALM, CALM, metric, 2, (0.0, 1e5))
    assert Repeats(metric, 2).is_to_repeat(CALM, CALM, (9e6, 0.0)) is disturbed


def test_in_tandem_the_turns_of_the_partner_are_no_disturbance_and_both_see_the_same_stolen_time() -> None:
    one, other = (CALM._replace(order=IN_TANDEM + place, delay_ns=9_000_000) for place in (0, 1))
    ticked = one._replace(steal_ns=STEAL_TICK_NS), other._replace(steal_ns=STEAL_TICK_NS)
    stolen = one._replace(steal_ns=2 * STEAL_TICK_NS), other._replace(steal_ns=2 * STEAL_TICK_NS)
    for metric in ("active", "wall"):
        assert not is_disturbed(one, other, metric, 2)
        assert not is_disturbed(*ticked, metric, 2)
        assert is_disturbed(*stolen, metric, 2)


class TestStolenTime:
    """The counter is that of all processors, in ticks of 10 ms."""

    @pytest.mark.parametrize(("ticks", "lost_ns"), [(0, 0), (1, 0), (2, 10_000_000), (5, 40_000_000)])
    def test_of_its_ticks_all_but_one_surely_went_by_meanwhile(self, ticks: int, lost_ns: float) -> None:
        assert surely_stolen_ns(ticks * STEAL_TICK_NS, 1) == lost_ns

    def test_a_tick_in_each_launch_is_one_that_went_by_between_them(self) -> None:
        ticked = CALM._replace(steal_ns=STEAL_TICK_NS)
        assert is_disturbed(ticked, ticked, "active", 2)

    def test_it_is_shared_by_the_processors(self) -> None:
        """0.1 % of the time of 64 processors is 6 % of the time of one."""
        a_second = CALM._replace(wall_ns=10**9, steal_ns=6 * STEAL_TICK_NS)
        assert is_disturbed(a_second, a_second, "active", 1)
        assert not is_disturbed(a_second, a_second, "active", 64)

    @given(st.integers(0, STEAL_TICK_NS - 1), st.integers(0, 10**9), st.integers(1, 64))
    def test_no_more_is_said_than_was_lost(self, before_ns: int, lost_ns: int, processors: int) -> None:
        counted_ns = (before_ns + processors * lost_ns) // STEAL_TICK_NS * STEAL_TICK_NS
        assert surely_stolen_ns(counted_ns, processors) <= lost_ns


class TestRepeats:
    @staticmethod
    def of(*pairs: tuple[LaunchRow, LaunchRow], metric: str = "wall") -> list[bool]:
        repeats = Repeats(metric, 2)
        return [repeats.is_to_repeat(*pair) for pair in pairs]

    def test_they_are_bounded_by_the_pairs_that_were_kept(self) -> None:
        calm, waited = (CALM, CALM), (CALM, WAITED)
        assert self.of(waited, waited) == [True, False]
        assert self.of(*[calm] * 20, *[waited] * 9) == [False] * 20 + [True] * 6 + [False, True, False]

    def test_a_program_that_nearly_always_waits_is_not_disturbed_by_others(self) -> None:
        assert sum(self.of(*[(WAITED, WAITED)] * 400)) == 1
        now_and_then = [(WAITED, CALM), (CALM, CALM), (CALM, CALM), (CALM, CALM), (CALM, CALM)] * 80
        assert sum(self.of(*now_and_then)) == 80

    def test_the_metric_that_is_used_decides(self) -> None:
        """`active` falls back to `wall` for good from the first pair that has no `active`."""
        calm, waited, others = (CALM, CALM), (CALM, WAITED), (CALM, OTHERS)
        assert self.of(*[calm] * 4, waited, metric="active")[-1] is False
        assert self.of(*[calm] * 4, others, waited, metric="active")[-2:] == [False, True]
        assert self.of(*[calm] * 4, (OTHERS, WAITED), metric="active")[-1] is True
        assert self.of(*[calm] * 4, (OTHERS, WAITED), waited, metric="active")[-1] is False  # that pair is not judged

    def test_what_was_counted_goes_on_where_it_was_left(self) -> None:
        pairs = [(CALM, OTHERS), (CALM, WAITED), (CALM, CALM), (WAITED, WAITED), (CALM, CALM)] * 5
        whole, begun = Repeats("active", 2), Repeats("active", 2)
        decided = [whole.is_to_repeat(*pair) for pair in pairs]
        for pair, repeated in zip(pairs[:11], decided, strict=False):
            begun.count(*pair, repeated=repeated)
        assert [begun.is_to_repeat(*pair) for pair in pairs[11:]] == decided[11:]
        assert begun == whole

    @pytest.mark.parametrize("metric", ["active", "wall", "cpu"])
    def test_it_is_the_metric_that_judges(self, metric: str) -> None:
        changes: list[dict[str, Any]] = [{}, {"others_ns": 5_000_000}, {"delay_ns": None}, {"cpu_ns": None}]
        for change in changes:
            pairs = [row(pair, side, role=1, others_ns=0) for pair in range(3) for side in (0, 1)]
            pairs[3] = pairs[3]._replace(**change)
            repeats = Repeats(metric, 2)
            for first, second in zip(pairs[::2], pairs[1::2], strict=True):
                repeats.count(first, second, repeated=False)
            assert repeats.metric == MetricPairs(Launches.of_rows(pairs), 0, metric).used_metric(3)


def test_a_program_of_several_threads_is_weighed_again_where_it_waited() -> None:
    """It is judged by wall time, which includes the waits."""
    plain = noisy(0, 0.02)

    def script(number: int, spec: LaunchSpec) -> Measured:
        waited = 5_000_000 if number in (20, 40) else 0
        return replace(plain(number, spec), others_ns=PLAIN.wall_ns, delay_ns=waited)

    record, _ = weigh(script, pairs=29, max_time_s=None, warm_up=0)
    assert [ROLES[role] for role in record.launches.role].count(DISTURBED) == 4
    assert [ROLES[role] for role in record.launches.role].count(USED) == 2 * weighing(pairs=29).settings.pairs  # type: ignore[operator]
