"""The documentation as a site: all links lead somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from steelyard.api.keywords import Comparing, Running
from tests.docs.pages import DOCS, PAGES, ROOT

# What a browser would fetch to show a page; links to follow are not among it.
_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc=["']?(https?:)?//|<link[^>]*stylesheet[^>]*(https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="the site is built by mkdocs-material: pip install -e '.[docs]'")
    made = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        # Not --quiet, because then mkdocs counts no warnings.
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", made],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def test_every_page_is_there(site: Path) -> None:
    pages = {str(page.relative_to(DOCS).with_suffix(".html")) for page in DOCS.rglob("*.md")}
    assert pages | {"command-line.html", "experiments.html", "changes.html"} <= {
        str(page.relative_to(site)) for page in site.rglob("*.html")
    }


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert not [page.name for page in site.rglob("*.html") if _FETCHED.search(page.read_text(encoding="utf-8"))]


def test_the_command_line_is_told_from_the_code(site: Path) -> None:
    page = (site / "command-line.html").read_text(encoding="utf-8")
    assert "--max-time" in page
    assert "steelyard bisect" in page


def test_every_keyword_of_what_measures_is_told_from_the_code(site: Path) -> None:
    page = (site / "python-api.html").read_text(encoding="utf-8")
    told = re.findall(r'id="steelyard\.api\.keywords\.\w+\.(\w+)"', page)
    assert {*told} == {*Comparing.__annotations__, *Running.__annotations__}


def test_a_list_behind_its_sentence_is_a_list(site: Path) -> None:
    page = (site / "statistics.html").read_text(encoding="utf-8")
    assert "<li><em>How noisy was it around this pair?</em>" in page


def test_no_mark_of_markdown_is_left_as_text(site: Path) -> None:
    """For example the mark of an item that Python-Markdown takes for a line of the paragraph before it."""
    left = re.compile(r"^(?:[-*] |\d+\. |\| |#+ )\S|\*\*\w|\]\(", re.MULTILINE)
    found = {page.name: left.findall(_text(page)) for page in site.rglob("*.html")}
    assert {name: marks for name, marks in found.items() if marks} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_line_that_begins_with_a_number_is_an_item_of_a_list(page: Path) -> None:
    """And not the end of a sentence, such as 17. at the beginning of a line, which would make a list of the rest."""
    numbers = [int(number) for number in re.findall(r"^(\d+)\. ", page.read_text(encoding="utf-8"), re.MULTILINE)]
    assert all(number in (1, before + 1) for before, number in pairwise([0, *numbers]))


def test_a_bar_in_the_code_of_a_table_has_no_backslash(site: Path) -> None:
    assert "gzip -c data | wc -c" in (site / "metrics.html").read_text(encoding="utf-8")
    cell = re.compile(r"<td\b.*\\\|")
    assert not [page.name for page in site.rglob("*.html") if cell.search(page.read_text(encoding="utf-8"))]


def _text(page: Path) -> str:
    """Return the text of a page without its code."""
    article = page.read_text(encoding="utf-8").partition("<article")[2].partition("</article>")[0]
    beside_code = re.sub(r"<(pre|code)\b.*?</\1>", "", article, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", "", beside_code)
