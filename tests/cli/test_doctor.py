"""`steelyard doctor`."""

from __future__ import annotations

import shutil
from pathlib import Path

from steelyard.measure.launch import Launcher
from tests.in_process import InProcess
from tests.tool import Tool

ROOT = Path(__file__).resolve().parents[2]


def test_this_machine_is_examined_and_kept_as_json(tool: Tool) -> None:
    done = tool("doctor", "--json", "machine.json")
    assert (done.status, done.err) == (0, b"")
    done.check_is_tidy()
    found = tool.json("machine.json")
    assert found["format"] == "steelyard-doctor"
    told = {one["code"]: one["severity"] for one in found["conditions"]}
    assert told.keys() >= {"load", "waiting-times", "turbo"}
    with Launcher() as launcher:
        assert (told["threads"] == "fine") == launcher.offers["switches"]


def test_valgrind_is_told_of(tool: Tool) -> None:
    def told() -> str:
        assert tool("doctor", "--json", "machine.json").status == 0
        (one,) = [one for one in tool.json("machine.json")["conditions"] if one["code"] == "valgrind"]
        assert one["severity"] == "fine"
        return str(one["evidence"])

    assert ("counted" in told()) == (shutil.which("valgrind") is not None)
    tool.environment["PATH"] = "/absent"
    assert told().startswith("counting needs valgrind, which was not found on PATH: install")


def test_an_unwritable_file_is_named(asked: InProcess) -> None:
    assert "machine.json" in asked.refuses("doctor", "--json", "absent/machine.json")


def test_every_condition_is_on_the_page(tool: Tool) -> None:
    page = (ROOT / "docs/doctor.md").read_text()
    tool.environment["STEELYARD_LAUNCH_NO_SWITCHES"] = "1"
    assert tool("doctor", "--json", "machine.json").status == 0
    found = tool.json("machine.json")["conditions"]
    assert all(f"`{one['code']}`" in page for one in found)
    assert [one["severity"] for one in found if one["code"] == "threads"] == ["slight"]
