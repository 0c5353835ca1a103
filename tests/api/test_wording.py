"""Sentences about options, reworded for arguments."""

from __future__ import annotations

import pytest

import steelyard
from steelyard.api.wording import reword_errors
from steelyard.model.errors import UsageError
from tests.world import ScriptedWorld


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("--max-time 0 is out of range", "max_time 0 is out of range"),
        ("--metric cost: leave --inherit-env out", "metrics cost: leave inherit_environment out"),
        ("--name 'x --pairs' is a file", "name 'x --pairs' is a file"),
        ("--env A: run steelyard run --env A; or --body", "environment A: run steelyard run --env A; or body"),
        ("--trust-journal vouches for it", "--trust-journal vouches for it"),
        ("prog --pairs 2 failed: leave --shell out", "prog --pairs 2 failed: leave --shell out"),
    ],
)  # fmt: skip
def test_an_option_is_the_argument_of_its_meaning(said: str, told: str) -> None:
    error = UsageError(said)
    error.lines = ("below",)
    with pytest.raises(UsageError) as raised, reword_errors():
        raise error
    assert raised.value is error
    assert (str(error), error.lines) == (told, ("below",))


def test_an_export_names_its_argument(scripted: ScriptedWorld) -> None:
    record = steelyard.compare(["./old", "./new"], pairs=12, world=scripted.outside())
    with pytest.raises(UsageError, match=r"^side has to say which one a file of pyperf holds"):
        record.export("pyperf")
    with pytest.raises(UsageError, match=r"^metric 'speed' is not known"):
        record.export("hyperfine", metric="speed")
    with pytest.raises(UsageError, match=r"^format 'xls' is not known"):
        record.export("xls")
