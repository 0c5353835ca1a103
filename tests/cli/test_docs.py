"""The documentation, which comes with the command."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from steelyard.cli import docs
from tests.in_process import InProcess

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def test_every_page_is_listed_with_its_title(asked: InProcess) -> None:
    lines = asked("docs").text.splitlines()
    assert [line.split()[0] for line in lines] == [
        str(page.relative_to(ROOT / "docs").with_suffix("")) for page in PAGES
    ]
    assert "heap                       The heap" in lines


@pytest.mark.parametrize("topic", ["heap", "heap.md", "docs/heap.md", "adapters/go"])
def test_a_page_is_printed_as_it_is(asked: InProcess, topic: str) -> None:
    page = ROOT / "docs" / f"{topic.removeprefix('docs/').removesuffix('.md')}.md"
    assert asked("docs", topic).out == page.read_bytes()


@pytest.mark.parametrize("topic", ["", "nothing", "../README", "/etc/passwd", "steelyard.1"])
def test_what_is_no_page_is_told_those_there_are(asked: InProcess, topic: str) -> None:
    assert "choose from adapters/catch2, " in asked.refuses("docs", topic)


def test_without_its_pages_it_says_so(asked: InProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(docs, "_FOLDER", tmp_path / "none")
    assert "install it again" in asked.refuses("docs")


def test_every_page_is_installed() -> None:
    package_data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    package = ROOT / "src/steelyard"
    shipped = {page.resolve() for pattern in package_data["steelyard"] for page in package.glob(pattern)}
    assert set(PAGES) <= shipped


def test_every_page_that_is_named_on_the_command_line_is_there() -> None:
    sources = [*(ROOT / "src/steelyard").rglob("*.py")]
    named = {
        word.strip("`.,;:()\"'")
        for source in sources
        for line in source.read_text().splitlines()
        for word in line.partition("steelyard docs ")[2].split()[:1]
    }
    assert "heap" in named
    assert named <= {*docs.topics(), "[TOPIC]", "|", ""}
