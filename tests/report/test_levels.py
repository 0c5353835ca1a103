"""Medians, with how much the launches vary, in every table that has them."""

from __future__ import annotations

import pytest

from steelyard.model.derived import Side
from steelyard.report import gate_markdown, levels, sentences
from tests.report.records import SUMMARY

ONCE = Side(median=5e9, spread=0, launches=1)
MOSTLY_NOTHING = Side(median=0, spread=0, launches=8)
USUAL = Side(median=5e9, spread=0.01, launches=8)


@pytest.mark.parametrize("table", [levels.level, sentences.level, gate_markdown._level])
def test_a_table_claims_no_spread_that_is_not_known(table: object) -> None:
    assert callable(table)
    assert table(USUAL, "wall") == "5.000 s ± 1 %"
    assert table(ONCE, "wall") == "5.000 s, seen once"
    assert table(MOSTLY_NOTHING, "sys") == "0 ns"


def test_nothing_is_relative_to_a_median_of_0() -> None:
    nothing = {"metric": "sys", "median": 0, "spread": 0, "lowest": 0, "highest": 7.464e6, "launches": 8}
    run = SUMMARY.model_copy(update=nothing)
    assert sentences.spread(run).startswith("half of them or more are 0, from 0 ns to 7.464 ms, over 8 launches")
    assert levels.spread(run) == "n/a"
    assert sentences.side(MOSTLY_NOTHING, "sys") == ["median 0 ns", "half of them or more are 0", "8 launches"]
    constant = run.model_copy(update={"highest": 0})
    assert sentences.spread(constant).startswith("varies by 0 %, from 0 ns to 0 ns, over 8 launches")
    assert levels.spread(constant) == "0 %"
    assert levels.spread(run.model_copy(update={"launches": 1})) == "seen once"
