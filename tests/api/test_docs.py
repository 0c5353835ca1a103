"""The examples in the documentation run as they are."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

import steelyard
from steelyard.api import calls, reading
from tests.golden.programs import Program
from tests.golden.world import World
from tests.repositories import BUILD, slower_work_tree
from tests.world import ScriptedWorld

PAGE = Path(__file__).resolve().parents[2] / "docs/api.md"
OF_REPOSITORIES = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> str:
    """Return all indented lines of the page, but for those about repositories, as one program."""
    pytest.importorskip("pandas")
    text = OF_REPOSITORIES.sub("", PAGE.read_text())
    lines = [line for line in text.splitlines() if line.startswith("    ") or not line]
    return textwrap.dedent("\n".join(lines))


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with World.opened(tmp_path) as world:
        world.program("old", Program(noise=0.001))
        world.program("new", Program(noise=0.001, wall_ns=lambda _: 18e6))
        for module in (calls, reading):
            monkeypatch.setattr(module, "World", world.outside)
        exec(compile(examples(), str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("slower 0.5")
    assert "level=9 max_rss 2097152.0" in printed
    assert "10000.0 instructions" in printed
    assert "'./mistyped' cannot be run" in printed
    assert (tmp_path / "old.json").exists()
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.real
def test_the_examples_of_repositories_run(
    scripted: ScriptedWorld, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = '[[target]]\nname = "sort"\ncommand = "./program"\n'
    files = {"Makefile": f"program: source\n\t{BUILD}\n", "steelyard.toml": f'[build]\ncommand = "make"\n{target}'}
    slower_work_tree(scripted, monkeypatch, **files)
    monkeypatch.setattr(calls, "World", scripted.outside)
    program = "\n".join(OF_REPOSITORIES.findall(PAGE.read_text()))
    exec(compile(program, str(PAGE), "exec"), {"steelyard": steelyard})
    printed = capsys.readouterr().out
    assert printed.startswith("slower 12")
    found = re.search(r"^sort slower (\S+)$", printed, re.MULTILINE)
    assert found is not None
    assert float(found[1]) == pytest.approx(0.5)
    assert printed.endswith("[]\n")
