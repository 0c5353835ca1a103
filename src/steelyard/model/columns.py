"""Packed columns of numbers: eight bytes per number, where a Python list takes forty."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import PlainSerializer, SerializationInfo, ValidatorFunctionWrapHandler, WrapValidator

from steelyard.model.lazy import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = LazyModule("numpy")

INTEGERS: Final = "q"
"""The type code of signed integers of 64 bits."""

Packed: TypeAlias = "array[int] | list[Any]"
"""A packed column; if the machine could not tell some of its numbers, a list with None for these."""

# Importing numpy takes a quarter of the start of a command that computes nothing, and for fewer it is no faster.
_FEWEST_FOR_NUMPY = 1000


def column_of(values: Iterable[Any]) -> Packed:
    """Pack the values into a column."""
    numbers = values if isinstance(values, list) else list(values)
    try:
        return array(INTEGERS, numbers)
    except (TypeError, OverflowError):
        return numbers


def extended(column: Packed, values: Sequence[Any]) -> Packed:
    """Return the column with more values at its end, changing it in place if possible."""
    more = column_of(values)
    if type(column) is type(more) or isinstance(column, list):
        column.extend(more)
        return column
    return [*column, *more]


def lowest(column: array[Any]) -> float:
    """The smallest of some packed numbers, none of them NaN; infinite for none."""
    if len(column) < _FEWEST_FOR_NUMPY or not column:
        return min(column, default=inf)
    return np.frombuffer(column, dtype=column.typecode).min().item()  # type: ignore[no-any-return]


def highest(column: Packed) -> float:
    """The largest of some numbers; -1 for none."""
    if isinstance(column, list) or len(column) < _FEWEST_FOR_NUMPY or not column:
        return max(column, default=-1)
    return np.frombuffer(column, dtype=column.typecode).max().item()  # type: ignore[no-any-return]


def are_distinct(*columns: Packed) -> bool:
    """Whether no two rows of columns of equal length are the same."""
    length = len(columns[0])
    if length < _FEWEST_FOR_NUMPY:
        return len(set(zip(*columns, strict=True))) == length
    table = np.array([np.asarray(column, dtype=np.int64) for column in columns])
    table = table[:, np.lexsort(table)]
    return not (table[:, 1:] == table[:, :-1]).all(axis=0).any()


def positions_by_number(column: Packed, count: int) -> list[npt.NDArray[np.intp]]:
    """The positions in a column of each number below `count`."""
    numbers = np.asarray(column, dtype=np.int64)
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, count)))[:count]  # one part at least


def values_at(column: Packed, positions: npt.NDArray[np.intp]) -> Packed:
    """The values of a column at some positions."""
    if isinstance(column, list):
        return column_of([column[position] for position in positions])
    selected = array(INTEGERS)
    selected.frombytes(np.frombuffer(column, dtype=np.int64)[positions].tobytes() if len(column) else b"")
    return selected


def packed_integers(least: int) -> WrapValidator:
    """Validate a list of integers of at least `least` as a whole, and any other value by value; both are packed."""

    def checked(value: Any, one_by_one: ValidatorFunctionWrapHandler) -> Packed:
        if isinstance(value, list) and value[:1] == [None] and value.count(None) == len(value):
            return list(one_by_one(value[:1])) * len(value)
        column = column_of(value) if isinstance(value, list) else value
        if isinstance(column, array) and column.typecode == INTEGERS and lowest(column) >= least:
            return column
        return column_of(one_by_one(list(value) if isinstance(value, array) else value))

    return WrapValidator(checked)


def _unpacked(column: Any, information: SerializationInfo) -> Any:
    return list(column) if information.mode == "json" else column


AS_LIST: Final = PlainSerializer(_unpacked, return_type=Any)
"""Serialises a column as a list in JSON, and unchanged elsewhere, for the writer of files (`json_text`)."""
