from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len
from rich.console import Console

from steelyard.model.calibration import Calibration, LastLevel
from steelyard.report.calibration import CHART_COLUMNS, caution, chart, show, svg, worst_point_sentence
from tests.calibrations import calibration, pattern_fit, point

from .records import flat, on_screen

HOSTILE = "\x1b[2J\u202e<b>&\udcff"
SVG = "{http://www.w3.org/2000/svg}"


def printed(shown: Calibration, width: int = 80) -> str:
    return on_screen(lambda console: show(console, shown, "/home/me/calibrations/0.json"), width)


def test_weights_and_the_caution_come_first() -> None:
    lines = printed(calibration()).splitlines()
    assert lines[0].startswith("weights    1:3.6:40, where an L1 hit takes 0.2")
    assert lines[2].startswith("caution    these weights do not carry over between access patterns")


def test_the_caution_names_the_patterns_that_differ_most() -> None:
    text = caution(calibration())
    assert "linear-i32 alone they are 1:2.5:16" in text
    assert "chase alone they are 1:2.5:933" in text
    assert "not a time" in text


def test_the_caution_stands_where_no_pattern_has_weights() -> None:
    text = caution(calibration(patterns=[pattern_fit("chase", None)]))
    assert text.startswith("these weights do not carry over between access patterns. A cost")


@pytest.mark.parametrize("width", [80, 50, 30])
def test_every_pattern_has_its_times_weights_and_correlations(width: int) -> None:
    text = flat(printed(calibration(), width))
    for expected in ("random-i32", "4.2 to 38 ns", "1.4 to 186 ns", "1:2.5:933", "0.91", "0.93", "n/a"):
        assert expected in text, expected


def test_times_that_hardly_vary_are_told() -> None:
    text = flat(printed(calibration()))
    assert "linear-i32: these times hardly vary" in text
    assert "hardly vary" not in printed(calibration({"chase": (1.4, 186.0)}))


def test_the_point_that_is_off_most_is_named() -> None:
    one = point("chase", 100.0, l1=20, ram=0)
    made = calibration(points=[point("chase", 4.0), one])
    assert worst_point_sentence(made) == "chase over 7.797 KiB: 100 ns measured, 4 ns predicted"
    zero = one.model_copy(update={"l1": 0.0, "size_bytes": 2048})
    assert "over 2.000 KiB" in worst_point_sentence(calibration(points=[one, zero]))


def test_how_much_of_the_last_level_is_there_is_said() -> None:
    assert "this machine says" not in printed(calibration())
    levels = [LastLevel(size_bytes=size << 20, error=off) for size, off in ((32, 0.57), (16, 0.4), (8, 0.24))]
    text = flat(printed(calibration(last_levels=levels)))
    assert "this machine says 32 MiB of LL, but 8 MiB explain the times better: the fit is off by 24 %" in text
    assert "instead of 57 %" in text
    text = flat(printed(calibration(last_levels=[levels[2], levels[0], levels[1]])))
    assert "as the machine says: with a smaller last level, down to 16 MiB, the fit is worse" in text


def test_where_it_was_stored_is_said() -> None:
    assert "/home/me/calibrations/0.json" in printed(calibration())


@pytest.mark.parametrize("width", [200, 80, 60, CHART_COLUMNS, CHART_COLUMNS - 1, 20, 8])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    assert all(cell_len(line) <= width for line in printed(calibration(), width).splitlines())


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_other_encodings_can_carry_it(encoding: str) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(Console(file=out, width=80), calibration(processor=HOSTILE), "/home/\udcff")
    out.flush()


def test_names_cannot_steer_the_terminal() -> None:
    text = printed(calibration({HOSTILE: (1.0, 5.0)}, processor=HOSTILE))
    assert "\x1b" not in text
    assert "\u202e" not in text


# --- the chart


def field(shown: Calibration, width: int) -> list[str]:
    """Return the rows of the chart from the top, without their labels and the axis."""
    return [line.partition("|")[2].ljust(width - 9) for line in chart(shown, width) if "|" in line]


def test_no_chart_where_it_would_show_nothing() -> None:
    assert list(chart(calibration(), CHART_COLUMNS - 1)) == []
    assert "chart" not in printed(calibration(), CHART_COLUMNS - 1)
    assert "chart" in printed(calibration(), CHART_COLUMNS)


@pytest.mark.parametrize("width", [CHART_COLUMNS, 72])
def test_what_is_as_predicted_lies_on_the_diagonal(width: int) -> None:
    # The prediction is 0.2 ns x l1.
    exact = [point("chase", ns, l1=5 * ns) for ns in (1.0, 7.0, 30.0, 200.0)]
    rows = field(calibration(points=exact), width)
    assert sum(row.count("c") for row in rows) == 4
    columns = width - 9
    for place, row in enumerate(reversed(rows)):
        for column in (at for at, mark in enumerate(row) if mark == "c"):
            assert abs((column + 0.5) / columns - (place + 0.5) / len(rows)) < 1.5 / len(rows)


def test_what_takes_longer_lies_to_the_right() -> None:
    points = [point("chase", 1.0, l1=5), point("chase", 100.0, l1=500), point("random-i32", 50.0, l1=5)]
    rows = field(calibration(points=points), 72)
    (row,) = (row for row in rows if "r" in row)
    assert row.index("r") > row.index("c")
    assert row.index("r") > row.index(".")


def test_points_that_coincide_are_marked() -> None:
    points = [point("chase", 1.0, l1=5), point("random-i32", 1.0, l1=5), point("chase", 9.0, l1=45)]
    text = "".join(field(calibration(points=points), 72))
    assert text.count("*") == 1
    assert "r" not in text
    points = [point("chase", 1.0, l1=5), point("chase", 1.0, l1=5), point("chase", 9.0, l1=45)]
    assert "*" not in "".join(field(calibration(points=points), 72))


def test_what_is_predicted_to_take_nothing_is_left_out() -> None:
    nothing = point("chase", 1.0, l1=0)
    assert list(chart(calibration(points=[nothing]), 72)) == []
    assert ElementTree.fromstring(svg(calibration(points=[nothing]))) is not None


def test_one_point_alone_can_be_drawn() -> None:
    assert "".join(field(calibration(points=[point("chase", 4.0)]), 72)).count("c") == 1


# --- SVG


def test_the_svg_has_every_point_and_every_pattern() -> None:
    root = ElementTree.fromstring(svg(calibration()))
    points = [each.text for each in root.iter(f"{SVG}title") if ": measured " in (each.text or "")]
    assert len(points) == len(calibration().points)
    assert "chase: measured 186 ns, predicted 20 ns" in points
    texts = [each.text for each in root.iter(f"{SVG}text")]
    for expected in ("linear-i32", "random-i32", "chase", "correlation 0.93", "measured, ns", "predicted, ns", "100"):
        assert expected in texts, expected


def test_the_svg_lies_within_its_frame() -> None:
    root = ElementTree.fromstring(svg(calibration()))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for circle in root.iter(f"{SVG}circle"):
        assert 0 < float(circle.attrib["cx"]) < width
        assert 0 < float(circle.attrib["cy"]) < height


def test_names_cannot_break_out_of_the_svg() -> None:
    text = svg(calibration({HOSTILE: (1.0, 5.0)}, processor=HOSTILE))
    ElementTree.fromstring(text)
    assert "<b>" not in text
    text.encode()


def test_it_needs_nothing_from_elsewhere() -> None:
    text = svg(calibration())
    assert "href" not in text
    assert text.count("http") == 1  # the name space of SVG
