"""Progress of a record's counts, reported while they are taken: a single one may take minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean

from steelyard.design.counting.plan import CountedSide
from steelyard.model.counting import Count
from steelyard.model.progress import Progress, Watch
from steelyard.model.sides import SIDES

# How long a count takes before its own duration is reported.
_LONG_COUNT_S = 2.0


@dataclass(frozen=True, eq=False)
class _InFlight:
    """A count that is being taken; no two are equal."""

    side: CountedSide
    begun: float


class CountProgress:
    """Reports what is being counted, for how long, and how long the rest will take once a first count has ended.

    `names` has the names of the benchmarks. `counts` has the finished counts; the owner of that list adds to it.
    """

    def __init__(
        self,
        names: Sequence[str],
        counts: Sequence[Count],
        watch: Watch,
        clock: Callable[[], float],
        *,
        sides: int,
        jobs: int,
    ) -> None:
        self._names, self._counts, self._watch, self._clock = names, counts, watch, clock
        self._roles = SIDES if sides > 1 else ()
        self._jobs = jobs
        self._in_flight: list[_InFlight] = []
        self._remaining: list[CountedSide] = []
        self._planned = 0
        self._latest: CountedSide | None = None

    def begin(self, sides: Sequence[CountedSide], planned: int) -> None:
        """Report that these are counted next; `planned` is how many counts there will be in all."""
        self._remaining, self._planned, self._latest = [*sides], planned, sides[0]
        self._report(sides[0])

    def end(self, side: CountedSide) -> None:
        """Report that the count of a side has ended."""
        self._remaining.remove(side)
        self._latest = side
        self._report(side)

    @contextmanager
    def counting(self, side: CountedSide) -> Iterator[None]:
        """Note that a side is being counted while this context lasts, on any thread."""
        in_flight = _InFlight(side, self._clock())
        self._in_flight.append(in_flight)
        try:
            yield
        finally:
            self._in_flight.remove(in_flight)

    def report_duration(self) -> None:
        """Report how long the oldest count under way has taken, as none has ended for a while."""
        now = self._clock()
        oldest = min([*self._in_flight], key=lambda one: one.begun, default=None)
        if oldest is not None and now - oldest.begun >= _LONG_COUNT_S:
            self._report(oldest.side, now - oldest.begun)
        elif self._latest is not None:
            self._report(self._latest)

    def _report(self, side: CountedSide, lasted_s: float | None = None) -> None:
        benchmark, side_number = side
        self._watch(
            Progress(
                self._names[benchmark],
                len(self._counts),
                max(self._planned, len(self._counts) + len(self._remaining)),
                seconds_left=self._seconds_left(),
                noun="count",
                side=self._roles[side_number] if self._roles else None,
                lasted_s=lasted_s,
            )
        )

    def _seconds_left(self) -> float | None:
        """Return how long the rest takes on all processors, if each count takes as long as one of its kind did."""
        if not self._counts:
            return None
        seconds_taken = {(one.benchmark, one.side): one.seconds for one in self._counts}
        usual_s = fmean(seconds_taken.values())

        def expected_s(side: CountedSide) -> float:
            return seconds_taken.get(side, seconds_taken.get((side[0], 1 - side[1]), usual_s))

        now, in_flight = self._clock(), [*self._in_flight]
        rests = [max(0.0, expected_s(one.side) - (now - one.begun)) for one in in_flight]
        waiting_s = sum(map(expected_s, self._remaining)) - sum(expected_s(one.side) for one in in_flight)
        these_s = max([(waiting_s + sum(rests)) / self._parallel(len(self._remaining)), *rests])
        # The counts of the next round begin when these have ended.
        later = max(0, self._planned - len(self._counts) - len(self._remaining))
        return these_s + later * usual_s / self._parallel(later)

    def _parallel(self, counts: int) -> int:
        return max(1, min(self._jobs, counts))
