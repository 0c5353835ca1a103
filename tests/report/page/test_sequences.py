from __future__ import annotations

import numpy as np

from steelyard.model.launches import Launches
from steelyard.model.watch import Beside, Stretch, Watch
from steelyard.report.page import sequences, units
from tests.model.samples import row

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
    drawn = sequences.launches_of(launches, 0, values, places, units.of_metric("wall", values), 100, watch)
    assert drawn is not None
    (beside,) = [one for one in drawn.panels[1].series if one.role == "beside"]
    assert beside.y.tolist() == [50.0] * 5 + [0.0] * 5
    unwatched = sequences.launches_of(launches, 0, values, places, units.of_metric("wall", values), 100)
    assert unwatched is not None
    assert {one.role for one in unwatched.panels[1].series} == {"wait", "steal", "pressure"}
