"""Charts of how values are distributed, and of what the methods assume about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from steelyard.model.launches import FloatArray
from steelyard.report import figures
from steelyard.report.page.data import SHARE, Axis, Figure, Mark, Panel, Role, Series
from steelyard.report.page.units import Quantity
from steelyard.report.sentences import capitalised
from steelyard.stats import distribution
from steelyard.stats.bins import Bins, bins
from steelyard.stats.least_squares import pearson
from steelyard.stats.modes import modes
from steelyard.stats.thinning import evenly_spaced, scattered

FEWEST_VALUES = 3
"""With fewer values, a picture of their distribution says less than the values themselves."""
_FEWEST_FOR_CORRELATION = 8
# Most steps drawn of a distribution function; more could no longer be seen as steps.
_MOST_STEPS = 240
_MOST_BINS = 60
# Modes are looked for in at least this many values even if a page has many rows: it takes 25 ms in 4,000.
_FEWEST_FOR_MODES = 200


@dataclass(frozen=True)
class Sample:
    """Values of one side, shape (n,), in the order in which they were measured."""

    label: str
    role: Role
    values: FloatArray

    @property
    def known(self) -> FloatArray:
        """The values that are known."""
        return self.values[np.isfinite(self.values)]

    def in_order(self, quantity: Quantity, most: int) -> Series:
        """Return at most so many of the values as points in their order."""
        positions = scattered(self.values, most)
        shown = quantity.along(self.values[positions])
        return Series(self.label, "points", self.role, _counted_from_1(positions), shown)


def thinning_note(drawn: int, total: int, noun: str = "points") -> str:
    """Say that not all are drawn; empty if all are."""
    if drawn >= total:
        return ""
    return f"Drawn are {drawn:,} of {total:,} {noun}, the extremes of each stretch and others; the record has all."


def distribution_figure(
    samples: Sequence[Sample], quantity: Quantity, most: int, noun: str = "launches"
) -> Figure | None:
    """Return the chart of one side's distribution function and modes, or of two sides' with histograms.

    None if there are too few values.
    """
    shown = [sample for sample in samples if len(sample.known) >= FEWEST_VALUES]
    if not shown:
        return None
    steps = min(most, _MOST_STEPS)
    sentences, functions = [], []
    marks: list[Mark] = []
    for sample in shown:
        ordered = np.sort(sample.known)
        chosen = evenly_spaced(len(ordered), steps)
        x, y = quantity.along(ordered[chosen]), 100 * (chosen + 1) / len(ordered)
        functions.append(Series(sample.label, "steps", sample.role, np.append(x[:1], x), np.append(0.0, y)))
        modes_found = modes(sample.known[evenly_spaced(len(sample.known), max(most, _FEWEST_FOR_MODES))])
        sentences.append(_summary_sentence(sample, ordered, modes_found, quantity))
        if len(modes_found) > 1:
            marks += [
                Mark("x", mode / quantity.divisor, f"mode {quantity.written(mode)}", sample.role)
                for mode in modes_found
            ]
    binned = bins([sample.known for sample in shown], _MOST_BINS)
    axis = replace(quantity.axis, ends=_padded_range(quantity.along(binned.edges)))
    panels = [Panel(f"Share of {noun} up to a value", axis, SHARE, functions, marks)]
    is_alone = len(samples) == 1
    if not is_alone:  # the 4-plot shows a single side's histogram
        bars = [
            Series(sample.label, "bars", sample.role, quantity.along(binned.middles), counts.astype(np.float64))
            for sample, counts in zip(shown, binned.counts, strict=True)
        ]
        panels.append(Panel("Histogram", axis, Axis(noun, whole=True), bars, marks))
    longest = max(len(sample.known) for sample in shown)
    return Figure(
        "Distribution" if is_alone else "Distributions of both sides",
        " ".join([*sentences, *_beyond_sentence(binned, "axis" if is_alone else "histogram")]),
        panels,
        f"The steps are those of {steps} quantiles." if longest > steps else "",
    )


def _counted_from_1(places: npt.NDArray[np.intp]) -> FloatArray:
    """Return positions counted from 1."""
    return places.astype(np.float64) + 1


def _beyond_sentence(binned: Bins, chart: str = "histogram") -> list[str]:
    return [f"{figures.count(binned.beyond, 'value')} beyond the ends of the {chart}."] if binned.beyond else []


def _padded_range(edges: FloatArray) -> tuple[float, float]:
    room = 0.04 * float(edges[-1] - edges[0])
    return float(edges[0]) - room, float(edges[-1]) + room


def _summary_sentence(sample: Sample, ordered: FloatArray, modes_found: Sequence[float], quantity: Quantity) -> str:
    low, lower, median, upper, high = (
        quantity.written(float(one)) for one in np.quantile(ordered, [0, 0.25, 0.5, 0.75, 1])
    )
    if low == high:
        return f"{capitalised(sample.label)}: all {len(ordered):,} are {median}."
    text = f"{capitalised(sample.label)}: median {median}, half of it from {lower} to {upper}, all from {low} to {high}"
    if len(modes_found) > 1:
        text += f"; it crowds at {' and '.join(map(quantity.written, modes_found))}"
    return f"{text}."


def four_plot(title: str, values: FloatArray, axis: Axis, most: int, role: Role) -> Figure | None:
    """Return the 4-plot of the NIST handbook (1.3.3.32): run sequence, lag plot, histogram, normal probability plot."""
    known = values[np.isfinite(values)]
    if len(known) < FEWEST_VALUES:
        return None
    order = scattered(known, most)
    shown = known[order]
    lag = _ordered_points(known[:-1], known[1:], most)
    ordered, scores = np.sort(known), distribution.normal_scores(len(known))
    chosen = evenly_spaced(len(known), most)
    binned = bins([known], _MOST_BINS)
    panels = [
        Panel(
            "Run sequence",
            Axis("number in the order of measuring", whole=True),
            axis,
            [Series("value", "points", role, _counted_from_1(order), shown)],
        ),
        Panel(
            "Lag: each against the one before",
            replace(axis, name=f"the one before: {axis.name}"),
            axis,
            [Series("value", "points", role, *lag)],
        ),
        Panel(
            "Histogram",
            axis,
            Axis("how many", whole=True),
            [Series("values", "bars", role, binned.middles, binned.counts[0].astype(np.float64))],
        ),
        Panel(
            "Normal probability",
            Axis("standard normal scores"),
            axis,
            [Series("value", "points", role, scores[chosen], ordered[chosen]), _line(scores, ordered)],
        ),
    ]
    text = " ".join([_correlation_sentence(known), *_beyond_sentence(binned)])
    return Figure(title, text, panels, thinning_note(len(order), len(known)))


def _correlation_sentence(known: FloatArray) -> str:
    correlations: list[tuple[str, float | None]] = [("with normal scores", distribution.normality(known))]
    if len(known) >= _FEWEST_FOR_CORRELATION:
        related = pearson(known[:-1], known[1:])
        drift = pearson(np.arange(len(known)), known)
        correlations = [("with the one before", related), ("with time", drift), *correlations]
    # adding 0.0 turns -0.00 into 0.00
    texts = [f"{what} {round(value, 2) + 0.0:.2f}" for what, value in correlations if value is not None]
    if not texts:
        return f"{figures.count(len(known), 'value')} without any spread."
    return f"Correlations of the {len(known):,} values: {', '.join(texts)}."


def _line(scores: FloatArray, ordered: FloatArray) -> Series:
    """Return the line through the quartiles, which a normal sample follows."""
    low, high = np.quantile(ordered, [0.25, 0.75])
    slope, middle = (high - low) / 1.349, (high + low) / 2
    ends = scores[[0, -1]]
    return Series("normal", "dashes", "fit", ends, middle + slope * ends)


def _ordered_points(x: FloatArray, y: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    chosen = scattered(y, most)
    order = np.argsort(x[chosen], kind="stable")
    return x[chosen][order], y[chosen][order]
