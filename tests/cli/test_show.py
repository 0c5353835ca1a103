"""`steelyard show` of what was kept: also by earlier versions, and of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tool import Tool

RECORDS = sorted((Path(__file__).resolve().parent.parent / "data" / "records").iterdir())


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_every_kept_record_is_shown(tool: Tool, path: Path) -> None:
    shown = tool("show", path)
    assert shown.status in (0, 1)
    assert "launch" in shown.text or "counted by" in shown.text
    tool("show", path, "--markdown", "shown.md", "--csv", "shown.csv", "--json", "shown.json")
    for name in ("shown.md", "shown.csv", "shown.json"):
        assert (tool.folder / name).stat().st_size > 100
