"""Benchmarks measured with shared starts, one per side, on scripted harnesses."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from steelyard.design.suite.loops import TARGET_NS, TURN_NS
from steelyard.design.suite.pilot_time import PilotTime
from steelyard.design.suite.selection import Selection
from steelyard.design.timing.benchmark import open_benchmark
from steelyard.design.timing.shared_starts import SharedStarts
from steelyard.model.launches import Launches
from steelyard.model.measured import Measured
from steelyard.model.records import Weighing
from steelyard.model.rows import ROLES, WARM_UP
from tests.design.scripted import PLAIN, recorder
from tests.design.scripted_harness import (
    START_NS,
    Asked,
    Body,
    Suites,
    experiment,
    fails,
    header,
    machine,
    plan,
    planner,
    share_starts,
    steady,
    weigh,
)
from tests.design.suite.made import CRASH, both, messages, named, verdicts_of

SUITE: dict[str, Body] = {}
"""The bodies of each test, whose noise begins anew: which tests ran before must not count."""
FAILED = replace(PLAIN, exit_code=1, stderr=b"no more of this")


@pytest.fixture(autouse=True)
def _shared(monkeypatch: pytest.MonkeyPatch) -> None:
    share_starts(monkeypatch)
    SUITE.update(a=steady(1000, seed=11), b=steady(3e4, seed=12), c=steady(50, seed=13))


def pairs_of(record: Weighing) -> dict[str, int]:
    launches = record.launches
    used = [
        number for number, role in zip(launches.benchmark, launches.role, strict=True) if role == ROLES.index("used")
    ]
    return {record.benchmarks[number].name: count // 2 for number, count in sorted(Counter(used).items())}


def warm_ups_of(record: Weighing) -> dict[str, int]:
    whole = {number: record.launches.complete_pairs(number, WARM_UP) for number in range(len(record.benchmarks))}
    return {record.benchmarks[number].name: len(pairs) for number, pairs in whole.items()}


class TestAWeighing:
    def test_one_start_a_side_serves_all_in_an_order_drawn_for_the_round(self) -> None:
        suites = machine(baseline=SUITE, candidate=SUITE)
        record = weigh(suites, pairs=12, margin=1e-6)
        assert record.settings.starts == "shared"
        assert pairs_of(record) == {"a": 12, "b": 12, "c": 12}
        rounds = suites.together[-24:]
        assert rounds[::2] == rounds[1::2]
        assert {frozenset(names) for names in rounds} == {frozenset("abc")}
        assert len(set(map(tuple, rounds))) > 2
        assert record.findings == []

    def test_the_sides_take_turns_by_a_coin_and_both_have_the_same_draw(self) -> None:
        suites = machine(baseline=SUITE, candidate=SUITE)
        launches = weigh(suites, pairs=30, margin=1e-6, seed=4).launches  # too few for any to be futile
        a = launches.by_benchmark(3)[0]
        assert a.hash_seed[::2] == a.hash_seed[1::2]
        assert len(set(a.hash_seed)) == len(a) // 2
        firsts = a.side[2::2]
        assert 8 < sum(firsts) < 22
        assert set(a.order[::2]) == {0}
        # A round has one draw for all benchmarks, but each benchmark draws its own order.
        b = launches.by_benchmark(3)[1]
        assert b.hash_seed == a.hash_seed
        assert 8 < sum(one != other for one, other in zip(firsts, b.side[2::2], strict=True)) < 22

    def test_it_takes_as_many_starts_as_one_benchmark_would(self) -> None:
        shared, own = (machine(baseline=SUITE, candidate=SUITE) for _ in range(2))
        weigh(shared, pairs=12, margin=1e-6)
        weigh(own, Selection(own_starts=True), pairs=12, margin=1e-6)
        assert len(shared.specs) < 0.45 * len(own.specs)
        assert own.together == []

    def test_one_after_the_other_means_starts_of_their_own(self) -> None:
        suites = machine(baseline=SUITE, candidate=SUITE)
        record = weigh(suites, Selection(any_pairing=False), pairs=12, margin=1e-6)
        assert record.settings.starts is None
        assert suites.together == []
        assert set(record.launches.order) == {0, 1}

    def test_a_slower_one_is_found_and_leaves_the_others_their_starts(self) -> None:
        noisy = {name: steady(between=0.05, seed=seed) for seed, name in enumerate("ac")}
        suites = machine(baseline={**noisy, "b": steady()}, candidate={**noisy, "b": steady(2000)})
        record = weigh(suites, pairs=30)
        assert verdicts_of(record) == {"a": "undecided", "b": "slower", "c": "undecided"}
        assert sorted(suites.together[-1]) == ["a", "c"]
        assert pairs_of(record)["b"] < 20

    def test_the_last_one_that_is_open_still_takes_its_samples_in_turn(self) -> None:
        noisy = steady(between=0.05)
        suites = machine(baseline={"a": steady(), "b": noisy}, candidate={"a": steady(2000), "b": noisy})
        counts = pairs_of(weigh(suites, pairs=30))
        assert counts["a"] < 20
        assert counts["b"] == 30
        assert suites.together[-30:] == [["b"]] * 30
        assert suites.asked[-1].name == "b"

    def test_each_number_is_of_its_own_process(self) -> None:
        record = weigh(machine(baseline=SUITE, candidate=SUITE), pairs=12, margin=1e-6)
        assert max(record.launches.wall_ns) < START_NS * 20
        assert len(set(record.launches.wall_ns)) > 30

    def test_each_round_is_of_one_layout_and_all_come_up(self) -> None:
        suites = both(**SUITE)
        record = weigh(suites, pairs=12, margin=1e-6, layouts=3)
        for launches in record.launches.by_benchmark(3):
            assert launches.layout[::2] == launches.layout[1::2]
            assert {layout: launches.layout[::2].count(layout) for layout in (1, 2, 3)}.items() <= {
                (layout, times) for layout in (1, 2, 3) for times in (4, 5)
            }
        firsts = [launches.layout for launches in record.launches.by_benchmark(3)]
        assert firsts[0] == firsts[1] == firsts[2]

    def test_a_budget_in_time_is_kept(self) -> None:
        suites = machine(baseline=SUITE, candidate=SUITE)
        record = weigh(suites, max_time_s=0.8, margin=1e-6)
        assert 0.6 < record.seconds < 0.82
        assert set(record.stop) == {"time"}
        assert len(set(pairs_of(record).values())) == 1

    def test_the_same_seed_repeats_it(self) -> None:
        orders = []
        for _ in range(2):
            suites = machine(baseline=SUITE, candidate=SUITE)
            record = weigh(suites, pairs=12, margin=1e-6, seed=9)
            orders.append((suites.together, list(record.launches.side), list(record.launches.hash_seed)))
        assert orders[0] == orders[1]


def failing_where_forked(since: int) -> Suites:
    """Return suites in which the candidate's `b` fails when forked from a shared start, after `since` such starts."""
    suites = both(**SUITE)

    def is_forked(_: Asked) -> bool:
        return suites.is_shared and len(suites.together) > since

    suites.suites = {"baseline": SUITE, "candidate": {**SUITE, "b": fails(CRASH, SUITE["b"], when=is_forked)}}
    return suites


