"""`steelyard doctor`."""

from __future__ import annotations

from pathlib import Path

from tests.in_process import InProcess
from tests.tool import Tool

ROOT = Path(__file__).resolve().parents[2]


def test_this_machine_is_examined_and_kept_as_json(tool: Tool) -> None:
    done = tool("doctor", "--json", "machine.json")
    assert (done.status, done.err) == (0, b"")
    done.check_is_tidy()
    found = tool.json("machine.json")
    assert found["format"] == "steelyard-doctor"
    assert {one["code"] for one in found["conditions"]} >= {"load", "waiting-times", "turbo"}


def test_an_unwritable_file_is_named(asked: InProcess) -> None:
    assert "machine.json" in asked.refuses("doctor", "--json", "absent/machine.json")


def test_every_condition_is_on_the_page(tool: Tool) -> None:
    page = (ROOT / "docs/doctor.md").read_text()
    assert tool("doctor", "--json", "machine.json").status == 0
    assert all(f"`{one['code']}`" in page for one in tool.json("machine.json")["conditions"])
