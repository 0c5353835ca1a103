"""The unit of an axis, to suit the values drawn along it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from steelyard.model.launches import FloatArray
from steelyard.model.metrics import METRICS
from steelyard.model.units import PER_OPERATION, ns_of
from steelyard.report import figures, foreign
from steelyard.report.page.data import Axis
from steelyard.report.words import is_time


@dataclass(frozen=True)
class Quantity:
    """A quantity that is drawn: its name, how to write a value, and the divisor that converts to the axis's unit."""

    name: str
    written: Callable[[float], str]
    unit: str
    divisor: float

    @property
    def axis(self) -> Axis:
        """The axis for this quantity."""
        return Axis(self.name, self.unit)

    def along(self, values: FloatArray) -> FloatArray:
        """Return the values in the axis's unit."""
        return np.asarray(values / self.divisor)

    def span(self, values: FloatArray) -> str:
        """Write the lowest and the highest of the values that are known; once if they are alike."""
        low, high = (self.written(float(end)) for end in (np.nanmin(values), np.nanmax(values)))
        return f"of {low}" if low == high else f"from {low} to {high}"


def of_metric(metric: str, *values: FloatArray) -> Quantity:
    """Return a metric as a quantity, in the unit that suits these values."""
    kind = METRICS[metric].unit if metric in METRICS else "count"
    name = metric.replace("_", " ") + (" time" if is_time(metric) else "")
    return Quantity(name, partial(figures.quantity, metric=metric), *figures.scale_for(_typical_size(values), kind))


def of_foreign(unit: str, *values: FloatArray) -> Quantity:
    """Return a value that another tool measured as a quantity; `unit` is the tool's own."""
    ns = ns_of(unit)
    written = partial(foreign.value_text, unit=unit)
    if ns is None:
        return Quantity("value", written, unit, 1.0)
    unit_name, divisor = figures.scale_for(ns * _typical_size(values), "ns")
    return Quantity("time", written, unit_name + (PER_OPERATION if unit.endswith(PER_OPERATION) else ""), divisor / ns)


def _typical_size(values: tuple[FloatArray, ...]) -> float:
    all_values = (
        np.concatenate([np.asarray(array, dtype=np.float64).ravel() for array in values]) if values else np.zeros(0)
    )
    known = all_values[np.isfinite(all_values)]
    return float(np.median(np.abs(known))) if len(known) else 0.0
