"""The page on a phone, in Chromium: charts in little room."""

from __future__ import annotations

import json
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from steelyard.model.files import save
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from tests.report import records
from tests.report.page import pages
from tests.report.page.browsing import WRITTEN, open_all, show
from tests.report.page.test_page import soundness
from tests.report.test_check import looked, trouble

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def on_a_phone(browser: Browser, folder: Path, record: Weighing, script: str = "") -> Page:
    """Show the page of a weighing on a phone, with all rows open."""
    save(record, folder / "record.json")
    (folder / "page.html").write_text(pages.page([folder / "record.json"]))
    page = browser.new_page(viewport={"width": 360, "height": 800}, device_scale_factor=2)
    page.add_init_script(script)
    show(page, (folder / "page.html").as_uri())
    open_all(page)
    return page


@pytest.mark.parametrize("pairs", [19, 33])
def test_axes_have_whole_names_and_more_than_one_value(browser: Browser, tmp_path: Path, pairs: int) -> None:
    page = on_a_phone(browser, tmp_path, records.weighing(pairs=pairs), WRITTEN)
    charts = page.evaluate("[...written].map(([on, said]) => [on.width, said])")
    page.close()
    assert len(charts) == 9
    for width, said in charts:
        name, *others = said  # the name of the lower axis, its values, then the other axis, whose name is rotated
        values = list(takewhile(lambda one: not one[1], others))
        assert name[2] >= 0, said
        assert name[3] <= width, said
        assert name[3] - name[2] > 7 * len(name[0]), said  # large enough to read
        assert len(values) > 1, said


def test_what_a_check_says_is_in_sight(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "check.json").write_text(json.dumps(soundness([looked(), trouble(finding="it is far too short")])))
    (tmp_path / "page.html").write_text(pages.page([tmp_path / "check.json"]))
    page = browser.new_page(viewport={"width": 360, "height": 800})
    show(page, (tmp_path / "page.html").as_uri())
    open_all(page)
    cells = page.eval_on_selector_all(
        ".open article td",
        "cells => cells.map(one => [one.textContent, one.getBoundingClientRect().right])",
    )
    page.close()
    assert {"it is steady", "warm up"} <= {said for said, _ in cells}
    assert max(right for _, right in cells) <= 360


def test_where_steps_are_factors_points_at_the_ends_are_whole(browser: Browser, tmp_path: Path) -> None:
    sizes = [4**place for place in range(7)]
    record = records.weighing(benchmarks=tuple(f"sort/{size}" for size in sizes), pairs=8)
    rows = [
        row._replace(wall_ns=row.wall_ns * size // 100)
        for number, size in enumerate(sizes)
        for row in records.pair_rows(0.1, 8, benchmark=number)
    ]
    drawn = """window.rings = [];
        const draw = CanvasRenderingContext2D.prototype.arc;
        CanvasRenderingContext2D.prototype.arc = function (x, y, radius) {
            if (this.canvas.closest(".whole")) rings.push([x - radius, x + radius]);
            return draw.apply(this, arguments);
        };"""
    page = on_a_phone(browser, tmp_path, record.model_copy(update={"launches": Launches.of_rows(rows)}), drawn)
    left, right = page.eval_on_selector(
        ".whole .u-over",
        "over => [over.offsetLeft, over.offsetLeft + over.offsetWidth].map(at => at * devicePixelRatio)",
    )
    rings = page.evaluate("rings")
    page.close()
    assert len(rings) >= len(sizes)
    assert left <= min(ring[0] for ring in rings)
    assert right >= max(ring[1] for ring in rings)


def test_of_one_pair_the_noise_is_drawn_too(browser: Browser, tmp_path: Path) -> None:
    page = on_a_phone(browser, tmp_path, records.weighing(pairs=1))
    inked = (
        page.locator(".panel", has_text="Noise meanwhile")
        .locator("canvas")
        .evaluate(
            """canvas => {
            const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const digits = (one) => one.toString(16).padStart(2, "0");
            const hex = (at) => "#" + [...data.slice(at, at + 3)].map(digits).join("");
            const wait = getComputedStyle(document.documentElement).getPropertyValue("--wait").trim();
            return Array.from({length: data.length / 4}, (_, at) => hex(4 * at)).filter(one => one === wait).length;
        }"""
        )
    )
    page.close()
    assert inked > 4
