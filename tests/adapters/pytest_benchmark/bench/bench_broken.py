"""Tests that cannot be measured, each in a way of its own."""

from __future__ import annotations

from typing import Any

import pytest


def test_fails(benchmark: Any) -> None:
    benchmark(sum, range(10))
    assert [1] == [2], "planted"


def test_raises(benchmark: Any) -> None:
    benchmark(int, "no number")


def test_skips(benchmark: Any) -> None:
    assert benchmark
    pytest.skip("not here")


def test_never_calls(benchmark: Any) -> None:
    """The fixture alone measures nothing."""


@pytest.mark.xfail
def test_expected(benchmark: Any) -> None:
    assert benchmark.enabled
    raise ValueError("as expected")


@pytest.mark.skip
def test_skipped(benchmark: Any) -> None:
    """Never a benchmark."""
