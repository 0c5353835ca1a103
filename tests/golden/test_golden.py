"""Whole command lines on scripted machines print, return, launch and keep what was recorded."""

from __future__ import annotations

import pytest

from tests.golden.record import FOLDER, difference
from tests.golden.scenarios import SCENARIOS
from tests.golden.transcript import transcript


@pytest.mark.parametrize("name", SCENARIOS)
def test_it_is_as_recorded(name: str) -> None:
    if found := difference(name, transcript(SCENARIOS[name])):
        pytest.fail(f"{name}; if that is meant: python -m tests.golden.record {name}\n{found}", pytrace=False)


def test_each_recording_has_its_scenario() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(SCENARIOS)
