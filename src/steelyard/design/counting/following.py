"""Progress of a record's counts, reported while they are taken: a single one may take minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean

from steelyard.design.counting.plan import CountedSide
from steelyard.model.counting import Count
from steelyard.model.progress import Progress, Watch

# How long a count takes before its own duration is reported.
_LASTS_S = 2.0
_ROLES = "baseline", "candidate"


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
        self._roles = _ROLES if sides > 1 else ()
        self._jobs = jobs
        self._in_flight: list[_InFlight] = []
        self._left: list[CountedSide] = []
        self._planned = 0
        self._latest: CountedSide | None = None

    def begin(self, sides: Sequence[CountedSide], planned: int) -> None:
        """Report that these are counted next; `planned` is how many counts there will be in all."""
        self._left, self._planned, self._latest = [*sides], planned, sides[0]
        self._tell(sides[0])

    def end(self, side: CountedSide) -> None:
        """Report that the count of a side has ended."""
        self._left.remove(side)
        self._latest = side
        self._tell(side)

    @contextmanager
    def counting(self, side: CountedSide) -> Iterator[None]:
        """Note that a side is being counted while this context lasts, on any thread."""
        one = _InFlight(side, self._clock())
        self._in_flight.append(one)
        try:
            yield
        finally:
            self._in_flight.remove(one)

    def goes_on(self) -> None:
        """Report how long the oldest count under way has taken, as none has ended for a while."""
        now = self._clock()
        lasting = min([*self._in_flight], key=lambda one: one.begun, default=None)
        if lasting is not None and now - lasting.begun >= _LASTS_S:
            self._tell(lasting.side, now - lasting.begun)
        elif self._latest is not None:
            self._tell(self._latest)

    def _tell(self, side: CountedSide, lasted_s: float | None = None) -> None:
        benchmark, of = side
        self._watch(
            Progress(
                self._names[benchmark],
                len(self._counts),
                max(self._planned, len(self._counts) + len(self._left)),
                seconds_left=self._seconds_left(),
                noun="count",
                side=self._roles[of] if self._roles else None,
                lasted_s=lasted_s,
            )
        )

    def _seconds_left(self) -> float | None:
        """Return how long the rest takes on all processors, if each count takes as long as one of its kind did."""
        if not self._counts:
            return None
        took = {(one.benchmark, one.side): one.seconds for one in self._counts}
        usual_s = fmean(took.values())

        def expected_s(side: CountedSide) -> float:
            return took.get(side, took.get((side[0], 1 - side[1]), usual_s))

        now, in_flight = self._clock(), [*self._in_flight]
        rests = [max(0.0, expected_s(one.side) - (now - one.begun)) for one in in_flight]
        waiting_s = sum(map(expected_s, self._left)) - sum(expected_s(one.side) for one in in_flight)
        these_s = max([(waiting_s + sum(rests)) / self._at_once(len(self._left)), *rests])
        # The counts of the next round begin when these have ended.
        later = max(0, self._planned - len(self._counts) - len(self._left))
        return these_s + later * usual_s / self._at_once(later)

    def _at_once(self, counts: int) -> int:
        return max(1, min(self._jobs, counts))
