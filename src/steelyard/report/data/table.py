"""A table of named columns, which every writer of rows is given: CSV, JSON Lines, Parquet, data frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# So many rows are made at once of what is written as text: Python's objects take many times a number's memory.
_STRETCH = 50_000


@dataclass(frozen=True)
class Column:
    """One column: numbers, truths, or texts, which are numbers into `names`; -1 stands for no text.

    A float that is not known is NaN; of other numbers those are that `missing` says.
    """

    values: npt.NDArray[Any]
    names: tuple[str, ...] | None = None
    missing: npt.NDArray[np.bool_] | None = None

    def unknown(self) -> npt.NDArray[np.bool_]:
        """Where it has nothing."""
        if self.names is not None:
            return np.asarray(self.values < 0)
        if self.missing is not None:
            return self.missing
        if self.values.dtype.kind == "f":
            return np.asarray(~np.isfinite(self.values))
        return np.zeros(len(self.values), dtype=np.bool_)

    def cells(self, start: int = 0, end: int | None = None) -> list[Any]:
        """Its values as Python has them, None where it has nothing."""
        part = self if (start, end) == (0, None) else self._part(slice(start, end))
        values = part.values if self.names is None else np.array([*self.names, None], dtype=object)[part.values]
        unknown = part.unknown()
        if self.names is None and unknown.any():
            values = values.astype(object)
            values[unknown] = None
        return list(values.tolist())

    def _part(self, some: slice) -> Column:
        return Column(self.values[some], self.names, None if self.missing is None else self.missing[some])


@dataclass(frozen=True)
class Table:
    """Columns of one length, by their names, in their order."""

    columns: Mapping[str, Column]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())).values) if self.columns else 0

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Its rows one by one."""
        for start in range(0, len(self), _STRETCH):
            yield from zip(*(one.cells(start, start + _STRETCH) for one in self.columns.values()), strict=True)


def texts(values: Sequence[str | None]) -> Column:
    """A column of texts."""
    names = dict[str, int]()
    codes = [-1 if value is None else names.setdefault(_encodable(value), len(names)) for value in values]
    return Column(np.array(codes, dtype=np.int32), tuple(names))


def text_of_all(value: str | None, length: int) -> Column:
    """The same text in every row, or none in any."""
    code = -1 if value is None else 0
    return Column(np.full(length, code, dtype=np.int32), () if value is None else (_encodable(value),))


def _encodable(text: str) -> str:
    """The text, as UTF-8 can carry it: bytes of a command that are none stand there by their numbers."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def whole(values: Sequence[int | None] | npt.NDArray[Any]) -> Column:
    """A column of whole numbers."""
    if isinstance(values, np.ndarray):
        return Column(values.astype(np.int64))
    missing = np.array([value is None for value in values], dtype=np.bool_)
    return Column(np.array([value or 0 for value in values], dtype=np.int64), missing=missing)


def no_number(length: int) -> Column:
    """Whole numbers that are nowhere known."""
    return Column(np.zeros(length, dtype=np.int64), missing=np.ones(length, dtype=np.bool_))


def numbers(values: Sequence[float | None] | npt.NDArray[Any]) -> Column:
    """A column of floats; None and NaN are not known."""
    return Column(np.asarray(values, dtype=np.float64))


def truths(values: Sequence[bool | None] | npt.NDArray[Any]) -> Column:
    """A column of what is so or not."""
    if isinstance(values, np.ndarray):
        return Column(values.astype(np.bool_))
    missing = np.array([value is None for value in values], dtype=np.bool_)
    return Column(np.array([bool(value) for value in values], dtype=np.bool_), missing=missing)


def joined(tables: Sequence[Table]) -> Table:
    """One table of several that have the same columns, those of one behind those of another."""
    tables = [table for table in tables if len(table)] or list(tables[:1])
    if len(tables) == 1:
        return tables[0]
    return Table({name: _joined([table.columns[name] for table in tables]) for name in tables[0].columns})


def _joined(parts: Sequence[Column]) -> Column:
    missing = None
    if any(part.missing is not None for part in parts):
        missing = np.concatenate([part.unknown() for part in parts])
    if parts[0].names is None:
        return Column(np.concatenate([part.values for part in parts]), missing=missing)
    names = dict[str, int]()
    codes = []
    for part in parts:
        # The last place is what a code of -1 picks.
        place = [names.setdefault(name, len(names)) for name in part.names or ()] + [-1]
        codes.append(np.array(place, dtype=np.int32)[part.values])
    return Column(np.concatenate(codes), tuple(names))
