"""Settings of the whole test suite, and the command line that most of it runs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.in_process import InProcess, in_process
from tests.tool import Tool, tidy_at_the_end

# In CI the same examples every time: a change shall fail for what it changed. At a desk, new ones in each run.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("desk", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


# Background jobs of a shell, and whatever nohup starts, ignore them; so would what a test starts and then interrupts.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The command line; whatever it starts has to be gone at the end of the test."""
    yield from tidy_at_the_end(Tool(tmp_path))


@pytest.fixture
def here(tool: Tool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tool, monkeypatch, capfd)
