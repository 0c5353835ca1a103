"""Counting the body of a Python program."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.harness.counting import counter
from steelyard.measure.native import PRELOAD
from tests.c_programs import need_valgrind
from tests.harness.conftest import Write
from tests.harness.driving import HARNESS, call, listed, run_arguments


def test_nobody_counts_without_a_preload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    assert counter() is None


def test_a_preload_that_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_PRELOAD", "libother.so")
    assert counter() is None


def test_the_preload_counts() -> None:
    program = "from steelyard.harness.counting import counter; begin, end = counter(); begin(); end(); print('counted')"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, env={"LD_PRELOAD": str(PRELOAD)}, capture_output=True, text=True, check=True)
    assert found.stdout == "counted\n"


def test_only_the_body_is_counted_and_always_alike(write: Write, tmp_path: Path) -> None:
    need_valgrind()
    path = write(
        """
        @bench
        def work():
            sum(range(100_000))
            yield lambda: sum(range(100))
        """
    )

    def count(loops: int) -> int:
        out = tmp_path / "callgrind.out"
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
        environment = {"LD_PRELOAD": str(PRELOAD), "PYTHONHASHSEED": "0"}
        called = call([*valgrind, *HARNESS, path], run_arguments("bench_x.py::work", loops, 1), env=environment)
        assert called.status == 0, called.stderr
        total = re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE)
        assert total is not None
        return int(total[1])

    listed(path)  # has Python write its compiled files
    one, again, more = count(200), count(200), count(400)
    assert one == again
    each = (more - one) / 200
    assert 1_000 < each < 20_000
    assert one < 220 * each
