from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from steelyard.model.counters import EVENTS
from steelyard.model.errors import MeasurementError
from steelyard.model.launches import Launches
from steelyard.model.metrics import METRICS, timed
from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import COLUMNS, IN_TANDEM, LaunchRow, Sample, is_active_known, knows_waits, waited_ns
from tests.model.samples import DISTURBED, USED, WARM_UP, row

ALONE = row()
HELPED = row(others_ns=3_000_000)
UNKNOWN = row(others_ns=None, cpu_ns=None, delay_ns=None, timeslices=None)


def of(*rows: LaunchRow) -> Launches:
    return Launches.of_rows(list(rows))


def columns(*rows: LaunchRow) -> dict[str, list[Any]]:
    return of(*rows).model_dump()


def test_those_that_were_computed_with_are_compared_by_what_was_measured() -> None:
    rows = [row(0, 0), row(0, 1, wall_ns=11)]
    one, other = of(*rows), of(*rows)
    for launches in (one, other):
        launches.metric("wall")
    assert one == other
    other.metric("cpu")
    assert one == other
    assert one != of(row(0, 0), row(0, 1, wall_ns=12))
    assert one != rows


def test_rows_become_columns_and_back() -> None:
    rows = [row(0, 0), row(0, 1, wall_ns=11, cpu_ns=None)]
    launches = of(*rows)
    assert len(launches) == 2
    assert launches.rows() == rows
    assert [
        LaunchRow(*values) for values in zip(*(launches.model_dump()[name] for name in COLUMNS), strict=True)
    ] == rows
    assert Launches.model_validate(launches.model_dump()) == launches


def test_no_rows_are_empty_columns() -> None:
    launches = of()
    assert len(launches) == 0
    assert len(launches.metric("active")) == 0
    baseline, candidate = launches.metric_of_pairs(0, "wall")
    assert len(baseline) == len(candidate) == 0
    assert len(launches.select(benchmark=0, role=USED, side=0)) == 0


def test_the_columns_are_those_of_a_row() -> None:
    assert tuple(Launches.model_fields) == LaunchRow._fields


