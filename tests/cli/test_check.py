"""`steelyard check --protocol`: every rule holds for a program that speaks it, and each breach is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.cli.tool import Tool

WELL = """
import json, sys, time
words = dict(word[12:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--steelyard-"))
out = open(int(words["fd"]), "w")
def say(**line):
    print(json.dumps(line), file=out)
def fail(text):
    say(error=text); out.close(); sys.exit(1)
say(steelyard=1)
if words["protocol"] != "1":
    fail("only version 1 is spoken")
if "list" in words:
    say(benchmark="one"); say(benchmark="two")
else:
    if words["run"] not in ("one", "two"):
        fail("no such benchmark")
    for _ in range(int(words["samples"])):
        loops = int(words["loops"])
        end = time.perf_counter_ns() + 1000 * loops
        begun = time.perf_counter_ns()
        while time.perf_counter_ns() < end: pass
        say(ns=time.perf_counter_ns() - begun, loops=loops)
say(end=True)
"""

BREACHES = [
    ('say(benchmark="one"); say(benchmark="two")', "pass", "it lists its benchmarks"),
    ('say(benchmark="two")', "say(benchmark=str(time.time_ns()))", "it lists the same benchmarks again"),
    ('range(int(words["samples"]))', "range(2)", "it takes as many samples as it is asked for"),
    ("loops=loops)", "loops=1000)", "a sample runs the loops that it is asked for"),
    ("ns=time.perf_counter_ns() - begun", "ns=5", "its times grow with the loops"),
    ('if words["run"] not in ("one", "two"):', "if False:", "it says where a benchmark is not known, and fails"),
    ('if words["protocol"] != "1":', "if False:", "it does not answer in another version of the protocol"),
    ("say(steelyard=1)", 'say(steelyard=1)\nif len(words) > 3 and "list" in words: fail("?")', "it ignores words"),
]


def harness(tool: Tool, text: str) -> str:
    (tool.folder / "harness.py").write_text(text)
    return f"{sys.executable} -S harness.py"


def test_a_program_that_speaks_it(tool: Tool) -> None:
    done = tool("check", "--protocol", harness(tool, WELL))
    assert done.status == 0, done.text
    assert "all 8 rules hold" in done.text
    assert "broken" not in done.text


@pytest.mark.parametrize(("well", "ill", "rule"), BREACHES, ids=[rule for _, _, rule in BREACHES])
def test_a_breach_is_named(tool: Tool, well: str, ill: str, rule: str) -> None:
    assert WELL.count(well) == 1
    # In which a time that never grows has the loops grow beyond all limits.
    done = tool("check", "--protocol", "--timeout", "2", harness(tool, WELL.replace(well, ill)))
    assert done.status == 1, done.text
    assert f"broken     {rule}" in done.text


def test_a_plain_command(tool: Tool) -> None:
    done = tool("check", "--protocol", "/bin/true")
    assert done.status == 1
    assert "does not speak the harness protocol" in " ".join(done.text.split())


def test_words_that_do_not_fit(tool: Tool, tmp_path: Path) -> None:
    assert "say what to check" in tool.refuses("check", "/bin/true")
    assert "cannot be run" in tool.refuses("check", "--protocol", str(tmp_path / "absent"))


def test_a_program_that_hangs(tool: Tool) -> None:
    done = tool("check", "--protocol", "--timeout", "0.3", "sh -c 'sleep 60'")
    assert done.status == 1
    assert "did not end within" in " ".join(done.text.split())
