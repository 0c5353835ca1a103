"""The page in a real browser: Chromium without a window, started once for all of these tests."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from steelyard.history.calibrations import to_json
from steelyard.model.files import save
from steelyard.model.launches import Launches
from steelyard.model.records import Weighing
from steelyard.model.rows import LaunchRow
from steelyard.model.settings import Settings
from tests.calibrations import calibration
from tests.design.counted import count, counted_weighing
from tests.foreign import foreign_results, processes
from tests.report import records
from tests.report.page import pages
from tests.report.page.browsing import WRITTEN, open_all, resize, show
from tests.report.page.test_page import soundness
from tests.report.test_check import looked, trouble

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with a part of every kind, the suite first."""
    folder = tmp_path_factory.mktemp("page")
    save(pages.suite(), folder / "suite.json")
    save(records.run(), folder / "run.json")
    save(foreign_results({"sort": processes(12)}), folder / "import.json")
    (folder / "check.json").write_text(json.dumps(soundness([looked(), trouble(benchmark="leak")])))
    (folder / "calibration.json").write_bytes(to_json(calibration()))
    kept = [pages.RECORDS / name for name in ("version-2-weighing.json.gz", "version-2-heap.json.gz")]
    (folder / "page.html").write_text(pages.page([*sorted(folder.glob("*.json"), reverse=True), *kept]))
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def suite_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with the suite alone, which is there in half of the time."""
    path = tmp_path_factory.mktemp("suite") / "page.html"
    path.write_text(pages.page_of_suite(path.parent))
    return path.as_uri()


@pytest.fixture(scope="module")
def window(browser: Browser) -> Page:
    """One window for all tests, because opening one takes as long as most of them."""
    return browser.new_page(reduced_motion="reduce")


@pytest.fixture
def page(window: Page, address: str) -> Iterator[Page]:
    yield from opened(window, address)


@pytest.fixture
def suite(window: Page, suite_address: str) -> Iterator[Page]:
    yield from opened(window, suite_address)


def opened(window: Page, address: str) -> Iterator[Page]:
    """Yield a page, opened anew; by the end it must have written nothing to the console and requested nothing."""
    said: list[str] = []
    listeners: dict[Any, Any] = {
        "console": lambda message: said.append(f"{message.type}: {message.text}"),
        "pageerror": lambda error: said.append(str(error)),
        "request": lambda request: said.append(request.url),
    }
    resize(window, 1280, 900)
    window.emulate_media(color_scheme="light")
    for event, listener in listeners.items():
        window.on(event, listener)
    show(window, address)
    yield window
    window.goto("about:blank")
    for event, listener in listeners.items():
        window.remove_listener(event, listener)
    assert [one for one in said if one.partition("#")[0] not in (address, "about:blank")] == []


def names(page: Page) -> list[str]:
    """Return the benchmarks of the suite that are shown, in order."""
    found: list[str] = page.eval_on_selector_all(
        "#part-1-table tbody tr[id]",
        "rows => rows.filter(row => !row.hidden).map(row => row.querySelector('th button').textContent)",
    )
    return found


def test_it_is_sorted_by_each_heading_both_ways(suite: Page) -> None:
    heading = suite.locator("#part-1-table thead th", has_text="change").first
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert names(suite)[0] == "parse"
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert names(suite)[-1] == "parse"
    assert (
        suite.locator("#part-1-table th[aria-sort=none]").count()
        == suite.locator("#part-1-table th[aria-sort]").count() - 1
    )


def test_benchmarks_that_are_called_like_verdicts_are_sorted_by_their_names(browser: Browser, tmp_path: Path) -> None:
    save(records.weighing(benchmarks=("slower", "zip", "faster", "add"), pairs=8), tmp_path / "record.json")
    (tmp_path / "page.html").write_text(pages.page([tmp_path / "record.json"]))
    page = browser.new_page()
    show(page, (tmp_path / "page.html").as_uri())
    page.locator("#part-1-table thead button").first.click()
    assert names(page) == ["add", "faster", "slower", "zip"]
    page.close()


def test_it_is_filtered_by_text_verdict_and_tag_and_grouped(suite: Page) -> None:
    part = suite.locator("#part-1")
    search = part.get_by_role("searchbox")
    search.fill("SORT 64")
    assert names(suite) == ["sort/64"]
    assert "1 row of 6" in part.locator(".count").inner_text()
    search.fill("")
    part.get_by_role("button", name="faster").click()
    assert names(suite) == ["parse"]
    part.get_by_role("button", name="faster").click()
    part.get_by_role("combobox", name="Show all tags or one").select_option("quick")
    assert names(suite) == ["parse", "hash", "copy"]
    part.get_by_role("combobox", name="Show all tags or one").select_option("")
    part.get_by_role("combobox", name="Group the rows").select_option("tag")
    assert part.locator("tr.group th").all_inner_texts() == ["quick 3 rows", "slow 3 rows"]
    assert len(names(suite)) == 6


def test_it_is_grouped_by_parameters_of_any_name_and_by_all_tags(browser: Browser, tmp_path: Path) -> None:
    record = records.weighing(benchmarks=("a", "b"), pairs=8)
    params = [{"tag": "x", "toString": "1"}, {"tag": "y"}]
    tags = [["quick", "io"], ["quick"]]
    benchmarks = [
        one.model_copy(update={"params": of, "tags": tagged})
        for one, of, tagged in zip(record.benchmarks, params, tags, strict=True)
    ]
    save(record.model_copy(update={"benchmarks": benchmarks}), tmp_path / "record.json")
    (tmp_path / "page.html").write_text(pages.page([tmp_path / "record.json"]))
    page = browser.new_page()
    show(page, (tmp_path / "page.html").as_uri())
    for name, groups in (("tag", ["tag = x", "tag = y"]), ("toString", ["toString = 1", "toString = not set"])):
        page.get_by_role("combobox", name="Group the rows").select_option(label=f"Group by parameter {name}")
        assert page.locator("tr.group th").all_inner_texts() == [f"{group} 1 row" for group in groups]
    page.get_by_role("combobox", name="Group the rows").select_option(label="Group by tag")
    assert page.locator("tr.group th").all_inner_texts() == ["io, quick 1 row", "quick 1 row"]  # no tag is left out
    page.close()


def test_every_chart_is_drawn_with_title_axes_and_words(page: Page) -> None:
    assert page.locator("#part-1 figure.drawn").count() == 1  # only the curve: charts are drawn when opened
    open_all(page)
    figures: list[dict[str, Any]] = page.eval_on_selector_all(
        "figure",
        """figures => figures.map(figure => ({
            title: figure.querySelector("figcaption").textContent,
            words: [...figure.querySelectorAll("p:not(.panel-title)")].map(p => p.textContent).join(" "),
            asked: figure.dataset.figure !== undefined,
            labels: [...figure.querySelectorAll("[role=img]")].map(one => one.getAttribute("aria-label")),
            inked: [...figure.querySelectorAll("canvas")].map(canvas =>
                canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(value => value)),
        }))""",
    )
    assert len(figures) > 40
    for figure in figures:
        assert figure["title"]
        assert len(figure["words"]) > 20, figure
        assert figure["labels"]
        assert all(figure["inked"])
        if figure["asked"]:
            assert figure["inked"]
            assert all("Across: " in label and "Up: " in label for label in figure["labels"])


def written(browser: Browser, folder: Path, rows: list[LaunchRow]) -> dict[str, list[tuple[str, bool, float, float]]]:
    """Return by label what is written on the charts of a weighing with these launches."""
    return written_of(browser, folder, records.weighing().model_copy(update={"launches": Launches.of_rows(rows)}))


def written_of(browser: Browser, folder: Path, record: Weighing) -> dict[str, list[tuple[str, bool, float, float]]]:
    save(record, folder / "record.json")
    (folder / "page.html").write_text(pages.page([folder / "record.json"]))
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.add_init_script(WRITTEN)
    show(page, (folder / "page.html").as_uri())
    charts = page.evaluate("[...written].map(([on, said]) => [on.closest('.plot').getAttribute('aria-label'), said])")
    page.close()
    return dict(charts)


def test_a_curve_that_does_not_rise_has_values_at_its_axis(browser: Browser, tmp_path: Path) -> None:
    sizes = ("1", "2", "4")
    record = records.weighing(benchmarks=tuple(f"n={size}" for size in sizes), pairs=8)
    rows = [row._replace(wall_ns=2_219_832) for row in record.launches.rows()]
    benchmarks = [
        one.model_copy(update={"params": {"n": size}}) for one, size in zip(record.benchmarks, sizes, strict=True)
    ]
    found = written_of(
        browser, tmp_path, record.model_copy(update={"benchmarks": benchmarks, "launches": Launches.of_rows(rows)})
    )
    (said,) = (texts for chart, texts in found.items() if "Across: n." in chart)
    assert {"2.15", "2.2", "2.25", "2.3"} <= {text for text, *_ in said}


def slow() -> list[LaunchRow]:
    rows = [row._replace(wall_ns=row.wall_ns * (10_000 if row.side else 1)) for row in records.pair_rows(0.0, 20)]
    return [row._replace(delay_ns=9 * row.wall_ns // 10) for row in rows]


def crowded() -> list[LaunchRow]:
    """Return launches with over a thousand in a bin."""
    return [row._replace(wall_ns=12_810_000 + 100 * (row.pair % 3)) for row in records.pair_rows(0.0, 5000)]


@pytest.mark.parametrize("rows", [slow, crowded])
def test_the_values_at_an_axis_are_told_and_clear_of_its_name(
    browser: Browser, tmp_path: Path, rows: Callable[[], list[LaunchRow]]
) -> None:
    found = written(browser, tmp_path, rows())
    assert len(found) == 8
    for chart in found.values():
        (end,) = {right for _, turned, _, right in chart if turned}
        assert sum(not turned and right < end + 90 for _, turned, _, right in chart) > 1, chart
        assert [one for one in chart if not one[1] and one[2] < end] == []


def test_shares_of_time_are_drawn_from_nothing_on(browser: Browser, tmp_path: Path) -> None:
    pressed = [row._replace(delay_ns=0, pressure_ns=row.wall_ns // 50 + row.pair) for row in records.pair_rows(0.0, 20)]
    charts = written(browser, tmp_path, pressed)
    (noise,) = (said for about, said in charts.items() if about.startswith("Noise meanwhile"))
    assert [text for text, turned, _, right in noise if text == "0" and not turned and right < 90] == ["0"]


def test_a_legend_on_paper_has_the_forms_that_are_drawn(page: Page) -> None:
    open_all(page)
    page.emulate_media(media="print")
    told = """keys => keys.map(key => getComputedStyle(key, "::before"))
        .map(form => [form.printColorAdjust, parseFloat(form.width)])"""
    filled = page.eval_on_selector_all(".key:is(.points, .bars)", told)
    dashed = page.eval_on_selector_all(".key:is(.dashes, .mark, .steps.candidate)", told)
    page.emulate_media(media="screen")
    assert filled
    assert {kept for kept, _ in filled} == {"exact"}  # without its background, a filled mark would look different
    assert dashed
    assert min(width for _, width in dashed) > 17  # room for more than one dash


def test_of_few_samples_the_middle_is_drawn_too(suite: Page) -> None:
    suite.evaluate(
        """() => {
            window.marked = new Map();
            for (const name of ["arc", "fillRect"]) {
                const draw = CanvasRenderingContext2D.prototype[name];
                CanvasRenderingContext2D.prototype[name] = function (x, y) {
                    if (!marked.has(this.canvas)) marked.set(this.canvas, new Set());
                    marked.get(this.canvas).add(`${name} ${x} ${y}`);
                    return draw.apply(this, arguments);
                };
            }
        }"""
    )
    suite.locator("#r3 th button").click()
    canvas = suite.locator("#d3 .panel", has_text="Samples of a launch").locator("canvas")
    marks: list[str] = canvas.evaluate("canvas => [...marked.get(canvas) ?? []]")
    assert sorted(mark.partition(" ")[0] for mark in marks) == ["arc"] * 9 + ["fillRect"] * 9


@pytest.mark.parametrize("width", [400, 1280])
def test_the_point_at_the_pointer_is_told_with_units_and_beside_the_title(suite: Page, width: int) -> None:
    resize(suite, width, 900)
    suite.locator("#r0 th button").click()
    panel = suite.locator("#d0 .panel", has_text="Candidate against baseline")
    over = panel.locator(".u-over")
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    assert box is not None
    shown = panel.locator(".nearest")
    for place in (0.06, 0.9):
        for height in range(5, int(box["height"]), 10):
            suite.mouse.move(box["x"] + place * box["width"], box["y"] + height)
            if shown.inner_text():
                break
        assert re.fullmatch(
            r"pair( that waited for a processor)? at [\d.]+\xa0s: [+-]\d+\.\d\d\xa0%", shown.inner_text()
        )
        told, title = shown.bounding_box(), panel.locator(".panel-title").bounding_box()
        assert told is not None
        assert title is not None
        assert title["y"] + title["height"] <= told["y"]


def test_a_row_is_opened_and_closed_by_keyboard_and_goes_where_its_row_goes(suite: Page) -> None:
    button = suite.get_by_role("button", name="parse", exact=True)
    button.focus()
    suite.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    article = suite.locator(f"#{button.get_attribute('aria-controls')}")
    assert article.is_visible()
    suite.locator("#part-1-table thead th", has_text="change").first.locator("button").click()
    assert suite.evaluate("document.querySelector('#part-1-table tbody').rows[1].className") == "open"
    button.click()
    assert not article.is_visible()
    assert button.get_attribute("aria-expanded") == "false"


def test_a_row_that_an_address_names_is_open(page: Page, address: str) -> None:
    assert not page.locator("#d3").is_visible()
    page.goto("about:blank")
    show(page, f"{address}#d3")
    assert page.locator("#d3").is_visible()


def test_axe_finds_no_violation(page: Page) -> None:
    page.locator("#r0 th button").click()
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8"))
    found = violations(page, "document", "rules: {'color-contrast': {enabled: false}}")
    for scheme in SCHEMES:
        # A scheme changes only colours, which take longest to check: only parts that together show all are checked.
        page.emulate_media(color_scheme=scheme)
        where = "{include: ['#part-1', '#part-4', '.notes', 'footer']}"
        found += [(scheme, *one) for one in violations(page, where, "runOnly: ['color-contrast']")]
    assert found == []


def violations(page: Page, where: str, how: str) -> list[tuple[str, ...]]:
    """Return (rule, help, a few places) of each violation; what passes is many times as long, and not fetched."""
    told: list[list[str]] = page.evaluate(
        f"""axe.run({where}, {{{how}, resultTypes: ["violations"]}}).then(found => found.violations.map(one =>
            [one.id, one.help, ...one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))"""
    )
    return [tuple(one) for one in told]


def test_all_columns_are_in_sight_where_there_is_room_for_them(page: Page) -> None:
    cut_off = """tables => tables.filter(one => one.scrollWidth > one.parentElement.clientWidth)
        .map(one => one.caption.textContent)"""
    for width, tables in ((800, "#part-1-table"), (900, "table.results"), (1200, "table.results")):
        resize(page, width, 900)
        assert page.eval_on_selector_all(tables, cut_off) == []


def test_columns_of_numbers_are_in_sight_beside_those_of_several_metrics(browser: Browser, tmp_path: Path) -> None:
    others = dict.fromkeys(("I1mr", "ILmr", "Dr", "D1mr", "DLmr", "Dw", "D1mw", "DLmw"), 1_000_000)
    counts = [count(side, 24_499_145 + 1_220_500 * side, **others) for side in (0, 1)] * 5
    counted = counted_weighing(counts, metrics=["instructions", "cost"])
    timed = records.weighing(benchmarks=("./new",), settings=Settings(metrics=["wall", "voluntary_switches"]))
    timed = timed.model_copy(update={"launches": Launches.of_rows(records.pair_rows(0.05, 26, noise=0.25))})
    paths = [tmp_path / "counted.json", tmp_path / "timed.json"]
    for record, path in zip((counted, timed), paths, strict=True):
        save(record, path)
    (tmp_path / "page.html").write_text(pages.page(paths))
    page = browser.new_page(viewport={"width": 800, "height": 900})
    show(page, (tmp_path / "page.html").as_uri())
    widths = "tables => tables.map(one => [one.scrollWidth, one.parentElement.clientWidth])"
    found = page.eval_on_selector_all("table.results", widths)
    page.close()
    assert [width <= room for width, room in found] == [True, True]


def test_nothing_is_wider_than_the_window(page: Page) -> None:
    for width in (390, 1920):
        resize(page, width, 900)
        open_all(page)
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_long_name_is_broken_beside_its_marker(browser: Browser, tmp_path: Path) -> None:
    name = "a_name_without_any_place_where_it_could_be_broken" * 3
    save(records.weighing(benchmarks=(name, "sort"), pairs=8), tmp_path / "record.json")
    (tmp_path / "page.html").write_text(pages.page([tmp_path / "record.json"]))
    page = browser.new_page(viewport={"width": 400, "height": 900})
    show(page, (tmp_path / "page.html").as_uri())
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    # How far below the top of each button, where the marker is, its text begins.
    below: list[float] = page.evaluate(
        """[...document.querySelectorAll("tbody th button")].map(button => {
            const range = document.createRange();
            range.selectNodeContents(button);
            return range.getClientRects()[0].top - button.getBoundingClientRect().top;
        })"""
    )
    assert below == [pytest.approx(below[1], abs=1)] * 2
    page.close()


def test_one_row_on_a_narrow_screen_has_no_headings_to_sort_by(page: Page) -> None:
    shown = """[...document.querySelectorAll(".results")].map(table =>
        [table.querySelectorAll(":scope > tbody > tr[id]").length, table.tHead.checkVisibility()])"""
    wide: list[tuple[int, bool]] = page.evaluate(shown)
    assert {1, 6} <= {rows for rows, _ in wide}
    assert all(visible for _, visible in wide)
    resize(page, 400, 900)
    assert all(visible == (rows > 1) for rows, visible in page.evaluate(shown))


def test_what_is_printed_is_light_and_fits_the_paper(suite: Page) -> None:
    suite.emulate_media(color_scheme="dark")
    suite.locator("#r0 th button").click()
    suite.wait_for_selector("#d0 canvas")
    on_screen = looks(suite)
    suite.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert looks(suite)["ink"] < 128 < on_screen["ink"]
    suite.emulate_media(media="print")
    resize(suite, 718, 1047)
    printed = looks(suite)
    suite.emulate_media(media="screen", color_scheme="light")
    assert printed["tokens"] == looks(suite)["tokens"] != on_screen["tokens"]
    assert printed["widest"] <= printed["room"] < on_screen["widest"]
    resize(suite, 1280, 900)
    suite.emulate_media(color_scheme="dark")
    suite.evaluate("dispatchEvent(new Event('afterprint'))")
    assert looks(suite) == on_screen


def looks(page: Page) -> dict[str, Any]:
    """Return the colours in use, the brightness of a chart's axes, and whether the charts of a row fit."""
    page.wait_for_timeout(50)
    found: dict[str, Any] = page.evaluate(
        """() => {
            const names = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
                .find(rule => rule.selectorText === ":root").style;
            const style = getComputedStyle(document.documentElement);
            const canvas = document.querySelector("#d0 canvas");
            const copy = new OffscreenCanvas(canvas.width, 40).getContext("2d", {willReadFrequently: true});
            copy.drawImage(canvas, 0, 40 - canvas.height);
            const inked = copy.getImageData(0, 0, canvas.width, 40).data;
            const places = [...inked.keys()].filter(place => place % 4 === 3 && inked[place] > 200);
            return {
                tokens: [...names].filter(name => name.startsWith("--")).map(name => style.getPropertyValue(name)),
                ink: places.reduce((sum, place) => sum + inked[place - 1], 0) / places.length,
                widest: Math.max(...[...document.querySelectorAll("#d0 canvas")].map(one => one.clientWidth)),
                room: document.querySelector("#d0 figure").clientWidth,
            };
        }"""
    )
    return found


def test_a_browser_without_scripts_shows_table_and_words(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("#part-1-table").is_visible()
    assert page.locator("#d3").is_visible()
    assert page.get_by_text("need scripts").is_visible()
    context.close()
