"""Each command line in the documentation runs, to its answer or to its first launch."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, command_lines
from tests.docs.reader import Reader, make_folder
from tests.world import ScriptedWorld, in_place, steady

pytestmark = pytest.mark.real

# Placeholders that a reader replaces: COMMAND, [FILE]..., FILE.journal.
_PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|\.\.\.|^\[|^[A-Z]$")


def complete(page: Path) -> list[list[str]]:
    """Return the command lines of a page that run as they are."""
    return [words for words in command_lines(page) if not any(map(_PLACEHOLDER.search, words))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that every page begins with."""
    world = ScriptedWorld(tmp_path_factory.mktemp("reader"), steady({}))
    with pytest.MonkeyPatch.context() as patch:
        in_place(world, patch)
        make_folder(world)
    return world.folder


@pytest.mark.parametrize(
    "page", [page for page in PAGES if complete(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_lines_of_a_page_run(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    world = ScriptedWorld(tmp_path, steady({}))
    in_place(world, monkeypatch)
    reader = Reader(world, page.stem)
    assert [failed for words in complete(page) if (failed := reader.take(words))] == []


def test_most_lines_can_be_taken_as_they_stand() -> None:
    found = [words for page in PAGES for words in command_lines(page)]
    assert sum(len(complete(page)) for page in PAGES) > 0.8 * len(found) > 150
