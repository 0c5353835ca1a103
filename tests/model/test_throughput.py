from __future__ import annotations

import pytest

from steelyard.model.derived import Derived
from steelyard.model.errors import UsageError
from steelyard.model.ratios import with_ratios
from steelyard.model.subject import Benchmark
from steelyard.model.throughput import Processed, per_second, processed_of
from steelyard.model.units import units_of
from steelyard.model.values import quantity_of_items
from tests.report.records import SLOWER, SUMMARY

BOTH = [Processed(unit="bytes", amount=1e6), Processed(unit="items", amount=10, candidate=20)]


def test_it_is_what_is_processed_in_the_median_time() -> None:
    assert per_second(BOTH, "wall", 1e6) == {"bytes": 1e9, "items": 1e4}
    assert per_second(BOTH, "cpu", 2e6, side=1) == {"bytes": 0.5e9, "items": 1e4}


@pytest.mark.parametrize("metric", ["user", "delay", "max_rss", "minor_faults", "instructions"])
def test_only_a_time_in_which_all_of_it_is_done_gives_one(metric: str) -> None:
    assert per_second(BOTH, metric, 1e6) == {}


def test_no_time_gives_none() -> None:
    assert per_second(BOTH, "wall", 0.0) == {}


def test_a_candidate_has_an_amount_of_its_own_only_where_it_is_another() -> None:
    assert processed_of({"bytes": 8.0}, {"bytes": 8.0}) == [Processed(unit="bytes", amount=8)]
    assert processed_of({"bytes": 8.0}, {}) == [Processed(unit="bytes", amount=8)]
    assert processed_of({"bytes": 8.0}, {"bytes": 9.0}) == [Processed(unit="bytes", amount=8, candidate=9)]


@pytest.mark.parametrize(
    ("candidate", "error", "told"),
    [(5243.0, 0.001, None), (5243.0, 0.0001, 5243), (5246.0, 0.001, 5246), (5241.0, 0.00009, 5241)],
)
def test_what_rounding_leaves_open_makes_no_other_amount(candidate: float, error: float, told: float | None) -> None:
    found = processed_of({"bytes": 5240.0}, {"bytes": candidate}, error=error)
    assert found == [Processed(unit="bytes", amount=5240, candidate=told)]


def test_verdicts_and_summaries_get_ratios_and_throughputs() -> None:
    derived = Derived(verdicts=[SLOWER], summaries=[SUMMARY])
    found = with_ratios([Benchmark(name="sort", processed=BOTH)], derived)
    (verdict,), (summary,) = found.verdicts, found.summaries
    assert verdict.ratio == pytest.approx(1.0102)
    assert verdict.baseline is not None
    assert verdict.candidate is not None
    assert verdict.baseline.per_second == {"bytes": 1e6 / 12.81e-3, "items": 10 / 12.81e-3}
    assert verdict.candidate.per_second["items"] == 20 / 12.94e-3
    assert summary.per_second["bytes"] == 1e6 / 12.81e-3


def test_a_record_without_any_is_as_it_was_before_there_were_any() -> None:
    assert "processed" not in Benchmark(name="sort").model_dump()
    assert "per_second" not in SUMMARY.model_dump()
    assert SLOWER.baseline is not None
    assert "per_second" not in SLOWER.baseline.model_dump()
    assert Benchmark.model_validate({"name": "sort"}).processed == []


@pytest.mark.parametrize(
    ("text", "number"), [("7", 7), ("1e6", 1e6), ("20k", 2e4), ("3 M", 3e6), ("2G", 2e9), ("0", 0)]
)
def test_items_are_numbers_with_or_without_thousands(text: str, number: float) -> None:
    assert quantity_of_items("--items", text) == number


@pytest.mark.parametrize("text", ["", "many", "-1", "inf", "nan", "1T", "1e99"])
def test_anything_else_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="--items"):
        quantity_of_items("--items", text)


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("ms", {"ns": "ms"}),
        ("us", {"ns": "µs"}),
        ("s, MiB", {"ns": "s", "bytes": "MiB"}),
        ("M,ns,B", {"count": "M", "ns": "ns", "bytes": "B"}),
    ],
)
def test_a_unit_is_of_its_kind(text: str, units: dict[str, str]) -> None:
    assert units_of("--unit", text) == units


@pytest.mark.parametrize("text", ["", "minutes", "ms,", "MS", "ms,s", "x" * 1000])
def test_an_unknown_unit_and_two_of_a_kind_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--unit") as error:
        units_of("--unit", text)
    assert len(str(error.value)) < 150
