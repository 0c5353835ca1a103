"""The documentation, which comes with the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.cli import docs
from steelyard.model.errors import UsageError
from tests.in_process import InProcess
from tests.tool import Tool

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


@pytest.mark.parametrize("link", ["heap.md#peak", "../heap.md", "docs/heap.md#peak", "heap#peak"])
def test_a_link_of_a_page_leads_to_the_other_one(asked: InProcess, link: str) -> None:
    assert asked("docs", link).out == (ROOT / "docs/heap.md").read_bytes()


@pytest.mark.parametrize("harness", ["go", "google-benchmark", "jmh"])
def test_the_page_of_a_harness_is_found_by_its_name(asked: InProcess, harness: str) -> None:
    assert asked("docs", harness).out == (ROOT / f"docs/adapters/{harness}.md").read_bytes()


def test_a_page_is_the_same_where_the_terminal_is_not_utf_8(tool: Tool) -> None:
    tool.environment["PYTHONIOENCODING"] = "ascii"
    page = (ROOT / "docs/adapters/shell.md").read_bytes()
    assert not page.isascii()
    assert tool("docs", "adapters/shell").out == page


@pytest.mark.parametrize("topic", ["", "nothing", "../README", "/etc/passwd", "steelyard.1"])
def test_what_is_no_page_is_told_those_there_are(asked: InProcess, topic: str) -> None:
    assert "choose from adapters/catch2, " in asked.refuses("docs", topic)


def test_a_page_that_was_meant_is_told_first(asked: InProcess) -> None:
    sentence = asked.refuses("docs", "revision")
    assert sentence.startswith("there is no page 'revision' (did you mean 'revisions'?): choose from ")


@pytest.mark.parametrize(
    ("package", "pages"),
    [
        ("src/steelyard", "docs"),
        ("lib/python3.11/site-packages/steelyard", "share/doc/steelyard"),
        ("target/steelyard", "target/share/doc/steelyard"),
    ],
)
def test_where_its_pages_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, pages: str) -> None:
    monkeypatch.setattr(docs, "_PACKAGE", tmp_path / "prefix" / package)
    place = tmp_path / "prefix" / pages
    place.mkdir(parents=True)
    with pytest.raises(UsageError, match="install it again"):
        docs.topics()
    for page in ("glossary", "heap"):
        (place / f"{page}.md").touch()
    assert docs.topics() == ["glossary", "heap"]


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
