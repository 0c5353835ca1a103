"""The packed data of charts, and pictures that need no script."""

from __future__ import annotations

import json
import re
from math import exp, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.report.page import budget, data, svg
from steelyard.report.page.distributions import Sample, distribution_figure, four_plot
from steelyard.report.page.functions import icicle
from steelyard.report.page.units import of_foreign, of_metric
from tests.design.counted import count, counted_run, counted_weighing, functions


def unpacked(told: dict[str, object]) -> list[float | None]:
    """Unpack values as the page's script does."""
    origin, step = told["o"], told["s"]
    assert isinstance(origin, int | float)
    assert isinstance(step, int | float)
    steps = told["v"]
    assert isinstance(steps, list)
    return [None if one is None else origin + one * step for one in steps]


@given(st.lists(st.floats(-1e12, 1e12) | st.just(nan) | st.just(inf), max_size=60))
def test_numbers_keep_a_thousandth_of_their_range(values: list[float]) -> None:
    told = json.loads(json.dumps(data.packed(values), allow_nan=False))
    known = [value for value in values if np.isfinite(value)]
    reach = max(known) - min(known) if known else 0.0
    for value, read in zip(values, unpacked(told), strict=True):
        if np.isfinite(value):
            assert read == pytest.approx(value, abs=reach / 1000 + 1e-9 * abs(value))
        else:
            assert read is None


@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=60))
def test_numbers_of_a_log_axis_keep_what_lies_between_the_smallest(values: list[float]) -> None:
    told = data.packed([*values, 0.0, nan], log=True)
    *read, zero, unknown = unpacked(told)
    assert told["log"]
    assert [exp(one) for one in read if one is not None] == pytest.approx(values, rel=1e-3)
    assert zero is unknown is None


def test_a_bar_lies_where_its_change_does() -> None:
    scale = svg.fitting_scale([0.02, -0.05, 0.1, inf], 0.01, "s")
    assert 0.1 <= scale.limit <= 0.2
    assert scale.x(0.0) == 100
    assert scale.x(-0.05) < 100 < scale.x(0.05) < scale.x(0.1) < 200
    assert '<path class="a"' not in svg.change_bar(scale, 0.05, (0.01, 0.1))
    assert svg.change_bar(scale, 3.0, (-inf, inf)).count('<path class="a"') == 2
    assert "circle" not in svg.change_bar(scale, None, None)


def test_one_far_larger_change_does_not_flatten_the_others() -> None:
    rows = [end for change in (0.01, -0.02, 0.03, 0.01) for end in (change - 0.004, change, change + 0.004)]
    large = [81.0, 99.0, 120.0]
    scale = svg.fitting_scale([*rows, *large], 0.005, "s")
    assert max(rows) < scale.limit <= 0.2
    assert svg.change_bar(scale, 99.0, (81.0, 120.0)).count('<path class="a"') == 1
    assert svg.fitting_scale(rows[:3] + large, 0.005, "s").limit > 99, "of two rows none is the larger one"
    many = svg.fitting_scale(rows + large * 3, 0.005, "s")
    assert many.limit > 99, "and three of seven are not few"


def test_shares_are_as_wide_as_they_are_large() -> None:
    whole = svg.Share("all", 100, "100", parts=[svg.Share("<a>", 75, "75 %"), svg.Share("b", 25, "25 %")])
    drawn = svg.icicle([whole], "told", 2)
    assert 'width="75.00%"' in drawn
    assert 'x="75.00%"' in drawn
    assert "&lt;a&gt;: 75 %" in drawn
    assert svg.icicle([svg.Share("none", 0, "")], "", 2) == ""


def test_a_function_that_did_less_after_twice_the_loops_has_no_width() -> None:
    record = counted_run([count(0, 95)] * 2, [functions(0, {"work": 100, "printf": -5})])
    figure = icicle(record, 0, "instructions", 10)
    assert figure is not None
    assert "printf" not in figure.drawn
    assert "-" not in "".join(re.findall(r'(?:width|x)="([^"]*)"', figure.drawn))


