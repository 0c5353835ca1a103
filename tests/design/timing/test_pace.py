"""How many pairs fit into the rest of a budget, and how long they take."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.design.timing.benchmark import OpenBenchmark, open_benchmark
from steelyard.design.timing.budget import Budget
from steelyard.design.timing.pace import Pace
from tests.design.scripted import weighing
from tests.model.samples import row


def at(elapsed_s: float, measured: int, kept: int, visited: int = 1, /, **settings: Any) -> tuple[Pace, OpenBenchmark]:
    """Return the pace `elapsed_s` after the beginning, and a benchmark of which `kept` pairs are judged."""
    header = weighing(**settings)
    benchmark = open_benchmark(0, header, ())
    benchmark.repeats.kept = kept
    return Pace(Budget(header.settings, 0.0), lambda: elapsed_s, measured, visited), benchmark


def test_a_round_takes_a_pair_of_each() -> None:
    pace, _ = at(10, 40, 10, 4, max_time_s=30)
    assert (pace.pair_s(), pace.round_s()) == (0.25, 1.0)


def test_a_round_takes_no_pair_of_those_that_have_ended_which_may_be_far_longer() -> None:
    header, now_s = weighing(2, max_time_s=30), 0.0
    long, short = (open_benchmark(number, header, ()) for number in range(2))
    pace = Pace(Budget(header.settings, 0.0), lambda: now_s, 0)
    pace.begin_round([long, short], [long, short])
    for one, taken_s in ((long, 1.99), (short, 0.01)) * 10:
        begun = now_s
        now_s += taken_s
        pace.note([one], 1, begun)
    assert pace.round_s() == pytest.approx(2)
    pace.begin_round([short], [long, short])
    assert pace.round_s() == pytest.approx(0.01)
    assert pace.limit(short) == pytest.approx(1000, abs=1)


def test_how_long_pairs_took_is_known_of_an_earlier_session() -> None:
    rows = [row(pair, side, wall_ns=3 * 10**9, order=side + 2 * pair) for pair in (0, 1) for side in (0, 1)]
    benchmark = open_benchmark(0, weighing(), [*rows, row(2)])
    assert (benchmark.measured, benchmark.taken_s) == (2, 6 + 3)


def test_what_was_waited_is_no_part_of_it() -> None:
    pace, _ = at(10, 40, 40, max_time_s=30)
    pace.pause(2)
    assert (pace.elapsed_s(), pace.pair_s()) == (8, 0.2)


@pytest.mark.parametrize(
    ("kept", "settings", "end"),
    [
        (40, {"max_time_s": 30}, None),
        (40, {"max_time_s": 10.2}, "time"),
        (40, {"pairs": 40, "max_time_s": 30}, "pairs"),
        (39, {"pairs": 40, "max_time_s": 30}, None),
        (4, {"max_time_s": 10.2, "longest_time_s": 600}, None),
    ],
    ids=["goes on", "no time", "no pairs", "one to come", "too few to decide"],
)
def test_its_end(kept: int, settings: dict[str, Any], end: str | None) -> None:
    pace, benchmark = at(10, 40, kept, **settings)
    assert pace.end(benchmark) == end


def test_pairs_that_are_measured_together_have_to_fit_together() -> None:
    pace, benchmark = at(10, 40, 40, max_time_s=11)
    benchmark.together = 5
    assert pace.end(benchmark) == "time"


@pytest.mark.parametrize(
    ("settings", "limit", "left_s"),
    [
        ({"max_time_s": 30}, 120, 20),
        ({"pairs": 60}, 60, 5),
        ({"pairs": 60, "max_time_s": 30}, 60, 20),
        ({"pairs": 60, "max_time_s": 30, "longest_time_s": 600}, 60, 20),
        ({}, None, None),
    ],
)
def test_what_is_left(settings: dict[str, Any], limit: int | None, left_s: float | None) -> None:
    pace, benchmark = at(10, 40, 40, **{"pairs": None, "max_time_s": None, **settings})
    assert (pace.limit(benchmark), pace.seconds_left(benchmark)) == (limit, left_s)


@pytest.mark.parametrize(
    ("pair_s", "look_at", "most", "settings", "pairs"),
    [
        (0.002, 200, 1000, {}, 50),
        (0.002, 48, 1000, {}, 8),
        (0.002, 200, 1000, {"pairs": 45}, 5),
        (0.002, 200, 20, {}, 20),
        (0.002, 200, 1000, {"max_time_s": 0.1}, 10),
        (1.0, 200, 1000, {}, 1),
    ],
    ids=["a tenth of a second", "the next look", "the last pair", "what a request holds", "the time", "slow"],
)
def test_how_many_at_once(pair_s: float, look_at: int, most: int, settings: dict[str, Any], pairs: int) -> None:
    pace, benchmark = at(40 * pair_s, 40, 40, **{"max_time_s": 30, **settings})
    benchmark.next_look_at = look_at
    assert pace.pairs_at_once(benchmark, most) == pairs
