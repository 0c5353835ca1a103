"""Benchmarks that differ only in a parameter, as a curve, with the power of the parameter that it grows with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
import numpy.typing as npt

from steelyard.report import figures
from steelyard.report.page.data import Axis, Draw, Figure, Panel, Role, Series
from steelyard.report.page.units import Quantity
from steelyard.stats import power_law

# If points are off by more than this, they do not grow as any power.
_LARGEST_MISFIT = 0.15
# Points drawn of a fitted curve.
_CURVE_POINTS = 24
_MOST_CURVES = 12
# A number in a name, as harnesses make it of a parameter without a name: sort/1024, sort[1024].
_NUMBER = re.compile(r"(?<=[/\[(=])\d+(?:\.\d+)?(?=[/\]),]|$)")
# From this ratio of the largest parameter to the smallest on, the axes are logarithmic.
_LOG_AXIS_RATIO = 8.0


QuantityOf = Callable[[str, npt.NDArray[np.float64]], Quantity]
"""Returns how values of a metric are drawn."""


@dataclass(frozen=True)
class Measured:
    """One benchmark in one metric: its parameters, and the level of each side."""

    name: str
    params: dict[str, str]
    metric: str
    levels: tuple[float, ...]


@dataclass(frozen=True)
class _Point:
    x: float
    levels: tuple[float, ...]


def curves(benchmarks: Iterable[Measured], labels: Sequence[tuple[str, Role]], quantity_of: QuantityOf) -> list[Figure]:
    """Return a figure for each group of benchmarks that differ in only one number, with three or more such numbers."""
    groups: dict[tuple[str, str, str], list[_Point]] = {}
    for benchmark in benchmarks:
        for name, parameter, x in _parameters(benchmark):
            groups.setdefault((name, parameter, benchmark.metric), []).append(_Point(x, benchmark.levels))
    groups_to_draw = [
        (key, points) for key, points in groups.items() if len({point.x for point in points}) >= power_law.FEWEST
    ]
    return [_figure(*key, points, labels, quantity_of) for key, points in groups_to_draw[:_MOST_CURVES]]


def _parameters(benchmark: Measured) -> Iterable[tuple[str, str, float]]:
    """Yield, for each number among the parameters: the benchmark's name without it, its name, and the number."""
    for parameter, value in benchmark.params.items():
        number = _number(value)
        if number is not None:
            name_without = _name_without(parameter, benchmark)
            others = [f"{key}={other}" for key, other in benchmark.params.items() if key != parameter]
            yield ", ".join([name_without, *(one for one in others if one not in name_without)]), parameter, number
    if not benchmark.params:
        for match in _NUMBER.finditer(benchmark.name):
            number = _number(match.group())
            if number is not None:
                yield (
                    f"{benchmark.name[: match.start()]}…{benchmark.name[match.end() :]}",
                    "the number in the name",
                    number,
                )


def _name_without(parameter: str, benchmark: Measured) -> str:
    """Return a benchmark's name with … for a parameter's value; where no name tells it from others, for all values."""
    assigned = rf"(?<!\w){re.escape(f'{parameter}={benchmark.params[parameter]}')}(?![\w.])"
    name, times = re.subn(assigned, f"{parameter}=…", benchmark.name)
    if not times:
        for value in benchmark.params.values():
            name = re.sub(rf"(?<![\w.]){re.escape(value)}(?![\w.])", "…", name)
    return name


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _figure(
    name: str,
    parameter: str,
    metric: str,
    points: Sequence[_Point],
    labels: Sequence[tuple[str, Role]],
    quantity_of: QuantityOf,
) -> Figure:
    ordered = sorted(points, key=lambda point: point.x)
    x = np.array([point.x for point in ordered])
    levels = np.array([point.levels for point in ordered], dtype=np.float64)
    quantity = quantity_of(metric, levels)
    log = bool(x.min() > 0 and x.max() / x.min() >= _LOG_AXIS_RATIO and (levels > 0).all())
    series, texts = [], []
    for side, (label, role) in enumerate(labels):
        # A side behind another has rings and a line, to be seen around the other's points and between its dashes.
        is_behind = side < len(labels) - 1
        series.append(Series(label, "rings" if is_behind else "points", role, x, quantity.along(levels[:, side])))
        fit = power_law.fit(x, levels[:, side])
        if fit is None:
            continue
        misfit = f"points are off by {figures.percent(fit.misses)} at most"
        if fit.misses > _LARGEST_MISFIT:
            texts.append(f"no power of {parameter} fits {label} (of the best one, {misfit})")
            continue
        x_fitted = (
            np.geomspace(x.min(), x.max(), _CURVE_POINTS) if log else np.linspace(x.min(), x.max(), _CURVE_POINTS)
        )
        draw: Draw = "line" if is_behind else "dashes"
        series.append(Series(f"{label}, fitted", draw, role, x_fitted, quantity.along(fit.at(x_fitted))))
        texts.append(f"{label} grows as {parameter} to the power of {fit.exponent:.2f} ({misfit})")
    text = "; ".join(texts) or f"no power of {parameter} fits"
    panel = Panel(
        name, Axis(parameter, log=log), replace(quantity.axis, name=f"median {quantity.name}", log=log), series
    )
    return Figure(f"{quantity.name} by {parameter}", f"{name}: {text}.", [panel])