def test_a_value_that_the_machine_could_not_tell_is_nan() -> None:
    assert np.array_equal(of(ALONE, UNKNOWN).column("delay_ns"), [400_000, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    ("metric", "alone", "helped", "unknown"),
    [
        ("active", 9_600_000, np.nan, np.nan),
        ("wall", 10_000_000, 10_000_000, 10_000_000),
        ("cpu", 9_500_000, 9_000_000, 9_000_000),
        ("user", 6_000_000, 6_000_000, 6_000_000),
        ("sys", 3_000_000, 3_000_000, 3_000_000),
        ("delay", 400_000, 400_000, np.nan),
        ("max_rss", 5 * 2**20, 5 * 2**20, 5 * 2**20),
        ("minor_faults", 300, 300, 300),
        ("major_faults", 2, 2, 2),
        ("voluntary_switches", 4, 4, 4),
        ("involuntary_switches", 5, 5, 5),
        ("timeslices", 3, 3, np.nan),
    ],
)
def test_a_metric_of_each_kind_of_launch(metric: str, alone: float, helped: float, unknown: float) -> None:
    values = of(ALONE, HELPED, UNKNOWN).metric(metric)
    assert np.array_equal(values, [alone, helped, unknown], equal_nan=True)


FOLLOWED = HELPED._replace(lost_ns=1_000_000)


def test_active_of_more_than_the_main_thread_is_without_what_all_of_it_lost() -> None:
    alone = row(lost_ns=1_000_000)
    assert of(FOLLOWED, alone, HELPED).metric("active").tolist()[:2] == [9_000_000, 9_600_000]
    assert of(FOLLOWED, alone, HELPED).waited_ns().tolist() == [1_000_000, 400_000, 400_000]
    assert of(FOLLOWED).waiting_share().tolist() == [0.1]


@pytest.mark.parametrize(("launch", "waited"), [(ALONE, 400_000), (FOLLOWED, 1_000_000), (HELPED, None)])
def test_whether_it_is_known_what_a_launch_waited(launch: LaunchRow, waited: int | None) -> None:
    assert knows_waits(launch) == is_active_known(launch) == (waited is not None)
    assert waited_ns(launch) == (waited or launch.delay_ns)
    assert of(launch).metric("active").tolist() == pytest.approx([10_000_000 - (waited or np.nan)], nan_ok=True)


def test_columns_from_before_threads_were_followed_do_not_tell_what_they_lost() -> None:
    packed = columns(ALONE)
    del packed["lost_ns"]
    for told in (packed, {name: list(values) for name, values in packed.items()}):
        assert Launches.model_validate(told) == of(ALONE)


def test_the_start_of_a_shell_is_no_part_of_a_launch() -> None:
    launches = of(row(overhead_ns=1_000_000))
    assert launches.metric("wall").tolist() == [9_000_000]
    assert launches.metric("active").tolist() == [8_600_000]
    assert launches.column("wall_ns").tolist() == [10_000_000]


def test_where_the_start_of_a_shell_leaves_nothing_of_a_launch_it_stays_in_all_of_the_benchmark() -> None:
    start = {"overhead_ns": 9_600_000}
    launches = Launches.of_rows(
        [row(0, 0, **start, delay_ns=0), row(0, 1, **start), row(benchmark=1, **start, delay_ns=0)]
    )
    assert launches.metric("wall").tolist() == [10_000_000, 10_000_000, 400_000]
    assert launches.metric("active").tolist() == [10_000_000, 9_600_000, 400_000]


def test_a_launch_beside_its_partner_has_no_elapsed_time_of_its_own() -> None:
    both = {"order": 2, "wall_ns": 21_000_000, "delay_ns": 11_000_000}
    launches = Launches.of_rows([row(0, 0), row(0, 1, **both), row(1, 0, **both)])
    assert launches.in_tandem().tolist() == [False, True, True]
    assert np.isnan(launches.metric("wall")).tolist() == [False, True, True]
    assert launches.metric("active").tolist() == [9_600_000, 10_000_000, 10_000_000]
    assert launches.taken_ns().tolist() == [10_000_000, 10_500_000, 10_500_000]


def test_a_launch_spans_the_time_from_its_start_to_its_end() -> None:
    spans = of(row(start_ns=5, wall_ns=10), row(start_ns=20, wall_ns=7)).spans_ns()
    assert spans.tolist() == [[5, 15], [20, 27]]
    assert not spans.flags.writeable


def test_the_turns_of_a_partner_are_no_wait_for_other_work() -> None:
    alone = row(0, 0, delay_ns=1_000_000)
    both = {"start_ns": 7, "user_ns": 6_000_000, "sys_ns": 3_000_000, "delay_ns": 11_000_000}
    pair = [row(5, 0, order=3, wall_ns=19_000_000, **both), row(5, 1, order=2, wall_ns=20_000_000, **both)]
    launches = Launches.of_rows([alone, *pair, *(each._replace(pair=4, wall_ns=18_000_000) for each in pair)])
    assert launches.waiting_share().tolist() == pytest.approx([0.1, 0.1, 0.1, 0.0, 0.0])


def beside(pair: int, taken_ms: float, benchmark: int = 0) -> list[LaunchRow]:
    """Return a tandem pair of 40 ms each: the first leads by 5 ms, the second ends `taken_ms` after its start."""
    both = {"benchmark": benchmark, "user_ns": 40_000_000, "sys_ns": 0, "delay_ns": 70_000_000}
    wall_ns = round((taken_ms - 5) * 1e6)
    leading = row(pair, 0, order=2, start_ns=100, wall_ns=75_000_000, **both)
    return [leading, row(pair, 1, order=3, start_ns=5_000_100, wall_ns=wall_ns, **both)]


def test_neither_the_lead_nor_what_ends_turns_is_a_wait_for_other_work() -> None:
    launches = Launches.of_rows([*beside(1, 84), *beside(2, 85), *beside(3, 100), *beside(1, 82, benchmark=1)])
    others = [0, 0, 80 / 84 - 80 / 85, 80 / 84 - 80 / 85, 80 / 84 - 0.8, 80 / 84 - 0.8, 0, 0]
    assert launches.waiting_share().tolist() == pytest.approx(others)


def test_what_others_have_of_all_pairs_is_more_than_their_turns_take() -> None:
    launches = Launches.of_rows([*beside(1, 160), *beside(2, 160)])
    assert launches.waiting_share().tolist() == pytest.approx([0.4] * 4)


def test_sleep_beside_a_partner_is_no_wait() -> None:
    both = {"user_ns": 1_000_000, "sys_ns": 0, "wall_ns": 20_000_000, "delay_ns": 400_000}
    launches = Launches.of_rows([row(0, 0, order=3, **both), row(0, 1, order=2, **both)])
    assert launches.waiting_share().tolist() == pytest.approx([0.02, 0.02])


def test_every_timed_metric_is_defined() -> None:
    assert all(len(of(ALONE).metric(name)) == 1 for name in timed(list(METRICS)))


def test_each_timed_metric_but_the_corrected_one_is_a_number_of_a_launch() -> None:
    assert {name for name in timed(list(METRICS)) if METRICS[name].column not in NUMBERS} - {*EVENTS} == {"active"}


@pytest.mark.parametrize("name", ["speed", "instructions", "wall_ns"])
def test_what_is_no_metric_of_a_launch_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(MeasurementError, match=f"'{name}'"):
        of(ALONE).metric(name)


@pytest.mark.parametrize(
    ("others_ns", "cpu_ns", "alone"),
    [(0, 0, True), (100_000, 0, True), (100_001, 0, False), (600_000, 100_000_000, True), (600_001, 10**8, False)],
)
def test_a_little_work_of_others_is_allowed_for(others_ns: int, cpu_ns: int, alone: bool) -> None:
    assert of(row(others_ns=others_ns, cpu_ns=cpu_ns)).worked_alone().tolist() == [alone]


def test_who_worked_is_not_known_without_schedstat() -> None:
    assert of(UNKNOWN, row(others_ns=None), row(cpu_ns=None)).worked_alone().tolist() == [False, False, False]


def test_select_takes_one_side_of_one_benchmark_in_one_role_in_order_of_the_pairs() -> None:
    launches = of(
        row(2, 0),
        row(2, 1),
        row(0, 0, role=WARM_UP),
        row(1, 1),
        row(1, 0),
        row(3, 0, role=DISTURBED),
        row(0, 0, benchmark=1),
    )
    assert launches.select(benchmark=0, role=USED, side=0).tolist() == [4, 0]
    assert launches.select(benchmark=0, role=USED, side=1).tolist() == [3, 1]
    assert launches.select(benchmark=0, role=WARM_UP, side=0).tolist() == [2]
    assert launches.select(benchmark=0, role=DISTURBED, side=0).tolist() == [5]
    assert launches.select(benchmark=1, role=USED, side=0).tolist() == [6]
    assert launches.select(benchmark=2, role=USED, side=0).tolist() == []


def test_those_of_a_benchmark_are_told_in_all_roles_or_in_some() -> None:
    launches = of(row(1, 0), row(0, 1, role=WARM_UP), row(2, 1, role=DISTURBED), row(0, 0, benchmark=1))
    assert launches.of(0).tolist() == [True, True, True, False]
    assert launches.of(0, "used").tolist() == [True, False, False, False]
    assert launches.of(0, "used", "disturbed").tolist() == [True, False, True, False]
    assert launches.of(2, "used").tolist() == [False] * 4
    assert of().of(0, "used").tolist() == []


def test_pair_values_match_the_launches_of_a_pair_whatever_their_order() -> None:
    launches = of(row(1, 1, wall_ns=11), row(1, 0, wall_ns=10), row(0, 0, wall_ns=20), row(0, 1, wall_ns=21))
    baseline, candidate = launches.metric_of_pairs(0, "wall")
    assert baseline.tolist() == [20, 10]
    assert candidate.tolist() == [21, 11]


def test_pair_values_leave_out_incomplete_disturbed_and_foreign_pairs() -> None:
    launches = of(
        row(0, 0, role=WARM_UP),
        row(0, 1, role=WARM_UP),
        row(1, 0, wall_ns=1),
        row(1, 1, wall_ns=2),
        row(2, 0, role=DISTURBED),
        row(2, 1, role=DISTURBED),
        row(3, 1, wall_ns=99),  # whose baseline was never measured
        row(4, 0, wall_ns=3),
        row(4, 1, wall_ns=4),
        row(5, 0, wall_ns=98),  # interrupted here
        row(1, 0, wall_ns=5, benchmark=1),
        row(1, 1, wall_ns=6, benchmark=1),
    )
    assert [side.tolist() for side in launches.metric_of_pairs(0, "wall")] == [[1, 3], [2, 4]]
    assert [side.tolist() for side in launches.metric_of_pairs(1, "wall")] == [[5], [6]]


def test_columns_of_different_lengths_are_refused() -> None:
    damaged = columns(row(0), row(1))
    damaged["sys_ns"].pop()
    with pytest.raises(ValidationError, match="differ in length"):
        Launches.model_validate(damaged)


@pytest.mark.parametrize("change", [{"side": 2}, {"role": 4}, {"order": 4}])
def test_a_side_role_or_order_out_of_range_is_refused(change: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="out of range"):
        Launches.model_validate(columns(row(**change)))


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("value", [-1, 2**63, "x", 1.5])
def test_a_value_that_nobody_can_have_measured_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError, match=rf"\n{name}\.0"):
        Launches.model_validate(columns(row()) | {name: [value]})


