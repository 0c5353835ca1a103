"""What the tests of adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.measure.launch import Launcher


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as launcher:
        yield launcher
