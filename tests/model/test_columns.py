"""Packed columns hold the same as the lists that they stand for, whether these are short or long."""

from __future__ import annotations

from array import array
from typing import Annotated, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from steelyard.model import columns
from steelyard.model.columns import (
    are_distinct,
    column_of,
    extended,
    highest,
    lowest,
    packed_integers,
    positions_by_number,
    values_at,
)
from steelyard.model.launches import Launches
from steelyard.model.numbers import Count

small = st.integers(0, 3)


@pytest.fixture(params=[0, 1000], ids=["as many", "as few"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_FEWEST_FOR_NUMPY", request.param)


def test_integers_are_packed_and_anything_else_is_a_list() -> None:
    assert column_of([1, 2]) == array("q", [1, 2])
    assert column_of([]) == array("q")
    for values in ([1, None], [1.0], ["1"], [2**63]):
        assert column_of(values) == values
    assert extended(array("q", [1]), [2, 3]) == array("q", [1, 2, 3])
    assert extended(array("q", [1]), [None]) == [1, None]
    assert extended([None], [1]) == [None, 1]


@pytest.mark.usefixtures("size")
def test_the_ends_of_a_column() -> None:
    assert (lowest(array("q", [3, -5, 4])), highest(array("q", [3, -5, 4]))) == (-5, 4)
    assert (lowest(array("q", [7])), highest([1, 9, 2])) == (7, 9)


@given(st.lists(st.tuples(small, small, small), max_size=12), st.sampled_from([0, 1000]))
def test_places_are_distinct(rows: list[tuple[int, int, int]], few: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_FEWEST_FOR_NUMPY", few)
        parts = [column_of(part) for part in zip(*rows, strict=True)] or [column_of([])] * 3
        assert are_distinct(*parts) == (len(set(rows)) == len(rows))


@given(st.lists(st.integers(0, 4), max_size=20))
def test_numbers_are_found_where_they_stand(numbers: list[int]) -> None:
    found = [list(places) for places in positions_by_number(column_of(numbers), 5)]
    assert found == [[place for place, one in enumerate(numbers) if one == wanted] for wanted in range(5)]


def test_what_is_picked_is_packed_again() -> None:
    positions = np.array([2, 0])
    assert values_at(column_of([5, 6, 7]), positions) == array("q", [7, 5])
    assert values_at([None, 6, 7], positions) == [7, None]
    assert values_at([None, 6, 7], positions[:1]) == array("q", [7])
    assert values_at(column_of([]), positions[:0]) == array("q")


# --- validation

NUMBERS: list[Any] = [
    *([], [0, 1], [None, None], [0, None], [True, 5], ["7", 1], [1.0], [2**63 - 1]),
    *([2**63], [10**400], [-1], [1.5], [float("nan")], ["x"], [[]], 5, None, "12", {"a": 1}),
]


def outcome(kind: TypeAdapter[Any], told: Any) -> list[Any] | str:
    """Return what is accepted, or the words of the refusal."""
    try:
        return list(kind.validate_python(told))
    except ValidationError as error:
        return error.errors()[0]["msg"]


@pytest.mark.parametrize("told", NUMBERS, ids=str)
@pytest.mark.usefixtures("size")
def test_a_column_is_taken_and_refused_as_a_list_is(told: Any) -> None:
    plain: TypeAdapter[Any] = TypeAdapter(list[Count])
    packed: TypeAdapter[Any] = TypeAdapter(Annotated[list[Count], packed_integers(0)])
    assert outcome(packed, told) == outcome(plain, told)
    plain, packed = TypeAdapter(list[Count | None]), TypeAdapter(Annotated[list[Count | None], packed_integers(0)])
    assert outcome(packed, told) == outcome(plain, told)


def test_a_packed_column_is_looked_at_too() -> None:
    assert Launches.model_validate({"wall_ns": array("q")}).wall_ns == array("q")
    with pytest.raises(ValidationError, match="wall_ns"):
        Launches.model_validate({"wall_ns": array("q", [0])})