def test_a_launch_that_took_no_time_is_refused() -> None:
    with pytest.raises(ValidationError, match="wall_ns"):
        Launches.model_validate(columns(row(wall_ns=0)))


@pytest.mark.parametrize("name", COLUMNS)
def test_only_what_a_machine_may_not_tell_can_be_missing(name: str) -> None:
    damaged = columns(row()) | {name: [None]}
    optional = {"cpu_ns", "delay_ns", "timeslices", "others_ns", "pressure_ns", "steal_ns"}
    optional |= {"lost_ns", "written_blocks", "exit_code", "signal"}
    if name in optional:
        assert Launches.model_validate(damaged)
    else:
        with pytest.raises(ValidationError):
            Launches.model_validate(damaged)


def test_two_launches_in_one_place_are_refused() -> None:
    with pytest.raises(ValidationError, match="in the place of one"):
        Launches.model_validate(columns(row(0, 0), row(0, 1), row(0, 0, role=WARM_UP)))


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(ValidationError, match="extra"):
        Launches.model_validate(columns(row()) | {"speed": [1]})


# --- the samples of a harness

SAMPLES = (
    Sample(10, 90_000),
    Sample(10, 10_300, 9_000, 100),
    Sample(20, 20_400, 18_600, 0),
    Sample(10, 30_000, 10, 20_000),
)
KEPT = [sample[:4] for sample in SAMPLES]


