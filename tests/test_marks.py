"""Everything that is marked by name exists: a test that moved would silently lose its mark."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import marks

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("place", marks.STARTING)
def test_the_places_are_there(place: str) -> None:
    assert (ROOT / place).exists()


@pytest.mark.parametrize("name", sorted(marks.STARTING_TESTS))
def test_the_tests_are_there(name: str) -> None:
    file, _, function = name.partition("::")
    assert f"\ndef {function}(" in (ROOT / file).read_text()
