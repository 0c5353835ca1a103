"""Charts over time: the change of every pair or the time of every launch, and what disturbed them meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import numpy.typing as npt

from steelyard.model.derived import Verdict
from steelyard.model.launches import DISTURBED_FROM, FloatArray, Launches
from steelyard.model.looks import LookBack
from steelyard.model.rows import DISTURBED, TRIED, USED, WARM_UP
from steelyard.model.watch import Watch
from steelyard.report import figures, sentences
from steelyard.report.page.data import CHANGE, SHARE, Axis, Draw, Figure, Mark, Panel, Role, Series
from steelyard.report.page.distributions import thinned
from steelyard.report.page.units import Quantity
from steelyard.stats.bins import WIDE_FENCE, fenced_range
from steelyard.stats.changes import relative_changes
from steelyard.stats.overlap import rates_within
from steelyard.stats.thinning import evenly_spaced, extremes, scattered

# With fewer looks there is no course to be seen.
_FEWEST_LOOKS = 3
_SINCE = Axis("time since the first launch", "s")
_NO_CHANGE = Mark("y", 0.0, "no change", "zero", solid=True)
_SET_ASIDE = {DISTURBED: "disturbed, and repeated", TRIED: "tried in tandem", WARM_UP: "warm-up, not judged"}
_EVIDENCE: tuple[tuple[Role, str], ...] = (
    ("wait", "waited for a processor"),
    ("steal", "stolen by the host"),
    ("pressure", "others waited (pressure)"),
    ("beside", "other programs, 100 % is a processor"),
)


@dataclass(frozen=True)
class _Units:
    """Pairs or launches as rows of positions, shape (n, 2) or (n, 1): when they began, and how disturbed they were."""

    launches: Launches
    positions: npt.NDArray[np.intp]
    benchmark: int
    watch: Watch | None = None

    @property
    def began_s(self) -> FloatArray:
        """Seconds since the first launch of the benchmark, shape (n,)."""
        starts_ns = self.launches.column("start_ns")
        first_ns = starts_ns[np.asarray(self.launches.benchmark, dtype=np.int64) == self.benchmark].min()
        return np.asarray((starts_ns[self.positions].min(axis=1) - first_ns) / 1e9)

    def share(self, role: Role) -> FloatArray:
        """Return the largest share of its time that one of each unit's launches lost; NaN where that is not known."""
        if role == "beside":
            return self._beside()
        if role == "wait":
            share = self.launches.waiting_share()
        else:
            share = self.launches.share_of_elapsed("steal_ns" if role == "steal" else "pressure_ns")
        of_each = share[self.positions]
        # The kernel adds up pressure late, and may then report more than the elapsed time.
        return np.asarray(np.where(np.isnan(of_each).any(axis=1), np.nan, of_each.max(axis=1).clip(max=1.0)))

    def _beside(self) -> FloatArray:
        """Return how much of a processor other programs used meanwhile."""
        if self.watch is None or not self.watch.stretches:
            return np.full(len(self.positions), np.nan)
        spans_ns = self.launches.spans_ns()[self.positions]
        spans = np.stack([spans_ns[..., 0].min(axis=1), spans_ns[..., 1].max(axis=1)], axis=1)
        return rates_within(spans, self.watch.edges_ns, self.watch.ran_ns)


def pairs(verdict: Verdict, judged: LookBack, most: int, watch: Watch | None) -> Figure:
    """Return the chart of every pair's change over time, with the pairs set aside, above the noise evidence."""
    units = _Units(judged.launches, judged.launches.complete_pairs(verdict.index, USED), verdict.index, watch)
    changes = 100 * relative_changes(judged.baseline, judged.candidate)
    disturbed = units.share("wait") > DISTURBED_FROM
    marks = _marks(verdict)
    limits = _limits(changes, marks)
    series = _by_wait("pair", units.began_s, changes, disturbed, "change", most, limits)
    drawn = sum(len(one.x) for one in series)
    aside = list(_set_aside(judged.launches, verdict, limits))
    behind = sentences.behind_last_look(verdict, int(np.isfinite(changes).sum()))
    beyond = _stragglers(changes, limits)
    told = _told_of_pairs(changes, int(disturbed.sum()), [*([behind] if behind else []), *_told_aside(aside), *beyond])
    panel = Panel("Candidate against baseline", _SINCE, CHANGE, [*series, *aside], marks)
    note = thinned(drawn, len(changes), "pairs")
    return Figure("Change of every pair over time", told, [panel, *_evidence(units, most)], note)