def test_samples_become_a_column_and_come_back() -> None:
    rows = [row(0, 0, samples=SAMPLES), row(0, 1), row(1, 0, samples=SAMPLES[:1])]
    launches = of(*rows)
    assert launches.samples == [KEPT, [], KEPT[:1]]
    assert launches.rows() == rows
    assert Launches.model_validate(launches.model_dump()) == launches
    assert Launches.model_validate_json(launches.model_dump_json()).rows() == rows


def test_only_samples_that_were_taken_in_turn_have_an_order() -> None:
    in_turn = tuple(sample._replace(order=place % 2) for place, sample in enumerate(SAMPLES))
    launches = of(row(0, 0, samples=in_turn), row(0, 1, samples=SAMPLES))
    assert launches.samples == [[(*sample, place % 2) for place, sample in enumerate(KEPT)], KEPT]
    assert Launches.model_validate_json(launches.model_dump_json()).rows() == launches.rows()
    assert launches.rows()[0].samples == in_turn
    damaged = launches.model_dump()
    damaged["samples"][0][0] = (*KEPT[0], 2)
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        Launches.model_validate(damaged)


def test_launches_of_a_command_have_no_column_of_samples() -> None:
    assert of(ALONE, HELPED).samples == []


@pytest.mark.parametrize(
    ("metric", "value"), [("wall", 1030.0), ("cpu", 900.0), ("active", 1020.0), ("max_rss", 5 * 2**20), ("user", 6e6)]
)
def test_times_are_the_median_of_one_iteration_and_all_else_is_of_the_launch(metric: str, value: float) -> None:
    assert of(row(samples=SAMPLES)).metric(metric).tolist() == [value]


def test_the_only_sample_of_a_launch_is_judged() -> None:
    assert of(row(samples=SAMPLES[1:2])).metric("active").tolist() == [1020.0]


