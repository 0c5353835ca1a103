"""What the pages for newcomers show is what the installed command prints, numbers aside."""

from __future__ import annotations

import pytest

from tests.docs.pages import DOCS, Console, consoles, labelled
from tests.tool import Tool

NEWCOMERS = [console for page in ("first", "reading") for console in consoles(DOCS / f"{page}.md")]
# What a quiet machine, or a busy one, does not say; and the figure of the pairs, which is drawn from their numbers.
BY_CHANCE = {"noise", "disturbed", "resolution"}
DRAWN = {"pairs"}
# A loop, and one that is a quarter longer: what the page weighs.
PARSE = """#!/bin/sh
case $1 in old) n=8000 ;; new) n=10000 ;; esac
i=0; while [ $i -lt $n ]; do i=$((i + 1)); done
"""


def test_there_is_something_to_try() -> None:
    assert len(NEWCOMERS) == 3


@pytest.mark.noisy
@pytest.mark.parametrize("console", NEWCOMERS, ids=lambda console: console.page)
def test_a_console_shows_what_the_command_prints(tool: Tool, console: Console) -> None:
    tool.write("parse", PARSE)
    shown, printed = labelled(console.printed), labelled(tool(*console.words).text)
    assert printed.keys() - BY_CHANCE - {"exit"} == shown.keys() - BY_CHANCE
    for label in shown.keys() - BY_CHANCE - DRAWN:
        assert printed[label] == shown[label]