def test_of_how_many_iterations_functions_are_is_told() -> None:
    record = counted_run([count(0, 1000)] * 2, [functions(0, {"work": 1000})], harness="protocol")
    record = record.model_copy(update={"benchmarks": [record.benchmarks[0].model_copy(update={"loops": 10})]})
    figure = icicle(record, 0, "instructions", 10)
    assert figure is not None
    assert figure.told.startswith(
        "1,000 instructions in all, of 10 iterations together. The largest share is that of work: 100 %"
    )


def test_functions_are_drawn_by_the_names_that_their_changes_are_told_by() -> None:
    sides = [functions(side, {"???": 100 + 50 * side, "sort.isra.0": 30 - side, "main": 10}) for side in (0, 1)]
    figure = icicle(counted_weighing([count(0, 140), count(1, 189)], sides), 0, "instructions", 10)
    assert figure is not None
    assert "The largest share is that of (no symbol): 79 %" in figure.told
    assert "+ (no symbol): 150 instructions, 79 %, +50" in figure.drawn
    assert "- sort: 29 instructions, 15 %, -1" in figure.drawn
    assert "???" not in figure.drawn


def test_what_is_not_all_drawn_says_so() -> None:
    values = np.random.default_rng(1).normal(10, 1, size=5000)
    figure = distribution_figure([Sample("baseline", "baseline", values)], of_metric("max_rss", values), 100)
    assert figure is not None
    assert "100 quantiles" in figure.thinned
    assert len(figure.panels[0].series[0].x) <= 101


def test_what_no_bar_shows_is_counted_in_words() -> None:
    values = np.append(np.random.default_rng(1).normal(10, 1, size=200), 1e6)
    quantity = of_metric("max_rss", values)
    sides = distribution_figure(
        [Sample("baseline", "baseline", values), Sample("candidate", "candidate", values[:-1])], quantity, 100
    )
    for figure, panel in ((sides, 1), (four_plot("4-plot", values, data.Axis("value"), 100, "change"), 2)):
        assert figure is not None
        assert "1 value beyond the ends of the histogram." in figure.told
        assert figure.panels[panel].series[0].y.sum() == 200


def test_the_histogram_of_one_side_is_drawn_once() -> None:
    values = np.append(np.random.default_rng(1).normal(10, 1, size=200), 1e6)
    figure = distribution_figure([Sample("launches", "baseline", values)], of_metric("max_rss", values), 100)
    assert figure is not None
    assert [panel.title for panel in figure.panels] == ["Share of launches up to a value"]
    assert "1 value beyond the ends of the axis." in figure.told


def test_the_more_rows_the_fewer_points_but_never_too_few_for_a_shape() -> None:
    one, many = budget.of_rows(1), budget.of_rows(500)
    assert one.points > many.points >= 30
    assert budget.of_rows(10**6).points == budget.of_rows(10**5).points


@pytest.mark.parametrize(
    ("metric", "value", "axis", "drawn"),
    [
        ("active", 2.5e6, "active time, ms", 2.5),
        ("max_rss", 3 << 20, "max rss, MiB", 3.0),
        ("minor_faults", 7, "minor faults", 7),
    ],
)
def test_an_axis_has_the_unit_that_suits_its_values(metric: str, value: float, axis: str, drawn: float) -> None:
    quantity = of_metric(metric, np.array([value]))
    assert quantity.axis.label == axis
    assert quantity.along(np.array([value])).tolist() == [drawn]


def test_units_of_other_tools_are_theirs_or_a_time() -> None:
    assert of_foreign("ops/s", np.array([1e6])).axis.label == "value, ops/s"
    seconds = of_foreign("s", np.array([2e-3]))
    assert (seconds.axis.label, seconds.along(np.array([2e-3])).tolist()) == ("time, ms", [pytest.approx(2.0)])
