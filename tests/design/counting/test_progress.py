"""What is told while counts are taken: what is counted, for how long, and how long the rest may take."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from steelyard.design.counting.plan import CountedSide
from steelyard.design.counting.progress import CountProgress
from steelyard.model.counting import Count
from steelyard.model.progress import Progress

BASELINE, CANDIDATE = (0, 0), (0, 1)


@dataclass
class Counting:
    """Counts whose clock a test turns."""

    names: tuple[str, ...] = ("sort",)
    sides: int = 2
    jobs: int = 1
    now: float = 0.0
    told: list[Progress] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.progress = CountProgress(
            self.names, self.counts, self.told.append, lambda: self.now, sides=self.sides, jobs=self.jobs
        )
        self._under_way = {name: ExitStack() for name in ((b, s) for b in range(len(self.names)) for s in (0, 1))}

    def begin(self, *sides: CountedSide) -> None:
        for side in sides:
            self._under_way[side].enter_context(self.progress.counting(side))

    def end(self, side: CountedSide, seconds: float) -> Progress:
        self._under_way[side].close()
        self.counts.append(Count(benchmark=side[0], side=side[1], events={"Ir": 5}, seconds=seconds))
        self.progress.end(side)
        return self.told[-1]

    def at(self, now: float) -> Progress:
        self.now = now
        self.progress.report_duration()
        return self.told[-1]


def test_which_side_is_counted_and_for_how_long_is_told_while_it_lasts() -> None:
    one = Counting()
    one.progress.begin([BASELINE, CANDIDATE], 4)
    one.begin(BASELINE)
    assert one.at(1.0).lasted_s is None, "a short one is not told of"
    assert one.at(40.0) == Progress("sort", 0, 4, noun="count", side="baseline", lasted_s=40.0)
    one.end(BASELINE, 50.0)
    one.begin(CANDIDATE)
    told = one.at(43.0)
    assert (told.done, told.side, told.lasted_s) == (1, "candidate", 3.0)


def test_of_several_the_one_that_was_begun_first_is_told_of() -> None:
    one = Counting(("sort", "parse"), jobs=2)
    one.progress.begin([BASELINE, CANDIDATE, (1, 0), (1, 1)], 8)
    one.begin(BASELINE)
    one.now = 5.0
    one.begin(CANDIDATE)
    one.now = 9.0
    one.end(BASELINE, 9.0)
    one.begin((1, 0))
    told = one.at(15.0)
    assert (told.benchmark, told.side, told.lasted_s) == ("sort", "candidate", 10.0)


def test_one_alone_has_no_side() -> None:
    one = Counting(sides=1)
    one.progress.begin([BASELINE], 2)
    one.begin(BASELINE)
    assert one.at(40.0) == Progress("sort", 0, 2, noun="count", lasted_s=40.0)


def test_before_the_first_has_ended_nobody_knows_how_long_the_rest_takes() -> None:
    one = Counting()
    one.progress.begin([BASELINE, CANDIDATE], 4)
    one.begin(BASELINE)
    assert one.at(40.0).seconds_left is None
    assert one.end(BASELINE, 60.0).seconds_left == pytest.approx(3 * 60)


@pytest.mark.parametrize(("jobs", "left_s"), [(1, 50.0 + 2 * 60), (2, 50.0 + 60), (8, 50.0 + 60)])
def test_what_is_under_way_has_less_to_go_and_the_next_round_begins_behind_it(jobs: int, left_s: float) -> None:
    one = Counting(jobs=jobs)
    one.progress.begin([BASELINE, CANDIDATE], 4)
    one.end(BASELINE, 60.0)
    one.begin(CANDIDATE)
    assert one.at(10.0).seconds_left == pytest.approx(left_s)
    assert one.at(500.0).seconds_left == pytest.approx(left_s - 50), "one that takes longer than its like may end now"


def test_each_takes_as_long_as_its_own_did_else_the_other_side_s_else_as_is_usual() -> None:
    one = Counting(("sort", "parse", "find"))
    one.counts += [Count(benchmark=0, side=0, events={"Ir": 5}, seconds=10.0)]
    one.counts += [Count(benchmark=0, side=1, events={"Ir": 5}, seconds=30.0)]
    one.counts += [Count(benchmark=1, side=0, events={"Ir": 5}, seconds=80.0)]

    def left_s(side: CountedSide) -> float | None:
        one.progress.begin([side], 0)
        return one.told[-1].seconds_left

    assert [left_s(side) for side in ((0, 0), (0, 1), (1, 1), (2, 0))] == [10.0, 30.0, 80.0, 40.0]


def test_side_by_side_they_take_no_less_than_the_longest() -> None:
    one = Counting(("sort", "parse"), jobs=2)
    one.counts += [Count(benchmark=number, side=0, events={"Ir": 5}, seconds=10.0 + 80 * number) for number in (0, 1)]
    one.progress.begin([(0, 0), (1, 0)], 0)
    one.begin((0, 0), (1, 0))
    assert one.at(0.5).seconds_left == pytest.approx(89.5)


def test_between_two_rounds_it_tells_what_was_told_last() -> None:
    one = Counting()
    one.progress.report_duration()
    assert not one.told
    one.progress.begin([BASELINE], 2)
    ended = one.end(BASELINE, 5.0)
    assert one.at(60.0) == ended