def _set_aside(launches: Launches, verdict: Verdict, limits: tuple[float, float]) -> Iterator[Series]:
    """Yield the pairs that are not judged, a series for each reason."""
    values = launches.metric(verdict.metric)
    for role, label in _SET_ASIDE.items():
        positions = launches.complete_pairs(verdict.index, role)
        if len(positions):
            began_s = _Units(launches, positions, verdict.index).began_s
            changes = 100 * relative_changes(*values[positions].T)
            every = np.isfinite(changes)
            yield from _split(label, began_s, changes, every, "crosses", "aside", len(changes), limits)


def _marks(verdict: Verdict) -> list[Mark]:
    marks = [_NO_CHANGE]
    marks += [Mark("y", 100 * end, "interval", "change") for end in verdict.interval or () if isfinite(end)]
    if verdict.change is not None:
        marks.append(Mark("y", 100 * verdict.change, f"change {figures.change(verdict.change)}", "change", solid=True))
    return marks


def _limits(values: FloatArray, marks: Sequence[Mark] = ()) -> tuple[float, float]:
    """Return the lowest and highest value, ignoring stragglers and NaN, extended to the marks.

    Stragglers are drawn at these limits, which have to be the edge: a mark farther out would make the axis longer.
    """
    known = np.sort(values[np.isfinite(values)])
    low, high = fenced_range(known, WIDE_FENCE) if len(known) else (-1.0, 1.0)
    at = [mark.at for mark in marks]
    return min([low, *at]), max([high, *at])


def _stragglers(values: FloatArray, limits: tuple[float, float]) -> list[str]:
    """Say how many stragglers are drawn at the edge, if any."""
    low, high = limits
    beyond = int((np.isfinite(values) & ((values < low) | (values > high))).sum())
    return [f"{figures.count(beyond, 'straggler')} drawn at the edge"] if beyond else []


def _told_aside(aside: Sequence[Series]) -> list[str]:
    return [f"{len(one.x):,} {one.label}" for one in aside]


def _told_of_pairs(changes: FloatArray, disturbed: int, others: Sequence[str]) -> str:
    known = changes[np.isfinite(changes)]
    if not len(known):
        return "No pair has a relative change."
    low, lower, upper, high = (figures.change(float(one) / 100) for one in np.quantile(known, [0, 0.25, 0.75, 1]))
    text = (
        f"{figures.count(len(known), 'pair')} with changes from {low} to {high}, half of them from {lower} to {upper}"
    )
    if disturbed:
        text += (
            f"; in {disturbed:,} a launch waited for a processor for over {figures.percent(DISTURBED_FROM)} of its time"
        )
    return f"{'; '.join([text, *others])}."


def launches_of(
    launches: Launches,
    benchmark: int,
    values: FloatArray,
    positions: npt.NDArray[np.intp],
    quantity: Quantity,
    most: int,
    watch: Watch | None,
) -> Figure | None:
    """Return the chart of one side's launches over time, above the noise evidence."""
    if not len(positions):
        return None
    units = _Units(launches, positions[:, None], benchmark, watch)
    disturbed = units.share("wait") > DISTURBED_FROM
    shown = quantity.along(values)
    limits = _limits(shown)
    series = _by_wait("launch", units.began_s, shown, disturbed, "baseline", most, limits)
    text = f"{figures.count(len(values), 'launch')} from {quantity.written(float(np.nanmin(values)))} to "
    text += quantity.written(float(np.nanmax(values)))
    if disturbed.any():
        share = figures.percent(DISTURBED_FROM)
        text += f"; {int(disturbed.sum()):,} waited for a processor for over {share} of their time"
    text = "; ".join([text, *_stragglers(shown, limits)])
    panel = Panel("Launches", _SINCE, quantity.axis, series)
    drawn = sum(len(one.x) for one in series)
    return Figure(
        "Every launch over time", f"{text}.", [panel, *_evidence(units, most)], thinned(drawn, len(values), "launches")
    )


def _by_wait(
    noun: str,
    x: FloatArray,
    y: FloatArray,
    disturbed: npt.NDArray[np.bool_],
    role: Role,
    most: int,
    limits: tuple[float, float],
) -> list[Series]:
    """Return a series for the units that did not wait for a processor, and one for those that did."""
    return [
        *_split(noun, x, y, ~disturbed, "points", role, most, limits),
        *_split(f"{noun} that waited for a processor", x, y, disturbed, "rings", role, most, limits),
    ]