@pytest.mark.parametrize("since", [14, 20, 25, 26])
def test_one_that_fails_in_a_forked_process_is_measured_by_itself(since: int) -> None:
    suites = failing_where_forked(since)
    record = weigh(suites, pairs=20, margin=1e-6)
    (message,) = messages(record, "starts")
    assert message.startswith(
        "in a process forked from a common start candidate (b) was killed by SIGSEGV, a segmentation fault"
    )
    assert pairs_of(record) == {"a": 20, "b": 20, "c": 20}
    assert sorted(suites.together[-1]) == ["a", "c"]
    assert messages(record, "failed") == []


def whole(start: Measured, since: int) -> Suites:
    """Return suites whose shared starts end like `start`, after `since` of them."""
    suites = both(**SUITE)
    suites.start = lambda _: start if len(suites.together) > since else None
    return suites


@pytest.mark.parametrize(("warm_up", "since"), [(1, 10), (2, 10), (2, 12)])
def test_one_that_fails_while_it_warms_up_does_so_by_itself(warm_up: int, since: int) -> None:
    record = weigh(failing_where_forked(since), pairs=12, margin=1e-6, warm_up=warm_up)
    assert warm_ups_of(record) == {"a": warm_up, "b": warm_up, "c": warm_up}
    assert pairs_of(record) == {"a": 12, "b": 12, "c": 12}
    b = [row for row in record.launches.rows() if row.benchmark == 1]
    # The baseline's launch of the pair that failed is kept, and that pair's number is not used twice.
    assert len(b) == 2 * (12 + warm_up) + 1
    assert len({(row.pair, row.side) for row in b}) == len(b)
    # A weighing that is carried on uses the next number, without another warm-up.
    again = open_benchmark(1, record, b)
    assert (again.attempts, again.kept) == (13, 12)
    assert again.warm_ups >= warm_up


