from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.tool import Tool, wait_until


@pytest.fixture
def tool(tmp_path: Path) -> Iterator[Tool]:
    """The command line; whatever it starts has to be gone at the end of the test."""
    tool = Tool(tmp_path)
    yield tool
    wait_until(lambda: not tool.processes(), "no process is left")
