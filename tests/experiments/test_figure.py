from __future__ import annotations

from math import inf
from xml.etree import ElementTree

import pytest
from experiments.figure import Row, curves, rows

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def words(figure: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in figure.iter(f"{SVG}text")]


def test_values_stand_in_their_order_along_the_axis() -> None:
    figure = drawn(rows("Times", "ms", [Row("one", [3.0, 1.0, 2.0])]))
    places = [float(dot.attrib["cx"]) for dot in figure.iter(f"{SVG}circle")]
    assert places[1] < places[2] < places[0]


def test_names_are_escaped_and_told_to_those_who_do_not_see() -> None:
    figure = drawn(rows("<b> & more", "ms", [Row('"<script>"', [1.0])], told="in <words>"))
    assert figure.find(f"{SVG}title").text == "<b> & more"  # type: ignore[union-attr]
    assert figure.find(f"{SVG}desc").text == "in <words>"  # type: ignore[union-attr]
    assert '"<script>"' in words(figure)


@pytest.mark.parametrize("logarithmic", [False, True])
def test_an_end_that_is_not_known_reaches_the_edge_and_equal_or_no_values_are_drawn(logarithmic: bool) -> None:
    shown = [Row("none"), Row("one", [5.0, 5.0], (-inf, inf), 5.0)]
    figure = drawn(rows("Times", "ms", shown, reference=5.0, logarithmic=logarithmic))
    (bracket,) = (path for path in figure.iter(f"{SVG}path") if path.attrib["class"] == "bracket")
    assert "inf" not in bracket.attrib["d"]
    assert "nan" not in bracket.attrib["d"]


def test_ticks_are_round() -> None:
    assert {"0", "20", "40", "60"} <= set(words(drawn(rows("Times", "ms", [Row("one", [0.0, 63.0])]))))
    assert {"1", "10", "100"} <= set(words(drawn(rows("Times", "ms", [Row("one", [0.9, 120.0])], logarithmic=True))))


def test_each_curve_is_one_line_through_its_points_with_its_name() -> None:
    figure = drawn(curves("Cost", ("size", "times"), {"cost": [(1, 1), (10, 3)], "time": [(1, 2), (10, 2)]}))
    lines = [line.attrib["points"].split() for line in figure.iter(f"{SVG}polyline")]
    assert [len(points) for points in lines] == [2, 2]
    (_, up), (_, further) = (map(float, point.split(",")) for point in lines[0])
    assert further < up
    assert {"cost", "time", "size", "times"} <= set(words(figure))
