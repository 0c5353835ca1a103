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
from steelyard.report.lockstep import pair_values
from steelyard.report.page.data import CHANGE, SHARE, Axis, Draw, Figure, Mark, Panel, Role, Series
from steelyard.report.page.distributions import thinning_note
from steelyard.report.page.units import Quantity
from steelyard.stats.bins import WIDE_FENCE, fenced_range
from steelyard.stats.changes import relative_changes
from steelyard.stats.overlap import rates_within
from steelyard.stats.thinning import evenly_spaced, extremes, scattered

# With fewer looks there is no course to be seen.
_FEWEST_LOOKS = 3
_TIME_AXIS = Axis("time since the first launch", "s")
_NO_CHANGE = Mark("y", 0.0, "no change", "zero", solid=True)
_SET_ASIDE_LABELS = {DISTURBED: "disturbed, and repeated", TRIED: "tried in tandem", WARM_UP: "warm-up, not judged"}
_EVIDENCE_LABELS: tuple[tuple[Role, str], ...] = (
    ("wait", "waited for a processor"),
    ("steal", "stolen by the host"),
    ("pressure", "others waited (pressure)"),
    ("beside", "other programs, 100 % is a processor"),
)


@dataclass(frozen=True)
class _Rows:
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
            return self._other_programs_share()
        if role == "wait":
            share = self.launches.waiting_share()
        else:
            share = self.launches.share_of_elapsed("steal_ns" if role == "steal" else "pressure_ns")
        of_each = share[self.positions]
        # The kernel adds up pressure late, and may then report more than the elapsed time.
        return np.asarray(np.where(np.isnan(of_each).any(axis=1), np.nan, of_each.max(axis=1).clip(max=1.0)))

    def _other_programs_share(self) -> FloatArray:
        """Return how much of a processor other programs used meanwhile."""
        if self.watch is None or not self.watch.stretches:
            return np.full(len(self.positions), np.nan)
        spans_ns = self.launches.spans_ns()[self.positions]
        unit_spans_ns = np.stack([spans_ns[..., 0].min(axis=1), spans_ns[..., 1].max(axis=1)], axis=1)
        return rates_within(unit_spans_ns, self.watch.edges_ns, self.watch.ran_ns)


@dataclass(frozen=True)
class _Course:
    """Values over time, of which a chart draws at most so many points a series, those beyond the limits at the edge."""

    x: FloatArray
    y: FloatArray
    limits: tuple[float, float]
    most: int

    def series_by_wait(self, noun: str, disturbed: npt.NDArray[np.bool_], role: Role) -> list[Series]:
        """Return a series for the units that did not wait for a processor, and one for those that did."""
        return [
            *self.series(noun, ~disturbed, "points", role),
            *self.series(f"{noun} that waited for a processor", disturbed, "rings", role),
        ]

    def series(self, label: str, chosen: npt.NDArray[np.bool_], draw: Draw, role: Role) -> Iterator[Series]:
        """Yield a series of the chosen values; those beyond the limits in a series of their own, at the edge."""
        within = np.clip(self.y, *self.limits)
        parts: tuple[tuple[str, Draw, npt.NDArray[np.bool_]], ...] = (
            (label, draw, within == self.y),
            (f"{label}, beyond the edge", "crosses", within != self.y),
        )
        for series_label, series_draw, is_in_part in parts:
            positions = np.flatnonzero(chosen & np.isfinite(self.y) & is_in_part)
            if len(positions):
                positions = positions[np.argsort(self.x[positions], kind="stable")]
                positions = positions[scattered(within[positions], self.most)]
                yield Series(series_label, series_draw, role, self.x[positions], within[positions])

    def straggler_texts(self) -> list[str]:
        """Say how many stragglers are drawn at the edge, if any."""
        low, high = self.limits
        beyond = int((np.isfinite(self.y) & ((self.y < low) | (self.y > high))).sum())
        return [f"{figures.count(beyond, 'straggler')} drawn at the edge"] if beyond else []