def test_what_one_judged_sample_does_not_tell_is_nan() -> None:
    launches = of(row(0, samples=(*SAMPLES, Sample(10, 10_000))), row(1, samples=SAMPLES), row(2))
    assert np.array_equal(launches.metric("cpu"), [np.nan, 900.0, np.nan], equal_nan=True)
    assert np.array_equal(launches.metric("active"), [np.nan, 1020.0, np.nan], equal_nan=True)
    assert np.array_equal(launches.metric("wall"), [1025.0, 1030.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("metric", ["wall", "active", "cpu"])
def test_elapsed_time_beside_a_partner_is_a_time_only_where_samples_take_turns(metric: str) -> None:
    told = [sample._replace(cpu_ns=5, delay_ns=0) for sample in SAMPLES]
    in_turn = tuple(sample._replace(order=0) for sample in told)
    rows = [
        row(0, order=IN_TANDEM, samples=tuple(told)),
        row(1, order=IN_TANDEM, samples=in_turn),
        row(2, samples=tuple(told)),
    ]
    known = np.isfinite(of(*rows).metric(metric))
    assert known.tolist() == [metric != "wall", True, True]


def test_each_benchmark_keeps_its_own_samples() -> None:
    parts = of(row(0, samples=SAMPLES), row(0, benchmark=1, samples=SAMPLES[:2])).by_benchmark(2)
    assert [part.samples for part in parts] == [[KEPT], [KEPT[:2]]]


def test_what_one_benchmark_s_launches_lack_another_s_keep() -> None:
    """Launches keep their samples and counters even if others beside them have none."""
    counted = row(0, samples=SAMPLES, counters=((1000, 80, 80),))
    rows = [counted, row(0, benchmark=1), row(1), row(1, benchmark=1), counted._replace(pair=2)]
    parts = of(*rows).by_benchmark(2)
    assert [part.rows() for part in parts] == [[rows[0], rows[2], rows[4]], [rows[1], rows[3]]]
    assert [len(part.samples) for part in parts] == [3, 0]


def test_samples_of_some_launches_only_are_refused() -> None:
    damaged = columns(row(0, samples=SAMPLES), row(1, samples=SAMPLES))
    damaged["samples"].pop()
    with pytest.raises(ValidationError, match="differ in length"):
        Launches.model_validate(damaged)


@pytest.mark.parametrize(
    "sample",
    [
        [0, 1, None, None],
        [1, 0, None, None],
        [1, 1, -1, None],
        [1, 1, None, -1],
        [1, 2**63, None, None],
        [1, 1],
        "x",
        [],
    ],
    ids=str,
)
def test_a_sample_that_nobody_can_have_measured_is_refused(sample: object) -> None:
    with pytest.raises(ValidationError, match=r"\nsamples\.0\.0"):
        Launches.model_validate(columns(row()) | {"samples": [[sample]]})


def test_what_is_computed_is_shared_and_cannot_be_changed() -> None:
    launches = Launches.of_rows([row(0, 0), row(0, 1)])
    assert launches.metric("wall") is launches.metric("wall")
    assert launches.column("wall_ns") is launches.column("wall_ns")
    with pytest.raises(ValueError, match="read-only"):
        launches.metric("wall")[0] = 0
    assert launches == Launches.of_rows([row(0, 0), row(0, 1)])


def test_the_launches_of_each_benchmark_are_those_of_its_rows() -> None:
    rows = [row(0, 0, benchmark=1), row(0, 0, benchmark=0, cpu_ns=None), row(1, 0, benchmark=1)]
    parts = Launches.of_rows(rows).by_benchmark(3)
    assert [part.rows() for part in parts] == [rows[1:2], [rows[0], rows[2]], []]
    assert parts == [Launches.of_rows(part.rows()) for part in parts]


def test_what_is_computed_of_one_benchmark_s_launches_is_computed_once() -> None:
    launches = Launches.of_rows([row(0, 0, benchmark=1), row(0, 0)])
    assert launches.by_benchmark(2)[1].metric("wall") is launches.by_benchmark(2)[1].metric("wall")
    assert launches == Launches.of_rows(launches.rows())


def test_launches_of_several_records_are_joined_as_their_rows_would_be() -> None:
    sampled = row(0, 0)._replace(samples=(Sample(1, 10),))
    parts = [[row(0, 0), row(0, 1, cpu_ns=None)], [], [sampled._replace(benchmark=1), row(0, 1)]]
    places = [{0: 2}, {}, {0: 1, 1: 0}]
    rows = [one._replace(benchmark=of[one.benchmark]) for part, of in zip(parts, places, strict=True) for one in part]
    joined = Launches.joined([(Launches.of_rows(part), of) for part, of in zip(parts, places, strict=True)])
    assert joined == Launches.of_rows(rows)
    assert joined.rows() == rows