@pytest.mark.parametrize("kept", range(7))
def test_a_warm_up_that_was_cut_short_anywhere_is_carried_on(kept: int) -> None:
    suites = machine(baseline=SUITE, candidate=SUITE)
    planned = plan(suites, header(pairs=12, margin=1e-6))
    rows = experiment(suites, planned).run().launches.rows()[:kept]
    record = experiment(suites, planned.model_copy(update={"launches": Launches.of_rows(rows)})).run()
    assert len({(row.benchmark, row.pair, row.side) for row in record.launches.rows()}) == len(record.launches)
    assert warm_ups_of(record) == {"a": 1, "b": 1, "c": 1}
    assert pairs_of(record) == {"a": 12, "b": 12, "c": 12}


@pytest.mark.parametrize("since", [0, 3, 10, 11, 12, 13, 14, 20])
def test_where_no_start_can_serve_several_each_has_its_own(since: int) -> None:
    suites = whole(FAILED, since)
    record = weigh(suites, pairs=12, margin=1e-6)
    assert warm_ups_of(record) == {"a": 1, "b": 1, "c": 1}
    assert pairs_of(record) == {"a": 12, "b": 12, "c": 12}
    (message,) = messages(record, "starts")
    assert message.startswith("benchmarks run in no processes forked from a common start, as ")
    assert "(its last words: no more of this)" in message
    assert len(suites.together) <= since + 2  # the other side's start ran beside it
    assert messages(record, "failed") == []


