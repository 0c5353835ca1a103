"""`steelyard still` with hostile commands: it keeps their status, and prints one sentence."""

from __future__ import annotations

import sys

import pytest

from tests.hostile.tool import Tool
from tests.tool import STEELYARD

ACCOUNT = '"$STEELYARD_CLOCK"'


@pytest.mark.parametrize(
    "harm",
    ['rm -r "${STEELYARD_CLOCK%/*}"', f"echo > other; mv other {ACCOUNT}", f"rm {ACCOUNT}; mkdir {ACCOUNT}"],
)
def test_a_command_that_spoils_what_is_told_of_it(tool: Tool, harm: str) -> None:
    done = tool("still", "sh", "-c", f"{harm}; exit 5")
    assert done.status == 5
    assert done.sentence.endswith("is not known: the command has removed the file that says so")


def test_processes_that_are_killed_have_told(tool: Tool) -> None:
    script = "import os, time; time.monotonic(); os.fork() and os.wait(); time.monotonic(); os.kill(os.getpid(), 9)"
    done = tool("still", sys.executable, "-c", script)
    assert done.status == 137
    assert "waiting (2 processes, all together" in done.sentence
    assert list(tool.folder.glob("steelyard-*")) == []


def test_one_within_the_other(tool: Tool) -> None:
    done = tool("still", str(STEELYARD), "still", sys.executable, "-c", "import time; time.monotonic(); exit(4)")
    assert done.status == 4
    assert done.err.count("steelyard: the clock stood still for") == 2


@pytest.mark.parametrize(
    ("words", "status"), [(["\udcff"], 127), (["./\udcff"], 127), (["sh", "-c", "exit 4", "\udcff"], 4)]
)
def test_words_that_are_no_text(tool: Tool, words: list[str], status: int) -> None:
    done = tool("still", *words)
    assert done.status == status
    assert done.sentence
