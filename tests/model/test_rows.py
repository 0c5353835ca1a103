from __future__ import annotations

import copy
import gc
import pickle

import pytest

from steelyard.model.numbers import NUMBERS
from steelyard.model.rows import COLUMNS, LaunchRow, Place, Sample, judged_samples
from tests.model.samples import row

SAMPLES = (Sample(10, 90_000), Sample(10, 10_300), Sample(20, 20_400))


def test_a_row_is_its_place_its_numbers_and_what_it_adds() -> None:
    assert LaunchRow._fields == (*Place._fields, *NUMBERS, "overhead_ns", "samples", "counters")
    assert (*COLUMNS, "samples", "counters") == LaunchRow._fields
    assert row(3, 1)[: len(Place._fields)] == Place(0, 3, 1, 1, 1, 7, 8, 0)


class Collecting(type):
    """Makes classes in the middle of whose making garbage is collected, as it may be whenever anything is made."""

    def __setattr__(cls, name: str, value: object) -> None:
        gc.collect()
        super().__setattr__(name, value)


def test_a_kind_of_row_can_be_made_whenever_garbage_is_collected() -> None:
    made = Collecting("Made", (Place,), {"__annotations__": {"more": int}})
    assert made(*range(9)) == tuple(range(9))


def test_each_field_is_the_value_in_its_place() -> None:
    values = range(len(LaunchRow._fields))
    made = LaunchRow._make(values)
    assert [getattr(made, name) for name in LaunchRow._fields] == list(made) == list(values)


def test_a_row_without_samples_has_none() -> None:
    assert row().samples == ()
    with pytest.raises(TypeError, match="'overhead_ns'"):
        LaunchRow(*range(len(COLUMNS) - 1))


def test_a_row_is_made_of_as_many_values_as_it_has_fields() -> None:
    for count in (0, 7, 9):
        with pytest.raises(TypeError, match="8 fields"):
            Place._make(range(count))


def test_a_replaced_field_is_the_only_one_that_changes() -> None:
    assert row()._replace(steal_ns=99) == tuple(
        99 if name == "steal_ns" else getattr(row(), name) for name in row()._fields
    )
    with pytest.raises(ValueError, match="speed"):
        row()._replace(speed=1)


def test_a_row_cannot_be_changed_and_has_nothing_else() -> None:
    for name in ("benchmark", "wall_ns", "samples", "speed"):
        with pytest.raises(AttributeError):
            setattr(row(), name, 1)
    assert not hasattr(row(), "__dict__")


def test_a_copy_is_the_same_row() -> None:
    for other in (copy.copy(row()), copy.deepcopy(row()), pickle.loads(pickle.dumps(row()))):
        assert (other, type(other)) == (row(), LaunchRow)


def test_a_row_tells_its_fields() -> None:
    assert repr(row()).startswith("LaunchRow(benchmark=0, pair=0, ")


def test_the_first_of_several_samples_is_not_judged() -> None:
    assert judged_samples(SAMPLES) == list(SAMPLES[1:])
    assert judged_samples(SAMPLES[:1]) == [SAMPLES[0]]
    assert judged_samples([]) == []
