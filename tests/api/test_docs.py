"""The examples of the documentation run as they stand there."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from steelyard.api import calls
from tests.world import ScriptedWorld

PAGE = Path(__file__).resolve().parents[2] / "docs/api.md"


def examples() -> str:
    """All indented lines of the page, as one program."""
    pytest.importorskip("pandas")
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("    ") or not line]
    return textwrap.dedent("\n".join(lines))


def test_the_examples_run(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calls, "World", scripted.outside)
    exec(compile(examples(), str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("slower 0.5")
    assert "level=9 max_rss 2097152.0" in printed
    assert "'./mistyped' cannot be run" in printed
    assert (scripted.folder / "old.json").exists()