def pairs_figure(verdict: Verdict, judged: LookBack, most: int, watch: Watch | None) -> Figure:
    """Return the chart of every pair's change over time, with the pairs set aside, above the noise evidence."""
    rows = _Rows(judged.launches, judged.launches.complete_pairs(verdict.index, USED), verdict.index, watch)
    changes = 100 * relative_changes(judged.baseline, judged.candidate)
    disturbed = rows.share("wait") > DISTURBED_FROM
    marks = _marks(verdict)
    course = _Course(rows.began_s, changes, _axis_limits(changes, marks), most)
    series = course.series_by_wait("pair", disturbed, "change")
    drawn = sum(len(one.x) for one in series)
    set_aside = list(_set_aside_series(judged.launches, verdict, course.limits))
    unjudged = sentences.unjudged_pairs(verdict, int(np.isfinite(changes).sum()))
    others = [
        *([unjudged] if unjudged else []),
        *(f"{len(one.x):,} {one.label}" for one in set_aside),
        *course.straggler_texts(),
    ]
    text = _pairs_sentence(changes, int(disturbed.sum()), others)
    panel = Panel("Candidate against baseline", _TIME_AXIS, CHANGE, [*series, *set_aside], marks)
    note = thinning_note(drawn, len(changes), "pairs")
    return Figure("Change of every pair over time", text, [panel, *_evidence_panels(rows, most)], note)


def _set_aside_series(launches: Launches, verdict: Verdict, limits: tuple[float, float]) -> Iterator[Series]:
    """Yield the pairs that are not judged, a series for each reason."""
    for role, label in _SET_ASIDE_LABELS.items():
        positions = launches.complete_pairs(verdict.index, role)
        if len(positions):
            began_s = _Rows(launches, positions, verdict.index).began_s
            changes = 100 * relative_changes(*pair_values(launches, positions, verdict.metric))
            course = _Course(began_s, changes, limits, len(changes))
            yield from course.series(label, np.isfinite(changes), "crosses", "aside")


def _marks(verdict: Verdict) -> list[Mark]:
    marks = [_NO_CHANGE]
    marks += [Mark("y", 100 * end, "interval", "change") for end in verdict.interval or () if isfinite(end)]
    if verdict.change is not None:
        marks.append(Mark("y", 100 * verdict.change, f"change {figures.change(verdict.change)}", "change", solid=True))
    return marks


def _axis_limits(values: FloatArray, marks: Sequence[Mark] = ()) -> tuple[float, float]:
    """Return the lowest and highest value, ignoring stragglers and NaN, extended to the marks.

    Stragglers are drawn at these limits, which have to be the edge: a mark farther out would make the axis longer.
    """
    known = np.sort(values[np.isfinite(values)])
    low, high = fenced_range(known, WIDE_FENCE) if len(known) else (-1.0, 1.0)
    mark_values = [mark.at for mark in marks]
    return min([low, *mark_values]), max([high, *mark_values])


def _pairs_sentence(changes: FloatArray, disturbed: int, others: Sequence[str]) -> str:
    known = changes[np.isfinite(changes)]
    if not len(known):
        return "No pair has a relative change."
    low, lower, upper, high = (figures.change(float(one) / 100) for one in np.quantile(known, [0, 0.25, 0.75, 1]))
    text = f"{figures.count(len(known), 'pair')} with "
    text += (
        f"a change of {low}" if low == high else f"changes from {low} to {high}, half of them from {lower} to {upper}"
    )
    if disturbed:
        text += (
            f"; in {disturbed:,} a launch waited for a processor for over {figures.percent(DISTURBED_FROM)} of its time"
        )
    return f"{'; '.join([text, *others])}."


