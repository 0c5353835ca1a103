"""The values of a benchmark's complete pairs, in the metric that they are judged by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from steelyard.model.counters import EVENTS
from steelyard.model.errors import MeasurementError, NoRatioError
from steelyard.model.launches import FloatArray, Launches
from steelyard.model.metrics import METRICS, PER_ITERATION
from steelyard.model.rows import ORDERS, USED, Sample
from steelyard.report.lockstep import pair_values
from steelyard.stats.clock import clock_quantisation, step_of_few
from steelyard.stats.order import second_takes_longer, without_order

# Going by the clock's ticks one of them may be 0; both together are known exactly.
_PARTS_OF_CPU = ("user", "sys")
# Counts are whole numbers, and the kernel has sizes in pages, nowhere smaller ones than these.
_STEPS_OF_EXACT = {"count": 1, "bytes": 4096}


@dataclass(frozen=True)
class MetricPairs:
    """A metric over a benchmark's complete pairs in a role, falling back from `active` where that is undefined."""

    launches: Launches
    benchmark: int
    metric: str
    role: str = USED

    def first(self, pairs: int) -> tuple[FloatArray, FloatArray]:
        """Return (baseline, candidate) of the first `pairs` pairs, without the effect of the order of their launches.

        Raises as `measured`.
        """
        return without_order(*self.measured(pairs), self._orders_by_layout[:pairs])

    def measured(self, pairs: int) -> tuple[FloatArray, FloatArray]:
        """Return (baseline, candidate) of the first `pairs` pairs, positive.

        Raises MeasurementError if it is undefined for one, NoRatioError if it is 0 or less on one side alone.
        """
        baseline, candidate = self.known(pairs)
        equal_zero = (baseline == 0) & (candidate == 0)  # no change at all, of whatever size
        baseline, candidate = np.where(equal_zero, 1.0, baseline), np.where(equal_zero, 1.0, candidate)
        if (baseline <= 0).any() or (candidate <= 0).any():
            other = ", such as cpu" if self.metric in _PARTS_OF_CPU else ""
            raise NoRatioError(
                f"{self.metric} was 0 or less in some launches and not in others, so it has no relative change: "
                f"choose another --metric{other}{self._shell_hint()}"
            )
        return baseline, candidate

    def known(self, pairs: int) -> tuple[FloatArray, FloatArray]:
        """Return (baseline, candidate) of the first `pairs` pairs, 0 or not; raises MeasurementError if undefined."""
        used = self.used_metric(pairs)
        judged = self if used == self.metric else self._wall if used == "wall" else self._cpu
        baseline, candidate = judged.values[0][:pairs], judged.values[1][:pairs]
        if np.isnan(baseline).any() or np.isnan(candidate).any():
            raise MeasurementError(why_unknown(self.launches, self.metric))
        return baseline, candidate

    def second_takes_longer(self, pairs: int, level: float) -> float | None:
        """Return by what log-ratio the second launch of a pair takes longer than the first; None if that is not sure.

        Told by those of the first `pairs` pairs that ran as the last one did. Raises as `measured`.
        """
        return second_takes_longer(*self.measured(pairs), self._orders_by_layout[:pairs], level)

    def hidden_by_clock(self, pairs: int) -> float:
        """Return the largest log-ratio that the clock's ticks can hide in the first `pairs` pairs; 0 for counts."""
        return hidden_by_clock(self.launches, int(self._positions[0, 0]), self.metric, *self.measured(pairs))

    def step_of_few(self, pairs: int) -> float:
        """Return the log-ratio between two of the few values that the first `pairs` pairs have; 0 if they have many.

        Where each side has a single value, only a clock can have ticks as large as the change between the two.
        """
        baseline, candidate = self.measured(pairs)
        step, unit = step_of_few(baseline, candidate), _STEPS_OF_EXACT.get(METRICS[self.metric].unit)
        if unit is None or np.ptp(baseline) or np.ptp(candidate):
            return step
        return min(step, unit / float(np.median([baseline, candidate])))

    def used_metric(self, pairs: int) -> str:
        """Return the metric, or `wall` once a launch among the first pairs was not its main thread's work alone.

        Which launches those are does not depend on which side was slower. Pairs in tandem have no `wall` of their own:
        with such ones it is `cpu`, of all threads.
        """
        if self.metric != "active" or pairs <= self._known_pairs:
            return self.metric
        return "cpu" if pairs > self._wall._known_pairs else "wall"

    def pairs_judged_otherwise(self, pairs: int) -> int:
        """Return up to how many pairs looks used another metric than that of the first `pairs`; 0 if none did.

        What those looks have spent of alpha, the others have not.
        """
        used = self.used_metric(pairs)
        if used == self.metric:
            return 0
        return self._known_pairs if used == "wall" else max(self._known_pairs, self._wall._known_pairs)

    def _shell_hint(self) -> str:
        """Return what else to do if subtracting a shell's start may have left nothing of a launch."""
        if not self.launches.column("overhead_ns").any():
            return ""
        return ", or leave --shell out if it takes longer to start than the commands take"

    def count(self) -> int:
        """Return how many complete pairs there are."""
        return len(self._positions)

    def positions(self, pairs: int) -> npt.NDArray[np.intp]:
        """Return the positions of the launches of the first `pairs` pairs, shape (2 * pairs,)."""
        return self._positions[:pairs].reshape(-1)

    def alike(self, pairs: int) -> int | None:
        """Return how many of the first `pairs` pairs ran as the newest one did, in tandem or not; None if all did."""
        tandem = self.launches.in_tandem()[self._positions[:pairs, 0]]
        alike = tandem == tandem[-1:]
        return None if alike.all() else int(alike.sum())

    def layouts(self) -> npt.NDArray[np.int64]:
        """Return the layout of each complete pair, shape (pairs,)."""
        return np.asarray(self.launches.layout, dtype=np.int64)[self._positions[:, 0]]

    @property
    def _positions(self) -> npt.NDArray[np.intp]:
        """The positions of the launches of each complete pair, shape (pairs, 2)."""
        return self.launches.complete_pairs(self.benchmark, self.role)

    @cached_property
    def _orders_by_layout(self) -> npt.NDArray[np.int64]:
        """The order of each complete pair's launches, as that of the baseline's, distinct for each layout.

        Taken together, differences between layouts would look like an effect of the order.
        """
        return np.asarray(self.launches.order, dtype=np.int64)[self._positions[:, 0]] + ORDERS * self.layouts()

    @cached_property
    def values(self) -> tuple[FloatArray, FloatArray]:
        """(baseline, candidate) of all pairs; NaN where it is undefined for a launch."""
        return pair_values(self.launches, self._positions, self.metric)

    @cached_property
    def _known_pairs(self) -> int:
        """How many pairs come before the first one of which a side lacks the metric."""
        unknown = np.isnan(self.values[0]) | np.isnan(self.values[1])
        return int(np.argmax(unknown)) if unknown.any() else len(unknown)

    @cached_property
    def _cpu(self) -> MetricPairs:
        return replace(self, metric="cpu")

    @cached_property
    def _wall(self) -> MetricPairs:
        return replace(self, metric="wall")


def hidden_by_clock(launches: Launches, place: int, metric: str, one: FloatArray, other: FloatArray) -> float:
    """Return the largest log-ratio that ticks can hide between positive values, (n,) a side; 0 for counts.

    The time of one iteration may have any number of digits. All launches are taken to have run as many iterations as
    the one at `place`: with a common factor on both sides, ticks show as well.
    """
    if not METRICS[metric].rounded:
        return 0.0
    loops = 1
    if launches.samples and metric in PER_ITERATION:
        loops = Sample(*launches.samples[place][-1]).loops
    return clock_quantisation(one * loops, other * loops)


def why_unknown(launches: Launches, metric: str) -> str:
    """Return why a metric is not known."""
    if launches.samples and metric in PER_ITERATION:
        return f"the harness does not tell {metric} for every sample: choose --metric wall"
    if metric in EVENTS:
        return (
            f"{metric} could not be counted in every launch, as others had the processor's counters, or as it ran on "
            "one of small cores without: ask for fewer metrics of this kind at once, or pin launches by --cpu"
        )
    return f"this machine cannot measure {metric} (it comes from /proc/PID/schedstat): choose --metric wall"
