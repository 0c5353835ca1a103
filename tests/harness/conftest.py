"""Files of benchmarks, and a clock that advances only when it is told to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest

from steelyard.harness import worker

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a bench file, and return its path."""

    def written(text: str, name: str = "bench_x.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("from steelyard import bench\n" + dedent(text), encoding="utf-8")
        return path

    return written


class Clock:
    """A clock that only `go` advances."""

    def __init__(self) -> None:
        self.now = 1_000
        self.elsewhere = 0

    def go(self, ns: int) -> None:
        self.now += ns


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock in place of all clocks that the worker reads."""
    made = Clock()
    replacement = SimpleNamespace(
        perf_counter_ns=lambda: made.now,
        thread_time_ns=lambda: made.now,
        process_time_ns=lambda: made.now + made.elsewhere,
    )
    monkeypatch.setattr(worker, "clocks", replacement)
    return made
