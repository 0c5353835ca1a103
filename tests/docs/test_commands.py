"""Every command line in the documentation uses commands and options that exist."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.app import command_line
from steelyard.cli.manual import commands_of
from steelyard.cli.spellings import normalised
from tests.docs.pages import PAGES, ROOT, command_lines


@cache
def options() -> dict[str, set[str]]:
    """Return by command the options that it takes, with their dashes."""
    return {
        name: {"--help", *(option for each in command.params for option in (*each.opts, *each.secondary_opts))}
        for name, command in commands_of(command_line()).items()
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_options_of_a_page_are_there(page: Path) -> None:
    for name, *words in command_lines(page):
        if name == "COMMAND":
            continue
        assert name in options(), name
        own = words[: words.index("--")] if "--" in words else words
        given = {word.partition("=")[0] for word in normalised(own, options()[name]) if word.startswith("--")}
        assert given <= options()[name], f"steelyard {name} {' '.join(words)}"


def test_each_option_is_told_of_somewhere() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    told = {*re.findall(r"(?<![\w-])--[a-z][\w-]*", text)}
    shown = [param for command in commands_of(command_line()).values() for param in command.params]
    assert [param.opts for param in shown if _is_untold(param, told)] == []


def _is_untold(param: Any, told: set[str]) -> bool:
    long = {name for name in (*param.opts, *param.secondary_opts) if name.startswith("--")}
    return bool(long) and not getattr(param, "hidden", False) and not long & told


def test_lines_are_found() -> None:
    assert [words[:1] for words in command_lines(ROOT / "docs/first.md")][-2:] == [["show"], ["list"]]


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "examples").rglob("*.yml"))], ids=lambda page: page.name)
def test_a_weighing_that_found_something_slower_does_not_end_a_script_before_its_gate(page: Path) -> None:
    lines = [line.strip(" -") for line in page.read_text(encoding="utf-8").splitlines()]
    for line, following in pairwise(lines):
        if line.startswith("steelyard compare") and following.startswith("steelyard gate"):
            assert line.endswith(" || test $? -ne 2"), line