def _split(
    label: str,
    x: FloatArray,
    y: FloatArray,
    chosen: npt.NDArray[np.bool_],
    draw: Draw,
    role: Role,
    most: int,
    limits: tuple[float, float],
) -> Iterator[Series]:
    """Yield a series of the chosen values; those beyond the limits in a series of their own, at the edge."""
    within = np.clip(y, *limits)
    parts: tuple[tuple[str, Draw, npt.NDArray[np.bool_]], ...] = (
        (label, draw, within == y),
        (f"{label}, beyond the edge", "crosses", within != y),
    )
    for named, drawn, those in parts:
        places = np.flatnonzero(chosen & np.isfinite(y) & those)
        if len(places):
            places = places[np.argsort(x[places], kind="stable")]
            places = places[scattered(within[places], most)]
            yield Series(named, drawn, role, x[places], within[places])


def _evidence(units: _Units, most: int) -> list[Panel]:
    """Return a panel of what took time from the launches, as far as the machine tells; empty if nothing was lost."""
    x = units.began_s
    order = np.argsort(x, kind="stable")
    series = []
    for role, label in _EVIDENCE:
        share = 100 * units.share(role)[order]
        if np.isfinite(share).any() and np.nanmax(share) > 0:
            places = extremes(share, max(4, most // 2))
            series.append(Series(label, "line", role, x[order][places], share[places]))
    if not series:
        return []
    return [Panel("Noise meanwhile", _SINCE, SHARE, series, follows=True)]


def looks(judged: LookBack, bounds: tuple[float, float] | None, margin: float | None) -> Figure | None:
    """Return the chart of the change at each look, with the final interval `bounds`; None for too few looks."""
    known = [look for look in judged.looks if isfinite(look.change)]
    if len(known) < _FEWEST_LOOKS:
        return None
    x, changes = np.array([float(look.pairs) for look in known]), 100 * np.array([look.change for look in known])
    first, last = known[0], known[-1]
    interval, said = [], ""
    if bounds is not None and np.isfinite(bounds).all():
        low, high = (np.array([100 * end]) for end in bounds)
        interval.append(Series("interval of the last look", "range", "change", x[-1:], changes[-1:], low, high))
        said = f" {figures.interval(bounds)}"
    text = f"After {first.pairs:,} pairs {figures.change(first.change)}, after {last.pairs:,}, at look "
    text += f"{len(judged.looks)}, {figures.change(last.change)}{said}."
    marks = [_NO_CHANGE]
    if margin is not None:
        marks += [Mark("y", 100 * end, f"margin ±{figures.threshold(margin)}", "fit") for end in (-margin, margin)]
    series = [*interval, Series("change", "points", "change", x, changes)]
    panel = Panel("Change of the pairs until then", Axis("pairs", whole=True), CHANGE, series, marks)
    return Figure("The change, look by look", text, [panel])


@dataclass(frozen=True)
class Inside:
    """One side's samples: for each of its launches the times of an iteration, in the order of the samples."""

    label: str
    role: Role
    launches: list[FloatArray]
    of: int
    """How many launches there are in all; `launches` may hold only some of them."""


def inside(sides: Sequence[Inside], quantity: Quantity, most: int) -> Figure | None:
    """Return the chart of a launch's samples in order: the median over the launches, and where half of them lie."""
    shown = [side for side in sides if side.launches and max(map(len, side.launches)) > 1]
    if not shown:
        return None
    series, told = [], []
    for side in shown:
        longest = max(map(len, side.launches))
        table = np.full((len(side.launches), longest), np.nan)
        for row, values in enumerate(side.launches):
            table[row, : len(values)] = values
        enough = np.isfinite(table).sum(axis=0) * 2 >= len(table)
        table = table[:, enough]
        quantile = np.nanquantile if np.isnan(table).any() else np.quantile  # 20 times as fast
        lower, middle, upper = quantile(table, [0.25, 0.5, 0.75], axis=0)
        places = np.unique(np.concatenate([extremes(middle, max(4, most // 2)), evenly_spaced(len(middle), 8)]))
        series.append(
            Series(
                side.label,
                "range",
                side.role,
                places + 1.0,
                quantity.along(middle[places]),
                quantity.along(lower[places]),
                quantity.along(upper[places]),
            )
        )
        rest = float(np.median(middle[1:])) if len(middle) > 1 else float(middle[0])
        text = f"{side.label.capitalize()}: an iteration of the first sample takes {quantity.written(float(middle[0]))}"
        told.append(f"{text}, of the middle one of the others {quantity.written(rest)}.")
    drawn = [side for side in shown if len(side.launches) < side.of]
    note = f"Of {len(drawn[0].launches):,} launches a side of {drawn[0].of:,}." if drawn else ""
    panel = Panel(
        "Samples of a launch: middle, and where half of the launches lie",
        Axis("number of the sample in its launch", whole=True),
        replace(quantity.axis, name=f"{quantity.name} of an iteration"),
        series,
    )
    return Figure("Inside the launches", " ".join(told), [panel], note)
