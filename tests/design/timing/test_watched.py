"""What is seen beside the launches, as it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.design.timing.watched import Watched
from steelyard.model.watch import Stretch
from tests.model.samples import row

S = 1_000_000_000


class Seen:
    """What was seen, a stretch each time that it is asked."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._left = [*stretches]

    def taken(self) -> Sequence[Stretch]:
        return [self._left.pop(0)]


def still(end_s: int) -> Stretch:
    """Four seconds, in the last three of which nothing of ours ran."""
    return Stretch(start_ns=(end_s - 4) * S, end_ns=end_s * S, still_ns=3 * S)


def test_it_tells_for_how_long_nothing_ran_during_a_launch() -> None:
    watched = Watched(watching=Seen([still(10)]))
    during = row(start_ns=6 * S, wall_ns=3 * S)
    assert watched.still_ns(during) == 0
    watched.keep()
    assert [watched.still_ns(one) for one in (during, during._replace(wall_ns=9 * S))] == [2 * S, 3 * S]
    assert watched.still_ns(row(start_ns=1 * S, wall_ns=5 * S)) == 0


def test_while_this_process_alone_was_stopped_its_launches_went_on() -> None:
    stood_s, kept = 0.0, list[Stretch]()
    watched = Watched(kept.append, watching=Seen([still(10), still(20), still(30)]), stood_s=lambda: stood_s)
    watched.keep()
    stood_s = 3.0
    watched.keep()
    watched.keep()
    assert [one.still_ns for one in kept] == [3 * S, None, 3 * S]
    assert watched.still_ns(row(start_ns=17 * S, wall_ns=3 * S)) == 0
