from __future__ import annotations

import sys

import pytest
from benchmarks.project_gates import Tally, _words


def test_the_number_of_gates_may_stand_behind_the_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "project --base v1 --candidate v2 5 -- --target bench --max-time 30"
    monkeypatch.setattr(sys, "argv", ["project_gates.py", *words.split()])
    asked = _words()
    assert (asked.gates, asked.base, asked.candidate) == (5, "v1", "v2")
    assert asked.options == ["--target", "bench", "--max-time", "30"]


def test_every_change_that_was_called_is_listed() -> None:
    tally = Tally()
    same = {"verdict": "same", "pairs": 20, "change": 0.0, "benchmark": "a"}
    tally.add("passed", [same, {"verdict": "slower", "pairs": 30, "change": 0.021, "benchmark": "b"}], 6)
    assert tally.report().splitlines()[-3:] == ["| 1 | 1 | 0 | 1 | 0 | 25.0 | 6 |", "1 x passed", "slower +2.10% b"]
