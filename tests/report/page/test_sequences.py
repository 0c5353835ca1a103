from __future__ import annotations

import numpy as np

from steelyard.model.launches import Launches
from steelyard.model.looks import Look, LookBack
from steelyard.model.watch import Beside, Stretch, Watch
from steelyard.report.page import sequences, units
from tests.model.samples import row
from tests.report.records import verdict

MS = 1_000_000


def test_what_other_programs_had_is_drawn_below_the_launches() -> None:
    launches = Launches.of_rows([row(number) for number in range(10)])  # every 40 ms from 1 s on
    busy = [Beside(name="make", processes=1, ran_ns=80 * MS), Beside(name="cron", processes=1, ran_ns=20 * MS)]
    watch = Watch(
        stretches=[
            Stretch(start_ns=1_000 * MS, end_ns=1_200 * MS, beside=busy),
            Stretch(start_ns=1_200 * MS, end_ns=1_400 * MS),
        ]
    )
    values = launches.metric("wall")
    places = np.arange(10)
    drawn = sequences.launches_figure(launches, 0, values, places, units.of_metric("wall", values), 100, watch)
    assert drawn is not None
    (beside,) = [one for one in drawn.panels[1].series if one.role == "beside"]
    assert beside.y.tolist() == [50.0] * 5 + [0.0] * 5
    unwatched = sequences.launches_figure(launches, 0, values, places, units.of_metric("wall", values), 100, None)
    assert unwatched is not None
    assert {one.role for one in unwatched.panels[1].series} == {"wait", "steal", "pressure"}


def test_a_straggler_is_told_as_one_at_the_edge() -> None:
    launches = Launches.of_rows([row(number) for number in range(20)])
    values = 10.0 * MS + MS * np.sin(np.arange(20.0))
    values[7] = 900.0 * MS
    places = np.arange(20)
    drawn = sequences.launches_figure(launches, 0, values, places, units.of_metric("wall", values), 100, None)
    assert drawn is not None
    beyond, *others = sorted(drawn.panels[0].series, key=lambda series: "beyond the edge" not in series.label)
    assert beyond.draw == "crosses"
    assert beyond.y.tolist() == [max(one.y.max() for one in others)]
    assert beyond.y[0] < 12
    assert "to 900.0 ms; " in drawn.told
    assert drawn.told.endswith("; 1 straggler drawn at the edge.")


def test_what_is_drawn_at_the_edge_lies_beyond_all_marks() -> None:
    changes = 0.001 * np.sin(np.arange(20.0))
    changes[7], changes[9] = -0.05, 0.3  # within the interval, and beyond it
    rows = [row(pair, side, delay_ns=0) for pair in range(20) for side in (0, 1)]
    baseline = np.full(20, 10.0 * MS)
    back = LookBack(Launches.of_rows(rows), baseline, baseline * (1 + changes), [])
    drawn = sequences.pairs_figure(verdict(change=0.0, interval=(-0.07, 0.03), pairs=20), back, 100, None)
    told = {one.label: one.y.round(6).tolist() for one in drawn.panels[0].series}
    assert -5.0 in told["pair"]
    assert told["pair, beyond the edge"] == [3.0]
    assert "from -5.00 % to +30.0 %" in drawn.told
    assert drawn.told.endswith("; 1 straggler drawn at the edge.")


def looked(*looks: Look) -> LookBack:
    return LookBack(Launches.of_rows([]), np.zeros(0), np.zeros(0), list(looks))


def test_the_last_look_alone_has_an_interval() -> None:
    drawn = sequences.looks_figure(looked(Look(8, 0.03), Look(12, 0.02), Look(20, 0.021)), (-0.01, 0.05), 0.005)
    assert drawn is not None
    interval, changes = drawn.panels[0].series
    assert interval.low is not None
    assert interval.high is not None
    assert (interval.x.tolist(), interval.low.tolist(), interval.high.tolist()) == ([20.0], [-1.0], [5.0])
    assert changes.y.tolist() == [3.0, 2.0, 2.1]
    assert drawn.told == "After 8 pairs +3.00 %, after 20, at look 3, +2.10 % [-1.00 %, +5.00 %]."
    assert [mark.label for mark in drawn.panels[0].marks] == ["no change", "margin ±0.5 %", "margin ±0.5 %"]


def test_a_last_look_without_an_interval_is_drawn_as_it_is() -> None:
    drawn = sequences.looks_figure(looked(*(Look(pairs, 0.01) for pairs in (8, 9, 10))), (-np.inf, np.inf), None)
    assert drawn is not None
    assert [series.draw for series in drawn.panels[0].series] == ["points"]


def test_two_looks_are_no_way_to_be_seen() -> None:
    assert sequences.looks_figure(looked(Look(8, 0.03), Look(12, 0.02)), (0.015, 0.025), 0.005) is None


def test_what_is_of_one_value_has_no_ends() -> None:
    launches = Launches.of_rows([row(0, 0, delay_ns=5 * MS), row(0, 1)])
    values, places = np.array([20.0 * MS]), np.array([0])
    drawn = sequences.launches_figure(launches, 0, values, places, units.of_metric("wall", values), 100, None)
    assert drawn is not None
    assert drawn.told == "1 launch of 20.00 ms; 1 waited for a processor for over 1 % of its time."
    back = LookBack(launches, np.array([20.0 * MS]), np.array([21.0 * MS]), [])
    drawn = sequences.pairs_figure(verdict(change=0.05, interval=None, pairs=1), back, 100, None)
    assert drawn.told.startswith("1 pair with a change of +5.00 %;")
