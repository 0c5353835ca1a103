from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tool import Tool, wait_until
from tests.in_process import InProcess, in_process


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The command line; whatever it starts has to be gone at the end of the test."""
    tool = Tool(tmp_path)
    yield tool
    wait_until(lambda: not tool.processes(), "no process is left")


@pytest.fixture
def here(tool: Tool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tool, monkeypatch, capfd)
