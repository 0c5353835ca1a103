"""How the decisions of a bisection are told."""

from __future__ import annotations

import pytest

from steelyard.model.bisection import Step
from steelyard.report.bisection import decision_sentence


@pytest.mark.parametrize(
    ("why", "told"),
    [
        ("main (aaaaaaa) does not build", "skipped: main (aaaaaaa) does not build"),
        ("it lacks the benchmark", "skipped aaaaaaaaaa: it lacks the benchmark"),
    ],
)
def test_a_commit_that_is_skipped_is_named_once(why: str, told: str) -> None:
    step = Step(kind="skip", commit="a" * 40, low="b" * 40, high="c" * 40, left=1, why=why)
    assert decision_sentence(step, 0, 1, "slower") == told