def launches_figure(
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
    rows = _Rows(launches, positions[:, None], benchmark, watch)
    disturbed = rows.share("wait") > DISTURBED_FROM
    shown = quantity.along(values)
    course = _Course(rows.began_s, shown, _axis_limits(shown), most)
    series = course.series_by_wait("launch", disturbed, "baseline")
    text = f"{figures.count(len(values), 'launch')} {quantity.span(values)}"
    if disturbed.any():
        share, number = figures.percent(DISTURBED_FROM), int(disturbed.sum())
        text += f"; {number:,} waited for a processor for over {share} of {'its' if number == 1 else 'their'} time"
    text = "; ".join([text, *course.straggler_texts()])
    panel = Panel("Launches", _TIME_AXIS, quantity.axis, series)
    drawn = sum(len(one.x) for one in series)
    return Figure(
        "Every launch over time",
        f"{text}.",
        [panel, *_evidence_panels(rows, most)],
        thinning_note(drawn, len(values), "launches"),
    )


def _evidence_panels(rows: _Rows, most: int) -> list[Panel]:
    """Return a panel of what took time from the launches, as far as the machine tells; empty if nothing was lost."""
    x = rows.began_s
    order = np.argsort(x, kind="stable")
    series = []
    for role, label in _EVIDENCE_LABELS:
        share = 100 * rows.share(role)[order]
        if np.isfinite(share).any() and np.nanmax(share) > 0:
            positions = extremes(share, max(4, most // 2))
            series.append(Series(label, "line", role, x[order][positions], share[positions]))
    if not series:
        return []
    return [Panel("Noise meanwhile", _TIME_AXIS, SHARE, series, follows=True)]


def looks_figure(judged: LookBack, bounds: tuple[float, float] | None, margin: float | None) -> Figure | None:
    """Return the chart of the change at each look, with the final interval `bounds`; None for too few looks."""
    known_looks = [look for look in judged.looks if isfinite(look.change)]
    if len(known_looks) < _FEWEST_LOOKS:
        return None
    x = np.array([float(look.pairs) for look in known_looks])
    changes = 100 * np.array([look.change for look in known_looks])
    first, last = known_looks[0], known_looks[-1]
    interval, interval_text = [], ""
    if bounds is not None and np.isfinite(bounds).all():
        low, high = (np.array([100 * end]) for end in bounds)
        interval.append(Series("interval of the last look", "range", "change", x[-1:], changes[-1:], low, high))
        interval_text = f" {figures.interval(bounds)}"
    text = f"After {first.pairs:,} pairs {figures.change(first.change)}, after {last.pairs:,}, at look "
    text += f"{len(judged.looks)}, {figures.change(last.change)}{interval_text}."
    marks = [_NO_CHANGE]
    if margin is not None:
        marks += [Mark("y", 100 * end, f"margin ±{figures.threshold(margin)}", "fit") for end in (-margin, margin)]
    series = [*interval, Series("change", "points", "change", x, changes)]
    panel = Panel("Change of the pairs until then", Axis("pairs", whole=True), CHANGE, series, marks)
    return Figure("The change, look by look", text, [panel])


@dataclass(frozen=True)
class LaunchSamples:
    """One side's samples: for each of its launches the times of an iteration, in the order of the samples."""

    label: str
    role: Role
    launches: list[FloatArray]
    of: int
    """How many launches there are in all; `launches` may hold only some of them."""


def inside_figure(sides: Sequence[LaunchSamples], quantity: Quantity, most: int) -> Figure | None:
    """Return the chart of a launch's samples in order: the median over the launches, and where half of them lie."""
    shown = [side for side in sides if side.launches and max(map(len, side.launches)) > 1]
    if not shown:
        return None
    series, texts = [], []
    for side in shown:
        longest = max(map(len, side.launches))
        table = np.full((len(side.launches), longest), np.nan)
        for launch, values in enumerate(side.launches):
            table[launch, : len(values)] = values
        has_most_launches = np.isfinite(table).sum(axis=0) * 2 >= len(table)
        table = table[:, has_most_launches]
        quantile = np.nanquantile if np.isnan(table).any() else np.quantile  # 20 times as fast
        lower, middle, upper = quantile(table, [0.25, 0.5, 0.75], axis=0)
        positions = np.unique(np.concatenate([extremes(middle, max(4, most // 2)), evenly_spaced(len(middle), 8)]))
        series.append(
            Series(
                side.label,
                "range",
                side.role,
                positions + 1.0,
                quantity.along(middle[positions]),
                quantity.along(lower[positions]),
                quantity.along(upper[positions]),
            )
        )
        median_of_rest = float(np.median(middle[1:])) if len(middle) > 1 else float(middle[0])
        text = f"{side.label.capitalize()}: an iteration of the first sample takes {quantity.written(float(middle[0]))}"
        texts.append(f"{text}, of the middle one of the others {quantity.written(median_of_rest)}.")
    thinned_sides = [side for side in shown if len(side.launches) < side.of]
    note = f"Of {len(thinned_sides[0].launches):,} launches a side of {thinned_sides[0].of:,}." if thinned_sides else ""
    panel = Panel(
        "Samples of a launch: middle, and where half of the launches lie",
        Axis("number of the sample in its launch", whole=True),
        replace(quantity.axis, name=f"{quantity.name} of an iteration"),
        series,
    )
    return Figure("Inside the launches", " ".join(texts), [panel], note)
