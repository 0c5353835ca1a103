"""The suite in `examples/python`."""

from __future__ import annotations

from pathlib import Path

from tests.harness.driving import HARNESS, call, each_arguments, listed, parts_of

SUITE = Path(__file__).resolve().parent.parent.parent / "examples" / "python"


def test_every_benchmark_works() -> None:
    names = listed(SUITE).names
    assert len(names) >= 20
    parts = parts_of(call([*HARNESS, SUITE], each_arguments(*names, loops=1)))
    assert {name: part.body for name, part in zip(names, parts, strict=True) if part.status != 0} == {}
    assert [len(part.body) for part in parts] == [2] * len(names)
