"""Tests that cannot be measured, each for a reason of its own."""

from __future__ import annotations

from typing import Any

import pytest


def test_fails(benchmark: Any) -> None:
    benchmark(sum, range(10))
    assert [1] == [2], "planted"


def test_raises(benchmark: Any) -> None:
    benchmark(int, "no number")


def test_expects_an_exception(benchmark: Any) -> None:
    with pytest.raises(ValueError, match="no number"):
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


@pytest.mark.xfail(strict=True)
def test_unexpected(benchmark: Any) -> None:
    benchmark(sum, range(10))


@pytest.mark.skipif(condition=True, reason="so")
def test_skipped_by_a_condition(benchmark: Any) -> None:
    """Never a benchmark."""


@pytest.mark.skip
def test_skipped(benchmark: Any) -> None:
    """Never a benchmark."""
