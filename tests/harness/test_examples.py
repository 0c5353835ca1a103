"""The suite in `examples/python`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.harness.driving import HARNESS, listed

SUITE = Path(__file__).resolve().parent.parent.parent / "examples" / "python"


def test_every_benchmark_works() -> None:
    names = listed(SUITE).names
    found = subprocess.run([*HARNESS, SUITE], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    assert [line.partition("  ")[0] for line in found.stdout.splitlines()] == names
    assert len(names) >= 20
