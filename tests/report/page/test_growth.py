"""Curves of benchmarks that differ in a parameter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from steelyard.report.page import growth, units
from steelyard.report.page.data import Figure, Role

SIDES: tuple[tuple[str, Role], ...] = (("baseline", "baseline"), ("candidate", "candidate"))


def quantity_of(metric: str, values: npt.NDArray[np.float64]) -> units.Quantity:
    return units.of_metric(metric, values)


def curve(*levels: Callable[[int], float]) -> Figure:
    """Return the curve of benchmarks of four sizes, given level(size) of each side."""
    found = [
        growth.Measured(f"sort/{size}", {}, "wall", tuple(level(size) for level in levels))
        for size in (16, 64, 256, 1024)
    ]
    (figure,) = growth.curves(found, SIDES[-len(levels) :], quantity_of)
    return figure


def test_a_power_that_fits_is_told_and_drawn() -> None:
    figure = curve(lambda size: 1e4 * size, lambda size: 2e4 * size)
    assert (
        "baseline grows as the number in the name to the power of 1.00 (points are off by 0 % at most)" in figure.told
    )
    assert [(one.label, one.draw) for one in figure.panels[0].series] == [
        ("baseline", "rings"),
        ("baseline, fitted", "line"),
        ("candidate", "points"),
        ("candidate, fitted", "dashes"),
    ]


def test_a_power_that_does_not_fit_is_not_claimed() -> None:
    figure = curve(lambda size: 1e6 + 1e4 * size, lambda size: 1e4 * size)
    assert "no power of the number in the name fits baseline (of the best one, points are off by" in figure.told
    assert "candidate grows as" in figure.told
    assert [one.label for one in figure.panels[0].series] == ["baseline", "candidate", "candidate, fitted"]


def test_one_side_alone_has_points() -> None:
    assert [one.draw for one in curve(lambda size: 1e4 * size).panels[0].series] == ["points", "dashes"]


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("n={n}, k={k}", ["n=…, k=1", "n=…, k=2"]),
        ("sort[{n}-{k}]", ["sort[…-…], k=1", "sort[…-…], k=2"]),
    ],
)
def test_parameters_of_the_same_value_are_told_apart(name: str, titles: list[str]) -> None:
    found = [
        growth.Measured(name.format(n=n, k=k), {"n": str(n), "k": str(k)}, "wall", (1e4 * n,))
        for n in (1, 2, 4)
        for k in (1, 2)
    ]
    assert [one.panels[0].title for one in growth.curves(found, SIDES[:1], quantity_of)] == titles
