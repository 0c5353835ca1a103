"""The data of a page's charts: as types, and as compact JSON without NaN."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from steelyard.model.launches import FloatArray
from steelyard.report import printable
from steelyard.report.page.elements import Markup

Draw = Literal["points", "rings", "crosses", "line", "dashes", "steps", "bars", "range"]
Role = Literal["baseline", "candidate", "change", "wait", "steal", "pressure", "beside", "fit", "aside", "zero"]

# Finer than a screen shows an axis. A log axis gets more steps, so that values in between can be read off, too; few
# values are drawn that way.
_STEPS, _STEPS_OF_FACTORS = 1000, 100_000
# Names of series appear in a legend.
_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, and in which unit; on a `log` axis, steps are factors."""

    name: str
    unit: str = ""
    log: bool = False
    whole: bool = False
    """Whether it shows counts, with nothing between whole numbers."""
    signed: bool = False
    """Whether it shows changes, which are written with their sign."""
    ends: tuple[float, float] | None = None
    """Where it ends, unless with the values drawn along it."""

    @property
    def label(self) -> str:
        """The axis's label."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


CHANGE = Axis("change", "%", signed=True)
SHARE = Axis("share", "%")


@dataclass(frozen=True)
class Series:
    """Points (x, y), shape (n,) each, in the axes' units; x never falls. A `range` spans `low` to `high` at each x."""

    label: str
    draw: Draw
    role: Role
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None


@dataclass(frozen=True)
class Mark:
    """A line across a panel at a value of one of its axes, labelled in words."""

    axis: Literal["x", "y"]
    at: float
    label: str
    role: Role
    solid: bool = False
    """Whether it is drawn solid instead of dotted."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    x: Axis
    y: Axis
    series: list[Series]
    marks: list[Mark] = field(default_factory=list)
    follows: bool = False
    """Whether it shares the x axis of the panel before it."""


@dataclass(frozen=True)
class Figure:
    """One chart: its title, what it shows in words, and its panels; or `drawn`, markup that needs no script."""

    title: str
    told: str
    panels: list[Panel] = field(default_factory=list)
    thinned: str = ""
    drawn: Markup = Markup()  # noqa: RUF009 - a string, and immutable


def packed(values: npt.ArrayLike, *, log: bool = False) -> dict[str, Any]:
    """Return numbers as whole steps from the smallest: {o: smallest, s: step, v: [...]}; null where not finite.

    On a `log` axis the numbers' logarithms are packed, and {log: true} says so.
    """
    sample = np.asarray(values, dtype=np.float64)
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            return {**_packed_steps(np.log(sample), _STEPS_OF_FACTORS), "log": True}
    return _packed_steps(sample, _STEPS)


def _packed_steps(sample: FloatArray, most: int) -> dict[str, Any]:
    finite = np.isfinite(sample)
    if not finite.any():
        return {"o": 0, "s": 1, "v": [None] * len(sample)}
    low, high = float(sample[finite].min()), float(sample[finite].max())
    step = (high - low) / most
    if step <= 0 or not np.isfinite(step):
        return {"o": low, "s": 0, "v": [0 if one else None for one in finite.tolist()]}
    steps = np.where(finite, np.round((np.where(finite, sample, low) - low) / step), -1).astype(np.int64).tolist()
    return {"o": low, "s": float(f"{step:.12g}"), "v": [None if one < 0 else one for one in steps]}


def plain_panel(panel: Panel) -> dict[str, Any]:
    """Return a panel as plain values for JSON."""
    plain: dict[str, Any] = {
        "title": panel.title,
        "x": _axis(panel.x),
        "y": _axis(panel.y),
        "series": [_series(one, panel) for one in panel.series],
    }
    if panel.marks:
        plain["marks"] = [
            {
                "axis": mark.axis,
                "at": mark.at,
                "label": _label(mark.label),
                "role": mark.role,
                **({"solid": True} if mark.solid else {}),
            }
            for mark in panel.marks
            if np.isfinite(mark.at)
        ]
    if panel.follows:
        plain["follows"] = True
    return plain


def _axis(axis: Axis) -> dict[str, Any]:
    plain: dict[str, Any] = {"label": _label(axis.label)}
    if axis.unit:
        plain["unit"] = _label(axis.unit)
    for name in ("log", "whole", "signed"):
        if getattr(axis, name):
            plain[name] = True
    return plain if axis.ends is None else {**plain, "ends": [float(f"{end:.6g}") for end in axis.ends]}


def _series(series: Series, panel: Panel) -> dict[str, Any]:
    x = packed(series.x, log=panel.x.log)
    plain = {"label": _label(series.label), "draw": series.draw, "role": series.role, "x": x}
    for name in ("y", "low", "high"):
        values = getattr(series, name)
        if values is not None:
            plain[name] = packed(values, log=panel.y.log)
    return plain


def _label(text: str) -> str:
    return printable.shown(text, _LONGEST_LABEL)


def embedded(figures: Iterable[Figure], tables: list[dict[str, Any]]) -> str:
    """Return everything that a page's script reads, to embed in a script element: JSON, gzipped, in base64."""
    document = {"figures": [[plain_panel(panel) for panel in figure.panels] for figure in figures], "tables": tables}
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), level=9, wbits=31)).decode("ascii")
