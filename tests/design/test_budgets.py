"""The fewest pairs that can decide, alone and among others."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.design.budgets import count_members, fewest_pairs
from steelyard.design.judging.judgement import verdicts
from steelyard.stats.looks import Budgets
from steelyard.stats.paired import judge
from tests.design.scripted import noisy, weigh, weighing


@pytest.mark.parametrize("reserve", [0.0, 0.5])
@pytest.mark.parametrize("members", [1, 2, 14, 100])
def test_pairs_that_all_say_the_same_decide_from_the_fewest_on(reserve: float, members: int) -> None:
    fewest = fewest_pairs(0.01, reserve, members)
    assert [_verdict(pairs, reserve, members) for pairs in (fewest - 1, fewest)] == ["undecided", "slower"]


def _verdict(pairs: int, reserve: float, members: int) -> str:
    slower = 1.1 * np.exp(np.linspace(-0.01, 0.01, pairs))
    budgets = Budgets(reserve, None, 0.01)
    found = judge(lambda n: (np.ones(n), slower[:n]), pairs, 0.01, 0.01, ended=True, members=members, budgets=budgets)
    assert found is not None
    return found.verdict


def test_a_budget_that_keeps_some_of_alpha_for_another_ends_with_a_wider_interval() -> None:
    """So does a second budget after it, because the end of the first has spent a part."""
    record, _ = weigh(noisy(), pairs=24, max_time_s=None, margin=0.0001)
    keeping = record.model_copy(update={"settings": record.settings.model_copy(update={"reserve": 0.5})})
    going_on = keeping.model_copy(update={"benchmarks": [record.benchmarks[0].model_copy(update={"ended": 15})]})
    intervals = [verdicts(one)[0].interval for one in (record, keeping, going_on)]
    widths = [upper - lower for lower, upper in (interval for interval in intervals if interval is not None)]
    assert len(widths) == 3
    assert widths == sorted(set(widths))


def test_alpha_is_shared_by_those_that_did_not_fail() -> None:
    suite = weighing(4)
    control = suite.benchmarks[3].model_copy(update={"control": True})
    failed = suite.model_copy(
        update={"benchmarks": [*suite.benchmarks[:3], control], "stop": ["failed", *suite.stop[1:]]}
    )
    assert (count_members(suite), count_members(failed)) == (4, 2)
