from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.model.errors import UsageError
from steelyard.model.limits import Limit, Limits, limit_from, limits_from


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("5%", Limit(above=0.05)),
        ("5", Limit(above=0.05)),
        (" .5 % ", Limit(above=0.005)),
        ("0%", Limit(above=0)),
        ("never", Limit(above=None)),
        ("0.7%", Limit(above=0.007)),
        ("2.9%", Limit(above=0.029)),
        ("BM_sort*=2%", Limit(above=0.02, benchmark="BM_sort*")),
        ("n=1=2%", Limit(above=0.02, benchmark="n=1")),
        ("instructions=0.5%", Limit(above=0.005, metric="instructions")),
        ("BM_sort*:max_rss=10%", Limit(above=0.1, benchmark="BM_sort*", metric="max_rss")),
        ("test.py::test_sort=1%", Limit(above=0.01, benchmark="test.py::test_sort")),
        ("test.py::test_sort:cpu=never", Limit(above=None, benchmark="test.py::test_sort", metric="cpu")),
        ("*:wall=1%", Limit(above=0.01, benchmark="*", metric="wall")),
    ],
)
def test_a_limit_is_read(text: str, limit: Limit) -> None:
    read = limit_from(text)
    assert read.above == (None if limit.above is None else pytest.approx(limit.above))
    assert (read.benchmark, read.metric) == (limit.benchmark, limit.metric)
    assert limit_from(str(read)) == read


@pytest.mark.parametrize(
    "text", ["", "=", "x", "x=", "-1%", "+1%", "nan", "inf%", "1e9%", "5%%", "1001%", "a=b", "\u0665%"]
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        limit_from(text)


@given(st.text())
def test_any_text_is_a_limit_or_a_sentence(text: str) -> None:
    with suppress(UsageError):
        assert (limit_from(text).above or 0.0) >= 0


ALL, SORT, COUNTED, BOTH = "5%", "BM_sort*=4%", "instructions=3%", "BM_sort*:instructions=2%"


@pytest.mark.parametrize("order", [[ALL, SORT, COUNTED, BOTH], [BOTH, COUNTED, SORT, ALL]])
@pytest.mark.parametrize(
    ("benchmark", "metric", "deciding", "expected"),
    [
        ("BM_sort/8", "instructions", True, BOTH),
        ("BM_sort/8", "active", True, SORT),
        ("BM_sort/8", "instructions", False, BOTH),
        ("BM_other", "instructions", False, COUNTED),
        ("BM_other", "instructions", True, COUNTED),
        ("BM_other", "active", True, ALL),
        ("BM_other", "active", False, None),
    ],
)
def test_the_one_that_names_most_counts(
    order: list[str], benchmark: str, metric: str, deciding: bool, expected: str | None
) -> None:
    found = limits_from(order).of(benchmark, {metric}, deciding=deciding)
    assert (None if found is None else str(found)) == expected


def test_of_equals_the_last_counts() -> None:
    limits = limits_from(["BM_*=4%", "*sort=3%"])
    assert str(limits.of("BM_sort", {"active"}, deciding=True)) == "*sort=3%"
    assert Limits().of("BM_sort", {"active"}, deciding=True) is None


def test_a_pattern_is_of_the_whole_name_and_minds_its_case() -> None:
    limits = limits_from(["sort=1%"])
    assert limits.of("sort", {"active"}, deciding=True) is not None
    assert limits.of("Sort", {"active"}, deciding=True) is None
    assert limits.of("sort2", {"active"}, deciding=True) is None


def test_a_name_with_brackets_is_its_own_pattern() -> None:
    limits = limits_from(["test_sort[1]=1%"])
    assert limits.of("test_sort[1]", {"active"}, deciding=True) is not None
    assert limits.of("test_sort1", {"active"}, deciding=True) is not None  # as a pattern in a shell
    assert limits.of("test_sort[2]", {"active"}, deciding=True) is None