@pytest.mark.parametrize("since", range(6, 11))
def test_starts_that_end_with_those_of_the_control_cost_no_other_its_turn(since: int) -> None:
    suites = both(**SUITE)
    # Only the control starts alone. It fails in a round in which the others may or may not have had their turn.
    suites.start = lambda asked: FAILED if asked == ["a"] and suites.together.count(["a"]) > since else None
    record = weigh(suites, Selection(control=True), pairs=12, margin=1e-6)
    assert len(messages(record, "starts")) == 1
    launched = Counter[int]()
    for row in record.launches.rows():
        launched[row.benchmark] += not record.benchmarks[row.benchmark].control
        pairs = [launched[number] // 2 for number in range(3)]
        assert max(pairs) - min(pairs) <= 1


@pytest.mark.parametrize(("timeout_s", "longest_s"), [(None, 2 * 7), (5, 3 * 5)])
def test_one_that_hangs_costs_the_others_no_more_than_one_alone_would(
    timeout_s: float | None, longest_s: float
) -> None:
    suites = both(**SUITE)
    weigh(suites, pairs=12, margin=1e-6, max_time_s=7, timeout_s=timeout_s)
    assert max(spec.timeout_ns or 0 for spec in suites.specs) == longest_s * 1e9


def test_one_that_fails_there_and_by_itself_has_failed() -> None:
    suites = machine(baseline=SUITE, candidate={**SUITE, "b": fails(CRASH)})
    record = weigh(suites, pairs=12, margin=1e-6)
    assert verdicts_of(record).keys() == {"a", "c"}
    assert record.stop[1] == "failed"
    assert pairs_of(record) == {"a": 12, "c": 12}


class TestThePlan:
    @pytest.mark.parametrize(
        "settings",
        [
            {"pairing": "tandem"},
            {"pairing": "auto"},
            {"prepare": ["true"]},
            {"conclude": ["true"]},
            {"metrics": ["instructions"]},
            {"metrics": ["active", "task_clock"]},
        ],
    )
    def test_what_needs_starts_of_their_own(self, settings: dict[str, object]) -> None:
        suites = both(**named("a", "b"))
        assert plan(suites, header(**settings)).settings.starts is None
        assert suites.together == []

    def test_a_single_benchmark_has_it_for_its_samples_that_are_taken_in_turn(self) -> None:
        suites = both(**named("a"))
        record = weigh(suites, pairs=8)
        assert record.settings.starts == "shared"
        assert suites.together[-16:] == [["a"]] * 16
        assert record.stop == ["pairs"]

    def test_several_candidates_have_starts_of_their_own(self) -> None:
        suites = machine(baseline=SUITE, one=SUITE, other=SUITE)
        record = plan(suites, header("one", "other"))
        assert record.settings.starts == "shared"
        assert len(record.benchmarks) == 6
        groups = SharedStarts(record, recorder(suites)).groups(range(6))
        sides = [{record.benchmarks[number].candidate for number in group} for group in groups]
        assert sorted(map(sorted, sides)) == [[1], [2]]

    def test_samples_in_turn_are_shorter_than_those_of_trials_one_by_one(self) -> None:
        bodies = {"quick": steady(30.0), "slow": steady(5e6), "long": steady(2e9)}
        shared, own = (machine(baseline=bodies, candidate=bodies) for _ in range(2))
        together = {one.name: one for one in plan(shared, header()).benchmarks}
        apart = {one.name: one for one in plan(own, header(), Selection(own_starts=True)).benchmarks}
        for name, one in together.items():
            shorter = TURN_NS / TARGET_NS if name == "quick" else 1
            assert one.loops == pytest.approx(shorter * (apart[name].loops or 0), rel=0.05)
            assert (one.samples == 1) == (name == "long")
        assert len(shared.specs) < len(own.specs)

    def test_slow_starts_are_given_less_time_where_they_are_shared(self) -> None:
        limits = []
        for own_starts in (False, True):
            suites = both(**{name: steady() for name in "abcdefghij"})
            selection = Selection(seconds_each=0.1, own_starts=own_starts)
            limits.append(plan(suites, header(max_time_s=0.1), selection).settings.max_time_s or 0)
        assert limits[0] < 0.6 * limits[1]

    def test_too_little_time_for_all_at_once_is_time_for_a_few(self) -> None:
        suites = both(**{f"b{number}": steady(5e7) for number in range(30)})
        time = PilotTime(suites.clock, suites.clock() + 4)
        record = replace(planner(suites, header(max_time_s=4)), time=time).plan(Selection())
        assert record.settings.starts is None
        (message,) = messages(record, "starts")
        late = "baseline (30 benchmarks) did not end within 1 s, which leaves too little time for pairs"
        assert message.endswith(f"a common start, as {late}")
        (found,) = [one for one in record.findings if one.code == "starts"]
        assert (found.remedy or "").endswith("as it would with --resume; weigh anew with a longer --max-time")
        assert 0 < record.stop.count("time") < 30

    @pytest.mark.parametrize(("budget_s", "limit_s"), [(None, 40.0), (80.0, 10.0)])
    def test_one_that_hangs_among_others_takes_no_longer_for_there_being_more(
        self, budget_s: float | None, limit_s: float
    ) -> None:
        suites = both(**{name: steady() for name in "abcdefghij"})
        suites.start = lambda _: replace(PLAIN, timed_out=True, signal=9, exit_code=None)
        time = PilotTime(suites.clock, budget_s and suites.clock() + budget_s)
        record = replace(planner(suites, header(max_time_s=30)), time=time).plan(Selection())
        together = [spec for spec in suites.specs if any(b"--steelyard-each" in word for word in spec.argv)]
        assert [(spec.timeout_ns or 0) / 1e9 for spec in together] == [pytest.approx(limit_s, rel=0.01)]
        (message,) = messages(record, "starts")
        assert f"as baseline (10 benchmarks) did not end within {limit_s:.0f} s" in message
        assert record.stop == ["interrupted"] * 10
